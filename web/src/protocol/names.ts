/**
 * The characters that names may have, and names that readers cannot distinguish.
 *
 * The tables belong to one version of Unicode, the same in every verifier. Normalisation is the
 * browser's, of this version or a later one; all versions agree on the characters of this version.
 */

import { Fault } from "hearith/errors.ts";
import { ALLOWED, JOINED } from "./nameTables.ts";

/** Zero-width non-joiner and joiner, which some languages need. */
const JOINERS = /\u200c|\u200d/gu;

/** The bounds of a set's runs, from alternating run lengths in base 36. */
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

/** Whether a name may have this character at any position. */
export function isAllowed(character: string): boolean {
  return isIn(allowed, character);
}

/** The first character that a name may not have at its position. */
export function refused(name: string): string | undefined {
  const characters = Array.from(name);
  return characters.find((character, at) => {
    if (!character.match(JOINERS)) return !isAllowed(character);
    return !isIn(joined, characters[at - 1]) || !isIn(joined, characters[at + 1]);
  });
}

/** Replaces characters that names may not have by visible numbers. */
export function visible(text: string): string {
  const shown = (character: string) => {
    if (isAllowed(character) || character.match(JOINERS)) return character;
    const code = character.codePointAt(0) ?? 0;
    return `[U+${code.toString(16).toUpperCase().padStart(4, "0")}]`;
  };
  return Array.from(text, shown).join("");
}

/** The NFKC form of U+10781, which Unicode 14.0.0 added, is U+02D0. */
const UP_TO_DATE = "\u{10781}".normalize("NFKC") === "\u02d0";

/** A form that is equal for names that readers cannot distinguish: NFKC without joiners. */
export function alike(name: string): string {
  if (!UP_TO_DATE) throw new Fault("this browser is too old to compare names: it lacks Unicode 14.0.0");
  return name.replaceAll(JOINERS, "").normalize("NFKC");
}
