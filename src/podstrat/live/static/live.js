// The live view: entries come by the stream, and what they are part of is drawn again, once a frame.

import { byId, el, fill } from "/dom.js";
import { theme } from "/theme.js";
import * as nodes from "/nodes.js";
import * as pods from "/pods.js";
import { Entries } from "/stream.js";
import * as timeline from "/timeline.js";

const STATES = { live: "good", waiting: "warn", none: "unknown" };
const LABELS = { pods: "pods", nodes: "nodes", events: "events", slices: "device slices", decisions: "webhook decisions" };

let waiting = new Set();

const entries = new Entries("/api/live", soon, (connected) => {
  const badge = byId("stream");
  badge.className = `badge ${connected ? "good" : "bad"}`;
  fill(badge, connected ? "live" : "no connection");
});

function soon(kinds) {
  if (!waiting.size) requestAnimationFrame(drawn);
  for (const kind of kinds) waiting.add(kind);
}

function drawn() {
  const kinds = waiting;
  waiting = new Set();
  if (kinds.has("source")) sources();
  if (kinds.has("node")) nodes.draw(entries.of("node"));
  if (kinds.has("pod")) pods.draw(entries.of("pod"));
  if (kinds.has("event") || kinds.has("decision")) happenings();
}

const happenings = () => timeline.draw(entries.of("event"), entries.of("decision"));

/** Sources that are not live, with the reason: those that are need no words. */
function sources() {
  const others = entries.of("source").filter(([, { state }]) => state !== "live");
  fill(
    byId("sources"),
    others.map(([key, { state, message }]) => {
      const label = LABELS[key.slice("source/".length)];
      const words = state === "none" ? "not offered by this server" : "waiting";
      return el("li", { class: `badge ${STATES[state]}`, title: message }, `${label}: ${words}`);
    }),
  );
}

theme(byId("theme"));
for (const id of ["events", "decisions"]) byId(id).addEventListener("change", happenings);
