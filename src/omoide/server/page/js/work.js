// Work in the background: looked for often while there is some, and seldom while there is none.

import { get } from "./api.js";
import { at } from "./dom.js";
import { on, state, tell } from "./state.js";
import { t } from "./words.js";
import * as talks from "./talks.js";

const OFTEN = 1500;
const SELDOM = 20_000;
let timer = null;
let looking = false;

async function look() {
  clearTimeout(timer);
  if (looking || document.hidden || !state.about) return again(SELDOM);
  looking = true;
  try {
    const jobs = (await get("/api/jobs", { state: ["waiting", "running", "dead"], limit: 1000 })).items;
    const digests = (list) => list.filter((job) => job.task === "digest" && job.state !== "dead").length;
    const fewer = digests(jobs) < digests(state.work);
    const other = JSON.stringify(jobs) !== JSON.stringify(state.work);
    state.work = jobs;
    pill();
    if (fewer) {
      await talks.load();
      tell("digested");
    }
    if (other) tell("jobs");
  } catch {
    // The server is away for a moment: what is wrong is told where something is asked of it.
  } finally {
    looking = false;
  }
  again(state.work.some((job) => job.state !== "dead") || state.busy ? OFTEN : SELDOM);
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
  on("user work said", () => again(0));
  on("language", pill);
  document.addEventListener("visibilitychange", () => document.hidden || again(0));
  at("work-pill").addEventListener("click", () => tell("show", "cost"));
}
