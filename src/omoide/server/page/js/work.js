// Background jobs: polled often while there are some, and rarely otherwise.

import { all } from "./api.js";
import { at } from "./dom.js";
import { on, state, tell } from "./state.js";
import { t } from "./words.js";
import * as talks from "./talks.js";

const OFTEN = 1500;
const SELDOM = 20_000;
let timer = null;
let looking = false;
let finished = null; // id of the newest finished digest job; null before the first poll
let soon = 0; // time until which jobs are expected

async function look() {
  clearTimeout(timer);
  if (looking) return again(200);
  if (document.hidden || !state.about) return again(SELDOM);
  looking = true;
  try {
    const user = state.user;
    const [jobs, ended] = await Promise.all([
      all("/api/jobs", { state: ["waiting", "running", "dead"] }),
      all("/api/jobs", { state: ["done"], ...(finished === null ? {} : { cursor: String(finished) }) }),
    ]);
    if (user !== state.user) return;
    const fresh = finished === null ? [] : ended.filter((job) => job.task === "digest"); // also those that began and ended between two polls
    const gone = state.work.filter((job) => job.task === "digest" && job.id <= (finished ?? 0) && !jobs.some((other) => other.id === job.id)); // those that were tried again
    const done = Math.max(finished ?? 0, ...ended.map((job) => job.id));
    const news = fresh.length + gone.length > 0;
    state.digested = jobs.some((job) => job.task === "digest" && job.state !== "dead") ? state.digested + fresh.length + gone.length : 0;
    const other = JSON.stringify(jobs) !== JSON.stringify(state.work);
    finished = done;
    state.work = jobs;
    pill();
    if (news) {
      await talks.load();
      tell("digested");
    }
    if (other) tell("jobs");
  } catch {
    // The server is briefly unreachable. User actions report the error; polling does not.
  } finally {
    looking = false;
  }
  again(state.work.some((job) => job.state !== "dead") || state.busy || Date.now() < soon ? OFTEN : SELDOM);
}

const again = (wait) => {
  clearTimeout(timer);
  timer = setTimeout(look, wait);
};

function pill() {
  const going = state.work.filter((job) => job.task === "digest" && job.state !== "dead").length;
  const dead = state.work.filter((job) => job.state === "dead").length;
  const button = at("work-pill");
  button.hidden = !going && !dead;
  button.classList.toggle("still", !going);
  button.textContent = going ? t("work.pill", { n: going }) : t("work.pill_dead", { n: dead });
}

export function start() {
  on("user", () => {
    finished = null;
    state.work = [];
    state.digested = 0;
    again(0);
  });
  on("work said", () => {
    soon = Date.now() + 10_000;
    again(0);
  });
  on("language", pill);
  document.addEventListener("visibilitychange", () => document.hidden || again(0));
  at("work-pill").addEventListener("click", () => tell("show", "cost"));
}
