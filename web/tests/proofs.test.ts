import { readFileSync } from "node:fs";
import { fromHex, toBigint } from "hearith/bytes.ts";
import { describe, expect, test } from "vitest";
import { Key } from "../src/protocol/djn.ts";
import { rootsHold, squareRootsHold } from "../src/protocol/keycheck.ts";
import {
  allHold,
  firstInvalid,
  proveMembership,
  proveResidue,
  readMembership,
  readResidue,
  sumBits,
} from "../src/protocol/proofs.ts";

// Made by a third implementation, in Python.
const lines = readFileSync(new URL("../../crates/proofs/tests/vectors.txt", import.meta.url), "utf8")
  .trim()
  .split("\n");
const vectors = lines.map((line) => {
  const [name = "", ...parts] = line.split(" ");
  return { name, parts: parts.map(fromHex) };
});
const named = (name: string) => {
  const found = vectors.find((vector) => vector.name === name);
  if (!found) throw new Error(`no vector ${name}`);
  return found.parts.map((part) => part);
};
const [n, h] = named("n").map(toBigint) as [bigint, bigint];
const key = new Key(n, h);
const context = { shared: "shared", row: "row" };
const set = [0n, 1n, n - 5n];

describe("proofs of the vectors", () => {
  const [u, residue] = named("fast-residue") as [Uint8Array, Uint8Array];
  const [c, membership] = named("fast-membership") as [Uint8Array, Uint8Array];
  const residueClaims = () => readResidue(key, context, toBigint(u), key.shortBits, residue);
  const membershipClaims = () => readMembership(key, context, set, toBigint(c), key.shortBits, membership);

  test("hold, alone and together", () => {
    expect(allHold(key, residueClaims())).toBe(true);
    expect(allHold(key, membershipClaims())).toBe(true);
    expect(firstInvalid(key, [residueClaims(), membershipClaims()])).toBeUndefined();
  });

  test("do not hold elsewhere", () => {
    const other = { ...context, row: "raw" };
    expect(allHold(key, readResidue(key, other, toBigint(u), key.shortBits, residue))).toBe(false);
    expect(() => readMembership(key, other, set, toBigint(c), key.shortBits, membership)).toThrow(
      "do not sum",
    );
  });

  test("the wrong one of many is found", () => {
    const wrong = residueClaims().map((claim) => ({ ...claim, response: claim.response + 1n }));
    const good = residueClaims();
    for (const at of [0, 3, 6]) {
      const all = Array.from({ length: 7 }, (_, index) => (index === at ? wrong : good));
      expect(firstInvalid(key, all)).toBe(at);
    }
  });

  test("roots show a good key", () => {
    const bytes = named("roots")[0] as Uint8Array;
    const roots = Array.from({ length: 11 }, (_, at) =>
      toBigint(bytes.subarray(at * key.bytes, (at + 1) * key.bytes)),
    );
    expect(rootsHold(key, roots)).toBe(true);
    expect(rootsHold(key, roots.with(4, (roots[4] ?? 0n) + 1n))).toBe(false);
  });

  test("square roots show two prime factors", () => {
    const [bytes = new Uint8Array()] = named("blum");
    const roots = Array.from({ length: 128 }, (_, at) =>
      toBigint(bytes.subarray(at * key.bytes, (at + 1) * key.bytes)),
    );
    expect(squareRootsHold(key, roots)).toBe(true);
    expect(squareRootsHold(key, roots.with(77, (roots[77] ?? 0n) + 1n))).toBe(false);
    expect(squareRootsHold(new Key(n * n, 3n), roots)).toBe(false);
  });
});

describe("proofs of our own", () => {
  test("membership, of every member", () => {
    for (const chosen of [0, 1, 2]) {
      const opening = key.drawOpening();
      const c = key.encrypt(set[chosen] ?? 0n, opening);
      const proof = proveMembership(key, context, set, c, opening, key.shortBits, chosen);
      expect(allHold(key, readMembership(key, context, set, c, key.shortBits, proof))).toBe(true);
      const lie = proveMembership(key, context, set, c, opening, key.shortBits, (chosen + 1) % 3);
      expect(allHold(key, readMembership(key, context, set, c, key.shortBits, lie))).toBe(false);
    }
  });

  test("two is neither 0 nor 1", () => {
    const opening = key.drawOpening();
    const c = key.encrypt(2n, opening);
    const proof = proveMembership(key, context, [0n, 1n], c, opening, key.shortBits, 1);
    expect(allHold(key, readMembership(key, context, [0n, 1n], c, key.shortBits, proof))).toBe(false);
  });

  test("a residue of a sum has its own length", () => {
    const openings = [key.drawOpening(), key.drawOpening(), key.drawOpening()];
    const sum = openings.reduce((total, one) => total + one, 0n);
    const bits = sumBits(key, 3);
    expect(bits).toBe(key.shortBits + 2);
    const proof = proveResidue(key, context, key.basePower(sum), sum, bits);
    expect(allHold(key, readResidue(key, context, key.basePower(sum), bits, proof))).toBe(true);
    expect(() => readResidue(key, context, key.basePower(sum), key.shortBits + 16, proof)).toThrow(
      "wrong length",
    );
  });

  test("answers out of range and commitments that are no units are refused", () => {
    const opening = key.drawOpening();
    const c = key.basePower(opening);
    const proof = proveResidue(key, context, c, opening, key.shortBits);
    const long = proof.slice();
    long[2 * key.bytes] = 255;
    expect(() => readResidue(key, context, c, key.shortBits, long)).toThrow("range");
    const none = proof.slice().fill(0, 0, 2 * key.bytes);
    expect(() => readResidue(key, context, c, key.shortBits, none)).toThrow("between");
    expect(allHold(key, [{ number: c, member: 0n, commitment: n, challenge: 0n, response: 1n }])).toBe(false);
  });
});
