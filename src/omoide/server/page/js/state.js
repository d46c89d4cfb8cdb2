// State of the page, and listeners for its changes.

export const state = {
  about: null, // GET /api/about
  user: "",
  name: "", // the person's own name, if the memory knows it
  users: [],
  talks: [], // cards of sessions, newest first
  talk: null, // number of the session shown; null for a new one
  view: "chat", // what is visible on a phone
  tab: "memory",
  latest: null, // what memory contributed to the latest reply
  arriving: null, // promise that resolves when the user's data is loaded
  busy: false, // whether a reply is being streamed
  work: [], // unfinished jobs
  digested: 0, // conversations that were taken into memory since there was last nothing to do
};

const LASTING = ["user", "talks"]; // topics that say what the page shows now
const hearing = new Map();
const published = new Set();

/** Call `hear` when any of the space-separated topics is published, and at once for a lasting one
 * that was published before. */
export function on(topics, hear) {
  for (const topic of topics.split(" ")) {
    if (!hearing.has(topic)) hearing.set(topic, new Set());
    hearing.get(topic).add(hear);
    if (published.has(topic)) hear();
  }
}

/** Publish a topic to its listeners. */
export function tell(topic, news) {
  if (LASTING.includes(topic)) published.add(topic);
  for (const hear of hearing.get(topic) ?? []) hear(news);
}

/** Wait for the conversation before a tab that is not shown is filled. */
export async function afterArrival(tab) {
  if (state.tab === tab) return;
  await null; // until `arriving` is that of the person just chosen
  await state.arriving;
}

/** Detects stale async work: `const newest = turns(); const still = newest(); await …; if (!still()) return`. */
export function turns() {
  let newest = 0;
  return () => {
    const mine = ++newest;
    return () => mine === newest;
  };
}
