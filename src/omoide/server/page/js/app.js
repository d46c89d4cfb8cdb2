// Entry point of the page: the chat first, then everything that is beside it (inside.js).

import { dropKey, get, hasKey, onLocked } from "./api.js";
import * as chat from "./chat.js";
import * as demo from "./demo.js";
import { prompt } from "./dialog.js";
import { at, fill } from "./dom.js";
import * as frame from "./frame.js";
import { on, state, tell, turns } from "./state.js";
import * as talks from "./talks.js";
import { setClock } from "./time.js";
import { trouble } from "./trouble.js";
import * as users from "./users.js";
import { speak, t, wanted } from "./words.js";

const newest = turns();
const spoken = speak(wanted()).then(frame.choices);
let asking = null;

/** Ask for an API key once, however many requests wait for it. */
function locked() {
  asking ??= spoken
    .then(() => prompt({ title: t("key.title"), text: t("key.about"), label: t("key.label"), yes: t("key.enter"), type: "password" }))
    .finally(() => {
      asking = null;
    });
  return asking;
}

/** Load everything about the selected user. */
async function arrive() {
  const still = newest();
  try {
    await talks.load();
  } catch (problem) {
    if (still()) fill(at("log"), trouble(problem, arrive));
    return;
  }
  if (!still()) return;
  talks.open((talks.current() ?? state.talks[0])?.number ?? null);
  tell("talks");
}

async function enter() {
  try {
    [state.about] = await Promise.all([get("/api/about", {}, ""), users.load(), spoken]);
    setClock(state.about.now);
  } catch (problem) {
    await spoken;
    return fill(at("log"), trouble(problem, enter));
  }
  const model = state.about.model?.split("+")[0]; // its adapters are in the title
  at("about").textContent = [`omoide ${state.about.version}`, state.about.preset === "omoide" ? "" : state.about.preset, model].filter(Boolean).join(" · ");
  at("about").title = state.about.model ?? "";
  at("leave").hidden = !hasKey();
  users.choose(users.first());
  demo.draw();
  await state.arriving;
}

onLocked(locked);
for (const part of [frame, users, talks, chat, demo]) part.start();
on("user", () => {
  state.arriving = arrive();
});
on("language", () => {
  talks.draw();
  demo.draw();
  chat.redraw();
});
on("said", async () => {
  const known = state.users.includes(state.user);
  await talks.load().catch(() => {});
  if (!known) users.load().catch(() => {});
});
at("leave").addEventListener("click", () => {
  dropKey();
  location.reload();
});
state.arriving = enter();
await state.arriving;
await chat.drawn();
document.documentElement.dataset.chat = ""; // the conversation can go on
(await import("./inside.js")).start();
document.documentElement.dataset.ready = "";
navigator.serviceWorker?.register("/page/sw.js", { scope: "/" }).catch(() => {}); // without it, the page only needs the server to open
