// Entry point of the page.

import { dropKey, get, hasKey, onLocked } from "./api.js";
import * as chat from "./chat.js";
import * as cost from "./cost.js";
import * as demo from "./demo.js";
import { prompt } from "./dialog.js";
import { at, fill } from "./dom.js";
import * as events from "./events.js";
import * as facts from "./facts.js";
import * as forgetting from "./forgetting.js";
import * as frame from "./frame.js";
import * as importing from "./importing.js";
import * as memory from "./memory.js";
import * as memos from "./memos.js";
import * as palette from "./palette.js";
import { on, state, tell, turns } from "./state.js";
import * as talks from "./talks.js";
import { setClock } from "./time.js";
import { trouble } from "./trouble.js";
import * as users from "./users.js";
import * as why from "./why.js";
import { speak, t, wanted } from "./words.js";
import * as work from "./work.js";

const newest = turns();
let asking = null;

/** Ask for an API key once, however many requests wait for it. */
function locked() {
  asking ??= prompt({ title: t("key.title"), text: t("key.about"), label: t("key.label"), yes: t("key.enter"), type: "password" }).finally(() => {
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
    state.about = await get("/api/about", {}, "");
    setClock(state.about.now);
    await users.load();
  } catch (problem) {
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

await speak(wanted());
frame.choices();
onLocked(locked);
for (const part of [frame, users, talks, chat, memory, facts, memos, events, why, cost, work, demo, palette, forgetting, importing]) part.start();
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
navigator.serviceWorker?.register("/page/sw.js", { scope: "/" }).catch(() => {}); // without it, the page only needs the server to open
state.arriving = enter();
await state.arriving;
document.documentElement.dataset.ready = "";
