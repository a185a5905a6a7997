/**
 * Codes that people copy by hand: 26 characters of base32 and two check characters, shown in seven groups of four.
 * The checks are those of a Reed-Solomon code over GF(32) of distance 3: one or two wrong characters, and two that
 * changed places, are always noticed, and the place of a single one is known.
 */

import { ALPHABET, grouped } from "./base32.ts";

/** Characters that say something, and all of a code. */
const LENGTH = 26;
const WHOLE = LENGTH + 2;

/** What a code is of: the sum of its characters tells, so that one is never taken for the other. */
const KINDS = { tracker: 0, credential: 17 } as const;
export type CodeKind = keyof typeof KINDS;

/** Powers of 2 in GF(32) = GF(2)[x] / (x^5 + x^2 + 1), whose order is 31. */
const POWERS: readonly number[] = Array.from({ length: 31 }).reduce<number[]>((powers) => {
  const next = 2 * (powers.at(-1) ?? 0);
  return powers.length === 0 ? [1] : [...powers, next > 31 ? next ^ 0b100101 : next];
}, []);

/** A product with 2^power. */
function scaled(value: number, power: number): number {
  if (value === 0) return 0;
  return POWERS[(POWERS.indexOf(value) + power) % 31] ?? 0;
}

/** The sum of the characters, and their sum as a polynomial in 2, the last one being its constant. */
function sums(values: readonly number[]): [number, number] {
  return values.reduce(([sum, weighted], value) => [sum ^ value, scaled(weighted, 1) ^ value], [0, 0]);
}

function valuesOf(text: string): number[] {
  return [...text].map((character) => ALPHABET.indexOf(character));
}

/** A code with its check characters, from its 26 others. */
export function withChecks(text: string, kind: CodeKind): string {
  const [sum, weighted] = sums([...valuesOf(text), 0, 0]);
  const wanted = sum ^ KINDS[kind];
  // a + b = wanted and 2 a + b = weighted, so 3 a is their sum.
  const a = scaled(wanted ^ weighted, 31 - POWERS.indexOf(3));
  return text + ALPHABET.charAt(a) + ALPHABET.charAt(wanted ^ a);
}

/** A code as it is shown: with its checks, in groups of four. */
export function shownCode(text: string, kind: CodeKind): string {
  return grouped(withChecks(text, kind));
}

/** What somebody typed: the code without its checks, or why it is none. */
export type TypedCode =
  | { readonly code: string }
  | { readonly wrong: "length"; readonly count: number }
  | { readonly wrong: "kind" }
  | { readonly wrong: "check"; readonly group: number | undefined };

/** The characters of what was typed. Digits that no code has stand for the letters that look like them. */
function cleaned(text: string): string {
  const alike: Record<string, string> = { "0": "o", "1": "l", "8": "b" };
  const replaced = text.toLowerCase().replaceAll(/[018]/g, (digit) => alike[digit] ?? "");
  return replaced.replaceAll(/[^a-z2-7]/g, "");
}

/** Reads a code. A tracker may come without its checks, as the board itself has it. */
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

/** The group, from 1, that a single wrong character is in; undefined if there are several. */
function groupOf(wrong: number, weighted: number): number | undefined {
  if (wrong === 0 || weighted === 0) return undefined;
  const power = (POWERS.indexOf(weighted) - POWERS.indexOf(wrong) + 31) % 31;
  return power < WHOLE ? Math.floor((WHOLE - 1 - power) / 4) + 1 : undefined;
}
