/** Codes as credentials, and lists of voters before they are registered. */

import { readFileSync } from "node:fs";
import * as base64 from "hearith/base64.ts";
import { hex } from "hearith/bytes.ts";
import { expect, test } from "vitest";
import { codeOf, make, secretOf, seedOf } from "../src/app/credential.ts";
import { people, problems } from "../src/app/people.ts";
import { LANGUAGES } from "../src/app/texts.ts";
import { shownCode, typedCode } from "../src/protocol/checked.ts";
import { publicKey } from "../src/protocol/signature.ts";

const ELECTION = "ab".repeat(32);
const VECTOR = {
  code: "aaaq eaye auda ocaj bifq ydio b46j",
  secret: "f3b2bc2b265c452b8defe8e869eef4e36f6c7a56c283c5f293f836e4fcefe4e0",
};

test("a code gives the key that it was made for, and under another election another one", () => {
  for (let round = 0; round < 50; round++) {
    const made = make(ELECTION, "anna", 1);
    const typed = typedCode(shownCode(made.code, "credential").toUpperCase(), "credential");
    expect(typed).toEqual({ code: made.code });
    const seed = seedOf(made.code);
    expect(codeOf(seed)).toBe(made.code);
    expect(secretOf(ELECTION, seed)).toEqual(made.secret);
    expect(base64.encode(publicKey(made.secret))).toBe(made.key);
    expect(secretOf("cd".repeat(32), seed)).not.toEqual(made.secret);
  }
});

test("the secret is the hash that crates/election/README.md names", () => {
  const seed = Uint8Array.from({ length: 16 }, (_, at) => at);
  expect(codeOf(seed)).toBe("aaaqeayeaudaocajbifqydiob4");
  expect(shownCode(codeOf(seed), "credential")).toBe(VECTOR.code);
  // printf 'hearith-election 1 credential\nabab...\n\x00\x01...\x0f' | sha256sum
  expect(hex(secretOf(ELECTION, seed))).toBe(VECTOR.secret);
});

test("bits that no code has are refused", () => {
  expect(() => seedOf(`${"a".repeat(25)}b`)).toThrow("not a voting code");
  expect(() => seedOf("a".repeat(25))).toThrow("not a voting code");
});

test("doubles, and names and weights that the board refuses, are found before anything is made", () => {
  const list = people(
    "anna\nBert, 3\n\n Anna \nb\u0000d\ncleo, 0\nDora  Doe\nzoe\u0301, 2\nzo\u00e9\ndora doe",
  );
  const kinds = problems(list, ["dora doe"]).map(({ kind, id }) => `${kind} ${id}`);
  expect(kinds).toEqual([
    "twice Anna",
    "name b\u0000d",
    "weight cleo",
    "registered Dora  Doe",
    "twice zo\u00e9",
    "registered dora doe",
  ]);
  expect(problems(people("anna, 4294967296\nbert"), [])).toEqual([]);
  expect(problems(people("anna, 4294967297"), []).map(({ kind }) => kind)).toEqual(["weight"]);
  expect(problems(people("a".repeat(129)), []).map(({ kind }) => kind)).toEqual(["name"]);
});

test("every refusal of the server has words in every language", () => {
  const page = readFileSync(new URL("../../crates/election-server/README.md", import.meta.url), "utf8");
  const codes = [...page.matchAll(/^\| `([a-z_]+)` \| [45]\d\d \|/gm)].map(([, code]) => code ?? "");
  expect(codes.length).toBeGreaterThanOrEqual(16);
  for (const { errors } of Object.values(LANGUAGES)) {
    expect(codes.filter((code) => errors[code] === undefined)).toEqual([]);
  }
});
