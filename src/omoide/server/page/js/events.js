// Events on a timeline, and their forgetting curves: now, and after each recall.

import { all, get } from "./api.js";
import * as chart from "./chart.js";
import { months } from "./chunks.js";
import { at, colour, el, fill } from "./dom.js";
import { quote, turnsOf } from "./quotes.js";
import { afterArrival, on, state, turns } from "./state.js";
import { date, inDays, month, newestFirst, now, percent } from "./time.js";
import { trouble } from "./trouble.js";
import { t } from "./words.js";

const SPANS = [365, 1095, 3650];
const NEWEST = 40; // events with curves
const newest = turns();
let events = [];
let curves = new Map(); // by the event's id
let over = new Map(); // when the facts ended that events were made from, by the fact's id
let before = new Map(); // curves as they were before a recall changed them
let chosen = null;
let days = 1095;
let list = null; // Chunks of the events
let canvas = null;
let running = 0;
const place = () => at("panel-events");
const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

async function load(live = false) {
  const still = newest();
  try {
    const [found, drawn] = await Promise.all([all("/api/events"), get("/api/events/curves", { days, limit: NEWEST })]);
    const fresh = new Map(drawn.items.map((curve) => [curve.event.id, curve]));
    const ended = await ends(found.filter((event) => event.fact && !event.superseded_by && !fresh.has(event.id)));
    if (!still()) return;
    over = ended;
    const grown = [...fresh.values()].filter((curve) => live && (curves.get(curve.event.id)?.event.recalls ?? curve.event.recalls) < curve.event.recalls);
    for (const curve of grown) before.set(curve.event.id, curves.get(curve.event.id));
    const old = curves;
    events = newestFirst(found);
    curves = fresh;
    if (grown.length) chosen = grown[0].event.id;
    chosen ??= neediest();
    draw();
    if (grown.length && !calm()) animate(old, fresh);
  } catch (problem) {
    if (still()) fill(place(), trouble(problem, () => load()));
  }
}

/** When the facts of the newest events without a curve ended, or expired. What happened, such as a
 * journey, stays so. */
async function ends(uncurved) {
  const ids = uncurved.slice(-NEWEST).map((event) => event.fact);
  const facts = ids.length ? await all("/api/facts", { id: ids }) : [];
  const past = (time) => time && new Date(time) <= now();
  return new Map(facts.filter((fact) => fact.kind !== "event").map((fact) => [fact.id, [fact.ended, fact.expires].find(past)]));
}

/** The event that a recall would strengthen most: its two curves are furthest apart. */
function neediest() {
  const gain = (curve) => curve.recalled.at(-1)[1] - curve.fading.at(-1)[1];
  return [...curves.values()].sort((a, b) => gain(b) - gain(a))[0]?.event.id ?? null;
}

function draw() {
  if (!events.length) return fill(place(), el("div", { class: "stack" }, el("h2", {}, t("events.title")), none()));
  canvas = el("div", { class: "chart" });
  const spans = SPANS.map((span) =>
    el("button", { type: "button", "aria-pressed": String(span === days), onclick: () => { days = span; load(); } }, t(`events.span${span}`)),
  );
  fill(
    place(),
    el(
      "div",
      { class: "stack" },
      el("div", { class: "lead" }, el("h2", {}, t("events.title")), el("p", { class: "fine" }, t("events.about"))),
      el("figure", { class: "stack" }, el("div", { class: "choice", role: "group", "aria-label": t("events.ahead") }, spans), el("figcaption", { class: "chosen", dir: "auto" }), canvas, el("p", { class: "fine under-pointer", id: "under-pointer" }), legend(), el("p", { class: "fine", id: "recall-effect" })),
      el("div", { class: "months", id: "happened" }),
    ),
  );
  list?.clear();
  list = months(at("happened"), place(), events, row);
  plot();
}

const helps = (curve) => curve.recalled.at(-1)[1] - curve.fading.at(-1)[1] > 0.005;

const legend = () =>
  chart.key(["now", t("events.now")], ...(curves.has(chosen) && helps(curves.get(chosen)) ? [["dashed", t("events.recalled")]] : []), ...(before.has(chosen) ? [["ghost", t("events.before")]] : []), ["level", t("events.level")]);

/** The chart; `mixed` gives an event's points during the animation. */
function plot(mixed = null) {
  if (!canvas?.isConnected) return;
  place().querySelector(".chosen").textContent = events.find((event) => event.id === chosen)?.addressed ?? "";
  at("under-pointer").textContent = t("events.point");
  if (!canvas.clientWidth) return;
  const series = [];
  const faint = colour("--soft");
  const points = (curve) => [...curve.since.slice(0, -1), ...(mixed?.get(curve.event.id) ?? curve.fading)];
  for (const curve of curves.values()) {
    if (curve.event.id !== chosen) series.push({ id: curve.event.id, points: points(curve), colour: faint, width: 1.5, alpha: 0.45 });
  }
  const mine = curves.get(chosen);
  if (mine) {
    const ghost = before.get(chosen);
    if (ghost) series.push({ points: ghost.fading, colour: colour("--soft"), width: 1.5, dash: [2, 3] });
    if (helps(mine)) series.push({ points: mine.recalled, colour: colour("--good"), width: 2, dash: [6, 4] });
    series.push({ id: chosen, points: points(mine), colour: colour("--accent"), width: 2.5 });
  }
  at("recall-effect").textContent = mine ? effect(mine) : "";
  const level = [...curves.values()][0]?.threshold ?? 0.86;
  const label = mine ? t("events.chart", { text: mine.event.addressed, p: percent(mine.fading[0][1]), later: percent(mine.fading.at(-1)[1]), again: percent(mine.recalled.at(-1)[1]), days }) : t("events.title");
  chart.lines(canvas, { label, series, level, days, format: (day) => (day === 0 ? t("now") : inDays(day)), point: under, choose });
}

