// The server that is asked: release, Pod Security level, admission plugins, feature gates.

import { byId, el, fill } from "/dom.js";

const option = (value, text) => el("option", { value }, text);

export class Server {
  constructor(offered, changed) {
    this.offered = offered;
    this.changed = changed;
    this.gates = {};
    this.some = new Set();
    fill(byId("release"), Object.keys(offered.releases).reverse().map((each) => option(each, each)));
    fill(byId("level"), option("", "as the namespace says"), offered.podSecurity.map((each) => option(each, each)));
    for (const id of ["release", "level", "plugins"]) byId(id).addEventListener("change", () => this.draw(true));
    byId("server").addEventListener("submit", (event) => event.preventDefault());
    byId("gate").addEventListener("keydown", (event) => event.key === "Enter" && this.turn(event));
    byId("gate").addEventListener("input", (event) => {
      if (event.inputType === "insertReplacementText" || !event.inputType) this.turn(event); // chosen from the list
    });
    this.draw(false);
  }

  get release() {
    return this.offered.releases[byId("release").value];
  }

  /** As questions carry it. */
  get chosen() {
    const plugins = byId("plugins").value;
    return {
      release: byId("release").value,
      podSecurity: byId("level").value,
      plugins: plugins === "some" ? [...this.some] : plugins,
      gates: this.gates,
    };
  }

  set chosen({ release, podSecurity, plugins, gates }) {
    if (this.offered.releases[release]) byId("release").value = release;
    byId("level").value = this.offered.podSecurity.includes(podSecurity) ? podSecurity : "";
    byId("plugins").value = Array.isArray(plugins) ? "some" : plugins === "default" ? "default" : "none";
    this.some = new Set(Array.isArray(plugins) ? plugins : []);
    this.gates = { ...gates };
    this.draw(false);
  }

  /** A gate is turned over: to what it is not by default. */
  turn(event) {
    const gate = this.release.gates.find((each) => each.name === byId("gate").value.trim());
    if (!gate) return;
    event.preventDefault();
    this.gates[gate.name] = !gate.default;
    byId("gate").value = "";
    this.draw(true);
  }

  draw(tell) {
    const { gates, plugins } = this.release;
    const known = new Map(gates.map((each) => [each.name, each]));
    for (const name of Object.keys(this.gates)) if (!known.has(name)) delete this.gates[name]; // not in this release
    this.some = new Set(plugins.map((each) => each.name).filter((name) => this.some.has(name)));
    fill(byId("gates"), gates.map((each) => option(each.name, `${each.stage}, ${each.default ? "on" : "off"}`)));
    fill(byId("turned"), Object.entries(this.gates).map(([name, on]) => this.gate(name, on)));
    byId("some").hidden = byId("plugins").value !== "some";
    fill(byId("known"), plugins.map((each) => this.plugin(each)));
    if (tell) this.changed();
  }

  gate(name, on) {
    const remove = () => {
      delete this.gates[name];
      this.draw(true);
      byId("gate").focus();
    };
    return el(
      "li",
      {},
      `${name}=${on}`,
      el("button", { type: "button", class: "quiet", "aria-label": `Leave ${name} at its default`, onclick: remove }, "×"),
    );
  }

  plugin({ name, default: usual }) {
    const change = (event) => {
      if (event.target.checked) this.some.add(name);
      else this.some.delete(name);
      this.changed();
    };
    return el(
      "label",
      { class: usual ? "usual" : null },
      el("input", { type: "checkbox", checked: this.some.has(name), onchange: change }),
      name,
    );
  }
}
