// The table of pods: a row each, kept while its pod is there, so that what changes in it can be seen to change.

import { byId, el, fill } from "/dom.js";

const PHASES = { Running: "good", Succeeded: "good", Pending: "warn", Failed: "bad", Unknown: "unknown" };
const rows = new Map();

const health = { Healthy: "good", Unhealthy: "bad" };

function phase(text) {
  const [first] = text.split(" ");
  const kind = text.includes("(") && first === "Running" ? "warn" : (PHASES[first] ?? "unknown");
  return el("span", { class: `badge ${kind}` }, text);
}

const devices = (all) =>
  all.map(([name, said, message]) =>
    el("span", { class: `badge ${health[said] ?? "warn"}`, title: message || null }, `${name} ${said}`),
  );

/** A number that stands out for a moment when it moves. */
function number(cell, value, lags) {
  const text = value === null || value === undefined ? "–" : String(value);
  if (cell.textContent === text) {
    cell.classList.toggle("lags", lags);
    return;
  }
  const isNew = cell.textContent === "";
  fill(cell, text);
  cell.classList.toggle("lags", lags);
  if (!isNew) {
    cell.classList.remove("moved");
    void cell.offsetWidth; // lets the animation begin anew
    cell.classList.add("moved");
  }
}

function row(key) {
  const cells = Object.fromEntries(["phase", "ready", "generation", "observed", "node", "devices"].map((name) => [name, el("td", { class: `cell-${name}` })]));
  const name = el("th", { scope: "row" });
  const made = { cells, name, row: el("tr", { "data-pod": key }, name, Object.values(cells)) };
  rows.set(key, made);
  return made;
}

export function draw(pods) {
  const there = new Set(pods.map(([key]) => key));
  for (const [key, { row: gone }] of rows) {
    if (!there.has(key)) {
      gone.remove();
      rows.delete(key);
    }
  }
  const body = byId("pods");
  pods
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .forEach(([key, pod], index) => {
      const { cells, name, row: made } = rows.get(key) ?? row(key);
      fill(name, el("span", { class: "muted" }, `${pod.namespace}/`), pod.name, pod.going ? el("span", { class: "badge unknown" }, "going") : null);
      fill(cells.phase, phase(pod.phase));
      fill(cells.ready, pod.ready ? "yes" : "no");
      number(cells.generation, pod.generation, false);
      number(cells.observed, pod.observed, (pod.observed ?? 0) < (pod.generation ?? 0));
      fill(cells.node, pod.node || "–");
      fill(cells.devices, devices(pod.devices));
      if (body.children[index] !== made) body.insertBefore(made, body.children[index] ?? null);
    });
  byId("no-pods").hidden = pods.length > 0;
}
