// Exports of other programs: the conversations in a .json, .jsonl or .zip file. Only this browser reads
// the file; what is sent are its conversations.

const MEMBER = /(?:^|\/)conversations(?:-\d+)?\.json$/;
const END = 0x06054b50; // signature of the end of a zip's directory
const ENTRY = 0x02014b50;

/** All conversations in a file. Throws if it has none. */
export async function conversations(file) {
  const head = new DataView(await file.slice(0, 4).arrayBuffer());
  const zipped = head.byteLength === 4 && head.getUint32(0, true) === 0x04034b50;
  const texts = zipped ? await members(file) : [await file.text()];
  const found = texts.flatMap(parsed).filter((one) => one && typeof one === "object");
  if (!found.length) throw new Error("no conversations");
  return found.some((one) => one.role && one.content !== undefined) ? [{ messages: found.filter((one) => one.role) }] : found;
}

/** JSON, or JSON lines. */
function parsed(text) {
  const plain = text.replace(/^\uFEFF/, "");
  try {
    const value = JSON.parse(plain);
    return Array.isArray(value) ? value : [value];
  } catch (error) {
    const lines = plain.split("\n").filter((line) => line.trim());
    if (lines.length < 2) throw error;
    return lines.map((line) => JSON.parse(line));
  }
}

/** The texts of the members of a zip that hold conversations. */
async function members(file) {
  const tail = new DataView(await file.slice(Math.max(0, file.size - 65_557)).arrayBuffer());
  let end = tail.byteLength - 22;
  while (end >= 0 && tail.getUint32(end, true) !== END) end--;
  if (end < 0) throw new Error("not a whole zip file");
  const from = tail.getUint32(end + 16, true);
  const directory = new DataView(await file.slice(from, from + tail.getUint32(end + 12, true)).arrayBuffer());
  const texts = [];
  for (let at = 0; at + 46 <= directory.byteLength && directory.getUint32(at, true) === ENTRY; ) {
    const name = new TextDecoder().decode(new Uint8Array(directory.buffer, at + 46, directory.getUint16(at + 28, true)));
    if (MEMBER.test(name)) texts.push(await member(file, directory, at));
    at += 46 + directory.getUint16(at + 28, true) + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true);
  }
  return texts;
}

async function member(file, directory, at) {
  const start = directory.getUint32(at + 42, true);
  const local = new DataView(await file.slice(start, start + 30).arrayBuffer());
  const from = start + 30 + local.getUint16(26, true) + local.getUint16(28, true);
  const packed = file.slice(from, from + directory.getUint32(at + 20, true));
  const method = directory.getUint16(at + 10, true);
  if (method === 0) return packed.text();
  return new Response(packed.stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}

/** Parts of a list that are small enough for one request: `{ items }`. */
export function* parts(all, { most = 25, size = 4_000_000 } = {}) {
  let items = [];
  let length = 0;
  for (const one of all) {
    const own = JSON.stringify(one).length;
    if (items.length && (items.length === most || length + own > size)) {
      yield items;
      [items, length] = [[], 0];
    }
    items.push(one);
    length += own;
  }
  if (items.length) yield items;
}