/** The day on which a line falls below a level; null if it does not. */
function fall(points, level) {
  const after = points.findIndex(([, p]) => p < level);
  if (after < 1) return points[after]?.[0] ?? null;
  const [[x0, y0], [x1, y1]] = [points[after - 1], points[after]];
  return x0 + ((x1 - x0) * (y0 - level)) / (y0 - y1);
}

/** What a recall today would do. */
function effect(curve) {
  const [alone, recalled] = [curve.fading, curve.recalled].map((points) => fall(points, curve.threshold));
  if (curve.fading[0][1] < curve.threshold) return t("events.effect_back");
  if (alone === null) return t("events.effect_none");
  const [when, then] = [alone, recalled ?? 0].map((days) => month(new Date(now().getTime() + days * 86_400_000)));
  if (recalled === null) return t("events.effect_beyond", { when });
  return then === when ? t("events.effect_same", { when }) : t("events.effect", { when, then });
}

/** Say which event is under the pointer. */
function under(id, day, p) {
  const event = events.find((one) => one.id === id);
  at("under-pointer").textContent = event ? t("events.pointed", { text: event.addressed, p: percent(p), when: inDays(day) }) : t("events.point");
}

function choose(id) {
  list.reveal((event) => event.id === id);
  place().querySelector(`[data-event="${CSS.escape(id)}"] > button`)?.click();
}

function animate(from, to) {
  const mine = ++running;
  const began = performance.now();
  const step = (time) => {
    if (mine !== running) return;
    const share = Math.min((time - began) / 900, 1);
    const eased = 1 - (1 - share) ** 3;
    const mixed = new Map();
    for (const [id, curve] of to) {
      const old = from.get(id);
      if (old?.fading.length === curve.fading.length) mixed.set(id, curve.fading.map(([x, y], i) => [x, old.fading[i][1] + (y - old.fading[i][1]) * eased]));
    }
    plot(share < 1 ? mixed : null);
    if (share < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}


function row(event) {
  const curve = curves.get(event.id);
  const p = curve?.fading[0][1] ?? 0; // only the newest that may come to mind have a curve
  const gone = curve ? fall(curve.fading, curve.threshold) : null; // the same day whatever span is shown
  const inner = el("div", { class: "inner", hidden: true });
  const pick = () => {
    chosen = event.id;
    for (const button of place().querySelectorAll(".happened > button")) button.setAttribute("aria-pressed", "false");
    button.setAttribute("aria-pressed", "true");
    place().querySelector(".key").replaceWith(legend());
    plot();
    sources(event, inner);
  };
  const since = event.superseded_by ? events.find((one) => one.id === event.superseded_by)?.time : over.get(event.fact);
  const untrue = Boolean(event.superseded_by || since);
  const facts = untrue
    ? [t("events.gone", { when: since ? date(since) : "" })]
    : [
        curve ? t("events.p", { p: percent(p) }) : null,
        event.recalls ? t("events.recalls", { n: event.recalls, when: date(event.last_recalled) }) : t("events.never"),
        curve && (gone === null ? t("events.stays") : t("events.reach", { when: inDays(gone) })),
      ].filter(Boolean);
  const button = el(
    "button",
    { type: "button", "aria-pressed": String(event.id === chosen), onclick: pick },
    el("span", { class: "text", dir: "auto" }, event.addressed),
    el("span", { class: "fine" }, el("span", {}, date(event.time)), facts.map((fact) => el("span", {}, fact))),
  );
  return el("li", { class: untrue ? "happened gone" : "happened", "--vivid": Math.max(0, (p - 0.5) * 2), "data-event": event.id }, button, inner);
}

async function sources(event, inner) {
  const open = inner.hidden;
  for (const other of place().querySelectorAll(".happened .inner")) other.hidden = true;
  inner.hidden = !open;
  if (!open) return;
  try {
    fill(inner, (await turnsOf(event.sources)).map(quote));
  } catch (problem) {
    fill(inner, trouble(problem));
  }
}

function none() {
  const off = state.about && ![...state.about.mechanisms, ...state.about.layers].some((name) => ["human-recall", "generative-agents"].includes(name));
  return el(
    "div",
    { class: "empty" },
    el("strong", {}, t("events.none")),
    el("span", {}, t(off ? "events.off" : "events.soon")),
  );
}

export function start() {
  on("user", async () => {
    newest();
    chosen = null;
    events = [];
    curves = new Map();
    before = new Map();
    await afterArrival("events");
    load();
  });
  on("said", () => load(true));
  on("digested changed", () => load());
  on("language theme", () => events.length ? draw() : load());
  on("tab", () => state.tab === "events" && plot());
}
