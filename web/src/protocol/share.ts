/** Keys shared among trustees: a share of a decryption with its proof, and what shares combine to. docs/explanation/threshold.md has the equations. */

import * as base64 from "hearith/base64.ts";
import { bitLength, inverse, mod, power, productOfPowers, randomBits } from "hearith/bigint.ts";
import { concat, counter, toBigint, toBytes, utf8 } from "hearith/bytes.ts";
import { ensure } from "hearith/errors.ts";
import { hashed, type Key } from "./djn.ts";
import { challenge } from "./hash.ts";
import type { Context } from "./proofs.ts";

/** Who decrypts together: `base` is v, `keys` are the v_i, and `signing` what each signs shares with. */
export interface Trustees {
  readonly base: bigint;
  readonly keys: readonly bigint[];
  readonly needed: number;
  readonly signing: readonly Uint8Array[];
}

/** One trustee's share of the decryption of one ciphertext. */
interface Share {
  readonly number: bigint;
  readonly a: bigint;
  readonly b: bigint;
  readonly response: bigint;
}

function factorial(number: number): bigint {
  return Array.from({ length: number }, (_, at) => BigInt(at + 1)).reduce(
    (product, one) => product * one,
    1n,
  );
}

/** `v`: its plaintext is 2, and nobody chose the rest. */
export function baseOf(key: Key): bigint {
  const root = (key.plain(1n) * power(hashed(key, "base", 0), key.n, key.squared)) % key.squared;
  return (root * root) % key.squared;
}

/** Checks that nobody chose `v`, and that all `v_i` lie on one polynomial whose value at 0 decrypts. */
export function checkDealing(key: Key, { base, keys, needed }: Trustees): void {
  ensure(
    base === baseOf(key),
    "v is not the number that the hash of n gives: the key was shared by a version whose dealer could choose results",
  );
  const delta = factorial(keys.length);
  const expected = key.plain(2n * delta * delta);
  for (let first = 1; first + needed <= keys.length + 1; first++) {
    const window = Array.from({ length: needed }, (_, at) => first + at);
    // Negative powers are taken on the other side.
    let [left, right] = [1n, expected];
    for (const i of window) {
      const coefficient = lagrange(delta, i, window);
      const own = power(keys[i - 1] ?? 0n, coefficient < 0n ? -coefficient : coefficient, key.squared);
      if (coefficient < 0n) right = (right * own) % key.squared;
      else left = (left * own) % key.squared;
    }
    ensure(
      (left * left - right * right) % key.squared === 0n,
      () => `v_${first} to v_${first + needed - 1} are not those of a key that decrypts`,
    );
  }
}

/** `D` times what a trustee's share contributes to the value at 0, among these trustees. */
function lagrange(delta: bigint, i: number, trustees: readonly number[]): bigint {
  let [numerator, denominator] = [delta, 1n];
  for (const j of trustees) {
    if (j === i) continue;
    numerator *= BigInt(j);
    denominator *= BigInt(j - i);
  }
  return numerator / denominator;
}

function responseBits(key: Key): number {
  return 2 * bitLength(key.n) + 512;
}

/** Bytes of a share. */
export function shareBytes(key: Key): number {
  return 6 * key.bytes + Math.ceil(responseBits(key) / 8);
}

function shareChallenge(
  key: Key,
  trustees: Trustees,
  trustee: number,
  context: Context,
  c: bigint,
  share: Share,
): bigint {
  const counters = [trustees.needed, trustees.keys.length, trustee].map((number) => counter(number, 4));
  const numbers = [trustees.base, trustees.keys[trustee - 1] ?? 0n, c, share.number, share.a, share.b];
  const parts = [utf8(context.shared), utf8(context.row), key.narrow(key.n), concat(...counters)];
  return challenge("share", ...parts, ...numbers.map((number) => key.wide(number)));
}

