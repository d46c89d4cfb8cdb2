// Word-by-word diff of two sentences, also for languages without spaces.

/** The words of a text, including white space and punctuation. */
export function split(text, language) {
  const segmenter = new Intl.Segmenter(language, { granularity: "word" });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/** `[kind, text]` pairs; kind is "same", "old" or "new". */
export function diff(before, after, language) {
  const a = split(before, language);
  const b = split(after, language);
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] =
        a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const parts = [];
  const add = (kind, text) => {
    const last = parts.at(-1);
    if (last?.[0] === kind) last[1] += text;
    else parts.push([kind, text]);
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add("same", a[i++] && b[j++]);
    else if (i < a.length && (j === b.length || common[i + 1][j] >= common[i][j + 1])) add("old", a[i++]);
    else add("new", b[j++]);
  }
  return tidy(parts);
}

/** Count white space between two changed words as changed. */
function tidy(parts) {
  const joined = [];
  for (let n = 0; n < parts.length; n++) {
    const [kind, text] = parts[n];
    const between = kind === "same" && !text.trim() && n > 0 && n < parts.length - 1;
    for (const one of between ? ["old", "new"] : [kind]) {
      const run = [];
      for (let back = joined.length - 1; back >= 0 && joined[back][0] !== "same"; back--) run.push(joined[back]);
      const mate = one === "same" ? null : run.find((part) => part[0] === one);
      if (mate) mate[1] += text;
      else joined.push([one, text]);
    }
  }
  return joined;
}
