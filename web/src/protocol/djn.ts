/** An election's public key: Paillier's scheme with the generator of Damgard, Jurik and Nielsen [DJN10]. */

import { bitLength, FixedBase, gcd, power, randomBits } from "./bigint.ts";
import { concat, counter, toBigint, toBytes } from "./bytes.ts";
import { ensure } from "./errors.ts";
import { transcript } from "./hash.ts";

/** Bits that a prover's own exponents have beyond those of what they hide: 256 of a challenge, 128 that hide. */
export const HIDING_BITS = 384;

export class Key {
  readonly n: bigint;
  readonly squared: bigint;
  readonly generator: bigint;
  /** Bytes of a number modulo `n`; one modulo its square has twice as many. */
  readonly bytes: number;
  /** Bits of a short opening. */
  readonly shortBits: number;
  #base: bigint | undefined;
  #table: FixedBase | undefined;

  constructor(n: bigint, generator: bigint) {
    ensure(n > 1n && n % 2n === 1n, "the key's modulus is even");
    ensure(
      generator > 1n && generator < n - 1n && gcd(generator, n) === 1n,
      "the key's generator is no unit other than 1 and -1",
    );
    this.n = n;
    this.squared = n * n;
    this.generator = generator;
    this.bytes = Math.ceil(bitLength(n) / 8);
    this.shortBits = Math.floor(bitLength(n) / 2);
  }

  /** `h^n`, which every ciphertext hides its number with. */
  get base(): bigint {
    this.#base ??= power(this.generator, this.n, this.squared);
    return this.#base;
  }

  /** `(h^n)^exponent`, by a table that is made when it is first needed; longer exponents take longer. */
  basePower(exponent: bigint): bigint {
    const bits = this.shortBits + HIDING_BITS + 16;
    if (bitLength(exponent) > bits) return power(this.base, exponent, this.squared);
    this.#table ??= new FixedBase(this.base, this.squared, bits);
    return this.#table.power(exponent);
  }

  /** `(1 + n)^m = 1 + m n` for any whole number `m`. */
  plain(m: bigint): bigint {
    const rest = m % this.n;
    return 1n + (rest < 0n ? rest + this.n : rest) * this.n;
  }

  drawOpening(): bigint {
    return randomBits(this.shortBits);
  }

  /** The ciphertext of `m` by a short opening. */
  encrypt(m: bigint, opening: bigint): bigint {
    return (this.plain(m) * this.basePower(opening)) % this.squared;
  }

  sum(ciphertexts: readonly bigint[]): bigint {
    return ciphertexts.reduce((product, one) => (product * one) % this.squared, 1n);
  }

  narrow(number: bigint): Uint8Array {
    return toBytes(number, this.bytes);
  }

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
    ensure(number > 0n && number < this.squared, "a number that is not between 0 and n^2");
    return number;
  }

  /** Whether none of the numbers shares a factor with `n`. */
  areUnits(numbers: readonly bigint[]): boolean {
    return (
      gcd(
        numbers.reduce((product, one) => (product * one) % this.n, 1n),
        this.n,
      ) === 1n
    );
  }
}

/** A number modulo `n` that a hash of `n` gives. */
export function hashed(key: Key, proof: string, index: number): bigint {
  const n = key.narrow(key.n);
  const length = key.bytes + 16;
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, block) =>
    transcript(proof, n, concat(counter(index, 4), counter(block, 4))),
  );
  return toBigint(concat(...blocks).slice(0, length)) % key.n;
}
