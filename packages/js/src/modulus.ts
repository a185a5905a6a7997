/** What the numbers of a key must be, as far as they show it: the same as `hearith_paillier::PublicKey::new` checks. */

import { bitLength, gcd, mod, power, randomUnit, squareRoot } from "./bigint.ts";
import { ensure } from "./errors.ts";

/** Bits of the shortest and of the longest key. */
export const MIN_BITS = 64;
export const MAX_BITS = 8192;
/** Bits of the shortest key that protects anything. */
export const MIN_SECURE_BITS = 2048;
/** Factors below this are looked for. */
const TRIAL_BOUND = 1 << 16;
/** Steps of Fermat's method that close primes do not survive. */
const FERMAT_STEPS = 100;
/** Rounds of Miller and Rabin's test that a composite number passes with a chance of at most 2^-128. */
const ROUNDS = 64;

/** Checks the modulus. `insecure` admits keys that protect nothing: short ones, prime moduli, close primes. */
export function checkModulus(n: bigint, insecure = false): void {
  checkLength(n, insecure);
  checkForm(n);
  if (!insecure) checkStrength(n);
}

/** Checks how many bits the modulus has. */
export function checkLength(n: bigint, insecure: boolean): void {
  const bits = bitLength(n);
  ensure(
    bits >= MIN_BITS && bits <= MAX_BITS,
    () => `a key of ${bits} bits is not supported: keys must have ${MIN_BITS} to ${MAX_BITS} bits`,
  );
  ensure(bits % 2 === 0, () => `the key size must be even, not ${bits} bits`);
  ensure(
    insecure || bits >= MIN_SECURE_BITS,
    () => `a key of ${bits} bits is insecure: at least ${MIN_SECURE_BITS} are needed`,
  );
}

/** Checks what decryption needs of a modulus: no small factor, no square. */
export function checkForm(n: bigint): void {
  const factor = smallFactor(n);
  ensure(factor === undefined, () => `the modulus n is divisible by ${factor}`);
  ensure(!isSquare(n), "the modulus n is a square");
}

/** Checks that the modulus does not show its factors. */
export function checkStrength(n: bigint): void {
  ensure(power(2n, n - 1n, n) !== 1n, "the modulus n is prime: it must be a product of two primes");
  ensure(!hasClosePrimes(n), "the primes of the modulus n are close together: Fermat's method finds them");
}

/**
 * Checks the generator of a DJN key: a unit that is neither 1 nor -1 modulo a prime, of which powers would show the
 * factor, and `n = 1 mod 4`, as `p = q = 3 mod 4` make it.
 */
export function checkGenerator(generator: bigint, n: bigint): void {
  ensure(
    n % 4n === 1n &&
      generator > 1n &&
      generator < n - 1n &&
      gcd((generator - 1n) * generator * (generator + 1n), n) === 1n,
    "the key's generator h is not valid",
  );
}

/** Checks the primes of a private key: `p < q` of one length, far enough apart. */
export function checkPrimes(p: bigint, q: bigint, insecure = false): void {
  const bits = bitLength(p);
  ensure(
    bits === bitLength(q) && p !== q,
    "the primes of the private key must be different and of equal length",
  );
  ensure(isProbablyPrime(p), "the factor p of the private key is not prime");
  ensure(isProbablyPrime(q), "the factor q of the private key is not prime");
  // FIPS 186-5, A.1.3, for keys that are long enough to ask for it.
  const least = 2 * bits < 256 ? 0 : bits - 100;
  ensure(
    insecure || bitLength(p < q ? q - p : p - q) > least,
    "the primes of the private key are close together: they must differ in their leading 100 bits",
  );
}

/** Bits of the smallest subgroup key. */
const MIN_SUBGROUP_BITS = 1024;
/** Bits of a randomiser's exponent beyond those of the order of its subgroup, halved. */
const SLACK = 128;
/** Bits that a cofactor of a subgroup has at least. */
const LEAST_COFACTOR_BITS = 257;
/** Bits of the primes of a subgroup, by the bits of the longest key that they are enough for. */
const ORDER_BITS: readonly (readonly [number, number])[] = [
  [2047, 160],
  [2048, 256],
  [3072, 288],
  [4096, 336],
  [7680, 416],
  [MAX_BITS, 432],
];

/** Bits that the primes of the subgroup of a key of so many bits have at least. */
function orderBits(bits: number): number {
  return ORDER_BITS.find(([most]) => bits <= most)?.[1] ?? MAX_BITS;
}

