// What is known about the person: what holds, in groups, each with its words.

import { get, patch, post, remove } from "./api.js";
import { confirm, prompt } from "./dialog.js";
import { at, el, fill, toast } from "./dom.js";
import * as forgetting from "./forgetting.js";
import { quote, turnsOf } from "./quotes.js";
import { on, state, tell, turns } from "./state.js";
import { date, now } from "./time.js";
import * as timeline from "./timeline.js";
import { told, trouble } from "./trouble.js";
import { t } from "./words.js";

const GROUPS = ["you", "plans", "likes", "people", "assistant"];
const newest = turns();
let facts = [];
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
    await (view === "now" ? known(still) : timeline.load(still));
    if (still()) draw();
  } catch (problem) {
    if (still()) fill(place(), trouble(problem, load));
  }
}

async function known(still) {
  let name = "";
  const found = [];
  let cursor = null;
  do {
    const page = await get("/api/facts", { limit: 1000, ...(cursor ? { cursor } : {}) });
    found.push(...page.items);
    name = page.name;
    cursor = page.next;
  } while (cursor);
  if (!still()) return;
  state.name = name;
  facts = found;
}

function draw() {
  const title = state.name ? t("facts.title_name", { name: state.name }) : t("facts.title");
  const lead = el("div", { class: "lead" }, el("h2", { dir: "auto" }, title), el("p", { class: "fine" }, t("facts.about")));
  const choice = el("div", { class: "choice" }, ["now", "timeline"].map((name) =>
    el("button", { type: "button", "aria-pressed": String(name === view), onclick: () => { view = name; load(); } }, t(`facts.${name}`)),
  ));
  const empty = () =>
    el("div", { class: "empty" }, el("strong", {}, t("facts.none")), el("span", {}, t("facts.how")), el("button", { type: "button", class: "small", onclick: () => tell("import") }, t("import.open")));
  const shown = view === "now" ? facts.length && groups() : timeline.draw();
  const chose = document.activeElement?.closest("#panel-facts .choice");
  fill(place(), el("div", { class: "stack" }, lead, choice, shown || empty()));
  if (view === "timeline") timeline.drawn();
  if (chose) choice.querySelector('[aria-pressed="true"]').focus();
}

export function group(fact) {
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

/** From when until when it holds; one day is just that day. */
function days({ since, until }) {
  if (since && since === until) return [date(since)];
  return [since ? t("facts.since", { when: date(since) }) : null, until ? t("facts.until", { when: date(until) }) : null];
}

/** When it was said, and from when until when it holds. */
function dates(fact) {
  const past = fact.until && new Date(`${fact.until}T23:59:59`) < now();
  return [
    t(fact.trust === "corrected" ? "facts.corrected" : "facts.said", { when: date(fact.said) }),
    ...days(fact),
    past && group(fact) === "plans" ? t("facts.passed") : null,
    fact.expires ? t("facts.expires", { when: date(fact.expires) }) : null,
  ].filter(Boolean).join(" · ");
}

function row(fact) {
  if (forgetting.isGoing(fact.id)) return el("li", { class: "known" }, forgetting.notice(fact.id));
  const inner = el("div", { class: "inner", hidden: true });
  const button = el(
    "button",
    { type: "button", "aria-expanded": "false" },
    el("span", { class: "text" }, el("span", { dir: "auto" }, fact.addressed), el("span", { class: "fine" }, dates(fact))),
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
  let said;
  try {
    said = await turnsOf(fact.sources);
  } catch (problem) {
    return fill(inner, trouble(problem, () => show(inner, fact)));
  }
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
  const text = await prompt({ title: t("memory.edit"), text: t("facts.edit_about"), label: t("memory.edit_label"), value: fact.addressed, yes: t("save"), lines: 3 });
  const line = text?.split(/\s+/u).join(" ");
  if (!line || (line === fact.addressed && fact.sources.length)) return;
  await attempt(() => post("/api/facts/correct", { id: fact.id, text: line, addressed: fact.about === "user" }), t("memory.edited"));
}

async function forget(fact, said) {
  const sure = await confirm({
    title: t("memory.forget_title"),
    quote: fact.addressed,
    text: t("facts.forget_about"),
    tick: said.length ? t("memory.forget_words", { n: said.length }) : null,
    yes: t("memory.forget"),
  });
  if (!sure) return;
  const user = state.user;
  forgetting.forget(fact.id, (leaving) => remove("/api/facts", { id: fact.id, words: String(sure.ticked) }, user, leaving), () => state.user === user && draw());
}

export function start() {
  on("user", () => {
    newest();
    view = "now";
    opened = new Set();
    facts = [];
    state.name = "";
    timeline.clear();
    fill(place());
    load();
  });
  on("digested changed language", load);
  on("theme", () => view === "timeline" && state.tab === "facts" && draw());
  on("tab", () => stale && load());
}
