/**
 * Arithmetic modulo `m^2` in parts modulo `m`: a number is kept as `a + b m` in Montgomery's form with `R = 2^bits(m)`.
 *
 * One Montgomery reduction modulo `m` of `a c` gives `r` and the digits `q` with `a c = R r + q m`, so that
 *
 *     (a + b m)(c + d m) / R = r + m (a d + b c + q) / R   (mod m^2)
 *
 * which is seven products of numbers of half the length, and six for a square. A product modulo `m^2` on its own takes
 * a product and a division of the full length: in V8, modulo the squares of 1024 and of 2048 bits, 1.2 times as long as
 * this, and 1.4 times as long as this for a square. Nothing of it is constant time.
 */

import { bitLength, digits, mod } from "./bigint.ts";

/** A number modulo `m^2`, in Montgomery's form: `low` and `high` are in `[0, m)`. */
export interface Dual {
  readonly low: bigint;
  readonly high: bigint;
}

/** The inverse of an odd number modulo `2^bits`, by Newton's method. */
function inverseOfOdd(number: bigint, bits: number): bigint {
  let found = 1n;
  for (let known = 1; known < bits; known *= 2)
    found = BigInt.asUintN(2 * known, found * (2n - BigInt.asUintN(2 * known, number) * found));
  return BigInt.asUintN(bits, found);
}

/** Numbers modulo the square of an odd number of at least two bits. */
export class Square {
  readonly root: bigint;
  readonly modulus: bigint;
  readonly one: Dual;
  readonly #bits: number;
  readonly #shift: bigint;
  readonly #inverse: bigint;

  constructor(root: bigint) {
    if (root < 3n || root % 2n === 0n) throw new RangeError("the root is even or below 3");
    this.root = root;
    this.modulus = root * root;
    this.#bits = bitLength(root);
    this.#shift = BigInt(this.#bits);
    this.#inverse = inverseOfOdd(root, this.#bits);
    this.one = this.enter(1n);
  }

  enter(number: bigint): Dual {
    const raised = mod(number << this.#shift, this.modulus);
    const high = raised / this.root;
    return { low: raised - high * this.root, high };
  }

  leave(number: Dual): bigint {
    const { low, high } = this.multiply(number, { low: 1n, high: 0n });
    return low + high * this.root;
  }

  multiply(x: Dual, y: Dual): Dual {
    return this.#reduced(x.low * y.low, x.low * y.high + x.high * y.low);
  }

  square(x: Dual): Dual {
    return this.#reduced(x.low * x.low, (x.low * x.high) << 1n);
  }

  /** `(low + high m) / R`, for `low` below `m^2` and `high` below `2 m^2`. */
  #reduced(low: bigint, high: bigint): Dual {
    const [root, bits, shift, inverse] = [this.root, this.#bits, this.#shift, this.#inverse];
    const q = BigInt.asUintN(bits, BigInt.asUintN(bits, low) * inverse);
    // low - q m is a multiple of R between -R m and m^2, so r is between -m and m.
    let r = (low - q * root) >> shift;
    const all = high + q;
    const v = BigInt.asUintN(bits, BigInt.asUintN(bits, all) * inverse);
    // all is below 2 m^2 + R: the quotient is between -m and 2 m + 1, and one more may have to be given back.
    let h = (all - v * root) >> shift;
    if (r < 0n) {
      r += root;
      h -= 1n;
    }
    if (h < 0n) h += root;
    if (h >= root) h -= root;
    if (h >= root) h -= root;
    return { low: r, high: h };
  }

  /** A power, by fixed windows. The exponent is not negative. */
  power(base: Dual, exponent: bigint): Dual {
    if (exponent < 0n) throw new RangeError("the exponent is negative");
    const width = exponent >> 512n > 0n ? 6 : exponent >> 64n > 0n ? 4 : 1;
    const table = [this.one, base];
    while (table.length < 1 << width) table.push(this.multiply(table[table.length - 1] ?? base, base));
    const places = digits(exponent, width);
    let result = table[places.pop() ?? 0] ?? this.one;
    for (let digit = places.pop(); digit !== undefined; digit = places.pop()) {
      for (let squaring = 0; squaring < width; squaring++) result = this.square(result);
      if (digit > 0) result = this.multiply(result, table[digit] ?? base);
    }
    return result;
  }
}

/** Powers of one base: a table of every digit at every place, so that a power takes a product a digit. */
export class FixedBase {
  readonly bits: number;
  readonly #square: Square;
  readonly #rows: Dual[][] = [];
  readonly #width: number;

  /** For exponents of at most so many bits, with digits of `width` bits, 1 to 16. */
  constructor(square: Square, base: Dual, bits: number, width = 5) {
    this.#square = square;
    this.#width = width;
    this.bits = bits;
    let unit = base;
    for (let place = 0; place * width < bits; place++) {
      const row = [square.one];
      for (let digit = 1; digit < 1 << width; digit++)
        row.push(square.multiply(row[digit - 1] ?? unit, unit));
      unit = square.multiply(row[row.length - 1] ?? unit, unit);
      this.#rows.push(row);
    }
  }

  power(exponent: bigint): Dual {
    const places = digits(exponent, this.#width);
    if (exponent < 0n || bitLength(exponent) > this.bits)
      throw new RangeError("the exponent is longer than the table");
    let result: Dual | undefined;
    for (const [place, digit] of places.entries()) {
      const factor = digit === 0 ? undefined : this.#rows[place]?.[digit];
      if (factor) result = result ? this.#square.multiply(result, factor) : factor;
    }
    return result ?? this.#square.one;
  }
}
