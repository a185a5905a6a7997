import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { alike, isAllowed, refused, visible } from "../src/protocol/names.ts";
import { NFKC } from "../src/protocol/nameTables.ts";
import { name } from "../src/protocol/readers.ts";

test("names of all languages are names", () => {
  const names = [
    "Ada Lovelace",
    "Zoë O’Brien-Müller",
    "Łukasz Żółć",
    "שָׂרָה",
    "فاطمة الزهراء",
    "می\u200cخواهم",
    "क्\u200dष",
    "ශ්\u200dරී",
    "র\u200d্যাব",
    "王秀英",
    "𠮷野家",
    "🌻 Sunflowers",
  ];
  expect(names.filter((one) => refused(one) !== undefined)).toEqual([]);
});

test("what is not seen is in no name", () => {
  const codes = [
    0, 0x9, 0x7f, 0x85, 0xad, 0x34f, 0x378, 0x61c, 0x115f, 0x17b4, 0x180b, 0x200b, 0x200e, 0x2028, 0x202e,
    0x2060, 0x2066, 0x2800, 0x3164, 0xd800, 0xe000, 0xfdd0, 0xfe0f, 0xfeff, 0xffa0, 0xffff, 0x1d173, 0x1fae8,
    0x31350, 0xe0041, 0xe0100, 0xf0000, 0x10ffff,
  ];
  const allowed = codes.filter((code) => refused(`A${String.fromCodePoint(code)}b`) === undefined);
  expect(allowed.map((code) => code.toString(16))).toEqual([]);
  for (const joiner of ["\u200c", "\u200d"])
    for (const text of ["*Ada", "Ada*", "A *b", "A* b", "1*2", "a**b", "*", "🏳*🌈"])
      expect(refused(text.replaceAll("*", joiner)), text).toBe(joiner);
  expect(visible("a\u202eb\u200c")).toBe("a[U+202E]b\u200c");
  expect(() => name(400)("a\u200bb", "title")).toThrow(
    "title contains U+200B, which is a control character, invisible",
  );
});

test("names that look alike are alike", () => {
  const same = [
    ["Zoë", "Zoe\u0308"],
    ["Ada", "Ａｄａ"],
    ["No 1", "№ 1"],
    ["a b", "a\u00a0b"],
    ["می\u200cخواهم", "میخواهم"],
    ["q\u0307\u0323", "q\u0323\u0307"],
  ] as const;
  for (const [one, other] of same) expect(alike(one)).toBe(alike(other));
  for (const other of ["ADA", "Adá", "Аda"]) expect(alike(other)).not.toBe(alike("Ada"));
});

test("normal forms are those of the tables", () => {
  const every: string[] = [];
  for (let code = 0; code <= 0x10ffff; code += 1) {
    const character = String.fromCodePoint(code);
    if (isAllowed(character)) every.push(character.normalize("NFKC"));
  }
  expect(createHash("sha256").update(every.join("\n")).digest("hex")).toBe(NFKC);
});
