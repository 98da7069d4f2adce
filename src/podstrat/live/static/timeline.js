// Events and decisions of webhooks in one list, the latest first.

import { byId, el, fill } from "/dom.js";

const MOST = 200;
const DECISIONS = { allowed: "good", patched: "warn", denied: "bad", failed: "bad", "failed open": "warn" };

const clock = (time) => el("time", { class: "mono muted", datetime: time.toISOString() }, time.toLocaleTimeString([], { hour12: false }));

function event(each) {
  return el(
    "li",
    { class: "happening event" },
    clock(each.when),
    el("span", { class: `badge ${each.type === "Warning" ? "bad" : "unknown"}` }, each.reason),
    el("p", {}, el("span", { class: "mono about" }, each.about), " ", each.message, each.count > 1 ? el("span", { class: "muted" }, ` ×${each.count}`) : null),
  );
}

function decision(each) {
  const about = [each.resource, each.namespace, each.name].filter(Boolean).join("/");
  return el(
    "li",
    { class: "happening decision" },
    clock(each.when),
    el("span", { class: `badge ${DECISIONS[each.decision] ?? "unknown"}` }, each.decision),
    el(
      "p",
      {},
      el("span", { class: "mono about" }, `${each.operation} ${about}`),
      ` ${each.webhook}, ${each.mutating ? "mutating" : "validating"}, ${each.milliseconds} ms${each.dry_run ? ", dry run" : ""}`,
      each.message ? el("span", { class: "words" }, each.message) : null,
    ),
  );
}

export function draw(events, decisions) {
  const all = [
    ...(byId("events").checked ? events.map(([key, each]) => ({ ...each, key, when: new Date(each.time), draw: event })) : []),
    ...(byId("decisions").checked ? decisions.map(([key, each]) => ({ ...each, key, when: new Date(each.time * 1000), draw: decision })) : []),
  ].filter((each) => !Number.isNaN(each.when.getTime()));
  all.sort((one, other) => other.when - one.when);
  fill(byId("timeline"), all.slice(0, MOST).map((each) => each.draw(each)));
  byId("no-timeline").hidden = all.length > 0;
}
