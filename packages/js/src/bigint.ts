/**
 * Arithmetic on BigInt. Nothing of it is constant time, which JavaScript does not offer: exponents and openings may
 * show in how long it takes, on the machine that it runs on and no other.
 */

import { toBigint } from "./bytes.ts";

/** A number of so many random bits, from the generator of the browser or of Node. */
export function randomBits(bits: number): bigint {
  // The generator gives at most 65 536 bytes a call.
  const bytes = crypto.getRandomValues(new Uint8Array(Math.ceil(bits / 8)));
  const number = toBigint(bytes) >> BigInt(8 * bytes.length - bits);
  bytes.fill(0);
  return number;
}

export function bitLength(number: bigint): number {
  if (number === 0n) return 0;
  const hex = number.toString(16);
  return 4 * hex.length + 28 - Math.clz32(Number.parseInt(hex.charAt(0), 16));
}

/** A random number from 1 to `bound - 1` that shares no factor with `bound`. */
export function randomUnit(bound: bigint): bigint {
  for (;;) {
    const drawn = randomBits(bitLength(bound));
    if (drawn > 0n && drawn < bound && gcd(drawn, bound) === 1n) return drawn;
  }
}

export function mod(number: bigint, modulus: bigint): bigint {
  const rest = number % modulus;
  return rest < 0n ? rest + modulus : rest;
}

export function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

/** The largest number whose square is not above this one, by Newton's method. */
export function squareRoot(number: bigint): bigint {
  if (number < 2n) return number;
  // From above, every step comes closer until it would go up again.
  let root = 1n << BigInt(Math.ceil(bitLength(number) / 2));
  for (;;) {
    const next = (root + number / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The Jacobi symbol `(a / n)` of an odd `n`, by reciprocity. */
export function jacobi(a: bigint, n: bigint): -1 | 0 | 1 {
  let [top, bottom, sign] = [mod(a, n), n, 1];
  while (top !== 0n) {
    while (top % 2n === 0n) {
      top /= 2n;
      if (bottom % 8n === 3n || bottom % 8n === 5n) sign = -sign;
    }
    [top, bottom] = [bottom, top];
    if (top % 4n === 3n && bottom % 4n === 3n) sign = -sign;
    top %= bottom;
  }
  return bottom === 1n ? (sign as 1 | -1) : 0;
}

/** The inverse of a unit; undefined of anything else. */
export function inverse(number: bigint, modulus: bigint): bigint | undefined {
  let [a, b, x, y] = [mod(number, modulus), modulus, 1n, 0n];
  while (b !== 0n) {
    const quotient = a / b;
    [a, b, x, y] = [b, a - quotient * b, y, x - quotient * y];
  }
  return a === 1n ? mod(x, modulus) : undefined;
}

/** The digits of an exponent in base `2^width`, the least significant first. */
export function digits(exponent: bigint, width: number): number[] {
  const bits = exponent.toString(2);
  const found: number[] = [];
  for (let end = bits.length; end > 0; end -= width) {
    found.push(Number.parseInt(bits.slice(Math.max(0, end - width), end), 2));
  }
  return found;
}

/** A product of powers by fixed windows: all share the squarings, so it is for few bases. */
function multiExpWindowed(bases: readonly bigint[], exponents: readonly bigint[], modulus: bigint): bigint {
  if (exponents.some((exponent) => exponent < 0n)) throw new RangeError("the exponent is negative");
  const width = exponents.some((exponent) => exponent >> 512n > 0n) ? 5 : 4;
  const places = exponents.map((exponent) => digits(exponent, width));
  const tables = bases.map((base) => {
    const table = [1n, mod(base, modulus)];
    while (table.length < 1 << width)
      table.push(((table[table.length - 1] ?? 0n) * (table[1] ?? 0n)) % modulus);
    return table;
  });
  let result = 1n % modulus;
  for (let place = Math.max(0, ...places.map((one) => one.length)) - 1; place >= 0; place--) {
    for (let squaring = 0; squaring < width; squaring++) result = (result * result) % modulus;
    for (const [row, table] of tables.entries()) {
      const digit = places[row]?.[place];
      if (digit !== undefined) result = (result * (table[digit] ?? 0n)) % modulus;
    }
  }
  return result;
}

/** A power, by fixed windows. */
export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  return multiExpWindowed([base], [exponent], modulus);
}

/** The product of powers: by windows of few bases, by buckets of many. */
export function productOfPowers(
  bases: readonly bigint[],
  exponents: readonly bigint[],
  modulus: bigint,
): bigint {
  return bases.length <= 64
    ? multiExpWindowed(bases, exponents, modulus)
    : pippenger(bases, exponents, modulus);
}

/** The same by buckets, for exponents of about one length [BDLO12]. */
function pippenger(bases: readonly bigint[], exponents: readonly bigint[], modulus: bigint): bigint {
  // A bucket costs two products, a base one: some eight bases a bucket are about right.
  const width = Math.max(1, Math.min(12, Math.floor(Math.log2(bases.length + 1)) - 1));
  const places = exponents.map((exponent) => digits(exponent, width));
  let result = 1n;
  for (let place = Math.max(0, ...places.map((one) => one.length)) - 1; place >= 0; place--) {
    for (let squaring = 0; squaring < width; squaring++) result = (result * result) % modulus;
    const buckets: (bigint | undefined)[] = new Array(1 << width);
    for (const [row, base] of bases.entries()) {
      const digit = places[row]?.[place] ?? 0;
      if (digit === 0) continue;
      const bucket = buckets[digit];
      buckets[digit] = bucket === undefined ? base : (bucket * base) % modulus;
    }
    // The bucket of digit d goes d times into the product: sums of suffixes do it with one product each.
    let suffix = 1n;
    let sum = 1n;
    for (let digit = buckets.length - 1; digit > 0; digit--) {
      const bucket = buckets[digit];
      if (bucket !== undefined) suffix = (suffix * bucket) % modulus;
      if (suffix !== 1n) sum = (sum * suffix) % modulus;
    }
    result = (result * sum) % modulus;
  }
  return result;
}
