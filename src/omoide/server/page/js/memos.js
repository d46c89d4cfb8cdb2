// Memos: summary, compressed and original text.

import { all } from "./api.js";
import { at, el, fill } from "./dom.js";
import { quote, turnsOf } from "./quotes.js";
import { afterArrival, on, state, turns } from "./state.js";
import { date, newestFirst, number } from "./time.js";
import { trouble } from "./trouble.js";
import { t } from "./words.js";

const newest = turns();
let memos = [];
let sought = "";
const shown = new Map(); // which text of a memo is shown, by its id
const place = () => at("panel-memos");

async function load() {
  const still = newest();
  try {
    const found = await all("/api/memos");
    if (!still()) return;
    memos = newestFirst(found.filter((memo) => !memo.folded_into));
    draw();
  } catch (problem) {
    if (still()) fill(place(), trouble(problem, load));
  }
}

function draw() {
  if (!memos.length) return fill(place(), el("div", { class: "stack" }, el("h2", {}, t("memos.title")), none()));
  const list = el("ul", { class: "stack" });
  const search = el("input", {
    type: "search",
    value: sought,
    placeholder: t("memos.search"),
    "aria-label": t("memos.search"),
    oninput: (event) => {
      sought = event.target.value;
      show(list);
    },
  });
  fill(place(), el("div", { class: "stack" }, el("div", { class: "lead" }, el("h2", {}, t("memos.title")), el("p", { class: "fine" }, t("memos.about"))), search, list));
  show(list);
}

function show(list) {
  const wanted = sought.toLocaleLowerCase();
  const found = memos.filter((memo) => `${memo.topic} ${memo.addressed} ${memo.compressed}`.toLocaleLowerCase().includes(wanted));
  const topics = Map.groupBy ? Map.groupBy(found, (memo) => memo.topic) : group(found);
  fill(list, found.length ? [...topics.values()].map((members) => el("li", { class: "card" }, members.map((memo, i) => card(memo, i === 0)))) : el("li", { class: "fine" }, t("memos.nothing")));
}

function group(found) {
  const topics = new Map();
  for (const memo of found) topics.set(memo.topic, [...(topics.get(memo.topic) ?? []), memo]);
  return topics;
}

function none() {
  const off = state.about && ![...state.about.mechanisms, ...state.about.layers].some((name) => ["memos", "memochat", "compressed-memos"].includes(name));
  return el(
    "div",
    { class: "empty" },
    el("strong", {}, t("memos.none")),
    el("span", {}, t(off ? "memos.off" : "memos.soon")),
  );
}

function card(memo, first) {
  const topic = memo.topic || t("memos.unknown");
  const body = el("div", {});
  const kinds = ["summary", "compressed", "original"];
  const buttons = kinds.map((kind) =>
    el("button", { type: "button", onclick: () => { shown.set(memo.id, kind); write(); } }, t(`memos.${kind}`)),
  );
  async function write() {
    const kind = shown.get(memo.id) ?? "summary";
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(kinds[i] === kind)));
    if (kind === "summary") fill(body, el("p", { class: "body", dir: "auto" }, memo.addressed));
    else if (kind === "compressed") fill(body, el("p", { class: "body", dir: "auto" }, memo.compressed), el("p", { class: "fine" }, t("memos.method", { name: memo.method })));
    else {
      try {
        const said = await turnsOf(memo.sources);
        const whole = said.reduce((sum, turn) => sum + turn.text.length, 0);
        fill(body, el("div", { class: "stack" }, said.map(quote), whole ? el("p", { class: "fine" }, t("memos.kept", { n: number((100 * memo.compressed.length) / whole) })) : null));
      } catch (problem) {
        fill(body, trouble(problem, write));
      }
    }
  }
  write();
  return el(
    "article",
    { class: "stack" },
    el("div", { class: "top" }, first ? el("h2", { dir: "auto" }, topic) : el("span", {}), el("span", { class: "fine" }, date(memo.time))),
    body,
    el("div", { class: "choice", role: "group", "aria-label": topic }, buttons),
  );
}

export function start() {
  on("user", async () => {
    newest();
    sought = "";
    await afterArrival("memos");
    load();
  });
  on("digested changed language", load);
}
