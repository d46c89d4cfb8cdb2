// The demo conversation: load and remove it with one click.

import { post } from "./api.js";
import { confirm } from "./dialog.js";
import { at, toast } from "./dom.js";
import { state, tell } from "./state.js";
import { told } from "./trouble.js";
import * as users from "./users.js";
import { language, t } from "./words.js";

export const NAME = "demo";

const loaded = () => state.users.includes(NAME);

export function draw() {
  at("demo").textContent = t(loaded() ? "demo.remove" : "demo.load");
}

/** Load the demo, or show it if it is already loaded. */
export async function toggle(event) {
  const remove = loaded() && event?.currentTarget?.id === "demo";
  try {
    if (remove) {
      const sure = await confirm({ title: t("demo.remove"), text: t("demo.sure"), yes: t("demo.remove") });
      if (!sure) return;
      await post("/api/erase", { all: true }, NAME);
      await users.load();
      users.choose(state.user === NAME ? (state.about.user ?? state.users[0] ?? "me") : state.user);
      toast(t("demo.removed"));
    } else {
      if (!loaded()) {
        await post("/api/demo", { language: language() }, NAME);
        state.users.push(NAME);
        toast(t("demo.loaded"));
      }
      users.choose(NAME);
    }
  } catch (problem) {
    toast(told(problem));
  }
  draw();
  tell("work");
}

export function start() {
  at("demo").addEventListener("click", toggle);
}
