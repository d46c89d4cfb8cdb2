// What the page knows, and who wants to hear when it changes.

export const state = {
  about: null, // of the server
  user: "",
  users: [],
  talks: [], // cards of sessions, newest first
  talk: null, // the number of the session that is shown; null for one that has not begun
  view: "chat", // what a phone shows
  tab: "memory",
  latest: null, // what memory gave to the last reply
  arriving: null, // a promise, kept when it is known what to show of the user
  busy: false, // whether a reply is on its way
  work: [], // jobs that are not done
};

const hearing = new Map();

/** Call `hear` when any of the topics is told. */
export function on(topics, hear) {
  for (const topic of topics.split(" ")) {
    if (!hearing.has(topic)) hearing.set(topic, new Set());
    hearing.get(topic).add(hear);
  }
}

/** Tell a topic. */
export function tell(topic, news) {
  for (const hear of hearing.get(topic) ?? []) hear(news);
}

/** A run of work of which only the newest counts: `const still = latest(); await …; if (!still()) return`. */
export function turns() {
  let newest = 0;
  return () => {
    const mine = ++newest;
    return () => mine === newest;
  };
}
