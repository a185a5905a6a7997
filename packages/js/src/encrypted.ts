/** Encrypted numbers that know their key, their encoding, and how many additions made them. */

import type { Numeric } from "./decimal.ts";
import { Encoding, wholeNumber } from "./encoding.ts";
import { ensure } from "./errors.ts";
import type { PrivateKey, PublicKey } from "./keys.ts";

/** One ciphertext with one number, or with one in each slot of its encoding. It never changes. */
export class Encrypted {
  readonly key: PublicKey;
  readonly encoding: Encoding;
  readonly ciphertext: bigint;
  /** How many numbers were added up in it, each as often as its weight: the headroom that is used. */
  readonly additions: bigint;

  /** Of a checked ciphertext alone: others go through `Encrypted.from`. Throws if the headroom does not suffice. */
  constructor(key: PublicKey, encoding: Encoding, ciphertext: bigint, additions: bigint) {
    ensure(
      additions >= 0n && additions <= encoding.maxAdditions,
      () => `${additions} additions exceed the headroom of ${encoding.maxAdditions}`,
    );
    this.key = key;
    this.encoding = encoding;
    this.ciphertext = ciphertext;
    this.additions = additions;
  }

  /** A ciphertext from elsewhere. Throws unless it is a unit modulo `n^2` and the encoding fits the key. */
  static from(
    key: PublicKey,
    encoding: Encoding,
    ciphertext: bigint,
    additions: number | bigint = 1n,
  ): Encrypted {
    encoding.checkKey(key);
    key.checkCiphertexts([ciphertext]);
    return new Encrypted(key, encoding, ciphertext, wholeNumber(additions));
  }

  /** Encrypts a number, or one a slot. */
  static of(key: PublicKey, values: Numeric | readonly Numeric[], encoding: Encoding = new Encoding()) {
    return new Encrypted(key, encoding, key.encrypt(encoding.encode(key, values)), 1n);
  }

  /** The sum. Throws if keys or encodings differ, or if the headroom does not suffice. */
  add(other: Encrypted): Encrypted {
    ensure(
      this.key === other.key || this.key.id === other.key.id,
      "the numbers were encrypted with different keys",
    );
    ensure(this.encoding.equals(other.encoding), "the encodings differ: scale, range, slots or headroom");
    const sum = this.key.add(this.ciphertext, other.ciphertext);
    return new Encrypted(this.key, this.encoding, sum, this.additions + other.additions);
  }

  /** The sum of several, at least one. It is not re-randomised: who has the numbers can tell of which it is. */
  static sum(numbers: readonly Encrypted[]): Encrypted {
    ensure(numbers.length > 0, "there are no numbers to sum");
    return numbers.reduce((sum, one) => sum.add(one));
  }

  /** The product with a whole number, re-randomised. It uses as much headroom as so many additions. */
  multiply(by: number | bigint): Encrypted {
    const factor = wholeNumber(by);
    const additions = this.additions * (factor < 0n ? -factor : factor);
    // Before the work: a factor may be as long as one likes.
    ensure(
      additions <= this.encoding.maxAdditions,
      () => `the factor exceeds the headroom of ${this.encoding.maxAdditions} additions`,
    );
    return new Encrypted(this.key, this.encoding, this.key.multiply(this.ciphertext, factor), additions);
  }

  /** The same number in another ciphertext, which nobody can link to this one without the private key. */
  rerandomise(): Encrypted {
    return new Encrypted(this.key, this.encoding, this.key.rerandomise(this.ciphertext), this.additions);
  }

  /** The number as a decimal, or one a slot. Throws if it is beyond what its additions can make. */
  decrypt(key: PrivateKey): string[] {
    ensure(key.public.id === this.key.id, "the number was encrypted with another key");
    return this.encoding.decode(this.key, key.decrypt(this.ciphertext), this.additions);
  }
}