/** Checks how long the exponents of a subgroup key are: short ones would not hide. */
export function checkExponent(exponent: number, bits: number): void {
  ensure(
    bits >= MIN_SUBGROUP_BITS,
    () =>
      `a subgroup key of ${bits} bits is not supported: subgroup keys must have at least ${MIN_SUBGROUP_BITS} bits`,
  );
  const [least, most] = [2 * orderBits(bits) + SLACK, bits / 2];
  ensure(
    exponent >= least && exponent <= most,
    () =>
      `exponents of ${exponent} bits are not valid for a subgroup key of this size: they must have ${least} to ${most} bits`,
  );
}

/**
 * Checks the primes of a subgroup: each divides its prime of the key less 1, and leaves twice a prime; the generator has
 * the order `2 p q`, and exponents are long enough for it.
 */
export function checkSubgroup(
  primes: readonly [bigint, bigint],
  orders: readonly [bigint, bigint],
  generator: bigint,
  exponent: number,
): void {
  const invalid = (problem: string) => `the private subgroup key is not valid: ${problem}`;
  const [bits, length] = [bitLength(primes[0]), bitLength(orders[0])];
  ensure(
    length >= orderBits(2 * bits) && length === bitLength(orders[1]) && length + LEAST_COFACTOR_BITS < bits,
    invalid("the primes do not have the length that the key requires"),
  );
  ensure(orders[0] !== orders[1], invalid("the primes are the same"));
  const cofactors = primes.map((prime, at) => {
    const order = orders[at] ?? 0n;
    const name = at === 0 ? "p does not divide P - 1" : "q does not divide Q - 1";
    ensure(prime % 4n === 3n && (prime - 1n) % (2n * order) === 0n, invalid(name));
    return (prime - 1n) / (2n * order);
  });
  ensure(
    cofactors.every((one) => bitLength(one) >= LEAST_COFACTOR_BITS),
    invalid("a cofactor is too short"),
  );
  ensure(new Set([...orders, ...cofactors]).size === 4, invalid("two of the primes are the same"));
  ensure(isProbablyPrime(orders[0]), invalid("p is not prime"));
  ensure(isProbablyPrime(orders[1]), invalid("q is not prime"));
  ensure(cofactors.every(isProbablyPrime), invalid("a cofactor is not prime"));
  const [least, most] = [bitLength(orders[0] * orders[1]) + SLACK, bits];
  ensure(
    exponent >= least,
    `exponents of ${exponent} bits are not valid for a subgroup key of this size: they must have ${least} to ${most} bits`,
  );
  const generates = primes.every((prime, at) => {
    const minus = mod(-generator, prime);
    return minus !== 1n && power(minus, orders[at] ?? 0n, prime) === 1n;
  });
  ensure(generates, "the key's generator h is not valid");
}

/** The least factor below 2^16. */
function smallFactor(n: bigint): number | undefined {
  for (let candidate = 2; candidate < TRIAL_BOUND; candidate += candidate === 2 ? 1 : 2)
    if (n % BigInt(candidate) === 0n) return candidate;
  return undefined;
}

/** What squares are modulo 64: 12 of the numbers. */
const SQUARES = new Set(Array.from({ length: 64 }, (_, root) => BigInt(root * root) & 63n));

function isSquare(number: bigint): boolean {
  return SQUARES.has(number & 63n) && squareRoot(number) ** 2n === number;
}

/** Whether `n = a^2 - b^2` for one of the first `a` above its root. */
function hasClosePrimes(n: bigint): boolean {
  const first = squareRoot(n) + 1n;
  return Array.from({ length: FERMAT_STEPS }, (_, step) => (first + BigInt(step)) ** 2n - n).some(isSquare);
}

/** Miller and Rabin's test with random bases. */
export function isProbablyPrime(number: bigint): boolean {
  if (number < 4n || number % 2n === 0n) return number === 2n || number === 3n;
  let [odd, halvings] = [number - 1n, 0];
  while (odd % 2n === 0n) [odd, halvings] = [odd / 2n, halvings + 1];
  const passes = () => {
    let reached = power(randomUnit(number), odd, number);
    if (reached === 1n || reached === number - 1n) return true;
    for (let squaring = 1; squaring < halvings; squaring++) {
      reached = (reached * reached) % number;
      if (reached === number - 1n) return true;
    }
    return false;
  };
  return Array.from({ length: ROUNDS }).every(passes);
}

/** Whether `-h` is a square modulo both primes, which are 3 modulo 4: whether `h` is `-x^2` for a unit `x`. */
export function generates(h: bigint, p: bigint, q: bigint): boolean {
  return [p, q].every((prime) => prime % 4n === 3n && power(mod(-h, prime), (prime - 1n) / 2n, prime) === 1n);
}
