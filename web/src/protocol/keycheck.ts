/** Checks a key's numbers and its proofs. docs/explanation/election.md gives the reasons. */

import { jacobi, power } from "hearith/bigint.ts";
import { ensure } from "hearith/errors.ts";
import { checkForm, checkGenerator, checkLength, checkStrength, MIN_SECURE_BITS } from "hearith/modulus.ts";
import { hashed, type Key } from "./djn.ts";

/** The minimum length of a secure key in bits. */
export const LEAST_BITS = MIN_SECURE_BITS;
/** The number of `n`-th roots, which show that `n` is coprime to the order of its group. */
export const ROOTS = 11;
/** The number of square roots, which show that `n` has two prime factors. */
export const SQUARE_ROOTS = 128;

/** The numbers of the proofs about a key. */
export interface KeyProofs {
  readonly roots: readonly bigint[];
  readonly blum: readonly bigint[];
}

/** Checks a key and its proofs. For tests, only the check of the length is skipped. */
export function checkKey(key: Key, { roots, blum }: KeyProofs, insecure = false): void {
  const { n, generator } = key;
  checkLength(n, insecure);
  checkForm(n);
  checkGenerator(generator, n);
  checkStrength(n);
  ensure(roots.length === ROOTS, "the key does not have 11 roots");
  ensure(blum.length === SQUARE_ROOTS, "the key does not have 128 square roots");
  ensure(
    [...roots, ...blum].every((root) => root > 0n && root < n),
    "a root of the key is out of range",
  );
  ensure(rootsHold(key, roots), "a root of the key is wrong");
  ensure(squareRootsHold(key, blum), "a square root of the key is wrong");
}

/** Whether the roots show that each ciphertext decrypts to only one number [GRSB19]. */
export function rootsHold(key: Key, roots: readonly bigint[]): boolean {
  return roots.every((root, at) => power(root, key.n, key.n) === hashed(key, "roots", at));
}

/**
 * Whether for each hashed `y`, one of `y`, `w y`, `-y`, `-w y` is the square of a root. This
 * requires exactly two prime factors [GP87].
 */
export function squareRootsHold(key: Key, roots: readonly bigint[]): boolean {
  const { n } = key;
  let w = 2n;
  while (w < 1000n && jacobi(w, n) !== -1) w += 1n;
  if (w === 1000n) return false;
  return roots.every((root, at) => {
    const y = hashed(key, "blum", at);
    const [square, multiple] = [(root * root) % n, (w * y) % n];
    return [y, multiple, n - y, n - multiple].some((one) => one % n === square);
  });
}
