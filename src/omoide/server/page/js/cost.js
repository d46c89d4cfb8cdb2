// Cost by session, and background jobs.

import { get, post } from "./api.js";
import * as chart from "./chart.js";
import { at, el, fill } from "./dom.js";
import { on, state, tell, turns } from "./state.js";
import { date, number, shortDate } from "./time.js";
import { trouble } from "./trouble.js";
import { t } from "./words.js";

const MOST = 24;
const newest = turns();
let cost = null;
const place = () => at("panel-cost");

async function load() {
  const still = newest();
  try {
    const found = await get("/api/cost", { by: "session" });
    if (!still()) return;
    cost = found;
    draw();
  } catch (problem) {
    if (still()) fill(place(), trouble(problem, load));
  }
}

function draw() {
  if (!cost) return;
  const { total } = cost;
  fill(
    place(),
    el(
      "div",
      { class: "stack" },
      el("div", { class: "lead" }, el("h2", {}, t("cost.title")), el("p", { class: "fine" }, t("cost.about"))),
      work(),
      total.calls
        ? [
            el("dl", { class: "sums" }, sum("cost.calls", number(total.calls)), sum("cost.read", number(total.prompt_tokens)), sum("cost.written", number(total.completion_tokens))),
            el("figure", { class: "stack" }, el("div", { class: "chart", id: "cost-chart" }), chart.key(["block", t("cost.written")], ["block read", t("cost.read")])),
            total.failed ? el("p", { class: "fine" }, t("cost.failed", { n: number(total.failed) })) : null,
            table(),
          ]
        : el("div", { class: "empty" }, el("strong", {}, t("cost.none"))),
    ),
  );
  plot();
}

const sum = (name, value) => el("div", {}, el("dt", {}, t(name)), el("dd", {}, value));

const session = (group) => Number(/^session (\d+)$/.exec(group.name)?.[1] ?? 0);
const talkOf = (number) => state.talks.find((card) => card.number === number);

/** The sums by conversation in order of time. What is not in the list of conversations is older. */
function inOrder() {
  const when = (group) => new Date(talkOf(session(group))?.started ?? 0);
  return [...cost.groups].sort((one, other) => when(one) - when(other) || session(one) - session(other));
}

function named(group, format = date) {
  const talk = talkOf(session(group));
  if (talk) return format(talk.started);
  return session(group) ? t("cost.session", { n: session(group) }) : t("cost.no_session");
}

function plot() {
  const canvas = at("cost-chart");
  if (!canvas?.clientWidth) return;
  const groups = inOrder().filter(session).slice(-MOST);
  if (!groups.length) return canvas.parentElement.remove();
  chart.bars(canvas, {
    label: t("cost.chart", { n: groups.length }),
    names: groups.map((group) => named(group, shortDate)),
    below: groups.map((group) => group.prompt_tokens),
    above: groups.map((group) => group.completion_tokens),
  });
}

function table() {
  const recent = inOrder().slice(-MOST);
  const older = cost.groups.length - recent.length;
  const head = ["cost.where", "cost.calls", "cost.read", "cost.written", "cost.time"];
  return el(
    "table",
    {},
    el("caption", {}, t("cost.by"), older ? ` · ${t("cost.older", { n: number(older) })}` : null),
    el("thead", {}, el("tr", {}, head.map((name) => el("th", { scope: "col" }, t(name))))),
    el(
      "tbody",
      {},
      recent.map((group) =>
        el(
          "tr",
          {},
          el("th", { scope: "row" }, named(group)),
          el("td", {}, number(group.calls)),
          el("td", {}, number(group.prompt_tokens)),
          el("td", {}, number(group.completion_tokens)),
          el("td", {}, group.seconds ? t("seconds", { n: number(group.seconds, 1) }) : "–"),
        ),
      ),
    ),
  );
}

function work() {
  const jobs = state.work;
  if (!jobs.length) return el("p", { class: "fine" }, t("work.none"));
  const going = jobs.filter((job) => job.state !== "dead");
  const digests = going.filter((job) => job.task === "digest");
  const ended = digests.length + state.digested;
  const done = state.digested;
  return el(
    "section",
    { class: "stack", "aria-label": t("work.title") },
    going.length ? el("h3", {}, t("work.title")) : null,
    digests.length ? el("progress", { max: ended, value: done, "aria-label": t("work.progress", { done, of: ended }) }) : null,
    digests.length ? el("p", { class: "fine" }, t("work.progress", { done, of: ended })) : null,
    el("ul", { class: "jobs" }, jobs.map(job)),
  );
}

function job(one) {
  const talk = talkOf(one.session);
  const what = one.task === "embed" ? t("work.embed") : talk ? t("work.digest", { when: date(talk.started) }) : t("work.digest_number", { n: one.session });
  const mood = { running: "good", dead: "warn" }[one.state] ?? "";
  return el(
    "li",
    { class: "card" },
    el("div", { class: "top" }, el("span", {}, what), el("span", { class: `badge ${mood}` }, t(`work.${one.state}`))),
    one.attempts > 1 ? el("p", { class: "fine" }, t("work.tries", { n: one.attempts })) : null,
    one.state === "dead" ? el("p", {}, t("work.failed")) : null,
    one.error ? el("p", { class: "fine" }, t("work.reason", { reason: one.error })) : null,
    one.state === "dead" ? el("div", { class: "row" }, el("span", { class: "fine" }, t("work.stands")), el("button", { type: "button", class: "small", onclick: () => retry(one) }, t("work.retry"))) : null,
  );
}

async function retry(one) {
  try {
    await post("/api/jobs/retry", { job: one.id });
    tell("work");
  } catch (problem) {
    fill(place(), trouble(problem, load));
  }
}

export function start() {
  on("user", () => {
    newest();
    cost = null;
  });
  on("talks said digested changed language jobs", load); // a job that was given up has made calls too
  on("theme listed", draw); // the list has the dates by which conversations are named
  on("tab", () => state.tab === "cost" && draw());
}
