// The playground: the editor asks the server at every pause, and the open tab shows what it answers.

import { byId, el, fill } from "/dom.js";
import { hidden } from "/shown.js";
import { theme } from "/theme.js";
import * as answers from "/answers.js";
import { ask } from "/ask.js";
import { Editor } from "/editor.js";
import { linked, linkTo } from "/link.js";
import { Server } from "/server.js";
import { tabs } from "/tabs.js";

const PAUSE = 60; // milliseconds without a keystroke
const LONG_PAUSE = 300;
const LARGEST = 512 * 1024;
const EXAMPLE = `apiVersion: v1
kind: Pod
metadata:
  name: trainer
  labels:
    app: trainer
spec:
  restartPolicy: onfailure
  containers:
  - name: main
    image: example.com/train:1
    ports:
    - containerPort: 70000
    resources:
      requests:
        memory: 2Gi
      limits:
        memory: 1Gi
`;

let server;
let open = "findings";
let waiting = 0;
let file = "pod.yaml";

const editor = new Editor(byId("editor"), { label: "Manifest, YAML", describedBy: "verdict", changed: soon });

function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(judge, PAUSE);
}

const question = () => ({ text: editor.text, name: file, settings: server.chosen });

/** The verdict, always; then whatever the open tab shows. */
async function judge() {
  const text = editor.text;
  warnOfHidden(text);
  await told(async () => {
    const answer = await ask("/api/check", question());
    if (!answer || text !== editor.text) return; // typed on meanwhile: the next answer is on its way
    editor.mark(answers.found(answer));
    say(answer);
    fill(byId("findings"), answers.findings(answer, go));
  });
  await more();
}

async function more() {
  if (open === "stored") await told(async () => show("stored", answers.stored, await ask("/api/stored", question())));
  if (open === "releases") await told(compareReleases);
  if (open === "update") await told(compareUpdate);
}

function show(id, draw, answer, ...rest) {
  if (answer) fill(byId(id), draw(answer, ...rest));
}

/** The releases at once; the gates, which take longer, behind them and only when the typing has paused for longer. */
async function compareReleases() {
  const text = editor.text;
  show("releases", answers.releases, await ask("/api/releases", question()), false);
  await new Promise((resolve) => setTimeout(resolve, LONG_PAUSE));
  if (text === editor.text) show("releases", answers.releases, await ask("/api/releases", { ...question(), gates: true }), true);
}

async function compareUpdate() {
  const old = byId("old").value;
  if (!old.trim()) {
    fill(byId("updated"), el("p", { class: "empty muted" }, "Paste the object as it is stored above, or take the manifest as it is now; then change the manifest."));
    return;
  }
  show("updated", answers.updated, await ask("/api/update", { ...question(), old, how: byId("how").value }), go);
}

const go = ({ line, mark }) => editor.go(line, mark[0]);

/** What the status line says: it is read out when it changes. */
function say({ counts, summary }) {
  const verdict = byId("verdict");
  const kind = counts.invalid ? "bad" : counts.checked ? (counts.warnings ? "warn" : "good") : "unknown";
  const words = counts.invalid ? "refused" : counts.checked ? "accepted" : "nothing to judge";
  fill(verdict, el("span", { class: `badge ${kind}` }, words), " ", el("span", { class: "muted" }, summary));
}

async function told(work) {
  try {
    await work();
  } catch (error) {
    fill(byId("verdict"), el("span", { class: "badge bad" }, "no answer"), " ", error.message);
  }
}

function warnOfHidden(text) {
  const lines = hidden(text);
  byId("hidden").hidden = !lines.length;
  fill(
    byId("hidden"),
    lines.length ? el("p", {}, "Characters that hide or reorder text, as escapes:") : null,
    lines.slice(0, 5).map(({ line, text: seen }) => el("p", { class: "mono" }, `${line}: ${seen.trim()}`)),
  );
}

// ---- files and links -------------------------------------------------------------------------------

async function read(dropped) {
  if (!dropped) return;
  if (dropped.size > LARGEST) {
    fill(byId("verdict"), `${dropped.name} is larger than ${LARGEST / 1024} KiB: use podstrat check`);
    return;
  }
  take(await dropped.text(), dropped.name);
}

function take(text, name) {
  file = name;
  fill(byId("name"), name);
  editor.text = text;
  judge();
}

function files() {
  const drop = byId("drop");
  byId("open").addEventListener("click", () => byId("file").click());
  byId("file").addEventListener("change", (event) => read(event.target.files[0]));
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.hidden = false;
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) drop.hidden = true;
  });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.hidden = true;
    read(event.dataTransfer.files[0]);
  });
}

async function copyLink() {
  const url = await linkTo({ text: editor.text, name: file, old: byId("old").value, settings: server.chosen });
  history.replaceState(null, "", url);
  try {
    await navigator.clipboard.writeText(url);
    byId("link").textContent = "Copied";
    setTimeout(() => (byId("link").textContent = "Copy link"), 2000);
  } catch {
    byId("url").value = url; // no clipboard here: it is shown instead
    byId("linked").showModal();
    byId("url").select();
  }
}

async function fromLink() {
  const value = await linked();
  if (!value || typeof value.text !== "string") return false;
  server.chosen = value.settings ?? {};
  byId("old").value = typeof value.old === "string" ? value.old : "";
  take(value.text, typeof value.name === "string" ? value.name : "pod.yaml");
  return true;
}

async function start() {
  theme(byId("theme"));
  await told(async () => {
    server = new Server(await ask("/api/options"), judge);
    files();
    byId("link").addEventListener("click", copyLink);
    byId("take").addEventListener("click", () => {
      byId("old").value = editor.text;
      compare();
    });
    byId("old").addEventListener("input", soon);
    byId("how").addEventListener("change", soon);
    tabs(document.querySelector('[role="tablist"]'), (id) => {
      open = id;
      more();
    });
    addEventListener("hashchange", fromLink);
    if (!(await fromLink())) take(EXAMPLE, "trainer.yaml");
  });
}

const compare = () => told(compareUpdate);

start();
