/** A key and its trustees for tests, dealt as docs/explanation/threshold.md says. Its primes are published here: never use it. */

import { sha256 } from "@noble/hashes/sha2.js";
import * as base64 from "hearith/base64.ts";
import { bitLength, inverse, jacobi, mod, power, randomBits } from "hearith/bigint.ts";
import { utf8 } from "hearith/bytes.ts";
import type { Json } from "../../src/protocol/canonical.ts";
import { hashed, Key } from "../../src/protocol/djn.ts";
import { ROOTS, SQUARE_ROOTS } from "../../src/protocol/keycheck.ts";
import { baseOf } from "../../src/protocol/share.ts";
import { publicKey } from "../../src/protocol/signature.ts";

/** Two safe primes of 1024 bits. */
export const LARGE = [
  0xc70b0a33ad95b032f1b0a2349637243dd6a5ed88e53ffcdd904ba5cd53a2b11621a8b71a2320e3ff851c458e3da121fadaec461370a619b05d606f4dcb099655ec20db13263936e3e148cafb09147b49041e581d4c31db98c1d3baa0e35cd8332c8824384471c136a87213c63ab4fc0d23b752d69135f800bf47bb61b19e5713n,
  0xe53e81cf6ea0c782dea93edee8e63186e057263a66d0248a35a496aa5f795173713edb4b7ceddbe069962dac7dd159bb1ca4ddfad9dd45e0bac7724f0f11b1a45554a11a88f1a567a8f1203a8e55559eea5f2fccaf23c3bd476f438774b7c66ca6cee94e22b7f654c9b8fc7c90c641f7ec311807b0af987751206b9632afd0f7n,
] as const;

// Two of 256 bits.
const P = 0xcb7d39effc3332eb82751d59f932d591e4d8552c9ab5e1bd212ad6a09468c563n;
const Q = 0xc54fffbfe0529abe60e704495e36408b0041b3eb2978a115555e40a42586cc33n;

export interface Ceremony {
  readonly key: Key;
  /** The members of an election's first entry. */
  readonly members: { key: Json; trustees: Json };
  /** The trustees' secrets. */
  readonly secrets: readonly bigint[];
  /** And what they sign with. */
  readonly signing: readonly Uint8Array[];
}

/** A trustee's signing key. */
export function trusteeKey(trustee: number): Uint8Array {
  return sha256(utf8(`trustee ${trustee}`));
}

/** Of a hashed number, or of the one of its multiples that is a square modulo both primes: the root that is a square. */
function squareRootOf(key: Key, [p, q]: readonly [bigint, bigint], index: number): bigint {
  const y = hashed(key, "blum", index);
  let w = 2n;
  while (jacobi(w, key.n) !== -1) w += 1n;
  const square = [y, -y, w * y, -w * y].find((one) => jacobi(one, p) === 1 && jacobi(one, q) === 1) ?? 0n;
  const [ofP, ofQ] = [p, q].map((prime) => power(square, (prime + 1n) / 4n, prime)) as [bigint, bigint];
  return ofP + p * mod((ofQ - ofP) * (inverse(p, q) ?? 0n), q);
}

export function hold(needed: number, count: number, [p, q]: readonly [bigint, bigint] = [P, Q]): Ceremony {
  const n = p * q;
  const x = randomBits(bitLength(n) - 2);
  const key = new Key(n, mod(-x * x, n));
  const order = ((p - 1n) / 2n) * ((q - 1n) / 2n);
  const modulus = n * order;
  const d = order * (inverse(order, n) ?? 0n);
  const coefficients = [
    d,
    ...Array.from({ length: needed - 1 }, () => randomBits(bitLength(modulus) + 128) % modulus),
  ];
  const at = (i: bigint) => coefficients.reduceRight((sum, one) => mod(sum * i + one, modulus), 0n);
  const secrets = Array.from({ length: count }, (_, i) => at(BigInt(i + 1)));
  const base = baseOf(key);
  const signing = secrets.map((_, at) => trusteeKey(at + 1));
  const delta = secrets.reduce((product, _, i) => product * BigInt(i + 1), 1n);
  const wide = (number: bigint) => base64.encode(key.wide(number));
  const root = inverse(n, (p - 1n) * (q - 1n)) ?? 0n;
  const members = {
    key: {
      blum: Array.from({ length: SQUARE_ROOTS }, (_, i) =>
        base64.encode(key.narrow(squareRootOf(key, [p, q], i))),
      ),
      generator: base64.encode(key.narrow(key.generator)),
      modulus: base64.encode(key.narrow(n)),
      roots: Array.from({ length: ROOTS }, (_, i) =>
        base64.encode(key.narrow(power(hashed(key, "roots", i), root, n))),
      ),
    },
    trustees: {
      base: wide(base),
      keys: secrets.map((secret) => wide(power(base, delta * secret, key.squared))),
      needed,
      signing: signing.map((secret) => base64.encode(publicKey(secret))),
    },
  };
  return { key, members, secrets, signing };
}
