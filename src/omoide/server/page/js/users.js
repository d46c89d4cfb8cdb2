// Select or add a user.

import { get } from "./api.js";
import { prompt } from "./dialog.js";
import { at, el, fill } from "./dom.js";
import { state, tell } from "./state.js";
import { t } from "./words.js";

const added = new Set(); // users without a memory yet

/** Load the list of users. */
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

/** Show the list. It includes the selected user, even one without turns. */
export function draw() {
  const names = [...new Set([...state.users, ...added, state.user, state.about?.user])].filter(Boolean).sort();
  fill(at("user"), names.map((name) => el("option", { value: name }, name)));
  at("user").value = state.user;
}

/** Switch to another user. */
export function choose(name) {
  tell("leaving");
  state.user = name;
  state.latest = null;
  sessionStorage.setItem("omoide-user", name);
  draw();
  for (const panel of document.querySelectorAll(".panel")) fill(panel, el("p", { class: "fine" }, t("loading")));
  tell("user");
}

/** The user to start with. */
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
