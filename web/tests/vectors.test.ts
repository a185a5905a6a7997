/** What the Rust crate wrote is verified here; what is written here is verified there (crates/election/tests/all/browser.rs). */

import { readFileSync, writeFileSync } from "node:fs";
import * as base64 from "hearith/base64.ts";
import { hex } from "hearith/bytes.ts";
import { describe, expect, test } from "vitest";
import { readShareFile } from "../src/app/files.ts";
import { readBallot, readChallenge } from "../src/protocol/ballot.ts";
import { canonical, type Json, parse } from "../src/protocol/canonical.ts";
import { shownCode } from "../src/protocol/checked.ts";
import { candidatesOf } from "../src/protocol/contest.ts";
import { hexHash } from "../src/protocol/hash.ts";
import { allHold } from "../src/protocol/proofs.ts";
import { receiptHolds } from "../src/protocol/receipt.ts";
import { publicKey, sign } from "../src/protocol/signature.ts";
import { ballotOf } from "../src/protocol/state.ts";
import { combined, outcome, shareBody, totals } from "../src/protocol/tally.ts";
import { tracker } from "../src/protocol/tracker.ts";
import { leafHash } from "../src/protocol/tree.ts";
import { verifyRecord } from "../src/protocol/verify.ts";
import { Board } from "./support/board.ts";
import { makeRecord, vectors } from "./support/vectors.ts";

const folder = new URL("../../crates/election/tests/vectors/", import.meta.url);
const given = vectors(readFileSync(new URL("election.json", folder), "utf8"));
/** The keys are short. */
const TESTS = { insecure: true };
const verifier = verifyRecord(given.record, given.heads, TESTS);
const report = verifier.finish();
const { state } = verifier;

