// The summary: each sentence with its sources, all versions, and corrections.

import { all, get, post } from "./api.js";
import { confirm, prompt } from "./dialog.js";
import { diff } from "./diff.js";
import { at, el, fill, toast } from "./dom.js";
import * as forgetting from "./forgetting.js";
import { quote } from "./quotes.js";
import { on, state, tell, turns } from "./state.js";
import { moment } from "./time.js";
import { told, trouble } from "./trouble.js";
import { language, t } from "./words.js";

const newest = turns();
let versions = [];
let chosen = null; // a version's number; null follows the newest
let changes = false; // whether to show what changed
let opened = new Set(); // texts of sentences whose sources are shown

const place = () => at("panel-memory");
const top = () => versions.at(-1)?.number ?? 0;

/** Reload all versions. */
async function load() {
  const still = newest();
  try {
    const found = await all("/api/memory/versions");
    if (!still()) return;
    versions = found;
    if (chosen !== null && chosen > top()) chosen = null;
    await draw(still);
  } catch (problem) {
    if (still()) fill(place(), trouble(problem, load));
  }
}

async function draw(still = newest()) {
  if (!versions.length) return fill(place(), empty());
  const number = chosen ?? top();
  const [why, changed] = await Promise.all([
    get("/api/memory/why", chosen === null ? {} : { version: number }),
    number ? get("/api/memory/diff", { from: number - 1, to: number }) : { items: [] },
  ]);
  if (!still()) return;
  if (state.name !== why.name) {
    state.name = why.name;
    tell("name");
  }
  const slider = document.activeElement?.id === "version";
  fill(place(), el("div", { class: "stack" }, lead(number), through(number), facts(number, why.items, changed.items)));
  if (slider) at("version").focus();
}

function empty() {
  return el(
    "div",
    { class: "stack" },
    el("h2", {}, t("memory.title")),
    el("div", { class: "empty" }, el("strong", {}, t("memory.none")), el("span", {}, t("memory.how")), el("button", { type: "button", class: "small", onclick: () => tell("import") }, t("import.open"))),
  );
}

function lead(number) {
  const version = versions.find((v) => v.number === number);
  const how = version ? t(`origin.${version.origin}`, { n: version.restored ?? 0 }) : t("origin.nothing");
  return el(
    "div",
    { class: "lead" },
    el("h2", {}, t("memory.title")),
    el("p", { class: "fine" }, version ? `${how} · ${moment(version.time)}` : how),
  );
}

function through(number) {
  const slide = (event) => {
    chosen = Number(event.target.value);
    if (chosen === top()) chosen = null;
    changes = true;
    draw().catch((problem) => toast(told(problem)));
  };
  const text = t("memory.version", { n: number, of: top() });
  return el(
    "div",
    { class: "time" },
    el(
      "div",
      { class: "row" },
      el("output", { for: "version" }, text),
      el(
        "button",
        { type: "button", class: "quiet small", "aria-pressed": String(changes), onclick: () => { changes = !changes; draw(); } },
        t(changes ? "memory.plain" : "memory.changes"),
      ),
    ),
    el("label", { class: "unseen", for: "version" }, t("memory.slider")),
    el("input", { type: "range", id: "version", min: 0, max: top(), step: 1, value: number, "aria-valuetext": text, oninput: slide }),
    number === top()
      ? null
      : el("div", { class: "row" }, el("span", { class: "fine" }, t("memory.old")), el("button", { type: "button", class: "small", onclick: () => back(number) }, t("memory.back"))),
  );
}

function facts(number, why, changed) {
  if (!why.length && !(changes && changed.length)) return el("p", { class: "fine" }, t("memory.blank"));
  const by = new Map(why.map((item) => [item.sentence.text, item]));
  const rows = changes
    ? changed.map((c) => (c.change === "removed" ? gone(c.old_addressed) : fact(number, by.get(c.new), c)))
    : why.map((item) => fact(number, item, null));
  return el("ul", { class: "facts" }, rows.filter(Boolean));
}

