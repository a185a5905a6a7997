/** Decimals, encodings, slots, headroom, and the formats of ciphertexts. */

import { beforeAll, describe, expect, test } from "vitest";
import { randomBits } from "../src/bigint.ts";
import { formatDecimal, parseDecimal } from "../src/decimal.ts";
import { Encoding } from "../src/encoding.ts";
import { Encrypted } from "../src/encrypted.ts";
import {
  columnEntries,
  fromPheJson,
  fromRows,
  integersFromPheJson,
  toPheJson,
  toRows,
} from "../src/exchange.ts";
import { PrivateKey } from "../src/keys.ts";
import { privateMembers, VECTORS } from "./support/vectors.ts";

let key: PrivateKey;
beforeAll(async () => {
  const vector = VECTORS.djn.find((one) => one.bits === 512);
  if (vector) key = await PrivateKey.read(JSON.stringify(privateMembers(vector)), { insecure: true });
});

describe("decimals", () => {
  test("are read exactly", () => {
    const read: [string | number | bigint, bigint][] = [
      ["7", 7000n],
      ["+7.", 7000n],
      [".5", 500n],
      ["-.5", -500n],
      ["007.0010", 7001n],
      ["-0", 0n],
      [0.1, 100n],
      [-12.5, -12_500n],
      [1e21, 10n ** 24n],
      [123e20, 123n * 10n ** 23n],
      [1e-3, 1n],
      [5n, 5000n],
      [`${"0".repeat(100)}1`, 1000n],
    ];
    for (const [value, expected] of read) expect(parseDecimal(value, 3)).toBe(expected);
    expect(parseDecimal("-17014118346046923173168730371588410572.8", 1)).toBe(-(1n << 127n));
  });
  test("that are none are refused", () => {
    for (const text of ["", "-", ".", "1e3", " 1", "1_0", "1,0", "--1", "1.2.3", "0x1", "NaN", "٣", "1\n"])
      expect(() => parseDecimal(text, 3)).toThrow("not a decimal number");
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => parseDecimal(value, 3)).toThrow("not a finite number");
    for (const value of ["0.0001", 1e-7, 1.5e-7, 0.1234])
      expect(() => parseDecimal(value, 3)).toThrow("more than 3 decimal places");
    for (const value of ["170141183460469231731687303715884105728", 1e300, "9".repeat(100_000)])
      expect(() => parseDecimal(value, 0)).toThrow("out of range");
  });
  test("floats are their shortest decimals", () => {
    for (let round = 0; round < 500; round++) {
      const value = (Math.random() - 0.5) * 10 ** Math.floor(Math.random() * 15 - 15);
      expect(Number(formatDecimal(parseDecimal(value, 38), 38))).toBe(value);
    }
  });
  test("are written and read back", () => {
    for (let round = 0; round < 200; round++) {
      const [value, scale] = [randomBits(127) * (round % 2 ? 1n : -1n), round % 39];
      expect(parseDecimal(formatDecimal(value, scale), scale)).toBe(value);
    }
    expect([formatDecimal(-5n, 2), formatDecimal(0n, 3), formatDecimal(1250n, 0)]).toEqual([
      "-0.05",
      "0.000",
      "1250",
    ]);
  });
});

describe("encodings", () => {
  test("slots are as wide as the crate's", () => {
    const bits = (range: bigint, maxAdditions: bigint) => new Encoding({ range, maxAdditions }).slotBits;
    expect([bits(1000n, 1n), bits(1023n, 2n), bits(1024n, 3n), bits(1n, 1n << 32n)]).toEqual([
      11, 12, 14, 34,
    ]);
  });
  test("sums of slots, negative ones too, come out", () => {
    const encoding = new Encoding({ slots: 4, scale: [0, 2, 0, 1], range: 1000, maxAdditions: 8 });
    const rows = [
      ["1000", "-999.99", "-1", "0"],
      ["-1000", "-0.01", "-1000", "-0.1"],
      ["3", "0", "-1000", "-1000"],
    ];
    const total = Encrypted.sum(rows.map((row) => Encrypted.of(key.public, row, encoding)));
    expect(total.additions).toBe(3n);
    expect(total.decrypt(key)).toEqual(["3", "-1000.00", "-2001", "-1000.1"]);
    expect(total.multiply(-2).decrypt(key)).toEqual(["-6", "2000.00", "4002", "2000.2"]);
    expect(total.rerandomise().decrypt(key)).toEqual(total.decrypt(key));
    expect(total.rerandomise().ciphertext).not.toBe(total.ciphertext);
    expect(total.multiply(0).decrypt(key)).toEqual(["0", "0.00", "0", "0.0"]);
  });
  test("headroom is kept", () => {
    const encoding = new Encoding({ range: 10, maxAdditions: 3 });
    const one = Encrypted.of(key.public, 10, encoding);
    expect(one.multiply(3).decrypt(key)).toEqual(["30"]);
    expect(() => one.multiply(4)).toThrow("exceeds the headroom of 3");
    expect(() => one.multiply(-4)).toThrow("exceeds the headroom of 3");
    expect(() => one.multiply(3).add(one)).toThrow("4 additions exceed the headroom of 3");
    expect(() => one.multiply(1.5)).toThrow("not an integer");
    // More than its additions can make: somebody added without saying so.
    const forged = Encrypted.from(key.public, encoding, key.public.encrypt(11n));
    expect(() => forged.decrypt(key)).toThrow("overflowed");
  });
  test("what does not fit is refused", () => {
    expect(() => Encrypted.of(key.public, 11, new Encoding({ range: 10 }))).toThrow("at most 10");
    expect(() => Encrypted.of(key.public, [1, 2])).toThrow("2 numbers, not 1");
    expect(() => new Encoding({ slots: 2, scale: [1] })).toThrow("scale lists 1 slots, not 2");
    expect(() => new Encoding({ scale: 39 })).toThrow("a scale must be between 0 and 38");
    expect(() => new Encoding({ range: 0 })).toThrow("a range must be above 0");
    expect(() => new Encoding({ maxAdditions: 1n << 64n })).toThrow("the headroom must be");
    expect(() => new Encoding({ maxAdditions: 0 })).toThrow("the headroom must be");
    expect(() => new Encoding({ slots: 1e9 })).toThrow("out of range");
    const wide = new Encoding({ slots: 16 });
    expect(() => Encrypted.of(key.public, Array(16).fill(1), wide)).toThrow("16 slots of 96 bits do not fit");
  });
  test("numbers that are not alike do not add up", async () => {
    const one = Encrypted.of(key.public, 1);
    expect(() => one.add(Encrypted.of(key.public, 1, new Encoding({ scale: 2 })))).toThrow(
      "encodings differ",
    );
    const vector = VECTORS.djn.find((other) => other.bits === 256);
    if (!vector) throw new Error("no other key");
    const other = await PrivateKey.read(JSON.stringify(privateMembers(vector)), { insecure: true });
    expect(() => one.add(Encrypted.of(other.public, 1))).toThrow("different keys");
    expect(() => one.decrypt(other)).toThrow("another key");
  });
  test("a stock is used up, each randomiser once", () => {
    key.public.stock(3);
    expect(key.public.stocked).toBe(3);
    const made = Array.from({ length: 5 }, () => key.public.encrypt(9n));
    expect([key.public.stocked, new Set(made).size]).toEqual([0, 5]);
    expect(made.map((one) => key.decrypt(one))).toEqual([9n, 9n, 9n, 9n, 9n]);
  });
});