/** A trustee's share of the decryption of a ciphertext, by the secret `s_i`. */
export function decryptShare(
  key: Key,
  trustees: Trustees,
  trustee: number,
  secret: bigint,
  context: Context,
  c: bigint,
): Uint8Array {
  const { squared } = key;
  const exponent = factorial(trustees.keys.length) * secret;
  const rho = randomBits(responseBits(key) - 1);
  const square = (c * c) % squared;
  const share = {
    number: power(square, exponent, squared),
    a: power((square * square) % squared, rho, squared),
    b: power(trustees.base, rho, squared),
    response: 0n,
  };
  const response = rho + shareChallenge(key, trustees, trustee, context, c, share) * exponent;
  const [number, a, b] = [share.number, share.a, share.b].map((one) => key.wide(one)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  return concat(number, a, b, toBytes(response, Math.ceil(responseBits(key) / 8)));
}

/** Whether a secret is the one that a trustee's public number was made of. */
export function isSecretOf(key: Key, trustees: Trustees, trustee: number, secret: bigint): boolean {
  const exponent = factorial(trustees.keys.length) * secret;
  return power(trustees.base, exponent, key.squared) === trustees.keys[trustee - 1];
}

/** Reads a trustee's shares of several ciphertexts and checks their proofs: gives `c_i` of each. */
export function readShares(
  key: Key,
  trustees: Trustees,
  trustee: number,
  rows: readonly { readonly c: bigint; readonly context: Context }[],
  bytes: Uint8Array,
): bigint[] {
  const width = shareBytes(key);
  ensure(bytes.length === width * rows.length, "not as many shares as ciphertexts");
  const shares = rows.map((_, at) => readShare(key, bytes.subarray(at * width, (at + 1) * width)));
  const numbers = shares.flatMap(({ number, a, b }) => [number, a, b]);
  ensure(key.areUnits(numbers), "a share has a number that is no unit");
  ensure(sharesHold(key, trustees, trustee, rows, shares), "a share's proof does not hold");
  return shares.map((share) => share.number);
}

function readShare(key: Key, bytes: Uint8Array): Share {
  const wide = 2 * key.bytes;
  const part = (at: number) => key.readWide(bytes.subarray(at * wide, (at + 1) * wide));
  const share = { number: part(0), a: part(1), b: part(2), response: toBigint(bytes.subarray(3 * wide)) };
  ensure(bitLength(share.response) <= responseBits(key), "a share's answer is out of range");
  return share;
}

/**
 * Whether all proofs hold: `c^(4z) = a c_i^(2e)` and `v^z = b v_i^e` of every row in one equation, each with a random
 * even weight of its own.
 */
function sharesHold(
  key: Key,
  trustees: Trustees,
  trustee: number,
  rows: readonly { readonly c: bigint; readonly context: Context }[],
  shares: readonly Share[],
): boolean {
  const verification = trustees.keys[trustee - 1];
  ensure(verification !== undefined, () => `there is no trustee ${trustee}`);
  const left = new Powers(key);
  const right = new Powers(key);
  for (const [at, { c, context }] of rows.entries()) {
    const share = shares[at];
    if (!share) return false;
    const e = shareChallenge(key, trustees, trustee, context, c, share);
    const [g, h] = [randomBits(127) << 1n, randomBits(127) << 1n];
    left.times(c, 4n * share.response * g);
    left.times(trustees.base, share.response * h);
    right.times(share.a, g);
    right.times(share.number, 2n * e * g);
    right.times(share.b, h);
    right.times(verification, e * h);
  }
  return left.product() === right.product();
}

/** A product of powers, each base once. */
class Powers {
  readonly #key: Key;
  readonly #exponents = new Map<bigint, bigint>();

  constructor(key: Key) {
    this.#key = key;
  }

  times(base: bigint, exponent: bigint): void {
    this.#exponents.set(base, (this.#exponents.get(base) ?? 0n) + exponent);
  }

  product(): bigint {
    return productOfPowers([...this.#exponents.keys()], [...this.#exponents.values()], this.#key.squared);
  }
}

/** The plaintext below `n` that right shares of different trustees combine to: as many as are needed. */
export function combine(key: Key, trustees: Trustees, shares: ReadonlyMap<number, bigint>): bigint {
  const { n, squared } = key;
  const chosen = [...shares].sort(([a], [b]) => a - b).slice(0, trustees.needed);
  ensure(
    chosen.length === trustees.needed,
    () => `${chosen.length} of ${trustees.needed} shares that are needed`,
  );
  const delta = factorial(trustees.keys.length);
  const numbers = chosen.map(([i]) => i);
  let product = 1n;
  for (const [i, share] of chosen) {
    const coefficient = 2n * lagrange(delta, i, numbers);
    const base = coefficient < 0n ? inverse(share, squared) : share;
    ensure(base !== undefined, "a share is no unit");
    product = (product * power(base, coefficient < 0n ? -coefficient : coefficient, squared)) % squared;
  }
  ensure(product % n === 1n, "the shares do not combine");
  const scale = inverse(mod(4n * delta * delta, n), n);
  ensure(scale !== undefined, "the key is too small for so many trustees");
  return (((product - 1n) / n) * scale) % n;
}

/** Shares of several ciphertexts as they stand on the board, one after another. */
export function joinShares(shares: readonly Uint8Array[]): string {
  return base64.encode(concat(...shares));
}
