// Why something was recalled for the latest reply, and what another message would recall.

import { all, get, post } from "./api.js";
import { at, el, fill } from "./dom.js";
import { turnsOf } from "./quotes.js";
import { on, state, turns } from "./state.js";
import { date, longDate, moment, now, number } from "./time.js";
import { trouble } from "./trouble.js";
import { t } from "./words.js";

const newest = turns();
const place = () => at("panel-why");
let tried = "";
let again = false; // whether the reasons were recomputed afterwards

/** What memory contributed to the latest reply: known to this tab, to the server, or recomputed. */
async function load() {
  const still = newest();
  try {
    let latest = state.latest ?? (await get("/api/latest")).latest;
    again = false;
    if (!latest) latest = await worked();
    const weighed = latest ? await weigh(latest.text, latest.time) : [];
    if (latest) latest = { ...latest, contributions: await asSaid(latest.contributions, weighed) };
    if (still()) draw(latest, weighed);
  } catch (problem) {
    if (still()) fill(place(), trouble(problem, load));
  }
}

/** What memory would add to the prompt of a reply to this text, now. */
const gather = async (text) => (await post("/api/context", { text })).contributions;

const weigh = async (text, time) => (await post("/api/explain", time ? { text, at: time } : { text })).items;

/** What was recalled, as it was said: turns in their own words instead of the prompt's, sentences of
 * the memory with the time when they were said instead of that of their version, events without the
 * prompt's "three months ago", since their date stands beside them. */
async function asSaid(contributions, weighed) {
  const events = new Map(weighed.map((item) => [item.event.id, item.event.addressed]));
  const sources = (item) => ({ turn: [item.id], sentence: item.sources })[item.kind] ?? [];
  const [found, ended] = await Promise.all([turnsOf([...new Set(contributions.flatMap(sources))]), endedOn(contributions)]);
  const known = new Map(found.map((turn) => [turn.id, turn]));
  return contributions.map((item) => {
    if (events.has(item.id)) return { ...item, addressed: events.get(item.id) };
    const over = ended.filter((fact) => (item.kind === "turn" ? fact.sources.includes(item.id) : fact.text === item.text || fact.id === item.id));
    const turn = known.get(sources(item).findLast((id) => known.has(id)));
    if (!turn) return { ...item, over };
    return { ...item, over, time: turn.time, addressed: item.kind === "turn" ? turn.text : item.addressed };
  });
}

/** The facts behind what was recalled that hold no longer. */
async function endedOn(contributions) {
  const turn = [...new Set(recalled(contributions).flatMap((item) => item.sources))];
  if (!turn.length) return [];
  const facts = await all("/api/facts", { turn, ended: true });
  return facts.filter((fact) => fact.ended && new Date(fact.ended) <= now());
}

/** The user's last message, for when the server no longer knows the contributions to its reply. */
async function worked() {
  const last = state.talks[0];
  if (!last) return null;
  const said = (await all("/api/turns", { session: last.number })).filter((turn) => turn.speaker === "user");
  if (!said.length) return null;
  again = true;
  const turn = said.at(-1);
  return { text: turn.text, time: turn.time, session: turn.session, contributions: await gather(turn.text) };
}

function draw(latest, weighed) {
  fill(
    place(),
    el(
      "div",
      { class: "stack" },
      latest ? last(latest, weighed) : [el("h2", {}, t("why.title")), el("div", { class: "empty" }, el("strong", {}, t("why.none")), el("span", {}, t("why.how")))],
      tryIt(),
    ),
  );
}

/** What was recalled, events with their figures first. */
const recalled = (contributions) => contributions.filter((c) => c.place === "recalled").sort((a, b) => Boolean(b.odds) - Boolean(a.odds));

/** The events that were weighed and are not among the contributions. */
function others(weighed, contributions) {
  const ids = new Set(contributions.map((c) => c.id));
  return weighed.filter((item) => !ids.has(item.event.id));
}

function last(latest, weighed) {
  const came = recalled(latest.contributions);
  const standing = latest.contributions.filter((c) => c.place === "memory");
  const rest = others(weighed, came);
  return [
    el("div", { class: "lead" }, el("h2", {}, t("why.title")), el("p", { class: "fine" }, t(again ? "why.again" : "why.said", { when: moment(latest.time) }))),
    el("div", { class: "quote" }, el("p", { dir: "auto" }, latest.text)),
    came.length ? el("ul", { class: "stack" }, came.map(contribution)) : el("p", { class: "fine" }, t("why.nothing")),
    standing.length ? el("p", { class: "fine" }, t("why.standing", { n: standing.length })) : null,
    rest.length
      ? el("details", { class: "others" }, el("summary", {}, t("why.others", { n: rest.length })), el("ul", { class: "stack" }, rest.slice(0, 12).map(event)))
      : null,
  ].filter(Boolean);
}

