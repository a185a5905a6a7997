/** What the browser remembers of a board from visit to visit: nothing secret, and nothing of how anybody voted. */

import type { Memory, Options } from "../protocol/verify.ts";
import { INSECURE } from "./api.ts";

interface Remembered {
  heads: { root: string; size: number }[];
  leaves: { hash: string; index: number }[];
  trackers: string[];
}

/** A setting that is kept, such as the language; undefined where the browser keeps nothing. */
export function setting(name: string): string | undefined {
  try {
    return localStorage.getItem(`hearith-${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepSetting(name: string, value: string): void {
  try {
    localStorage.setItem(`hearith-${name}`, value);
  } catch {
    // It will be asked for again.
  }
}

function name(election: string): string {
  return `hearith-election ${election}`;
}

/** What is remembered of an election's board. */
export function memory(election: string): Memory {
  try {
    const found = JSON.parse(localStorage.getItem(name(election)) ?? "{}") as Partial<Remembered>;
    const { heads = [], leaves = [], trackers = [] } = found;
    return { id: election, heads, leaves, trackers };
  } catch {
    return { id: election, heads: [], leaves: [], trackers: [] };
  }
}

/** How a record of an election is verified here. */
export function options(election: string): Options {
  return { memory: memory(election), insecure: INSECURE };
}

function remember(election: string, change: (remembered: Remembered) => void): void {
  const { heads, leaves, trackers = [] } = memory(election);
  const remembered = { heads: [...heads], leaves: [...leaves], trackers: [...trackers] };
  change(remembered);
  try {
    localStorage.setItem(name(election), JSON.stringify(remembered));
  } catch {
    // A browser that keeps nothing compares nothing, which the page says nowhere that it does.
  }
}

/** Remembers the root of a board that has been verified: the last of them is enough, as it answers for all before. */
export function rememberHead(election: string, root: string, size: number): void {
  remember(election, (remembered) => {
    remembered.heads = [{ root, size }];
  });
}

/** Remembers a receipt, until the board has been seen to keep its promise and ever after. */
export function rememberLeaf(election: string, hash: string, index: number): void {
  remember(election, (remembered) => {
    remembered.leaves = [...remembered.leaves.filter((leaf) => leaf.index !== index), { hash, index }];
  });
}

/** Remembers a ballot that the server said it took: a verified record must have it, whatever the receipt was worth. */
export function rememberTracker(election: string, tracker: string): void {
  remember(election, (remembered) => {
    remembered.trackers = [...new Set([...remembered.trackers, tracker])];
  });
}
