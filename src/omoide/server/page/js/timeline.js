// The timeline of a life: what began, changed and ended, and a slider to any day of it.

import { all, get } from "./api.js";
import { months } from "./chunks.js";
import { at, el, fill } from "./dom.js";
import { quote, turnsOf } from "./quotes.js";
import { turns } from "./state.js";
import { date, longDate, now } from "./time.js";
import { trouble } from "./trouble.js";
import { t } from "./words.js";

const DAY = 86_400_000;
const newest = turns();
let moments = []; // entries of the timeline, newest first
let list = null; // Chunks of the entries that are shown
let day = null; // days after the first entry; null for now

/** Load the entries. */
export async function load(still) {
  const found = await all("/api/facts/timeline");
  if (still()) moments = found.reverse();
}

export function clear() {
  moments = [];
  day = null;
}

const midnight = (time) => new Date(time).setHours(0, 0, 0, 0);
const first = () => midnight(moments.at(-1).time);
const last = () => Math.max(0, Math.round((midnight(now()) - first()) / DAY));
/** The end of the chosen day. Days on which the clock is changed are longer or shorter. */
function then() {
  if (day === null) return now();
  const next = new Date(first());
  return new Date(next.setDate(next.getDate() + day + 1) - 1);
}

/** The slider, the memory of the chosen day, and the entries up to it; null if there are none. */
export function draw() {
  if (!moments.length) return null;
  return [slider(), el("section", { class: "stack then", id: "then", "aria-live": "polite" }), el("div", { class: "months", id: "moments" })];
}

/** Fill what `draw` made, once it is in the document. */
export function drawn() {
  if (!at("moments")) return;
  entries();
  memory();
}

function slider() {
  const most = last();
  const value = day ?? most;
  const label = () => (day === null ? t("now") : longDate(then()));
  const output = el("output", { for: "day" }, label());
  const input = el("input", { type: "range", id: "day", min: 0, max: most, step: 1, value, list: "days", "aria-valuetext": label() });
  input.addEventListener("input", () => {
    day = Number(input.value) === most ? null : Number(input.value);
    output.textContent = label();
    input.setAttribute("aria-valuetext", label());
    entries();
    memory();
  });
  const days = [...new Set(moments.map((entry) => Math.round((midnight(entry.time) - first()) / DAY)))];
  return el(
    "div",
    { class: "time" },
    el("div", { class: "row" }, el("label", { for: "day" }, t("timeline.slider")), output),
    input,
    el("datalist", { id: "days" }, days.map((one) => el("option", { value: one }))),
    el("div", { class: "row fine" }, el("span", {}, date(first())), el("span", {}, t("now"))),
  );
}

/** The entries up to the chosen day. */
function entries() {
  const until = then();
  const shown = moments.filter((entry) => new Date(entry.time) <= until);
  list?.clear();
  fill(at("moments"));
  list = months(at("moments"), at("panel-facts"), shown, row);
}

/** The summary as it was on the chosen day. */
async function memory() {
  const still = newest();
  const place = at("then");
  if (day === null) return fill(place);
  try {
    const { items } = await get("/api/memory/why", { at: then().toISOString() });
    if (!still()) return;
    fill(
      place,
      el("h3", {}, t("timeline.then", { when: longDate(then()) })),
      items.length ? el("ul", { class: "plain" }, items.map((item) => el("li", { dir: "auto" }, item.sentence.addressed))) : el("p", { class: "fine" }, t("timeline.nothing")),
    );
  } catch (problem) {
    if (still()) fill(place, trouble(problem, memory));
  }
}

async function show(inner, entry) {
  try {
    const said = await turnsOf(entry.sources);
    fill(inner, said.length ? said.map(quote) : el("p", { class: "fine" }, t("memory.why_unsupported")));
  } catch (problem) {
    fill(inner, trouble(problem, () => show(inner, entry)));
  }
}

function row(entry) {
  const inner = el("div", { class: "inner", hidden: true });
  const over = ["ended", "expired"].includes(entry.change);
  const button = el(
    "button",
    { type: "button", "aria-expanded": "false" },
    el("span", { class: "fine" }, `${date(entry.time)} · ${t(`change.${entry.change}`)}`),
    el(over ? "del" : "span", { class: "text", dir: "auto" }, entry.fact.addressed),
    entry.replaced.map((old) => el("span", { class: "fine", dir: "auto" }, t("facts.before", { text: old.addressed }))),
    entry.reason ? el("span", { class: "fine", dir: "auto" }, t("facts.because", { text: entry.reason_addressed })) : null,
  );
  button.addEventListener("click", async () => {
    inner.hidden = !inner.hidden;
    button.setAttribute("aria-expanded", String(!inner.hidden));
    if (inner.hidden || inner.firstChild) return;
    show(inner, entry);
  });
  return el("li", { class: over ? "moment gone" : `moment ${entry.change}` }, button, inner);
}
