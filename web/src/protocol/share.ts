/**
 * Threshold decryption: trustees' shares with proofs, and their combination.
 * docs/explanation/threshold.md has the equations.
 */

import * as base64 from "hearith/base64.ts";
import { bitLength, inverse, mod, power, productOfPowers, randomBits } from "hearith/bigint.ts";
import { concat, counter, toBigint, toBytes, utf8 } from "hearith/bytes.ts";
import { ensure } from "hearith/errors.ts";
import { hashed, type Key } from "./djn.ts";
import { challenge } from "./hash.ts";
import type { Context } from "./proofs.ts";

/** The trustees of a key: `base` is v, `keys` are the v_i, `signing` the keys that sign shares. */
export interface Trustees {
  readonly base: bigint;
  readonly keys: readonly bigint[];
  readonly needed: number;
  readonly signing: readonly Uint8Array[];
  /**
   * Statements about a key that the trustees generated together; absent if a dealer shared the key.
   */
  readonly generated?: { readonly transcript: string; readonly statements: readonly Uint8Array[] };
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

/** Returns `v`, derived from the hash of n. Its plaintext is 2. */
export function baseOf(key: Key): bigint {
  const root = (key.plain(1n) * power(hashed(key, "base", 0), key.n, key.squared)) % key.squared;
  return (root * root) % key.squared;
}

/**
 * Checks that nobody chose `v`, and that all `v_i` belong to one polynomial whose value at 0
 * decrypts.
 */
export function checkDealing(key: Key, { base, keys, needed }: Trustees): void {
  ensure(
    base === baseOf(key),
    "v is not derived from the hash of n, so the dealer could choose results (earlier versions shared keys like this)",
  );
  const delta = factorial(keys.length);
  const expected = key.plain(2n * delta * delta);
  for (let first = 1; first + needed <= keys.length + 1; first++) {
    const window = Array.from({ length: needed }, (_, at) => first + at);
    // Negative powers move to the other side.
    let [left, right] = [1n, expected];
    for (const i of window) {
      const coefficient = lagrange(delta, i, window);
      const own = power(keys[i - 1] ?? 0n, coefficient < 0n ? -coefficient : coefficient, key.squared);
      if (coefficient < 0n) right = (right * own) % key.squared;
      else left = (left * own) % key.squared;
    }
    ensure(
      (left * left - right * right) % key.squared === 0n,
      () => `v_${first} to v_${first + needed - 1} do not belong to one sharing of a decryption key`,
    );
  }
}

/** `D` times the Lagrange coefficient at 0 of a trustee's share, among these trustees. */
function lagrange(delta: bigint, i: number, trustees: readonly number[]): bigint {
  let [numerator, denominator] = [delta, 1n];
  for (const j of trustees) {
    if (j === i) continue;
    numerator *= BigInt(j);
    denominator *= BigInt(j - i);
  }
  return numerator / denominator;
}

/** Bits of the longest secret `s_i` of a key that trustees generated together. */
function generatedBits(bits: number, needed: number, trustees: number): number {
  const length = (number: number | bigint) => bitLength(BigInt(number));
  const coefficient = bits + 128 + length(trustees) + 128 + length(factorial(trustees)) + needed - 1;
  const powers = Array.from({ length: needed }, (_, power) => trustees ** power);
  const share = coefficient + 1 + length(powers.reduce((sum, one) => sum + one, 0));
  return 2 * bits + share + length(trustees);
}

/** Whether this number of trustees can generate a key with this threshold. */
export function canGenerate(needed: number, trustees: number): boolean {
  return trustees >= 3 && trustees <= 9 && needed >= 2 && 2 * needed - 1 <= trustees;
}

function responseBits(key: Key, { generated, keys, needed }: Trustees): number {
  const bits = bitLength(key.n);
  return (generated ? generatedBits(bits, needed, keys.length) : 2 * bits) + 512;
}

/** The length of a share in bytes. */
export function shareBytes(key: Key, trustees: Trustees): number {
  return 6 * key.bytes + Math.ceil(responseBits(key, trustees) / 8);
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

/** Computes a trustee's share of the decryption of a ciphertext from the secret `s_i`. */
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
  const bits = responseBits(key, trustees);
  const rho = randomBits(bits - 1);
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
  return concat(number, a, b, toBytes(response, Math.ceil(bits / 8)));
}

/** Whether a secret belongs to a trustee's verification key. */
export function isSecretOf(key: Key, trustees: Trustees, trustee: number, secret: bigint): boolean {
  const exponent = factorial(trustees.keys.length) * secret;
  return power(trustees.base, exponent, key.squared) === trustees.keys[trustee - 1];
}

/** Reads a trustee's shares of several ciphertexts and checks their proofs. Returns each `c_i`. */
export function readShares(
  key: Key,
  trustees: Trustees,
  trustee: number,
  rows: readonly { readonly c: bigint; readonly context: Context }[],
  bytes: Uint8Array,
): bigint[] {
  const width = shareBytes(key, trustees);
  ensure(bytes.length === width * rows.length, "the shares have the wrong length for the ciphertexts");
  const shares = rows.map((_, at) => readShare(key, trustees, bytes.subarray(at * width, (at + 1) * width)));
  const numbers = shares.flatMap(({ number, a, b }) => [number, a, b]);
  ensure(key.areUnits(numbers), "a number of a share is not a unit modulo n^2");
  ensure(sharesHold(key, trustees, trustee, rows, shares), "a share's proof does not hold");
  return shares.map((share) => share.number);
}

function readShare(key: Key, trustees: Trustees, bytes: Uint8Array): Share {
  const wide = 2 * key.bytes;
  const part = (at: number) => key.readWide(bytes.subarray(at * wide, (at + 1) * wide));
  const share = { number: part(0), a: part(1), b: part(2), response: toBigint(bytes.subarray(3 * wide)) };
  ensure(bitLength(share.response) <= responseBits(key, trustees), "a share's response is out of range");
  return share;
}

/**
 * Whether all proofs hold: `c^(4z) = a c_i^(2e)` and `v^z = b v_i^e` for every row, in one equation
 * with a separate random even weight for each.
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

/** Combines valid shares of as many trustees as needed to the plaintext below `n`. */
export function combine(key: Key, trustees: Trustees, shares: ReadonlyMap<number, bigint>): bigint {
  const { n, squared } = key;
  const chosen = [...shares].sort(([a], [b]) => a - b).slice(0, trustees.needed);
  ensure(chosen.length === trustees.needed, () => `${chosen.length} of ${trustees.needed} required shares`);
  const delta = factorial(trustees.keys.length);
  const numbers = chosen.map(([i]) => i);
  let product = 1n;
  for (const [i, share] of chosen) {
    const coefficient = 2n * lagrange(delta, i, numbers);
    const base = coefficient < 0n ? inverse(share, squared) : share;
    ensure(base !== undefined, "a share is not a unit modulo n^2");
    product = (product * power(base, coefficient < 0n ? -coefficient : coefficient, squared)) % squared;
  }
  ensure(product % n === 1n, "the shares do not combine to a plaintext");
  const scale = inverse(mod(4n * delta * delta, n), n);
  ensure(scale !== undefined, "the key is too short for this number of trustees");
  return (((product - 1n) / n) * scale) % n;
}

/** Concatenates shares of several ciphertexts as on the board. */
export function joinShares(shares: readonly Uint8Array[]): string {
  return base64.encode(concat(...shares));
}