describe("the crate's record", () => {
  test("verifies, and says what the crate says", () => {
    expect(report.verdicts.filter((verdict) => verdict.fault !== undefined)).toEqual([]);
    expect(report.result).toEqual(given.result);
    expect([verifier.root, state.id]).toEqual([given.root, given.id]);
  });

  test.each([
    ["chosen_base", "no proof that it has two prime factors"],
    ["unsigned_shares", "no signing keys"],
  ])("is refused by name as earlier versions made it: %s", (file, lacks) => {
    const old = JSON.parse(readFileSync(new URL(`${file}.json`, folder), "utf8"));
    const { verdicts } = verifyRecord(old.record, old.heads, TESTS).finish();
    const [failed, ...more] = verdicts.filter((verdict) => verdict.fault !== undefined);
    expect([failed?.check, more]).toEqual(["election", []]);
    expect(failed?.fault).toContain(lacks);
    expect(failed?.fault).toContain("set up by an earlier version");
  });

  test("belongs to its keys", () => {
    const key = (secret: string) => hex(publicKey(base64.decode(secret)));
    expect(key(given.board_secret)).toBe(hex(state.election.board));
    expect(key(given.organiser_secret)).toBe(hex(state.election.organiser));
    for (const { id, secret } of given.voters)
      expect(key(secret)).toBe(hex(state.voters.get(id)?.key ?? new Uint8Array()));
  });

  test("has the trackers and the receipt", () => {
    for (const one of given.trackers) {
      const entry = parse(given.record[one.index] ?? "") as unknown as { kind: "ballot"; body: Json };
      expect(shownCode(tracker(ballotOf(entry)), "tracker")).toBe(one.tracker);
      expect(hexHash(canonical(ballotOf(entry)))).toBe(one.hash);
    }
    const { receipt } = given;
    expect(receipt.hash).toBe(hex(leafHash(given.record[receipt.index] ?? "")));
    expect(receiptHolds(state.election.board, receipt)).toBe(true);
    expect(receiptHolds(state.election.board, { ...receipt, index: 0 })).toBe(false);
  });

  test("has signatures that are ours, byte for byte", () => {
    const secrets = new Map(given.voters.map(({ id, secret }) => [id, secret]));
    for (const line of given.record) {
      const { body, kind, signature } = parse(line) as unknown as {
        body: Json;
        kind: "ballot";
        signature: string;
      };
      const { voter, trustee } = ballotOf({ kind, body }) as { voter?: string; trustee?: number };
      const official =
        trustee === undefined ? given.organiser_secret : (given.trustee_secrets[trustee - 1] ?? "");
      const secret = voter === undefined ? official : (secrets.get(voter) ?? "");
      expect(base64.encode(sign(base64.decode(secret), "entry", { body, kind }))).toBe(signature);
    }
  });

  test("goes with a ballot and a challenge", () => {
    const { body, challenge, choices } = given.ballot_of_voter_9;
    expect(allHold(state.election.key, readBallot(state.form, body).claims())).toBe(true);
    const { ballot, values } = readChallenge(state.form, challenge);
    expect(allHold(state.election.key, ballot.claims())).toBe(true);
    expect(state.election.contests.map((contest, at) => candidatesOf(contest, values[at] ?? []))).toEqual(
      choices,
    );
  });

  test("is decrypted by other trustees to the same", async () => {
    const all = totals(state);
    const shares = new Map<number, readonly bigint[]>();
    for (const at of [1, 3, 4]) {
      const { trustee, secret } = await readShareFile(JSON.stringify(given.shares_of_key[at]), "");
      const { bytes } = {
        bytes: base64.decode((shareBody(state, all, trustee, secret) as { shares: string }).shares),
      };
      const width = bytes.length / all.flat().length;
      const numbers = all
        .flat()
        .map((_, row) => bytes.subarray(row * width, row * width + 2 * state.election.key.bytes));
      shares.set(
        trustee,
        numbers.map((number) => BigInt(`0x${hex(number)}`)),
      );
    }
    expect(outcome(state, combined(state, all, shares))).toEqual(given.result);
  });

  test("does not verify with a line exchanged for another of the same length", () => {
    const at = given.record.findIndex((line) => line.includes('"kind":"ballot"'));
    const line = given.record[at] ?? "";
    const flipped = line.replace(
      /"ciphertext":"(.)/,
      (_, first) => `"ciphertext":"${first === "A" ? "B" : "A"}`,
    );
    const wrong = verifyRecord(given.record.with(at, flipped), given.heads, TESTS).finish();
    expect(wrong.good).toBe(false);
    expect(wrong.result).toBeUndefined();
  });
});

