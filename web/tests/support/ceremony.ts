/** A key and its trustees for tests, dealt as docs/threshold.md says. Its primes are published here: never use it. */

import * as base64 from "../../src/protocol/base64.ts";
import { inverse, mod, power, randomBits } from "../../src/protocol/bigint.ts";
import { concat, counter, toBigint } from "../../src/protocol/bytes.ts";
import type { Json } from "../../src/protocol/canonical.ts";
import { Key, ROOTS } from "../../src/protocol/djn.ts";
import { transcript } from "../../src/protocol/hash.ts";

// Safe primes, the first from a hash.
const P = 0xcb7d39effc3332eb82751d59f932d591e4d8552c9ab5e1bd212ad6a09468c563n;
const Q = 0xc54fffbfe0529abe60e704495e36408b0041b3eb2978a115555e40a42586cc33n;

export interface Ceremony {
  readonly key: Key;
  /** The members of an election's first entry. */
  readonly members: { key: Json; trustees: Json };
  /** The trustees' secrets. */
  readonly secrets: readonly bigint[];
}

function rootOf(key: Key, index: number, exponent: bigint): bigint {
  const n = key.narrow(key.n);
  const length = key.bytes + 16;
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, block) =>
    transcript("roots", n, concat(counter(index, 4), counter(block, 4))),
  );
  return power(toBigint(concat(...blocks).slice(0, length)) % key.n, exponent, key.n);
}

export function hold(needed: number, count: number, [p, q] = [P, Q]): Ceremony {
  const n = p * q;
  const x = randomBits(256);
  const key = new Key(n, mod(-x * x, n));
  const order = ((p - 1n) / 2n) * ((q - 1n) / 2n);
  const modulus = n * order;
  const d = order * (inverse(order, n) ?? 0n);
  const coefficients = [d, ...Array.from({ length: needed - 1 }, () => randomBits(1100) % modulus)];
  const at = (i: bigint) => coefficients.reduceRight((sum, one) => mod(sum * i + one, modulus), 0n);
  const secrets = Array.from({ length: count }, (_, i) => at(BigInt(i + 1)));
  const unit = randomBits(1000) % key.squared;
  const base = (unit * unit) % key.squared;
  const delta = secrets.reduce((product, _, i) => product * BigInt(i + 1), 1n);
  const wide = (number: bigint) => base64.encode(key.wide(number));
  const root = inverse(n, (p - 1n) * (q - 1n)) ?? 0n;
  const members = {
    key: {
      generator: base64.encode(key.narrow(key.generator)),
      modulus: base64.encode(key.narrow(n)),
      roots: Array.from({ length: ROOTS }, (_, i) => base64.encode(key.narrow(rootOf(key, i, root)))),
    },
    trustees: {
      base: wide(base),
      keys: secrets.map((secret) => wide(power(base, delta * secret, key.squared))),
      needed,
    },
  };
  return { key, members, secrets };
}
