/** What the record's lines say of voters and shares, before anything of them is verified. */

import type { Json } from "../protocol/canonical.ts";
import * as read from "../protocol/readers.ts";
import { lists, RECORD } from "./api.ts";
import { boardFile, FILE, linesOf } from "./record.ts";

const ENTRY = read.object(
  { body: read.anything, kind: read.text },
  { index: read.anything, previous: read.anything, signature: read.anything },
);
// Keys are looked at as texts: to check that thousands of them are points takes seconds.
const VOTERS = read.object({
  election: read.anything,
  voters: read.list(read.object({ id: read.text, key: read.text, weight: read.anything })),
});

type Line = { readonly kind: string; readonly body: Json };

/** Gives lines of a file of the record as they come; whoever has seen enough reads no more of it. */
async function* entriesOf(first: number): AsyncGenerator<Line> {
  const response = await fetch(`${RECORD}/${boardFile(first)}`, { cache: "reload" });
  if (response.status === 404 || response.body === null) return;
  if (!response.ok) throw new Error(`the record cannot be read: HTTP status ${response.status}`);
  const reader = response.body.getReader();
  let rest = new Uint8Array();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const all = new Uint8Array(rest.length + value.length);
      all.set(rest);
      all.set(value, rest.length);
      const end = all.lastIndexOf(10) + 1;
      rest = all.slice(end);
      for (const line of linesOf(all.subarray(0, end))) yield ENTRY(JSON.parse(line), "entry");
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

const REPLACED = read.object({
  election: read.anything,
  voters: read.list(read.object({ id: read.text, key: read.text })),
});

/** Takes the voters and keys of an entry; whether it is one of a list. */
function listed({ kind, body }: Line, found: Map<string, string>): boolean {
  if (kind === "voters") for (const { id, key } of VOTERS(body, kind).voters) found.set(id, key);
  if (kind === "replace") for (const { id, key } of REPLACED(body, kind).voters) found.set(id, key);
  return kind === "voters" || kind === "replace";
}

/**
 * The voters on the board and their keys: of the first entries, in which alone there are voters, unless the list is
 * changed while voting goes on. Then the server is asked for the entries that change it.
 */
export async function registered(late: boolean): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  if (late) {
    for (let from: number | null = 0; from !== null; ) {
      const page = await lists(from);
      for (const entry of page.entries) listed(entry, found);
      from = page.next;
    }
    return found;
  }
  for (let first = 0, count = FILE; count === FILE; first += FILE) {
    count = 0;
    for await (const { kind, body } of entriesOf(first)) {
      count += 1;
      if (!listed({ kind, body }, found) && kind !== "election") return found;
    }
  }
  return found;
}

/** The trustees whose shares are on a board of this size: its last entries. */
export async function sharesReceived(size: number): Promise<Set<number>> {
  const found = new Set<number>();
  for (let first = Math.floor(Math.max(size - 1, 0) / FILE) * FILE; first >= 0; first -= FILE) {
    let whole = false;
    for await (const { kind, body } of entriesOf(first)) {
      whole ||= kind === "tally";
      const trustee = (body as { trustee?: Json } | null)?.trustee;
      if (kind === "share" && typeof trustee === "number") found.add(trustee);
    }
    if (whole) break;
  }
  return found;
}