const gone = (text) =>
  el("li", { class: "fact gone" }, el("span", { class: "unseen" }, t("memory.removed")), el("del", { dir: "auto" }, text));

function fact(number, item, change) {
  if (!item) return null;
  if (forgetting.isGoing(item.sentence.text)) return el("li", { class: "fact" }, forgetting.notice(item.sentence.text));
  const { sentence, turns: said } = item;
  const inner = el("div", { class: "inner", hidden: !opened.has(sentence.text) });
  const open = opened.has(sentence.text);
  const button = el(
    "button",
    { type: "button", "aria-expanded": String(open) },
    el("span", { class: "text", dir: "auto" }, marked(sentence.addressed, change)),
    said.length ? null : el("span", { class: "badge warn" }, t("memory.unsupported")),
  );
  const row = el("li", { class: open ? "fact open" : "fact" }, button, inner);
  button.addEventListener("click", () => {
    const now = inner.hidden;
    inner.hidden = !now;
    row.classList.toggle("open", now);
    button.setAttribute("aria-expanded", String(now));
    if (now) opened.add(sentence.text);
    else opened.delete(sentence.text);
  });
  fill(
    inner,
    said.length ? el("h3", {}, t("memory.sources")) : el("p", { class: "fine" }, t("memory.why_unsupported")),
    said.map(quote),
    number === top()
      ? el(
          "div",
          { class: "acts" },
          el("button", { type: "button", class: "small", onclick: () => edit(sentence, said) }, t("memory.edit")),
          el("button", { type: "button", class: "small", onclick: () => forget(sentence, said) }, t("memory.forget")),
        )
      : null,
  );
  return row;
}

function marked(text, change) {
  if (change?.change === "added") return el("ins", {}, text);
  if (change?.change !== "changed") return text;
  return diff(change.old_addressed, change.new_addressed, language()).map(([kind, part]) =>
    kind === "same" ? part : el(kind === "old" ? "del" : "ins", {}, part),
  );
}

async function attempt(work, done) {
  try {
    await work();
    toast(done);
  } catch (problem) {
    toast(told(problem));
  }
  chosen = null;
  await load();
  tell("changed");
}

async function edit(sentence, said) {
  const text = await prompt({ title: t("memory.edit"), text: t("memory.edit_about"), label: t("memory.edit_label"), value: sentence.addressed, yes: t("save"), lines: 3 });
  const line = text?.split(/\s+/u).join(" ");
  if (!line || (line === sentence.addressed && said.length)) return; // an unchanged sentence without sources may be saved: that confirms it
  await attempt(() => post("/api/memory/amend", { sentence: sentence.text, text: line, addressed: true }), t("memory.edited"));
}

async function forget(sentence, said) {
  const sure = await confirm({
    title: t("memory.forget_title"),
    quote: sentence.addressed,
    text: t("memory.forget_about"),
    tick: said.length ? t("memory.forget_words", { n: said.length }) : null,
    yes: t("memory.forget"),
  });
  if (!sure) return;
  const words = said.filter((turn) => sure.ticked || turn.id.startsWith("edit-")).map((turn) => turn.id);
  const user = state.user;
  const erase = async (leaving) => {
    const erased = words.length ? await post("/api/erase", { turns: words }, user, leaving) : null;
    const rest = await post("/api/erase", { sentences: [sentence.text] }, user, leaving);
    return erased ?? rest; // the sentence rests on the words, so it went with them
  };
  forgetting.forget(sentence.text, erase, () => state.user === user && draw());
}

async function back(number) {
  const sure = await confirm({ title: t("memory.back"), text: t("memory.back_about", { n: number }), yes: t("memory.back") });
  if (sure) await attempt(() => post("/api/memory/rollback", { version: number }), t("memory.is_back", { n: number }));
}

export function start() {
  on("user", () => {
    chosen = null;
    changes = false;
    opened = new Set();
    versions = [];
    load();
  });
  on("digested language", load);
}
