/** Keys that must not be taken. */

import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import * as base64 from "../src/base64.ts";
import { inverse, power } from "../src/bigint.ts";
import { toBytes } from "../src/bytes.ts";
import { Fault } from "../src/errors.ts";
import { PrivateKey, PublicKey } from "../src/keys.ts";
import {
  number,
  privateMembers,
  publicMembers,
  SUBGROUPS,
  subgroupMembers,
  VECTORS,
} from "./support/vectors.ts";

const DJN = VECTORS.djn.find((one) => one.bits === 2048);
const SMALL = VECTORS.djn.find((one) => one.bits === 256);
if (!DJN || !SMALL) throw new Error("the known answers have no DJN key of 2048 and 256 bits");
const INSECURE = { insecure: true };

function encoded(value: bigint): string {
  return base64.encode(toBytes(value, Math.ceil(value.toString(16).length / 2)));
}

/** The next number that no factor below 2^16 divides. */
function neighbour(of: bigint): bigint {
  for (let found = of + 2n; ; found += 2n) {
    let factor = 3n;
    while (factor < 65_536n && found % factor !== 0n) factor += 2n;
    if (factor > 65_536n) return found;
  }
}

async function reason(key: typeof PublicKey | typeof PrivateKey, text: string, options = INSECURE) {
  const error = await key.read(text, options).then(
    () => undefined,
    (found) => found,
  );
  expect(error).toBeInstanceOf(Fault);
  return (error as Fault).message;
}

describe("a public key", () => {
  test("is read and written as it is", async () => {
    const text = JSON.stringify(publicMembers(DJN));
    const key = await PublicKey.read(text);
    expect([key.variant, key.bits, key.comment]).toEqual(["djn", 2048, "of a test"]);
    expect(key.toJson()).toBe(text);
    const padded = JSON.stringify({ ...publicMembers(DJN), n: `${publicMembers(DJN).n}==`, kid: null });
    expect((await PublicKey.read(padded)).comment).toBe(`Paillier public key ${key.id} of Hearith`);
  });

  const n = number(SMALL.n);
  const wrong: [string, object | string, RegExp][] = [
    ["no JSON", "{", /not JSON/],
    ["a list", "[]", /not an object/],
    ["a long text", " ".repeat(70_000), /too long for a key/],
    ["another kind", { kty: "RSA" }, /'kty'/],
    ["another algorithm", { alg: "RSA" }, /'alg'/],
    ["no modulus", { n: undefined }, /'n' is not a text/],
    ["a modulus that is a number", { n: 5 }, /'n' is not a text/],
    ["a modulus in base64", { n: "ab+/" }, /'n' is not base64url/],
    ["bits left over", { n: "AB" }, /'n' is not base64url/],
    ["nothing but padding", { n: "=".repeat(60_000) }, /0 bits is not supported/],
    ["a long modulus", { n: "A".repeat(5000) }, /'n' is too long/],
    ["zero", { n: encoded(0n) }, /a key of 0 bits/],
    ["an even modulus", { n: encoded(n - 1n) }, /divisible by 2/],
    ["an odd size", { n: encoded(2n * n + 1n) }, /must be even/],
    ["more than 8192 bits", { n: encoded(1n << 8192n) }, /8193 bits is not supported/],
    ["a square", { n: encoded(number(SMALL.p) ** 2n) }, /is a square/],
    ["a generator of 1", { h: encoded(1n) }, /generator h/],
    ["a generator of -1", { h: encoded(n - 1n) }, /generator h/],
    ["a generator with a factor", { h: encoded(number(SMALL.p)) }, /generator h/],
    ["a generator that is 1 modulo p", { h: encoded(number(SMALL.p) + 1n) }, /generator h/],
    ["a generator beyond n", { h: encoded(n + 5n) }, /generator h/],
    ["a comment that is a number", { kid: 5 }, /'kid'/],
    ["a long comment", { kid: "é".repeat(600) }, /'kid' is too long/],
  ];
  test.each(wrong)("is refused with %s", async (_, change, expected) => {
    const text = typeof change === "string" ? change : JSON.stringify({ ...publicMembers(SMALL), ...change });
    expect(await reason(PublicKey, text)).toMatch(expected);
  });

  test("is refused where it protects nothing", async () => {
    expect(await reason(PublicKey, JSON.stringify(publicMembers(SMALL)), { insecure: false })).toMatch(
      "256 bits is insecure",
    );
    const n = (value: bigint) => JSON.stringify(publicMembers({ n: value.toString(16) }));
    const secure = { insecure: false };
    // The largest prime below 2^2048.
    expect(await reason(PublicKey, n((1n << 2048n) - 1_942_289n), secure)).toMatch("n is prime");
    expect(await reason(PublicKey, n(number(DJN.p) * neighbour(number(DJN.p))), secure)).toMatch(
      "close together",
    );
  });

  test("is not a private one", async () => {
    expect(await reason(PublicKey, JSON.stringify(privateMembers(SMALL)))).toMatch("a private key");
  });
});

