/** Arithmetic beside plain BigInt. */

import { describe, expect, test } from "vitest";
import { bitLength, power, randomBits } from "../src/bigint.ts";
import { FixedBase, Square } from "../src/dual.ts";

const ROOTS = [3n, 5n, 7n, 255n, (1n << 64n) - 1n, (1n << 64n) + 1n, (1n << 65n) - 1n, (1n << 1024n) - 1n];

function odd(bits: number): bigint {
  return randomBits(bits) | (1n << BigInt(bits - 1)) | 1n;
}

describe("numbers in parts modulo m", () => {
  test("products, squares and powers agree with plain ones", () => {
    const roots = [...ROOTS, ...[2, 3, 31, 63, 64, 65, 127, 500, 1024].map(odd)];
    for (const root of roots.filter((one) => one > 2n)) {
      const square = new Square(root);
      const m = root * root;
      const drawn = Array.from({ length: 6 }, () => randomBits(bitLength(m)) % m);
      // The corners: what lies at the ends of both parts.
      const numbers = [0n, 1n, root - 1n, root, m - root, m - 1n, ...drawn];
      for (const a of numbers) {
        expect(square.leave(square.enter(a))).toBe(a);
        expect(square.leave(square.square(square.enter(a)))).toBe((a * a) % m);
        for (const b of numbers) {
          const { low, high } = square.multiply(square.enter(a), square.enter(b));
          expect(low >= 0n && low < root && high >= 0n && high < root).toBe(true);
          expect(square.leave({ low, high })).toBe((a * b) % m);
        }
      }
    }
  });

  test("powers agree with plain ones", () => {
    const root = odd(300);
    const square = new Square(root);
    const base = randomBits(600);
    const table = [1, 3, 5, 8].map((width) => new FixedBase(square, square.enter(base), 200, width));
    for (const bits of [0, 1, 5, 63, 64, 65, 199, 200, 513, 700]) {
      const exponent = bits === 0 ? 0n : randomBits(bits) | (1n << BigInt(bits - 1));
      const expected = power(base, exponent, root * root);
      expect(square.leave(square.power(square.enter(base), exponent))).toBe(expected);
      for (const one of table) {
        if (bits <= 200) expect(square.leave(one.power(exponent))).toBe(expected);
        else expect(() => one.power(exponent)).toThrow(RangeError);
      }
    }
    expect(() => square.power(square.one, -1n)).toThrow(RangeError);
  });

  test("an even root is refused", () => {
    for (const root of [0n, 1n, 2n, 4n, -3n]) expect(() => new Square(root)).toThrow(RangeError);
  });

  test("lengths agree with those of the digits", () => {
    for (let bits = 1; bits < 140; bits++) {
      const number = 1n << BigInt(bits - 1);
      expect([bitLength(number), bitLength(2n * number - 1n)]).toEqual([bits, bits]);
    }
    expect(bitLength(0n)).toBe(0);
  });
});