describe("python-paillier's JSON", () => {
  test("comes back", () => {
    const numbers = [key.public.encrypt(1n), null, key.public.encrypt(2n)];
    const text = toPheJson(numbers);
    expect(integersFromPheJson(key.public, text)).toEqual(numbers);
    expect(integersFromPheJson(key.public, `[${text.trim().split("\n").join(",")}]`)).toEqual(numbers);
  });
  test("powers of 16 are multiplied in", () => {
    const c = key.public.encrypt(3n);
    const [one] = integersFromPheJson(key.public, `{"v": "${c}", "e": 2}`);
    expect(key.decrypt(one ?? 0n)).toBe(768n);
    expect(fromPheJson(key.public, `{"v": "${c}", "e": -2}`)).toEqual([{ ciphertext: c, exponent: -2 }]);
    expect(() => integersFromPheJson(key.public, `{"v": "${c}", "e": -2}`)).toThrow("exponent -2");
    expect(() => integersFromPheJson(key.public, `{"v": "${c}", "e": 128}`)).toThrow("exponent 128");
  });
  test("that is damaged is refused by row", () => {
    const good = toPheJson([key.public.encrypt(1n)]);
    const wrong: [string, RegExp][] = [
      ["{", /row 1: not JSON/],
      ["5", /row 1: not an object/],
      ['{"v": 5, "e": 0}', /row 1: not an object/],
      ['{"v": "5"}', /row 1: not an object/],
      ['{"v": "5", "e": 0.5}', /row 1: not an object/],
      ['{"v": "5", "e": 3000000000}', /row 1: not an object/],
      ['{"v": "0x5", "e": 0}', /row 1: .*not a decimal/],
      ['{"v": "-5", "e": 0}', /row 1: .*not a decimal/],
      ['{"v": "", "e": 0}', /row 1: .*not a decimal/],
      ['{"v": "0", "e": 0}', /row 1: the ciphertext is 0/],
      [`{"v": "${"9".repeat(5000)}", "e": 0}`, /row 1: .*too long/],
      [`${" ".repeat(70_000)}5`, /row 1: longer/],
      [`{"v": "${key.public.squared}", "e": 0}`, /row 1: .*not below n\^2/],
      [`{"v": "${key.public.n}", "e": 0}`, /row 1: .*shares a factor/],
    ];
    for (const [line, expected] of wrong)
      expect(() => fromPheJson(key.public, good + line)).toThrow(expected);
    expect(fromPheJson(key.public, "\n\n")).toEqual([]);
  });
});

describe("rows of bytes", () => {
  test("come back, and are refused by row", () => {
    const numbers = [1n, 2n, 3n].map((one) => key.public.encrypt(one));
    const rows = toRows(key.public, numbers);
    expect(rows.length).toBe(3 * 128);
    expect(fromRows(key.public, rows)).toEqual(numbers);
    expect(() => fromRows(key.public, rows.subarray(1))).toThrow("383 bytes are not a whole number of rows");
    rows.fill(0, 128, 256);
    expect(() => fromRows(key.public, rows)).toThrow("row 1: ");
    rows.fill(255, 128, 256);
    expect(() => fromRows(key.public, rows)).toThrow("row 1: ");
  });
  test("are described as the command line describes a column", () => {
    const encoding = new Encoding({ slots: 2, scale: [0, 2], range: 1000, maxAdditions: 10 });
    expect(columnEntries(key.public, encoding, ["a", "b"])).toMatchObject({
      "hearith.encoding": "slots",
      "hearith.columns": '["a","b"]',
      "hearith.range": "1000,100000",
      "hearith.scale": "0,2",
      "hearith.slots": "2",
    });
    expect(() => columnEntries(key.public, encoding, ["a"])).toThrow("1 names, not 2");
  });
});