function contribution(item) {
  return el(
    "li",
    { class: "card" },
    el("div", { class: "top" }, el("span", { class: "badge accent" }, t(`kind.${item.kind}`)), el("span", { class: "fine" }, date(item.time))),
    el("p", { dir: "auto" }, item.addressed),
    el("p", { class: "fine" }, plainly(item)),
    (item.over ?? []).map((fact) => el("p", { class: "over" }, el("span", { class: "badge warn" }, t("why.over", { when: longDate(fact.ended) })), " ", el("span", { dir: "auto" }, fact.addressed))),
    el("details", { class: "deeper" }, el("summary", {}, t("why.deeper")), item.odds ? odds(item.odds) : el("p", { class: "fine" }, reason(item))),
  );
}

/** Why it came to mind, in a sentence. */
function plainly(item) {
  const when = longDate(item.time);
  if (item.odds) return t(item.odds.t < 30 ? "why.event_fresh" : "why.event_old", { when });
  if (item.kind === "sentence" && item.sources.length) return t("why.sentence", { when });
  return t({ turn: "why.you_said", memo: "why.memo" }[item.kind] ?? "why.fact", { when });
}

function reason(item) {
  const rank = /rank (\d+)/.exec(item.why);
  const cosine = /cosine (-?[\d.]+)/.exec(item.why);
  if (rank) return t("why.rank", { n: rank[1] });
  if (cosine) return t("why.near", { n: number(Number(cosine[1]), 2) });
  return item.why;
}

function event(item) {
  const verdict = item.recalled ? "good" : item.event.superseded_by ? "warn" : "";
  return el(
    "li",
    { class: "card" },
    el("div", { class: "top" }, el("span", { class: `badge ${verdict}` }, t(item.recalled ? "why.came" : "why.not")), el("span", { class: "fine" }, date(item.event.time))),
    el("p", { dir: "auto" }, item.event.addressed),
    el("p", { class: "fine" }, item.recalled ? t(item.odds.t < 30 ? "why.event_fresh" : "why.event_old", { when: longDate(item.event.time) }) : because(item)),
    el("details", { class: "deeper" }, el("summary", {}, t("why.deeper")), odds(item.odds)),
  );
}

function because(item) {
  if (item.event.superseded_by) return t("why.superseded");
  const { r, p, k } = item.odds;
  if (p > k) return item.why.startsWith("yields") ? t("why.yields") : t("why.likelier");
  const fresh = -Math.expm1(-r) / -Math.expm1(-1);
  return t(fresh > k ? "why.faded" : "why.far");
}

function odds({ r, t: days, g, p, k }) {
  const figure = (name, letter, value) => el("div", {}, el("dt", {}, el("b", {}, letter), el("span", {}, t(name))), el("dd", {}, value));
  return el(
    "div",
    { class: "stack" },
    el("dl", { class: "odds" }, figure("odds.r", "r", number(r, 2)), figure("odds.t", "t", t("odds.days", { n: number(days, days < 10 ? 1 : 0) })), figure("odds.g", "g", number(g, 2)), figure("odds.p", "p", number(p, 2))),
    el("div", { class: p > k ? "meter over" : "meter", "--p": p, "--k": k, role: "img", "aria-label": t("odds.meter", { p: number(p, 2), k: number(k, 2) }) }, el("i", {}), el("b", {})),
  );
}

function tryIt() {
  const found = el("ul", { class: "stack", "aria-live": "polite" });
  const field = el("input", { id: "try", value: tried, placeholder: t("why.example"), autocomplete: "off" });
  const go = async (submit) => {
    submit.preventDefault();
    tried = field.value.trim();
    if (!tried) return;
    try {
      const [gathered, weighed] = await Promise.all([gather(tried), weigh(tried)]);
      const came = await asSaid(recalled(gathered), weighed);
      const nothing = el("li", { class: "fine" }, t("why.nothing"));
      fill(found, came.length ? came.slice(0, 8).map(contribution) : nothing, others(weighed, came).slice(0, 8).map(event));
    } catch (problem) {
      fill(found, el("li", {}, trouble(problem)));
    }
  };
  return el(
    "form",
    { class: "stack", onsubmit: go },
    el("label", { for: "try" }, el("h3", {}, t("why.try"))),
    el("div", { class: "try" }, field, el("button", { type: "submit" }, t("why.go"))),
    found,
  );
}

export function start() {
  on("user", () => {
    newest();
    tried = "";
  });
  on("talks latest digested changed language", load);
}
