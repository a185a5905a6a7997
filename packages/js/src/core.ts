/** What computes with a public key: residues modulo `n` in, ciphertexts modulo `n^2` out. */

import { bitLength, gcd, inverse, mod, power, randomBits, randomUnit } from "./bigint.ts";
import { toBigint, toBytes } from "./bytes.ts";
import { type Dual, FixedBase, Square } from "./dual.ts";
import { ensure, Fault } from "./errors.ts";

/** Bits of a digit of the table that `prepare` builds: 128 products an encryption at 2048 bits, and 17 MB. */
export const TABLE_WIDTH = 8;

/** Paillier's scheme [Paillier99] for a modulus, with the generator of Damgard, Jurik and Nielsen [DJN10] if there is one. */
export class Core {
  readonly n: bigint;
  readonly squared: bigint;
  readonly generator: bigint | undefined;
  readonly bits: number;
  /** Bytes of a number modulo `n`; one modulo its square has twice as many. */
  readonly bytes: number;
  /** Bits of a short exponent: half of those of `n`, or what a subgroup key says. */
  readonly shortBits: number;
  #square: Square | undefined;
  #base: Dual | undefined;
  #table: FixedBase | undefined;
  readonly #stock: bigint[] = [];

  constructor(n: bigint, generator?: bigint, exponentBits?: number) {
    this.n = n;
    this.squared = n * n;
    this.generator = generator;
    this.bits = bitLength(n);
    this.bytes = Math.ceil(this.bits / 8);
    this.shortBits = exponentBits ?? Math.floor(this.bits / 2);
  }

  /** Numbers modulo `n^2`, in parts modulo `n`. */
  get square(): Square {
    this.#square ??= new Square(this.n);
    return this.#square;
  }

  /** Builds the table of a DJN or a subgroup key, for exponents of so many bits: it pays from some 40 encryptions on. */
  prepare(width = TABLE_WIDTH, bits = this.shortBits): void {
    ensure(Number.isInteger(width) && width >= 1 && width <= 12, "a table has digits of 1 to 12 bits");
    if (this.generator !== undefined && !this.#table)
      this.#table = new FixedBase(this.square, this.#randomiserBase(this.generator), bits, width);
  }

  /** `h^n`, which ciphertexts of a DJN or a subgroup key hide their numbers with. */
  get base(): bigint {
    return this.square.leave(this.#randomiserBase(this.#ownGenerator()));
  }

  #ownGenerator(): bigint {
    if (this.generator === undefined) throw new Fault("the key is not of the DJN variant");
    return this.generator;
  }

  #randomiserBase(generator: bigint): Dual {
    this.#base ??= this.square.power(this.square.enter(generator), this.n);
    return this.#base;
  }

