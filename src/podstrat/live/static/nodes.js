// Each node with its devices as a grid: a tile each, by health, which is also written on it.

import { byId, el, fill } from "/dom.js";

const KINDS = { Healthy: "good", Unhealthy: "bad", Unknown: "warn", "": "free" };
const SIGNS = { Healthy: "✓", Unhealthy: "✕", Unknown: "?", "": "" };

function tile({ name, health, message, pods }) {
  const said = health || "not held by a pod";
  const words = [name, said, message, pods.length ? `held by ${pods.join(", ")}` : ""].filter(Boolean).join(", ");
  return el(
    "li",
    { class: `tile ${KINDS[health] ?? "warn"}`, "data-device": name, "data-health": health, title: words },
    el("span", { class: "sign", "aria-hidden": "true" }, SIGNS[health] ?? "?"),
    el("span", { class: "name mono" }, name),
    el("span", { class: "by" }, pods.map((pod) => pod.slice(pod.indexOf("/") + 1)).join(", ") || "free"),
    el("span", { class: "spoken" }, `${said}${message ? `: ${message}` : ""}`),
  );
}

function node({ name, ready, known, groups, pods }) {
  const count = Object.values(groups).flat();
  const bad = count.filter((each) => each.health === "Unhealthy").length;
  return el(
    "article",
    { class: "card node", "data-node": name },
    el(
      "header",
      {},
      el("h3", { class: "mono" }, name),
      known ? el("span", { class: `badge ${ready === "True" ? "good" : "unknown"}` }, ready === "True" ? "ready" : "not ready") : null,
      el("span", { class: "muted small" }, `${pods} ${pods === 1 ? "pod" : "pods"}, ${count.length} ${count.length === 1 ? "device" : "devices"}`),
      bad ? el("span", { class: "badge bad" }, `${bad} unhealthy`) : null,
    ),
    Object.entries(groups).map(([group, devices]) =>
      el("div", { class: "group" }, el("p", { class: "mono muted small" }, group), el("ul", { class: "grid", "aria-label": `Devices of ${group}` }, devices.map(tile))),
    ),
    count.length ? null : el("p", { class: "muted small" }, "No devices: no driver offers any, and no pod holds one."),
  );
}

export function draw(nodes) {
  const sorted = nodes.map(([, each]) => each).sort((one, other) => (one.name < other.name ? -1 : 1));
  fill(byId("nodes"), sorted.length ? sorted.map(node) : el("p", { class: "muted" }, "No nodes yet."));
}
