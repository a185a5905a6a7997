/**
 * Names of people and things: what characters they may have, and when nobody can tell two of them apart.
 *
 * The tables are of one version of Unicode, the same in every verifier. Normalisation is the browser's, of this version or
 * a later one: of characters that this version has, all give the same.
 */

import { Fault } from "hearith/errors.ts";
import { ALLOWED, JOINED } from "./nameTables.ts";

/** Zero width non-joiner and joiner, without which some languages cannot be written. */
const JOINERS = /\u200c|\u200d/gu;

/** Where the runs of a set begin and end by turns, from the lengths of runs to the base 36. */
function bounds(table: string): Uint32Array {
  let bound = 0;
  return Uint32Array.from(table.split(" "), (run) => {
    bound += Number.parseInt(run, 36);
    return bound;
  });
}

const allowed = bounds(ALLOWED);
const joined = bounds(JOINED);

/** Whether a character is in a set. */
function isIn(set: Uint32Array, character: string | undefined): boolean {
  const code = character?.codePointAt(0) ?? 0;
  let [low, high] = [0, set.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((set[middle] ?? 0) <= code) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}

/** Whether a name may have this character, wherever it stands. */
export function isAllowed(character: string): boolean {
  return isIn(allowed, character);
}

/** The first character that a name may not have where it stands. */
export function refused(name: string): string | undefined {
  const characters = Array.from(name);
  return characters.find((character, at) => {
    if (!character.match(JOINERS)) return !isAllowed(character);
    return !isIn(joined, characters[at - 1]) || !isIn(joined, characters[at + 1]);
  });
}

/** A text with characters that no name may have written as numbers, so that they are seen. */
export function visible(text: string): string {
  const shown = (character: string) => {
    if (isAllowed(character) || character.match(JOINERS)) return character;
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  };
  return Array.from(text, shown).join("");
}

/** U+10781, which came with Unicode 14.0.0, is U+02D0 by its NFKC form. */
const UP_TO_DATE = "\u{10781}".normalize("NFKC") === "\u02d0";

/** What a name has in common with all that nobody can tell from it: its NFKC form, without joiners. */
export function alike(name: string): string {
  if (!UP_TO_DATE) throw new Fault("this browser is too old to compare names: it lacks Unicode 14.0.0");
  return name.replaceAll(JOINERS, "").normalize("NFKC");
}
