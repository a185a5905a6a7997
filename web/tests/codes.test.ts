/** Codes that people type: every single mistake is found and placed, and every two are found. */

import { describe, expect, test } from "vitest";
import { ALPHABET } from "../src/protocol/base32.ts";
import { type CodeKind, shownCode, typedCode, withChecks } from "../src/protocol/checked.ts";

const CODES = ["a".repeat(26), "7".repeat(26), "c6or6bozvbkrruund6w4yvyx3m", "mfrggzdfmztwq2lknnwg23tpoa"];
const KINDS: CodeKind[] = ["tracker", "credential"];

function altered(text: string, at: number, by: number): string {
  const value = (ALPHABET.indexOf(text.charAt(at)) + by) % 32;
  return text.slice(0, at) + ALPHABET.charAt(value) + text.slice(at + 1);
}

/** Multiplication in GF(32), bit by bit: by another way than the code's tables. */
function times(a: number, b: number): number {
  let product = 0;
  for (let bit = 4; bit >= 0; bit--) {
    product <<= 1;
    if (product & 32) product ^= 0b100101;
    if ((b >> bit) & 1) product ^= a;
  }
  return product;
}

describe.each(KINDS)("a %s", (kind) => {
  test.each(CODES)("%s is read as it is shown", (code) => {
    const shown = shownCode(code, kind);
    expect(shown).toMatch(/^([a-z2-7]{4} ){6}[a-z2-7]{4}$/);
    for (const typed of [shown, shown.toUpperCase(), shown.replaceAll(" ", "-"), ` ${shown}\n`]) {
      expect(typedCode(typed, kind)).toEqual({ code });
    }
    const alike = shown.replaceAll("o", "0").replaceAll("l", "1").replaceAll("b", "8");
    expect(typedCode(alike, kind)).toEqual({ code });
  });

  test.each(CODES)("%s has the checks of the code", (code) => {
    const values = [...withChecks(code, kind)].map((one) => ALPHABET.indexOf(one));
    expect(values.reduce((sum, value) => sum ^ value, 0)).toBe(kind === "tracker" ? 0 : 17);
    expect(values.reduce((sum, value) => times(sum, 2) ^ value, 0)).toBe(0);
  });

  test("with one wrong character is placed", () => {
    for (const code of CODES) {
      const whole = withChecks(code, kind);
      for (let at = 0; at < 28; at++) {
        for (let by = 1; by < 32; by++) {
          const found = typedCode(altered(whole, at, by), kind);
          // A character that looks like another is read as that one.
          expect(found).toEqual({ wrong: "check", group: Math.floor(at / 4) + 1 });
        }
      }
    }
  });

  test("with two wrong characters, or two that changed places, is not read", () => {
    const whole = withChecks(CODES[2] ?? "", kind);
    for (let at = 0; at < 28; at++) {
      for (let other = at + 1; other < 28; other++) {
        for (let by = 1; by < 32; by++) {
          const wrong = altered(altered(whole, at, by), other, (7 * by) % 32 || 1);
          expect(typedCode(wrong, kind)).not.toHaveProperty("code");
        }
        const letters = [...whole];
        [letters[at], letters[other]] = [letters[other] ?? "", letters[at] ?? ""];
        const swapped = letters.join("");
        if (swapped !== whole) expect(typedCode(swapped, kind)).not.toHaveProperty("code");
      }
    }
  });

  test("of another kind, or with too few characters, is named", () => {
    const other = kind === "tracker" ? "credential" : "tracker";
    expect(typedCode(shownCode(CODES[2] ?? "", other), kind)).toEqual({ wrong: "kind" });
    expect(typedCode("abcd efgh", kind)).toEqual({ wrong: "length", count: 8 });
    expect(typedCode("", kind)).toEqual({ wrong: "length", count: 0 });
  });
});

test("a tracker without its checks is read, a credential is not", () => {
  expect(typedCode(CODES[2] ?? "", "tracker")).toEqual({ code: CODES[2] });
  expect(typedCode(CODES[2] ?? "", "credential")).toEqual({ wrong: "length", count: 26 });
});
