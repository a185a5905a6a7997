/** The list of voters as an organiser types it, and what is wrong with it before anything is made of it. */

import { alike } from "../protocol/names.ts";
import * as read from "../protocol/readers.ts";

export interface Person {
  readonly id: string;
  readonly weight: number;
}

/** Names and weights, one a line. */
export function people(text: string): Person[] {
  const lines = text.split("\n").map((line) => line.trim());
  return lines
    .filter((line) => line !== "")
    .map((line) => {
      const [, id = line, weight = "1"] = /^(.*?)\s*,\s*(\d+)$/.exec(line) ?? [];
      return { id, weight: Number(weight) };
    });
}

/** Names as they are compared: nobody is told from somebody else by capitals, spaces or the way accents are stored. */
function folded(name: string): string {
  return alike(name).replaceAll(/\s+/g, " ").trim().toLowerCase();
}

export type Problem =
  | { readonly kind: "twice" | "registered"; readonly id: string }
  | { readonly kind: "name" | "weight"; readonly id: string };

const NAME = read.name(128);
const WEIGHT = read.integer(1, 2 ** 32);

function holds(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/** Everything that is wrong with a list, where these are on the board already. */
export function problems(list: readonly Person[], registered: Iterable<string>): Problem[] {
  const there = new Set(Array.from(registered, folded));
  const seen = new Set<string>();
  const found: Problem[] = [];
  for (const { id, weight } of list) {
    const name = folded(id);
    if (!holds(() => NAME(id, "name"))) found.push({ kind: "name", id });
    if (!holds(() => WEIGHT(weight, "weight"))) found.push({ kind: "weight", id });
    if (there.has(name)) found.push({ kind: "registered", id });
    else if (seen.has(name)) found.push({ kind: "twice", id });
    seen.add(name);
  }
  return found;
}
