// Whose memory: choose one, or add somebody.

import { get } from "./api.js";
import { prompt } from "./dialog.js";
import { at, el, fill } from "./dom.js";
import { state, tell } from "./state.js";
import { t } from "./words.js";

const added = new Set(); // people of whom nothing is known yet

/** Ask who there is. */
export async function load() {
  const known = [];
  let cursor = null;
  do {
    const page = await get("/api/users", { limit: 1000, ...(cursor ? { cursor } : {}) }, "");
    known.push(...page.items);
    cursor = page.next;
  } while (cursor);
  state.users = known;
  draw();
}

/** Show the list; whoever is chosen is in it, even before anything was said. */
export function draw() {
  const names = [...new Set([...state.users, ...added, state.user, state.about?.user])].filter(Boolean).sort();
  fill(at("user"), names.map((name) => el("option", { value: name }, name)));
  at("user").value = state.user;
}

/** From now on this is about somebody else. */
export function choose(name) {
  state.user = name;
  state.latest = null;
  sessionStorage.setItem("omoide-user", name);
  draw();
  for (const panel of document.querySelectorAll(".panel")) fill(panel, el("p", { class: "fine" }, t("loading")));
  tell("user");
}

/** Whom to begin with. */
export const first = () =>
  sessionStorage.getItem("omoide-user") ?? state.about.user ?? state.users[0] ?? "me";

export function start() {
  at("user").addEventListener("change", (event) => choose(event.target.value));
  at("add-user").addEventListener("click", async () => {
    const name = await prompt({ title: t("user.new"), text: t("user.about"), yes: t("user.add") });
    if (!name) return;
    added.add(name);
    choose(name);
  });
}