  /** `(h^n)^exponent`, by the table if there is one that is long enough. Only keys with a generator have it. */
  basePower(exponent: bigint): bigint {
    const generator = this.#ownGenerator();
    const { square } = this;
    const table = this.#table && bitLength(exponent) <= this.#table.bits ? this.#table : undefined;
    return square.leave(
      table ? table.power(exponent) : square.power(this.#randomiserBase(generator), exponent),
    );
  }

  /** A random ciphertext of 0: `(h^n)^a` for a short random `a`, or `r^n` for a random unit `r`. */
  randomiser(): bigint {
    if (this.generator !== undefined) return this.basePower(randomBits(this.shortBits));
    const { square } = this;
    return square.leave(square.power(square.enter(randomUnit(this.n)), this.n));
  }

  /** Makes randomisers beforehand: as many encryptions as there are take one product each. */
  stock(count: number): void {
    for (let made = 0; made < count; made++) this.#stock.push(this.randomiser());
  }

  /** Randomisers that were made beforehand and are left. */
  get stocked(): number {
    return this.#stock.length;
  }

  /** `(1 + n)^m = 1 + m n` for any whole number `m`: a ciphertext that hides nothing. */
  plain(m: bigint): bigint {
    return 1n + mod(m, this.n) * this.n;
  }

  /** A ciphertext of the residue of any whole number. */
  encrypt(m: bigint): bigint {
    return (this.plain(m) * this.#drawn()) % this.squared;
  }

  /** Another ciphertext of the same residue, which nobody can link to the first without the private key. */
  rerandomise(ciphertext: bigint): bigint {
    return (ciphertext * this.#drawn()) % this.squared;
  }

  #drawn(): bigint {
    // Each randomiser leaves the stock: two ciphertexts with one show how their numbers differ.
    return this.#stock.pop() ?? this.randomiser();
  }

  /** A ciphertext of the sum. Who has the inputs can tell that it is theirs. */
  add(a: bigint, b: bigint): bigint {
    return (a * b) % this.squared;
  }

  /** A ciphertext of the sum of all; of none it is 1. */
  sum(ciphertexts: Iterable<bigint>): bigint {
    let product: bigint | undefined;
    for (const one of ciphertexts) product = product === undefined ? one : (product * one) % this.squared;
    return product ?? 1n;
  }

  /** A ciphertext of the negative. */
  negate(ciphertext: bigint): bigint {
    const negative = inverse(ciphertext, this.squared);
    if (negative === undefined) throw new Fault("the ciphertext shares a factor with n");
    return negative;
  }

  /** A ciphertext of the sum with a whole number. */
  addPlain(ciphertext: bigint, m: bigint): bigint {
    return (ciphertext * this.plain(m)) % this.squared;
  }

  /** A ciphertext of the product with a whole number, re-randomised: it does not show the number. */
  multiply(ciphertext: bigint, by: bigint): bigint {
    return this.rerandomise(this.multiplyDeterministic(ciphertext, by));
  }

  /** The same without a randomiser: who has the input can try which number it was. */
  multiplyDeterministic(ciphertext: bigint, by: bigint): bigint {
    const base = by < 0n ? this.negate(ciphertext) : ciphertext;
    const exponent = by < 0n ? -by : by;
    // Into the parts and out of them costs some five products.
    if (exponent < 256n) return power(base, exponent, this.squared);
    return this.square.leave(this.square.power(this.square.enter(base), exponent));
  }

  /** A number modulo `n` as bytes, big-endian. */
  narrow(number: bigint): Uint8Array {
    return toBytes(number, this.bytes);
  }

  /** A ciphertext as bytes, big-endian: a cell of an encrypted column. */
  wide(number: bigint): Uint8Array {
    return toBytes(number, 2 * this.bytes);
  }

  /** A ciphertext, or another number modulo `n^2`, from bytes. That it is a unit is checked for many at once. */
  readWide(bytes: Uint8Array): bigint {
    ensure(
      bytes.length === 2 * this.bytes,
      `a number modulo n^2 has ${2 * this.bytes} bytes, not ${bytes.length}`,
    );
    const number = toBigint(bytes);
    ensure(number > 0n && number < this.squared, "the number is not between 0 and n^2");
    return number;
  }

  /** Throws unless all are ciphertexts of the key: above 0, below `n^2`, and without a factor in common with `n`. */
  checkCiphertexts(ciphertexts: readonly bigint[]): void {
    const at = (row: number) => (ciphertexts.length > 1 ? `ciphertext ${row}` : "the ciphertext");
    for (const [row, one] of ciphertexts.entries()) {
      ensure(one > 0n, () => `${at(row)} is not above 0`);
      ensure(one < this.squared, () => `${at(row)} is not below n^2`);
    }
    if (this.areUnits(ciphertexts)) return;
    const row = ciphertexts.findIndex((one) => !this.areUnits([one]));
    throw new Fault(`${at(row)} shares a factor with n`);
  }

  /** Whether none of the numbers shares a factor with `n`. */
  areUnits(numbers: readonly bigint[]): boolean {
    const product = numbers.reduce((all, one) => (all * one) % this.n, 1n);
    return gcd(product, this.n) === 1n;
  }
}
