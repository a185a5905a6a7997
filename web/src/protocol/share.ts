/** Keys shared among trustees: a share of a decryption with its proof, and what shares combine to. docs/threshold.md has the equations. */

import * as base64 from "./base64.ts";
import { bitLength, gcd, inverse, mod, power, randomBits } from "./bigint.ts";
import { concat, counter, toBigint, toBytes, utf8 } from "./bytes.ts";
import type { Key } from "./djn.ts";
import { ensure } from "./errors.ts";
import { challenge } from "./hash.ts";
import type { Context } from "./proofs.ts";

/** Who decrypts together: `base` is v, `keys` are the v_i. */
export interface Trustees {
  readonly base: bigint;
  readonly keys: readonly bigint[];
  readonly needed: number;
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

/** Reads a share and checks its proof: gives `c_i`. */
export function readShare(
  key: Key,
  trustees: Trustees,
  trustee: number,
  context: Context,
  c: bigint,
  bytes: Uint8Array,
): bigint {
  const verification = trustees.keys[trustee - 1];
  ensure(verification !== undefined, () => `there is no trustee ${trustee}`);
  ensure(bytes.length === shareBytes(key), "a share does not have the bytes that it must");
  const { squared } = key;
  const wide = 2 * key.bytes;
  const part = (at: number) => key.readWide(bytes.subarray(at * wide, (at + 1) * wide));
  const share = { number: part(0), a: part(1), b: part(2), response: toBigint(bytes.subarray(3 * wide)) };
  ensure(bitLength(share.response) <= responseBits(key), "a share's answer is out of range");
  ensure(gcd(share.number * share.a * share.b, key.n) === 1n, "a share has a number that is no unit");
  const e = shareChallenge(key, trustees, trustee, context, c, share);
  const square = (number: bigint) => (number * number) % squared;
  const fourth = square(square(c));
  // Both equations, compared after squaring, with nothing to invert: c^(4z) = a c_i^(2e), v^z = b v_i^e.
  const first = [power(fourth, share.response, squared), share.a * power(square(share.number), e, squared)];
  const second = [power(trustees.base, share.response, squared), share.b * power(verification, e, squared)];
  for (const [left = 0n, right = 0n] of [first, second]) {
    ensure(square(left) === square(right % squared), "a share's proof does not hold");
  }
  return share.number;
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
  let product = 1n;
  for (const [i, share] of chosen) {
    let [numerator, denominator] = [delta, 1n];
    for (const [j] of chosen) {
      if (j === i) continue;
      numerator *= BigInt(j);
      denominator *= BigInt(j - i);
    }
    const coefficient = (2n * numerator) / denominator;
    const base = coefficient < 0n ? inverse(share, squared) : share;
    ensure(base !== undefined, "a share is no unit");
    product = (product * power(base, coefficient < 0n ? -coefficient : coefficient, squared)) % squared;
  }
  ensure(product % n === 1n, "the shares do not combine");
  const scale = inverse(mod(4n * delta * delta, n), n);
  ensure(scale !== undefined, "the key is too small for so many trustees");
  return (((product - 1n) / n) * scale) % n;
}

/** Shares of several ciphertexts, one after another, as they stand on the board. */
export function splitShares(key: Key, bytes: Uint8Array, count: number): Uint8Array[] {
  const width = shareBytes(key);
  ensure(bytes.length === width * count, "not as many shares as ciphertexts");
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * width, (at + 1) * width));
}

export function joinShares(shares: readonly Uint8Array[]): string {
  return base64.encode(concat(...shares));
}
