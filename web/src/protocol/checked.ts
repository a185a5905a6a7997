/**
 * Codes that people copy by hand: 26 characters of base32 and two check characters, in seven groups
 * of four. The check characters belong to a Reed-Solomon code over GF(32) of distance 3. It always
 * detects one or two wrong characters and two exchanged characters, and locates a single wrong
 * character.
 */

import { ALPHABET, grouped } from "./base32.ts";

/** The number of characters without and with the check characters. */
const LENGTH = 26;
const WHOLE = LENGTH + 2;

/**
 * The kinds of codes. The sum of a code's characters depends on its kind, so kinds cannot be
 * confused.
 */
const KINDS = { tracker: 0, credential: 17 } as const;
export type CodeKind = keyof typeof KINDS;

/** Powers of 2 in GF(32) = GF(2)[x] / (x^5 + x^2 + 1), whose order is 31. */
const POWERS: readonly number[] = Array.from({ length: 31 }).reduce<number[]>((powers) => {
  const next = 2 * (powers.at(-1) ?? 0);
  return powers.length === 0 ? [1] : [...powers, next > 31 ? next ^ 0b100101 : next];
}, []);

/** Multiplies by 2^power. */
function scaled(value: number, power: number): number {
  if (value === 0) return 0;
  return POWERS[(POWERS.indexOf(value) + power) % 31] ?? 0;
}

/**
 * The sum of the characters, and their value as a polynomial at 2, whose constant term is the last
 * one.
 */
function sums(values: readonly number[]): [number, number] {
  return values.reduce(([sum, weighted], value) => [sum ^ value, scaled(weighted, 1) ^ value], [0, 0]);
}

function valuesOf(text: string): number[] {
  return [...text].map((character) => ALPHABET.indexOf(character));
}

/** Appends the check characters to the other 26. */
export function withChecks(text: string, kind: CodeKind): string {
  const [sum, weighted] = sums([...valuesOf(text), 0, 0]);
  const wanted = sum ^ KINDS[kind];
  // a + b = wanted and 2 a + b = weighted, so 3 a is the sum of both.
  const a = scaled(wanted ^ weighted, 31 - POWERS.indexOf(3));
  return text + ALPHABET.charAt(a) + ALPHABET.charAt(wanted ^ a);
}

/** Formats a code for display: with its check characters, in groups of four. */
export function shownCode(text: string, kind: CodeKind): string {
  return grouped(withChecks(text, kind));
}

/** A typed code without its check characters, or the reason why it is invalid. */
export type TypedCode =
  | { readonly code: string }
  | { readonly wrong: "length"; readonly count: number }
  | { readonly wrong: "kind" }
  | { readonly wrong: "check"; readonly group: number | undefined };

/**
 * The characters of a typed code. Digits that codes do not use become the letters that look like
 * them.
 */
function cleaned(text: string): string {
  const alike: Record<string, string> = { "0": "o", "1": "l", "8": "b" };
  const replaced = text.toLowerCase().replaceAll(/[018]/g, (digit) => alike[digit] ?? "");
  return replaced.replaceAll(/[^a-z2-7]/g, "");
}

/** Reads a code. A tracker may lack its check characters, as on the board. */
export function typedCode(text: string, kind: CodeKind): TypedCode {
  const found = cleaned(text);
  if (kind === "tracker" && found.length === LENGTH) return { code: found };
  if (found.length !== WHOLE) return { wrong: "length", count: found.length };
  const [sum, weighted] = sums(valuesOf(found));
  const wrong = sum ^ KINDS[kind];
  if (wrong === 0 && weighted === 0) return { code: found.slice(0, LENGTH) };
  const known = Object.values(KINDS) as number[];
  if (weighted === 0 && known.includes(sum)) return { wrong: "kind" };
  return { wrong: "check", group: groupOf(wrong, weighted) };
}

/** The group of a single wrong character, counted from 1, or undefined if there are several. */
function groupOf(wrong: number, weighted: number): number | undefined {
  if (wrong === 0 || weighted === 0) return undefined;
  const power = (POWERS.indexOf(weighted) - POWERS.indexOf(wrong) + 31) % 31;
  return power < WHOLE ? Math.floor((WHOLE - 1 - power) / 4) + 1 : undefined;
}
