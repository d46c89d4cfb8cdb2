// The bubble of a reply while it comes: first how long it takes, then its text.

import { at, el, fill } from "./dom.js";
import * as log from "./log.js";
import * as markdown from "./markdown.js";
import { state, tell } from "./state.js";
import { t } from "./words.js";

/** A bubble with `write(text so far)` and `done(text, note)`. */
export function waiting() {
  const text = el("div", { class: "text md", dir: "auto" });
  const meta = el("span", { class: "meta" });
  const box = el("div", { class: "said assistant waiting", "aria-busy": "true" }, el("span", { class: "unseen" }, t("speaker.assistant")), text, meta);
  const began = Date.now();
  const count = () => {
    const seconds = Math.round((Date.now() - began) / 1000);
    const words = seconds < 4 ? t("chat.thinking") : seconds < 20 ? t("chat.seconds", { n: seconds }) : t("chat.slow", { n: seconds });
    fill(text, el("p", {}, `${words} `, el("span", { class: "dots", "aria-hidden": "true" })));
  };
  count();
  at("status").textContent = t("chat.thinking");
  const ticking = setInterval(count, 1000);
  let latest = null; // what is to be drawn in the next frame
  let first = true;

  function show(answer, streaming) {
    const follow = log.near();
    clearInterval(ticking);
    if (first) fill(text);
    first = false;
    box.classList.remove("waiting");
    markdown.show(text, answer, { streaming });
    if (follow) log.down();
  }

  function frame() {
    if (latest !== null) show(latest, true);
    latest = null;
  }

  return {
    box,
    /** Show what came so far, at most once a frame. */
    write(answer) {
      if (latest === null) requestAnimationFrame(frame);
      latest = answer;
    },
    /** Show all that came; `note` says why it is not the whole reply. */
    done(answer, note) {
      latest = null;
      clearInterval(ticking);
      box.setAttribute("aria-busy", "false");
      at("status").textContent = answer ? t("chat.done") : "";
      if (!answer) return box.remove();
      show(answer, false);
      if (note) {
        meta.textContent = note;
        box.classList.add("broken");
      }
      box.append(log.under({ speaker: "assistant", text: answer }));
      const came = state.latest?.contributions.filter((c) => c.place === "recalled").length;
      if (!came) return;
      box.append(el("button", { type: "button", class: "link recalled", onclick: () => tell("show", "why") }, t("chat.recalled", { n: came })));
    },
  };
}
