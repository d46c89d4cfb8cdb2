// Facts about the person: what holds, in groups, and the timeline of what changed.

import { all, patch, post, remove } from "./api.js";
import { confirm, prompt } from "./dialog.js";
import { at, el, fill, toast } from "./dom.js";
import { quote } from "./quotes.js";
import { on, state, tell, turns } from "./state.js";
import { date, month, now } from "./time.js";
import { told, trouble } from "./trouble.js";
import { t } from "./words.js";

const GROUPS = ["you", "plans", "likes", "people", "assistant"];
const newest = turns();
let facts = [];
let moments = []; // entries of the timeline, newest first
let view = "now";
let stale = true; // whether what is shown may have changed
let opened = new Set(); // ids of facts whose words are shown

const place = () => at("panel-facts");

/** Load what the tab shows, once it is shown. */
async function load() {
  stale = true;
  if (state.tab !== "facts") return;
  stale = false;
  const still = newest();
  try {
    const found = await all(view === "now" ? "/api/facts" : "/api/facts/timeline");
    if (!still()) return;
    if (view === "now") facts = found;
    else moments = found.reverse();
    draw();
  } catch (problem) {
    if (still()) fill(place(), trouble(problem, load));
  }
}

function draw() {
  const lead = el("div", { class: "lead" }, el("h2", {}, t("facts.title")), el("p", { class: "fine" }, t("facts.about")));
  const choice = el("div", { class: "choice" }, ["now", "timeline"].map((name) =>
    el("button", { type: "button", "aria-pressed": String(name === view), onclick: () => { view = name; load(); } }, t(`facts.${name}`)),
  ));
  const empty = () => el("div", { class: "empty" }, el("strong", {}, t("memory.none")), el("span", {}, t("facts.how")));
  const shown = view === "now" ? facts.length && groups() : moments.length && timeline();
  const chose = document.activeElement?.closest("#panel-facts .choice");
  fill(place(), el("div", { class: "stack" }, lead, choice, shown || empty()));
  if (chose) choice.querySelector('[aria-pressed="true"]').focus();
}

function group(fact) {
  if (["plan", "promise"].includes(fact.kind)) return "plans";
  if (fact.about === "assistant") return "assistant";
  if (fact.about !== "user" || fact.kind === "relation") return "people";
  return fact.kind === "preference" ? "likes" : "you";
}

function groups() {
  return GROUPS.map((name) => {
    const members = facts.filter((fact) => group(fact) === name);
    if (!members.length) return null;
    return el("section", {}, el("h3", {}, t(`facts.group_${name}`)), el("ul", { class: "facts" }, members.map(row)));
  }).filter(Boolean);
}

/** When it was said, and from when until when it holds. */
function dates(fact) {
  const past = fact.until && new Date(`${fact.until}T23:59:59`) < now();
  return [
    t(fact.trust === "corrected" ? "facts.corrected" : "facts.said", { when: date(fact.said) }),
    fact.since ? t("facts.since", { when: date(fact.since) }) : null,
    fact.until ? t("facts.until", { when: date(fact.until) }) : null,
    past && group(fact) === "plans" ? t("facts.passed") : null,
    fact.expires ? t("facts.expires", { when: date(fact.expires) }) : null,
  ].filter(Boolean).join(" · ");
}

function row(fact) {
  const inner = el("div", { class: "inner", hidden: true });
  const button = el(
    "button",
    { type: "button", "aria-expanded": "false" },
    el("span", { class: "text" }, el("span", { dir: "auto" }, fact.text), el("span", { class: "fine" }, dates(fact))),
    fact.pinned ? el("span", { class: "badge" }, t("facts.pinned")) : null,
    fact.sources.length ? null : el("span", { class: "badge warn" }, t("memory.unsupported")),
  );
  const item = el("li", { class: "known" }, button, inner);
  const open = async (shown) => {
    inner.hidden = !shown;
    item.classList.toggle("open", shown);
    button.setAttribute("aria-expanded", String(shown));
    if (shown) opened.add(fact.id);
    else opened.delete(fact.id);
    if (shown && !inner.firstChild) await show(inner, fact);
  };
  button.addEventListener("click", () => open(inner.hidden));
  if (opened.has(fact.id)) open(true);
  return item;
}

