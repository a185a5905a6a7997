/** An election's public key: Paillier's scheme with the generator of Damgard, Jurik and Nielsen [DJN10]. */

import { gcd, randomBits } from "hearith/bigint.ts";
import { concat, counter, toBigint } from "hearith/bytes.ts";
import { Core } from "hearith/core.ts";
import { ensure } from "hearith/errors.ts";
import { transcript } from "./hash.ts";

/** Additional bits of a prover's exponents: 256 for the challenge and 128 to hide the secret. */
export const HIDING_BITS = 384;
/**
 * Bits of a digit in the table of powers. For a single ballot, a larger table costs more time than
 * it saves.
 */
const TABLE_WIDTH = 5;

export class Key extends Core {
  override readonly generator: bigint;

  constructor(n: bigint, generator: bigint) {
    ensure(n > 1n && n % 2n === 1n, "the key's modulus is even or below 3");
    ensure(
      generator > 1n && generator < n - 1n && gcd(generator, n) === 1n,
      "the key's generator is not a unit other than 1 and -1",
    );
    super(n, generator);
    this.generator = generator;
  }

  /**
   * Returns `(h^n)^exponent`, by a table that is computed at first use. Longer exponents take
   * longer.
   */
  override basePower(exponent: bigint): bigint {
    this.prepare(TABLE_WIDTH, this.shortBits + HIDING_BITS + 16);
    return super.basePower(exponent);
  }

  drawOpening(): bigint {
    return randomBits(this.shortBits);
  }

  /** Returns the ciphertext of `m` with a short opening. */
  override encrypt(m: bigint, opening = this.drawOpening()): bigint {
    return (this.plain(m) * this.basePower(opening)) % this.squared;
  }
}

/** Returns a number modulo `n` derived from a hash of `n`. */
export function hashed(key: Key, proof: string, index: number): bigint {
  const n = key.narrow(key.n);
  const length = key.bytes + 16;
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, block) =>
    transcript(proof, n, concat(counter(index, 4), counter(block, 4))),
  );
  return toBigint(concat(...blocks).slice(0, length)) % key.n;
}
