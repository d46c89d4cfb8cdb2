// The person's data: bring in an export of ChatGPT or Claude, save everything, erase everything.

import { file as download, post } from "./api.js";
import { conversations, parts } from "./archive.js";
import * as chat from "./chat.js";
import { confirm, show } from "./dialog.js";
import { at, download as save, el, fill, toast } from "./dom.js";
import { receipt } from "./receipt.js";
import { on, state, tell } from "./state.js";
import * as talks from "./talks.js";
import { number } from "./time.js";
import { told, trouble } from "./trouble.js";
import { t } from "./words.js";
import * as users from "./users.js";

let dialog = null;

function open() {
  if (dialog || document.querySelector("dialog[open]")) return;
  const choose = el("input", { type: "file", id: "import-file", accept: ".json,.jsonl,.zip", class: "unseen", onchange: () => choose.files[0] && take(choose.files[0]) });
  const zone = el(
    "label",
    { class: "drop", for: "import-file" },
    el("strong", {}, t("import.drop")),
    el("span", { class: "fine" }, t("import.about")),
    el("span", { class: "fine" }, t("import.only")),
    choose,
  );
  const body = [
    el("div", { id: "import-body", class: "form" }, zone, el("details", {}, el("summary", {}, t("import.where")), el("p", { class: "fine" }, t("import.chatgpt")), el("p", { class: "fine" }, t("import.claude")))),
    el("hr"),
    el("div", { class: "acts" }, el("button", { type: "button", onclick: exportAll }, t("export.open")), el("button", { type: "button", onclick: eraseAll }, t("erase.open"))),
  ];
  dialog = show({ title: t("data.open"), body });
  dialog.classList.add("data");
  dialog.addEventListener("close", () => {
    dialog = null;
  });
}

/** Import a file, and tell what came in. */
async function take(file) {
  const place = at("import-body");
  fill(place, el("p", {}, t("import.reading", { name: file.name })), el("progress", { "aria-label": t("import.open") }));
  let all;
  try {
    all = await conversations(file);
  } catch {
    return fill(place, el("div", { class: "trouble", role: "alert" }, el("strong", {}, t("import.bad", { name: file.name }))), again());
  }
  const sum = { sessions: 0, turns: 0, known: 0, skipped: 0, left_out: [] };
  const bar = el("progress", { max: all.length, value: 0, "aria-label": t("import.open") });
  const text = el("p", { "aria-live": "polite" });
  fill(place, text, bar);
  let done = 0;
  const user = state.user;
  for (const items of parts(all)) {
    text.textContent = t("import.going", { n: number(done), of: number(all.length) });
    try {
      const came = await post("/api/import", { conversations: items }, user);
      for (const name of ["sessions", "turns", "known", "skipped"]) sum[name] += came[name];
      sum.left_out.push(...came.left_out);
    } catch (problem) {
      if (items.length > 1 || problem.status !== 413) {
        fill(place, trouble(problem, () => take(file)), el("p", { class: "fine" }, t("import.stopped", { n: number(done), of: number(all.length) })));
        return;
      }
      sum.skipped += 1;
    }
    done += items.length;
    bar.value = done;
    if (!dialog) toast(t("import.going", { n: number(done), of: number(all.length) }));
  }
  await talks.load().catch(() => {});
  await users.load().catch(() => {});
  tell("work");
  fill(place, came(sum, all), again());
}

const again = () => el("div", {}, el("button", { type: "button", class: "small", onclick: reopen }, t("import.again")));

function reopen() {
  dialog.addEventListener("close", open, { once: true });
  dialog.close();
}

function came(sum, all) {
  const spoken = all.filter((one) => Object.keys(one.chat_messages ?? one.messages ?? one.mapping ?? {}).length); // an empty one has no answer
  const title = [...spoken].reverse().map((one) => one.title ?? one.name).find(Boolean);
  const question = title ? t("import.question", { title }) : t("import.question_any");
  const line = (name, n) => (n ? el("div", {}, el("dt", {}, t(name)), el("dd", {}, number(n))) : null);
  return el(
    "div",
    { class: "form", role: "status" },
    el("h3", {}, t("import.done")),
    el("dl", { class: "receipt" }, line("receipt.sessions", sum.sessions), line("receipt.turns", sum.turns), line("import.known", sum.known), line("import.skipped", sum.skipped)),
    sum.left_out.length ? el("details", {}, el("summary", {}, t("import.why_skipped")), el("ul", { class: "plain fine" }, sum.left_out.slice(0, 20).map((one) => el("li", {}, `${one.where}: ${one.reason}`)))) : null,
    el("p", { class: "fine" }, t("import.soon")),
    sum.turns || sum.known
      ? el("button", { type: "button", class: "main", id: "import-ask", onclick: () => { dialog.close(); talks.open(null); chat.propose(question); } }, t("import.ask", { question }))
      : null,
  );
}

async function exportAll() {
  try {
    save(await download("/api/export"), `omoide-${state.user}.jsonl`);
  } catch (problem) {
    toast(told(problem));
  }
}

async function eraseAll() {
  dialog?.close();
  const sure = await confirm({ title: t("erase.title"), text: t("erase.about", { user: state.user }), yes: t("erase.open") });
  if (!sure) return;
  try {
    const erased = await post("/api/erase", { all: true });
    await users.load();
    users.choose(state.user);
    receipt(erased.receipt);
  } catch (problem) {
    toast(told(problem));
  }
}

export function start() {
  on("import", open);
  on("export", exportAll);
  at("data").addEventListener("click", open);
  addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    open();
  });
  addEventListener("drop", (event) => {
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    open();
    if (dialog) take(event.dataTransfer.files[0]);
  });
}
