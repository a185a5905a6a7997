/**
 * Voters whose keys are made, until everything of them is handed out. A key that the board may have and nobody keeps is a
 * vote lost, so they outlive the page's parts, and a reload: this tab's storage has the codes, from which the keys follow.
 */

import type { Json } from "../protocol/canonical.ts";
import * as read from "../protocol/readers.ts";
import { type Made, made } from "./credential.ts";

export interface Batch {
  readonly election: string;
  /** Whether these are voters of the board, whose credentials are replaced. */
  readonly replaces: boolean;
  readonly made: readonly Made[];
  /** Whether the board has been seen to have all of them. */
  readonly confirmed: boolean;
  /** Whether the codes were saved or printed. They are nowhere else: the file of credentials has the keys alone. */
  readonly kept: boolean;
}

const NAME = "hearith-batch";
const STORED = read.object({
  confirmed: read.flag,
  election: read.hash,
  kept: read.flag,
  replaces: read.flag,
  voters: read.list(read.object({ code: read.text, id: read.text, weight: read.count }, { name: read.text })),
});

let current: Batch | undefined;

/** Keeps a batch in place of the one before; none, when everything is handed out. */
export function keepBatch(batch: Batch | undefined): void {
  current = batch;
  try {
    sessionStorage.removeItem(NAME);
    if (batch === undefined) return;
    const { confirmed, election, kept, replaces } = batch;
    const voters = batch.made.map(({ code, id, name, weight }) => ({ code, id, name, weight }));
    sessionStorage.setItem(NAME, JSON.stringify({ confirmed, election, kept, replaces, voters }));
  } catch {
    // A browser that keeps nothing, or not so much: the page asks before it is left.
  }
}

/** The batch of an election that is kept. */
export function keptBatch(election: string | undefined): Batch | undefined {
  current ??= stored();
  return current?.election === election ? current : undefined;
}

function stored(): Batch | undefined {
  try {
    const found = STORED(JSON.parse(sessionStorage.getItem(NAME) ?? "null") as Json, NAME);
    const { election, replaces, confirmed, kept } = found;
    const voters = found.voters.map(({ code, id, weight, name }) => made(election, id, weight, code, name));
    return { election, replaces, made: voters, confirmed, kept };
  } catch {
    return undefined;
  }
}
