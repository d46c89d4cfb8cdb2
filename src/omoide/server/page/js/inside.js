// What is beside the chat: the panels, the palette, the import. It is fetched once the chat is there.

import * as cost from "./cost.js";
import * as events from "./events.js";
import * as facts from "./facts.js";
import * as forgetting from "./forgetting.js";
import * as importing from "./importing.js";
import * as memory from "./memory.js";
import * as memos from "./memos.js";
import * as palette from "./palette.js";
import * as presets from "./presets.js";
import * as why from "./why.js";
import * as work from "./work.js";

export function start() {
  for (const part of [memory, facts, memos, events, why, cost, work, palette, presets, forgetting, importing]) part.start();
}