describe("the crate's record of one holder", () => {
  interface Opened {
    board_secret: string;
    heads: string[];
    organiser_secret: string;
    record: string[];
    result: number[][];
  }
  interface Signed {
    body: { contests: { opening: string; plaintext: string }[][] } & Record<string, Json>;
    kind: string;
    signature: string;
  }
  const opened: Opened = JSON.parse(readFileSync(new URL("one_holder.json", folder), "utf8"));
  /** The record with its entries changed, on a board that goes along with it. */
  const spoiled = (change: (entries: Signed[]) => void) => {
    const [keeper, organiser] = [base64.decode(opened.board_secret), base64.decode(opened.organiser_secret)];
    const board = new Board(keeper, organiser);
    const entries = opened.record.map((line) => parse(line) as unknown as Signed);
    change(entries);
    for (const { body, kind, signature } of entries) {
      if (kind === "opening") board.byOrganiser(kind, body);
      else board.append(kind, body, base64.decode(signature));
    }
    board.head();
    return verifyRecord(board.lines, board.heads, TESTS).finish();
  };
  const at = opened.record.findIndex((line) => line.includes('"kind":"opening"'));
  const shown = (change: (contests: Signed["body"]["contests"]) => void) =>
    spoiled((entries) => change((entries[at] as Signed).body.contests));
  const flipped = (text: string, byte: number) => {
    const bytes = base64.decode(text);
    bytes[byte] = (bytes[byte] ?? 0) ^ 1;
    return base64.encode(bytes);
  };
  type Shown = { opening: string; plaintext: string };
  const first = (contests: Shown[][]) => contests[0]?.[0] as Shown;

  test("verifies, and says what the crate says", () => {
    const report = verifyRecord(opened.record, opened.heads, TESTS).finish();
    expect(report.verdicts.filter((verdict) => verdict.fault !== undefined)).toEqual([]);
    expect(report.result).toEqual(opened.result);
    expect(spoiled(() => {}).good).toBe(true);
  });

  test.each<[string, (contests: Shown[][]) => void, RegExp]>([
    ["openings of each other's totals", (all) => all[0]?.reverse(), /does not match its ciphertext/],
    [
      "an altered opening",
      (all) => Object.assign(first(all), { opening: flipped(first(all).opening, 40) }),
      /does not match its ciphertext/,
    ],
    [
      "another number",
      (all) => Object.assign(first(all), { plaintext: flipped(first(all).plaintext, 63) }),
      /does not match its ciphertext/,
    ],
    [
      "an opening of 0",
      (all) => Object.assign(first(all), { opening: base64.encode(new Uint8Array(64)) }),
      /out of range/,
    ],
    [
      "a number above n",
      (all) => Object.assign(first(all), { plaintext: base64.encode(new Uint8Array(64).fill(255)) }),
      /out of range/,
    ],
  ])("does not verify with %s", (_, change, fault) => {
    const report = shown(change);
    expect(report.verdicts.find(({ check }) => check === "decryption")?.fault).toMatch(fault);
    expect([report.good, report.result]).toEqual([false, undefined]);
  });

  const shorter = (change: (contests: Shown[][]) => void) => (entries: Signed[]) =>
    change((entries[at] as Signed).body.contests);

  test("does not verify without an opening, or with two, or with a share", () => {
    for (const [change, fault] of [
      [(entries: Signed[]) => entries.splice(at, 1), /not decrypted yet/],
      [
        shorter((all) => Object.assign(first(all), { opening: base64.encode(new Uint8Array(63)) })),
        /one value of the right length/,
      ],
      [shorter((all) => all[0]?.pop()), /one value of the right length/],
      [(entries: Signed[]) => entries.splice(at, 0, entries[at] as Signed), /earlier opening/],
      [
        (entries: Signed[]) => {
          const { election = null } = (entries[at] as Signed).body;
          const body = { election, shares: "", trustee: 1 } as unknown as Signed["body"];
          entries.splice(at, 1, { body, kind: "share", signature: "" });
        },
        /no trustee 1/,
      ],
    ] as const) {
      const report = spoiled(change);
      expect(report.verdicts.find(({ check }) => check === "rules")?.fault).toMatch(fault);
      expect([report.good, report.result]).toEqual([false, undefined]);
    }
  });
});

describe("our record under the same election", () => {
  test("verifies when it is made anew", () => {
    const { board, result } = makeRecord(given);
    // UPDATE=1 keeps it for the crate.
    if (process.env.UPDATE) {
      const about =
        "A record that the pages' code made under the election of election.json: UPDATE=1 npm test.";
      const kept = JSON.stringify({ about, heads: board.heads, record: board.lines, result }, null, 2);
      writeFileSync(new URL("browser.json", folder), `${kept}\n`);
    }
    const report = verifyRecord(board.lines, board.heads, TESTS).finish();
    expect(report.verdicts.filter((verdict) => verdict.fault !== undefined)).toEqual([]);
    expect(report.result).toEqual(result);
  });

  test("verifies as it is kept for the crate", () => {
    const kept = vectors(readFileSync(new URL("browser.json", folder), "utf8"));
    const report = verifyRecord(kept.record, kept.heads, TESTS).finish();
    expect(report.good).toBe(true);
    expect(report.result).toEqual(kept.result);
  });
});