async function show(inner, fact) {
  const said = await words(fact.sources);
  fill(
    inner,
    said.length ? el("h4", {}, t("memory.sources")) : el("p", { class: "fine" }, t("memory.why_unsupported")),
    said.map(quote),
    el(
      "div",
      { class: "acts" },
      el("button", { type: "button", class: "small", onclick: () => pin(fact) }, t(fact.pinned ? "facts.unpin" : "facts.pin")),
      el("button", { type: "button", class: "small", onclick: () => edit(fact) }, t("memory.edit")),
      el("button", { type: "button", class: "small", onclick: () => forget(fact, said) }, t("memory.forget")),
    ),
  );
}

async function words(ids) {
  if (!ids.length) return [];
  return all("/api/turns", { id: ids }).catch((problem) => {
    toast(told(problem));
    return [];
  });
}

function timeline() {
  const months = new Map();
  for (const entry of moments) {
    const name = month(entry.time);
    months.set(name, [...(months.get(name) ?? []), entry]);
  }
  return el("div", { class: "months" }, [...months].map(([name, entries]) =>
    el("section", {}, el("h3", {}, name), el("ol", { class: "line" }, entries.map(entryRow))),
  ));
}

function entryRow(entry) {
  const inner = el("div", { class: "inner", hidden: true });
  const over = ["ended", "expired"].includes(entry.change);
  const button = el(
    "button",
    { type: "button", "aria-expanded": "false" },
    el("span", { class: "fine" }, `${date(entry.time)} · ${t(`change.${entry.change}`)}`),
    el(over ? "del" : "span", { class: "text", dir: "auto" }, entry.fact.text),
    entry.replaced.map((old) => el("span", { class: "fine", dir: "auto" }, t("facts.before", { text: old.text }))),
    entry.reason ? el("span", { class: "fine", dir: "auto" }, t("facts.because", { text: entry.reason })) : null,
  );
  button.addEventListener("click", async () => {
    inner.hidden = !inner.hidden;
    button.setAttribute("aria-expanded", String(!inner.hidden));
    if (inner.hidden || inner.firstChild) return;
    const said = await words(entry.sources);
    fill(inner, said.length ? said.map(quote) : el("p", { class: "fine" }, t("memory.why_unsupported")));
  });
  return el("li", { class: over ? "moment gone" : "moment" }, button, inner);
}

async function attempt(work, done) {
  try {
    await work();
    toast(done);
  } catch (problem) {
    toast(told(problem));
  }
  tell("digested");
}

const pin = (fact) =>
  attempt(() => patch("/api/facts", { id: fact.id, pinned: !fact.pinned }), t(fact.pinned ? "facts.is_unpinned" : "facts.is_pinned"));

async function edit(fact) {
  const text = await prompt({ title: t("memory.edit"), text: t("facts.edit_about"), label: t("memory.edit_label"), value: fact.text, yes: t("save"), lines: 3 });
  const line = text?.split(/\s+/u).join(" ");
  if (!line || (line === fact.text && fact.sources.length)) return;
  await attempt(() => post("/api/facts/correct", { id: fact.id, text: line }), t("memory.edited"));
}

async function forget(fact, said) {
  const sure = await confirm({
    title: t("memory.forget_title"),
    quote: fact.text,
    text: t("facts.forget_about"),
    tick: said.length ? t("memory.forget_words", { n: said.length }) : null,
    yes: t("memory.forget"),
  });
  if (!sure) return;
  await attempt(() => remove("/api/facts", { id: fact.id, words: String(sure.ticked) }), t("memory.forgotten"));
}

export function start() {
  on("user", () => {
    view = "now";
    opened = new Set();
    [facts, moments] = [[], []];
    fill(place());
    load();
  });
  on("digested changed language", load);
  on("tab", () => stale && load());
}
