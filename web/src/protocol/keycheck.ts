/** What a key must be, checked from its numbers and the proofs that come with them. docs/explanation/election.md says why. */

import { jacobi, power } from "hearith/bigint.ts";
import { ensure } from "hearith/errors.ts";
import { checkForm, checkGenerator, checkLength, checkStrength, MIN_SECURE_BITS } from "hearith/modulus.ts";
import { hashed, type Key } from "./djn.ts";

/** Bits of the shortest key that protects anything. */
export const LEAST_BITS = MIN_SECURE_BITS;
/** `n`-th roots that show that `n` has no factor in common with the order of its group. */
export const ROOTS = 11;
/** Square roots that show that `n` has two prime factors. */
export const SQUARE_ROOTS = 128;

/** The numbers of the proofs about a key. */
export interface KeyProofs {
  readonly roots: readonly bigint[];
  readonly blum: readonly bigint[];
}

/** Checks a key and its proofs. For tests a key may be short, and nothing else that a key must not be. */
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

/** Whether the roots are those of a key whose ciphertexts decrypt to one number only [GRSB19]. */
export function rootsHold(key: Key, roots: readonly bigint[]): boolean {
  return roots.every((root, at) => power(root, key.n, key.n) === hashed(key, "roots", at));
}

/** Whether of each hashed `y` one of `y`, `w y`, `-y`, `-w y` is the square of a root, as modulo two primes alone [GP87]. */
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
