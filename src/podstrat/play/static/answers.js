// The answers as elements. Every text of an object, a file or the server goes through el(), and so is text.

import { el } from "/dom.js";

const badge = (kind, text) => el("span", { class: `badge ${kind}` }, text);
const note = (text) => el("p", { class: "empty muted" }, text);

// ---- findings --------------------------------------------------------------------------------------

export const severity = (finding, isError) => (isError ? "error" : finding.isHint ? "hint" : "warning");

/** All findings of an answer, with their severity. */
export function found(answer) {
  return answer.objects.flatMap((each) => [
    ...(each.errors ?? []).map((finding) => ({ ...finding, severity: "error" })),
    ...(each.warnings ?? []).map((finding) => ({ ...finding, severity: severity(finding, false) })),
  ]);
}

const KINDS = { error: "bad", warning: "warn", hint: "unknown" };

function finding(each, isError, go) {
  const kind = severity(each, isError);
  return el(
    "li",
    { class: `finding ${kind}` },
    el(
      "button",
      { type: "button", class: "place mono", onclick: () => go(each), "aria-label": `Go to line ${each.line}, column ${each.column}` },
      `${each.line}:${each.column}`,
    ),
    el(
      "div",
      {},
      el("p", { class: "words" }, badge(KINDS[kind], kind), " ", each.plugin ? badge("unknown", each.plugin) : null, " ", el("span", { class: "message" }, each.message)),
      each.hint ? el("p", { class: "hint muted" }, each.hint) : null,
    ),
  );
}

function verdict(each) {
  if (each.reason) return badge("unknown", "skipped");
  if (!each.valid) return badge("bad", each.code ? `refused, ${each.code}` : "not sent");
  return badge("good", each.update ? "accepted" : `accepted${each.code ? `, ${each.code}` : ""}`);
}

const head = (each, ...more) => el("header", { class: "object" }, el("h3", {}, each.title || "document"), verdict(each), ...more);

/** Objects with something to say first. */
export function findings(answer, go) {
  if (!answer.objects.length) return [note("Nothing to judge yet: paste a manifest, or drop a file anywhere on the page.")];
  const isQuiet = (each) => !each.reason && !each.errors.length && !each.warnings.length;
  const ordered = [...answer.objects.filter((each) => !isQuiet(each)), ...answer.objects.filter(isQuiet)];
  return ordered.map((each) =>
    el(
      "article",
      { class: isQuiet(each) ? "quiet" : null },
      head(each, el("span", { class: "muted small" }, `line ${each.line}`)),
      each.reason ? el("p", { class: "muted" }, each.reason) : null,
      el(
        "ul",
        {},
        (each.errors ?? []).map((one) => finding(one, true, go)),
        (each.warnings ?? []).map((one) => finding(one, false, go)),
      ),
      each.unknown ? unknown(each.unknown) : null,
    ),
  );
}

const unknown = (texts) =>
  texts.length
    ? el(
        "details",
        { class: "small" },
        el("summary", {}, `${texts.length} ${texts.length === 1 ? "thing" : "things"} that the text does not say`),
        el("ul", { class: "muted" }, texts.map((text) => el("li", {}, text))),
      )
    : null;

// ---- diffs -----------------------------------------------------------------------------------------

const SIGNS = { " ": "", "-": "removed", "+": "added" };

function diff(rows, label) {
  return el(
    "div",
    { class: "diff mono", role: "region", "aria-label": label, tabindex: "0" },
    rows.map(([sign, text, why]) =>
      el(
        "div",
        { class: `row ${SIGNS[sign]}` },
        el("span", { class: "sign" }, sign),
        el(sign === "+" ? "ins" : sign === "-" ? "del" : "span", { class: "code" }, text),
        why ? el("span", { class: "why" }, why) : null,
      ),
    ),
  );
}

