/** The crate's known answers. */

import { expect, test } from "vitest";
import { Core } from "../src/core.ts";
import { PrivateKey } from "../src/keys.ts";
import { number, privateMembers, SUBGROUPS, subgroupMembers, VECTORS } from "./support/vectors.ts";

const INSECURE = { insecure: true };

test.each(VECTORS.keys)("a key of $bits bits, $kind", async (vector) => {
  const key = await PrivateKey.read(JSON.stringify(privateMembers(vector)), INSECURE);
  const core = key.public;
  expect(core.bits).toBe(vector.bits);
  for (const { m, c } of [...vector.encryptions, ...vector.decryptions])
    expect(key.decrypt(number(c))).toBe(number(m));
  for (const { m, r, c } of vector.encryptions) {
    const { square } = core;
    const randomiser = square.leave(square.power(square.enter(number(r)), core.n));
    expect((core.plain(number(m)) * randomiser) % core.squared).toBe(number(c));
  }
  const known = (name: string) => number(vector.arithmetic[name] ?? "");
  const [a, b, k] = [known("a"), known("b"), known("k")];
  expect(core.add(a, b)).toBe(known("add"));
  expect(core.sum([a, b])).toBe(known("add"));
  expect(core.negate(a)).toBe(known("neg"));
  expect(core.add(a, core.negate(b))).toBe(known("sub"));
  expect(core.multiplyDeterministic(a, k)).toBe(known("scale"));
  expect(core.multiplyDeterministic(a, -k)).toBe(known("scale_neg"));
  expect(core.addPlain(a, known("m"))).toBe(known("add_plain"));
  const dot = core.add(core.multiplyDeterministic(a, k), core.multiplyDeterministic(b, -3n));
  expect(dot).toBe(known("dot"));
});

test.each(VECTORS.djn)("a DJN key of $bits bits", async (vector) => {
  const key = await PrivateKey.read(JSON.stringify(privateMembers(vector)), INSECURE);
  for (const width of [0, 1, 4, 7]) {
    const core = new Core(key.public.n, number(vector.h));
    if (width > 0) core.prepare(width);
    for (const { m, a, c } of vector.encryptions) {
      expect((core.plain(number(m)) * core.basePower(number(a))) % core.squared).toBe(number(c));
      expect(key.decrypt(number(c))).toBe(number(m));
    }
    const drawn = [core.encrypt(5n), core.encrypt(5n), core.rerandomise(core.encrypt(5n))];
    expect(new Set(drawn).size).toBe(3);
    expect(drawn.map((one) => key.decrypt(one))).toEqual([5n, 5n, 5n]);
  }
});

test.each(SUBGROUPS)("a subgroup key of $bits bits", async (vector) => {
  const text = JSON.stringify(subgroupMembers(vector));
  const key = await PrivateKey.read(text, INSECURE);
  const core = key.public;
  expect([core.id, core.variant, core.exponentBits, core.shortBits]).toEqual([
    vector.id,
    "subgroup",
    vector.x,
    vector.x,
  ]);
  expect(key.toJson()).toBe(text);
  const any = key.anyRandomiser();
  expect([key.decryptsAny, any.decryptsAny]).toEqual([false, true]);
  for (const width of [0, 5]) {
    if (width > 0) core.prepare(width);
    for (const { m, r, c } of vector.own)
      expect((core.plain(number(m)) * core.basePower(number(r))) % core.squared).toBe(number(c));
  }
  for (const { m, c } of vector.own) {
    expect(key.decrypt(number(c))).toBe(number(m));
    expect(any.decrypt(number(c))).toBe(number(m));
  }
  for (const { m, c } of vector.foreign) {
    expect(() => key.decrypt(number(c))).toThrow("not made with this subgroup key's randomisers");
    expect(any.decrypt(number(c))).toBe(number(m));
  }
  // Own ones, drawn here.
  const drawn = core.rerandomise(core.encrypt(5n));
  expect(key.decrypt(core.add(drawn, core.encrypt(-2n)))).toBe(3n);
});