describe("a private key", () => {
  const [p, q] = [number(SMALL.p), number(SMALL.q)];
  const wrong: [string, object, RegExp][] = [
    ["no operation", { key_ops: ["encrypt"] }, /'key_ops'/],
    ["operations that are none", { key_ops: "decrypt" }, /'key_ops'/],
    ["no public key", { pub: 5 }, /'pub'/],
    ["a public key of another pair", { pub: publicMembers(DJN) }, /do not belong/],
    ["one prime twice", { p: encoded(q), q: encoded(q) }, /different and of equal length/],
    ["primes of two lengths", { p: encoded(3n) }, /different and of equal length/],
    ["a composite p", { p: encoded(p + 2n) }, /not prime/],
    ["a composite q", { q: encoded(q - 2n) }, /not prime/],
    ["a long prime", { q: encoded(1n << 5000n) }, /8192 bits/],
    ["a prime that is a number", { p: 7 }, /'p' is not a text/],
    ["a generator that is a square", { pub: { ...publicMembers(SMALL), h: encoded(4n) } }, /generator h/],
  ];
  test.each(wrong)("is refused with %s", async (_, change, expected) => {
    expect(await reason(PrivateKey, JSON.stringify({ ...privateMembers(SMALL), ...change }))).toMatch(
      expected,
    );
  });

  test("is refused encrypted, and as a share", async () => {
    expect(await reason(PrivateKey, JSON.stringify({ protected: "e30", ciphertext: "AA" }))).toMatch(
      "is encrypted",
    );
    expect(await reason(PrivateKey, JSON.stringify({ pub: {}, s: "" }))).toMatch("share of a private key");
  });

  test("is written as it is read, and shown to nobody", async () => {
    const members = privateMembers(SMALL);
    const key = await PrivateKey.read(JSON.stringify(members), INSECURE);
    // The smaller prime goes first.
    const [first, second] = p < q ? [members.p, members.q] : [members.q, members.p];
    expect(key.toJson()).toBe(JSON.stringify({ ...members, p: first, q: second }));
    const shown = [inspect(key, { depth: 9, showHidden: true }), JSON.stringify({ key }), String(key)].join();
    for (const secret of [members.p, members.q, String(p), String(q), p.toString(16)])
      expect(shown).not.toContain(secret);
  });

  test("decrypts no number that is no ciphertext", async () => {
    const key = await PrivateKey.read(JSON.stringify(privateMembers(SMALL)), INSECURE);
    expect(() => key.decrypt(0n)).toThrow("not above 0");
    expect(() => key.decrypt(-1n)).toThrow("not above 0");
    expect(() => key.decrypt(key.public.squared)).toThrow("not below n^2");
    expect(() => key.decrypt(p)).toThrow("shares a factor");
    expect(() => key.decrypt(key.public.n)).toThrow("shares a factor");
  });
});