export function stored(answer) {
  if (!answer.objects.length) return [note("No object in the text that would be stored.")];
  return answer.objects.map((each) =>
    el(
      "article",
      {},
      each.reason
        ? el("header", { class: "object" }, el("h3", {}, each.title), badge("unknown", "not sent"))
        : el("header", { class: "object" }, el("h3", {}, each.title), badge(each.accepted ? "good" : "bad", each.accepted ? `stored, ${each.code}` : `refused, ${each.code}`), each.refusedBy ? badge("unknown", each.refusedBy) : null),
      each.reason ? el("p", { class: "muted" }, each.reason) : null,
      each.message ? el("p", { class: "message" }, each.message) : null,
      (each.warnings ?? []).map((text) => el("p", {}, badge("warn", "warning"), " ", text)),
      each.rows ? diff(each.rows, `What would be stored of ${each.title}`) : null,
      each.atStoring ? el("p", { class: "muted small" }, `${each.atStoring}.`) : null,
      each.unknown ? unknown(each.unknown) : null,
    ),
  );
}

// ---- releases --------------------------------------------------------------------------------------

const lines = (answer) => [
  ...answer.errors.map((text) => el("li", { class: "message" }, text)),
  ...answer.dropped.map((text) => el("li", {}, text)),
  ...answer.warnings.map((text) => el("li", {}, badge("warn", "warning"), " ", text)),
];

function gates(releases) {
  const all = Object.entries(releases).filter(([, answer]) => Object.keys(answer.gates).length);
  if (!all.length) return null;
  return el(
    "section",
    { class: "gates" },
    el("h3", {}, "Gates that change the answer"),
    all.map(([release, answer]) =>
      el(
        "dl",
        {},
        el("dt", { class: "release" }, release),
        el(
          "dd",
          {},
          Object.entries(answer.gates).map(([setting, changes]) =>
            el("div", { class: "gate" }, el("code", {}, setting), el("ul", {}, changes.map((text) => el("li", {}, text)))),
          ),
        ),
      ),
    ),
  );
}

export function releases(answer, withGates) {
  if (!answer.objects.length) return [note("No object in the text that releases could be compared for.")];
  return answer.objects.map((each) =>
    el(
      "article",
      {},
      el("header", { class: "object" }, el("h3", {}, each.name ? `${each.kind}/${each.name}` : each.kind)),
      el(
        "table",
        {},
        el("caption", { class: "muted small" }, "Each release with its default gates, without admission plugins"),
        el("thead", {}, el("tr", {}, ["Release", "Answer", "What it says"].map((text) => el("th", { scope: "col" }, text)))),
        el(
          "tbody",
          {},
          Object.entries(each.releases).map(([release, one]) =>
            el(
              "tr",
              {},
              el("th", { scope: "row" }, release),
              el("td", {}, badge(one.accepted ? "good" : "bad", one.accepted ? "accepted" : "refused")),
              el("td", {}, el("ul", {}, lines(one))),
            ),
          ),
        ),
      ),
      withGates ? gates(each.releases) : el("p", { class: "muted small" }, "Turning every gate over…"),
    ),
  );
}

// ---- updates ---------------------------------------------------------------------------------------

function generation(update) {
  if (!update?.generation) return null;
  const { before, after } = update.generation;
  const moved = before !== undefined && before !== after;
  return el(
    "p",
    { class: "generation" },
    el("span", { class: "muted" }, "generation "),
    el("strong", { class: "mono" }, moved ? `${before} → ${after}` : `stays ${after}`),
    update.reason ? el("span", { class: "muted" }, ` ${update.reason}`) : null,
  );
}

export function updated(answer, go) {
  return answer.objects.map((each) =>
    el(
      "article",
      {},
      head(each, each.update?.how ? el("span", { class: "muted small" }, `kubectl ${each.update.how}`) : null),
      each.reason ? el("p", { class: "muted" }, each.reason) : null,
      generation(each.update),
      each.update?.allowed === null ? el("p", { class: "muted" }, each.update.reason) : null,
      (each.update?.changes ?? []).map((text) => el("p", { class: "small" }, text)),
      el("ul", {}, (each.errors ?? []).map((one) => finding(one, true, go)), (each.warnings ?? []).map((one) => finding(one, false, go))),
      each.rows ? diff(each.rows, `What changes of ${each.title}`) : null,
    ),
  );
}
