// The editor: a text area, line numbers beside it, and marks behind it. The text area alone is for keyboards and screen readers.

import { el, fill } from "/dom.js";

export class Editor {
  constructor(parent, { label, describedBy, changed }) {
    this.numbers = el("pre", { class: "numbers", "aria-hidden": "true" });
    this.marks = el("pre", { class: "marks", "aria-hidden": "true" });
    this.area = el("textarea", {
      id: "text",
      class: "area",
      "aria-label": label,
      "aria-describedby": describedBy,
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
    });
    this.area.addEventListener("input", () => {
      this.count();
      changed();
    });
    this.area.addEventListener("scroll", () => this.follow());
    this.area.addEventListener("keydown", (event) => this.key(event));
    parent.append(this.numbers, this.marks, this.area);
    this.lines = 0;
    this.found = new Map();
  }

  get text() {
    return this.area.value;
  }

  set text(text) {
    this.area.value = text;
    this.area.scrollTop = 0;
    this.area.setSelectionRange(0, 0);
    this.count();
  }

  /** Two blanks for Tab in an editor would trap keyboards: they come with Ctrl+], as in editors of code. */
  key(event) {
    if (event.key === "]" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.area.setRangeText("  ", this.area.selectionStart, this.area.selectionEnd, "end");
      this.area.dispatchEvent(new Event("input"));
    }
  }

  /** Line numbers; those of marked lines stand out. */
  count() {
    this.lines = this.text.split("\n").length;
    const parts = [];
    let plain = [];
    for (let line = 1; line <= this.lines; line += 1) {
      const severity = this.found.get(line);
      if (severity) {
        parts.push(plain.join(""), el("span", { class: `at ${severity}` }, `${line}\n`));
        plain = [];
      } else plain.push(`${line}\n`);
    }
    fill(this.numbers, parts, plain.join(""));
    this.follow();
  }

  /** Marks parts of lines: { line, mark: [begin, end], severity }. The text behind the marks is the same, and not seen. */
  mark(findings) {
    this.found = new Map();
    const byLine = new Map();
    for (const each of findings) {
      if (this.found.get(each.line) !== "error") this.found.set(each.line, each.severity);
      if (!byLine.has(each.line)) byLine.set(each.line, []);
      byLine.get(each.line).push(each);
    }
    const parts = [];
    let plain = [];
    this.text.split("\n").forEach((line, index) => {
      const here = byLine.get(index + 1);
      if (!here) {
        plain.push(line, "\n");
        return;
      }
      parts.push(document.createTextNode(plain.join("")), marked(line, here));
      plain = ["\n"];
    });
    parts.push(document.createTextNode(plain.join("")));
    this.marks.replaceChildren(...parts);
    this.count();
  }

  follow() {
    this.numbers.scrollTop = this.area.scrollTop;
    this.marks.scrollTop = this.area.scrollTop;
    this.marks.scrollLeft = this.area.scrollLeft;
  }

  /** Puts the cursor at a place, both from 1, and shows it. */
  go(line, column) {
    const before = this.text.split("\n").slice(0, line - 1).join("\n");
    const at = before.length + (line > 1 ? 1 : 0) + column;
    this.area.focus();
    this.area.setSelectionRange(at, at);
    const height = this.area.scrollHeight / Math.max(this.lines, 1);
    this.area.scrollTop = Math.max(0, (line - 1) * height - this.area.clientHeight / 3);
    this.follow();
  }
}

/** A line with its marked parts, which do not overlap: the first of two that would counts. */
function marked(line, findings) {
  const worst = findings.some((each) => each.severity === "error") ? "error" : "warning";
  const made = document.createElement("span");
  made.className = `line ${worst}`;
  let at = 0;
  for (const { mark: [begin, end], severity } of [...findings].sort((a, b) => a.mark[0] - b.mark[0])) {
    if (begin < at) continue;
    const mark = document.createElement("mark");
    mark.className = severity;
    mark.textContent = line.slice(begin, end);
    made.append(document.createTextNode(line.slice(at, begin)), mark);
    at = end;
  }
  made.append(document.createTextNode(line.slice(at)));
  return made;
}
