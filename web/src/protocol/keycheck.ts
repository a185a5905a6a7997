/** What a key must be, checked from its numbers and the proofs that come with them. docs/election.md says why. */

import { bitLength, gcd, jacobi, power, squareRoot } from "./bigint.ts";
import { hashed, type Key } from "./djn.ts";
import { ensure } from "./errors.ts";

/** Bits of the shortest key that protects anything. */
export const LEAST_BITS = 2048;
/** `n`-th roots that show that `n` has no factor in common with the order of its group. */
export const ROOTS = 11;
/** Square roots that show that `n` has two prime factors. */
export const SQUARE_ROOTS = 128;
/** Steps of Fermat's method that close primes do not survive. */
const FERMAT_STEPS = 100;

/** The numbers of the proofs about a key. */
export interface KeyProofs {
  readonly roots: readonly bigint[];
  readonly blum: readonly bigint[];
}

/** Checks a key and its proofs. For tests a key may be short, and nothing else that a key must not be. */
export function checkKey(key: Key, { roots, blum }: KeyProofs, insecure = false): void {
  const { n, generator } = key;
  const bits = bitLength(n);
  ensure(bits % 2 === 0 && bits >= 64 && bits <= 8192, () => `no key has ${bits} bits`);
  ensure(insecure || bits >= LEAST_BITS, () => `a key of ${bits} bits is insecure: it needs ${LEAST_BITS}`);
  ensure(!hasSmallFactor(key), "the modulus has a small factor");
  ensure(squareRoot(n) ** 2n !== n, "the modulus is a square");
  ensure(n % 4n === 1n, "the modulus is not 1 modulo 4");
  ensure(
    generator > 1n && generator < n - 1n && gcd((generator - 1n) * generator * (generator + 1n), n) === 1n,
    "the generator is none",
  );
  ensure(power(2n, n - 1n, n) !== 1n, "the modulus is prime: 2 to the power of n - 1 is 1");
  ensure(!hasClosePrimes(n), "the primes of the modulus are close: Fermat's method finds them");
  ensure(roots.length === ROOTS, "the key has not eleven roots");
  ensure(blum.length === SQUARE_ROOTS, "the key has not 128 square roots");
  ensure(
    [...roots, ...blum].every((root) => root > 0n && root < n),
    "a root of the key is out of range",
  );
  ensure(rootsHold(key, roots), "the roots of the key do not hold");
  ensure(squareRootsHold(key, blum), "the square roots of the key do not hold");
}

/** Whether the modulus has a factor below 2^16: every one is looked for. */
function hasSmallFactor({ n }: Key): boolean {
  for (let factor = 3n; factor < 65_536n; factor += 2n) if (n % factor === 0n) return true;
  return n % 2n === 0n;
}

/** Whether `n = a^2 - b^2` for one of the first `a` above its root. */
function hasClosePrimes(n: bigint): boolean {
  const first = squareRoot(n) + 1n;
  return Array.from({ length: FERMAT_STEPS }, (_, step) => (first + BigInt(step)) ** 2n - n).some(isSquare);
}

function isSquare(number: bigint): boolean {
  return SQUARES.has(number & 63n) && squareRoot(number) ** 2n === number;
}

/** What squares are modulo 64: 12 of the numbers. */
const SQUARES = new Set(Array.from({ length: 64 }, (_, root) => BigInt(root * root) & 63n));

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
