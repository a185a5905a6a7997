/** Encrypted numbers as text that says what they are. */

import { beforeAll, expect, test } from "vitest";
import { Encoding } from "../src/encoding.ts";
import { Encrypted } from "../src/encrypted.ts";
import { PrivateKey } from "../src/keys.ts";
import { fromValue, toValue } from "../src/values.ts";
import { privateMembers, VECTORS } from "./support/vectors.ts";

let key: PrivateKey;
beforeAll(async () => {
  const vector = VECTORS.djn.find((one) => one.bits === 512);
  if (vector) key = await PrivateKey.read(JSON.stringify(privateMembers(vector)), { insecure: true });
});

test("text and numbers undo each other", () => {
  for (const [value, options] of [
    ["-12.25", { scale: 2, range: 1000, maxAdditions: 50 }],
    ["7", {}],
    ["0", { scale: 38, range: "0.00000000000000000001" }],
  ] as const) {
    const number = Encrypted.of(key.public, value, new Encoding(options));
    const twice = number.add(number);
    const read = fromValue(key.public, toValue(twice));
    expect(read.encoding.equals(twice.encoding)).toBe(true);
    expect(read.additions).toBe(2n);
    expect(read.decrypt(key)).toEqual(twice.decrypt(key));
    expect(toValue(read)).toBe(toValue(twice));
  }
});

test("the text is that of the crate", () => {
  const number = Encrypted.of(key.public, "1.5", new Encoding({ scale: 2, range: 10, maxAdditions: 3 }));
  expect(toValue(number)).toMatch(new RegExp(`^he1:${key.public.id}:512:2:1000:3:1:[\\w-]{171}$`));
});

test("other texts are refused", () => {
  const text = toValue(
    Encrypted.of(key.public, "1.5", new Encoding({ scale: 2, range: 10, maxAdditions: 3 })),
  );
  for (const [from, to, why] of [
    ["he1", "he2", "not an encrypted number"],
    [key.public.id, "0".repeat(32), "another key"],
    [":512:", ":0512:", "not an encrypted number"],
    [":512:", ":514:", "another key"],
    [":2:", ":39:", "out of range"],
    [":3:1:", ":3:4:", "exceed the headroom"],
    [":3:1:", ":3:0:", "not an encrypted number"],
    [":1000:", `:${1n << 127n}:`, "out of range"],
    // The last character has spare bits, which are 0 in "A".
    [/.{5}$/, "A", "bytes, not"],
    [/$/, "AAAA", "bytes, not"],
    [/[\w-]{171}$/, "A".repeat(171), "not between 0 and n"],
  ] as const)
    expect(() => fromValue(key.public, text.replace(from, to)), `${from}`).toThrow(why);
});

test("packed numbers have no such text", () => {
  const packed = Encrypted.of(key.public, ["1", "2"], new Encoding({ slots: 2, range: 5 }));
  expect(() => toValue(packed)).toThrow("packed");
});