describe("a subgroup key", () => {
  const [vector] = SUBGROUPS;
  if (!vector) throw new Error("the known answers have no subgroup key");
  const members = subgroupMembers(vector);
  const [big, other, order, second, h] = [vector.P, vector.Q, vector.p, vector.q, vector.h].map(number) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  const n = big * other;

  const wrongPublic: [string, object, RegExp][] = [
    ["no generator", { h: undefined }, /'h' is missing/],
    ["no length", { x: undefined }, /'x' is missing/],
    ["a length of null", { x: null }, /'x' is missing/],
    ["a length that is a text", { x: "448" }, /'x' is not a number/],
    ["a length that is no integer", { x: 448.5 }, /'x' is not a number/],
    ["a negative length", { x: -1 }, /'x' is not a number/],
    ["exponents of one bit", { x: 1 }, /exponents of 1 bits are not valid.*448 to 512/],
    ["exponents a bit too short", { x: 447 }, /exponents of 447 bits/],
    ["exponents a bit too long", { x: 513 }, /exponents of 513 bits/],
    ["an endless length", { x: 1e300 }, /exponents of 1e\+300 bits/],
    ["an unknown algorithm", { alg: "PAI-SG2" }, /'alg'/],
    ["a generator of 1", { h: encoded(1n) }, /generator h/],
    ["a short modulus", { n: publicMembers(SMALL).n }, /a subgroup key of 256 bits is not supported/],
  ];
  test.each(wrongPublic)("is refused with %s", async (_, change, expected) => {
    const text = JSON.stringify({ ...members.pub, ...change });
    expect(await reason(PublicKey, text)).toMatch(expected);
  });

  test.each([448, 449, 511, 512])("has another id with exponents of %i bits", async (x) => {
    const key = await PublicKey.read(JSON.stringify({ ...members.pub, x }), INSECURE);
    expect([key.exponentBits, key.id === vector.id]).toEqual([x, x === vector.x]);
  });

  test("has another id with another generator, and as a DJN key", async () => {
    const cube = await PublicKey.read(JSON.stringify({ ...members.pub, h: encoded(h ** 3n % n) }), INSECURE);
    const djn = await PublicKey.read(JSON.stringify({ ...members.pub, alg: "PAI-GN1" }), INSECURE);
    expect([cube.variant, djn.variant]).toEqual(["subgroup", "djn"]);
    expect(new Set([vector.id, cube.id, djn.id]).size).toBe(3);
  });

  const wrong: [string, object, RegExp][] = [
    [
      "no primes of its subgroup",
      { sp: undefined, sq: undefined },
      /subgroup are missing|'sp' is not a text/,
    ],
    ["one of them", { sq: undefined }, /subgroup are missing|'sq' is not a text/],
    ["them the other way", { sp: members.sq, sq: members.sp }, /p does not divide P - 1/],
    ["one twice", { sq: members.sp }, /the primes are the same/],
    ["zero", { sp: encoded(0n) }, /do not have the length/],
    ["one", { sp: encoded(1n) }, /do not have the length/],
    ["a cofactor for one", { sp: encoded((big - 1n) / 2n / order) }, /do not have the length/],
    ["another number", { sp: encoded(order + 2n) }, /p does not divide P - 1/],
    ["another second one", { sq: encoded(second + 2n) }, /q does not divide Q - 1/],
    ["a generator of half the order", { pub: { ...members.pub, h: encoded(n - h) } }, /generator h/],
    ["a generator of any order", { pub: { ...members.pub, h: encoded(7n) } }, /generator h/],
    ["exponents that are too long", { pub: { ...members.pub, x: 513 } }, /exponents of 513 bits/],
  ];
  test.each(wrong)("is refused, private, with %s", async (_, change, expected) => {
    expect(await reason(PrivateKey, JSON.stringify({ ...members, ...change }))).toMatch(expected);
  });

  test("is read with its primes the other way round", async () => {
    const { p, q, sp, sq } = members;
    const text = JSON.stringify({ ...members, p: q, q: p, sp: sq, sq: sp });
    expect((await PrivateKey.read(text, INSECURE)).toJson()).toBe(JSON.stringify(members));
  });

  test("shows nobody the primes of its subgroup", async () => {
    const key = await PrivateKey.read(JSON.stringify(members), INSECURE);
    const shown = [inspect(key, { depth: 9, showHidden: true }), JSON.stringify({ key }), String(key)].join();
    for (const secret of [members.sp, members.sq, String(order), String(second)])
      expect(shown).not.toContain(secret);
  });

  test("gives one error for whatever is foreign, in one half or both", async () => {
    const key = await PrivateKey.read(JSON.stringify(members), INSECURE);
    const own = key.public.encrypt(5n);
    const said = /not made with this subgroup key's randomisers/;
    for (const [one, another] of [
      [big, other],
      [other, big],
    ] as const) {
      // 1 modulo the square of one prime, 2^n modulo that of the other.
      const { squared } = key.public;
      const foreign = power(2n, n, another ** 2n);
      const inverted = inverse(one ** 2n, another ** 2n);
      if (inverted === undefined) throw new Error("primes have inverses");
      const half = 1n + one ** 2n * (((foreign - 1n) * inverted) % another ** 2n);
      const changed = (((own * half) % squared) + squared) % squared;
      expect(() => key.decrypt(changed)).toThrow(said);
      expect(key.anyRandomiser().decrypt(changed)).toBe(5n);
    }
    expect(() => key.decrypt(big)).toThrow(said);
    expect(() => key.anyRandomiser().decrypt(big)).toThrow("shares a factor");
  });
});
