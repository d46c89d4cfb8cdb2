// The chat: past turns, and the reply as it is streamed.

import { all, stream } from "./api.js";
import { at, el, fill } from "./dom.js";
import { state, on, tell, turns } from "./state.js";
import * as demo from "./demo.js";
import * as talks from "./talks.js";
import { moment, now } from "./time.js";
import { trouble } from "./trouble.js";
import { t } from "./words.js";

const PAUSE = 10 * 60 * 1000; // milliseconds between two turns after which the time is shown
const newest = turns();
let going = null; // aborts the reply in progress
let drawing = null; // promise that resolves when the selected conversation is shown

/** Show the selected conversation; `turn` is the id of a turn to highlight. */
async function load(turn) {
  const still = newest();
  if (state.talk === null) return welcome();
  let said;
  try {
    said = await all("/api/turns", { session: state.talk });
  } catch (problem) {
    if (still()) fill(at("log"), trouble(problem, () => load(turn)));
    return;
  }
  if (!still()) return;
  fill(at("log"), said.flatMap((one, i) => [hour(said[i - 1], one), bubble(one)]));
  const wanted = turn && at(`turn-${turn}`);
  if (wanted) {
    wanted.classList.add("flash");
    wanted.scrollIntoView({ block: "center" });
  } else down(true);
}

function bubble(turn) {
  return el(
    "div",
    { class: `said ${turn.speaker}`, id: `turn-${turn.id}` },
    el("span", { class: "unseen" }, `${t(`speaker.${turn.speaker}`)}, ${moment(turn.time)}`),
    el("div", { class: "text", dir: "auto", title: moment(turn.time) }, turn.text),
  );
}

/** The time, if a while passed since the previous turn. */
function hour(before, turn) {
  if (before && new Date(turn.time) - new Date(before.time) < PAUSE) return null;
  return el("p", { class: "hour", "aria-hidden": "true" }, moment(turn.time));
}

function welcome() {
  const known = state.talks.length > 0;
  fill(
    at("log"),
    el(
      "div",
      { class: "welcome" },
      el("img", { src: "/page/mark.svg", alt: "" }),
      el("h2", {}, t(known ? "welcome.back" : "welcome.title")),
      el("p", {}, t(known ? "welcome.known" : "welcome.text")),
      el(
        "div",
        { class: "row" },
        known ? null : el("button", { type: "button", onclick: demo.toggle }, t("demo.see")),
      ),
    ),
  );
}

const near = () => at("scroll").scrollHeight - at("scroll").scrollTop - at("scroll").clientHeight < 120;
const down = (always) => {
  if (always || near()) at("scroll").scrollTop = at("scroll").scrollHeight;
};

const fresh = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

/** Send a message and show the reply as it is streamed. A retry with the same id records it once. */
async function say(text, id = `page-${fresh()}`) {
  going = new AbortController();
  busy(true);
  await state.arriving; // both must finish first, or the
  await drawing; // conversation would be drawn over the message
  const card = talks.shown();
  const key = card && !card.ended && card.key ? card.key : null;
  if (card?.ended) state.talk = null;
  if (state.talk === null) fill(at("log"));
  const mine = bubble({ id, speaker: "user", text, time: now() });
  const reply = waiting();
  at(`turn-${id}`)?.remove();
  at("log").append(mine, reply.box);
  down(true);
  let answer = "";
  let heard = false; // whether the server has recorded the message
  try {
    const body = { text, id, stream: true, ...(key ? { session: key } : {}) };
    for await (const { event, data } of stream("/api/reply", body, going.signal)) {
      if (event === "begin") {
        heard = true;
        begin(data, text);
      } else if (event === "piece") {
        answer += data.text;
        const follow = near();
        reply.write(answer);
        down(follow);
      } else if (event === "error") {
        throw Object.assign(new Error(data.detail), { status: data.status });
      }
    }
    reply.done(answer);
  } catch (problem) {
    if (problem.name === "AbortError") reply.done(answer, t("chat.stopped"));
    else {
      reply.done(answer, answer ? t("chat.broken") : null);
      at("log").append(
        trouble(problem, (event) => {
          event.target.closest(".trouble").remove();
          reply.box.remove();
          mine.remove();
          say(text, id);
        }),
      );
      down(true);
    }
  } finally {
    going = null;
    busy(false);
    if (heard) tell("said");
  }
}

function begin(data, text) {
  state.latest = { text, time: data.turn.time, session: data.turn.session, contributions: data.contributions };
  state.talk = data.turn.session;
  tell("latest");
  talks.load().catch(() => {});
}

/** The bubble of a reply: first a placeholder, then the streamed text. */
function waiting() {
  const text = el("div", { class: "text", dir: "auto" });
  const meta = el("span", { class: "meta" });
  const box = el(
    "div",
    { class: "said assistant waiting", "aria-busy": "true" },
    el("span", { class: "unseen" }, t("speaker.assistant")),
    text,
    meta,
  );
  const began = Date.now();
  const show = () => {
    const seconds = Math.round((Date.now() - began) / 1000);
    const words = seconds < 4 ? t("chat.thinking") : seconds < 20 ? t("chat.seconds", { n: seconds }) : t("chat.slow", { n: seconds });
    fill(text, `${words} `, el("span", { class: "dots", "aria-hidden": "true" }));
  };
  show();
  at("status").textContent = t("chat.thinking");
  const ticking = setInterval(show, 1000);
  return {
    box,
    write(answer) {
      clearInterval(ticking);
      box.classList.remove("waiting");
      text.textContent = answer;
    },
    done(answer, note) {
      clearInterval(ticking);
      box.setAttribute("aria-busy", "false");
      at("status").textContent = answer ? t("chat.done") : "";
      if (!answer) return box.remove();
      this.write(answer);
      if (note) {
        meta.textContent = note;
        box.classList.add("broken");
      }
      const came = state.latest?.contributions.filter((c) => c.place === "recalled").length;
      if (came) {
        const open = () => tell("show", "why");
        box.append(el("button", { type: "button", class: "link recalled", onclick: open }, t("chat.recalled", { n: came })));
      }
    },
  };
}

function busy(is) {
  state.busy = is;
  at("send").hidden = is;
  at("stop").hidden = !is;
  talks.draw();
}

function grow() {
  const field = at("say");
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight, 176)}px`;
}

export const stop = () => going?.abort();

/** Redraw in another language, unless a reply is being streamed. */
export const redraw = () => going ?? load();

export function start() {
  on("talk", (turn) => {
    drawing = load(turn);
  });
  on("user", stop);
  at("say").addEventListener("input", grow);
  at("say").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      at("composer").requestSubmit();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && going && !document.querySelector("dialog[open]")) stop();
  });
  at("stop").addEventListener("click", () => {
    stop();
    at("say").focus();
  });
  at("composer").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = at("say").value.trim();
    if (!text || going) return;
    at("say").value = "";
    grow();
    say(text);
  });
}
