/** What the Rust crate wrote is verified here; what is written here is verified there (crates/election/tests/browser.rs). */

import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readShareFile } from "../src/app/files.ts";
import { readBallot, readChallenge } from "../src/protocol/ballot.ts";
import * as base64 from "../src/protocol/base64.ts";
import { hex } from "../src/protocol/bytes.ts";
import { canonical, type Json, parse } from "../src/protocol/canonical.ts";
import { candidatesOf } from "../src/protocol/contest.ts";
import { hexHash } from "../src/protocol/hash.ts";
import { hold } from "../src/protocol/proofs.ts";
import { publicKey, sign } from "../src/protocol/signature.ts";
import { ballotOf } from "../src/protocol/state.ts";
import { combined, outcome, shareBody, totals } from "../src/protocol/tally.ts";
import { grouped, tracker } from "../src/protocol/tracker.ts";
import { leafHash } from "../src/protocol/tree.ts";
import { receiptHolds, verifyRecord } from "../src/protocol/verify.ts";
import { makeRecord, vectors } from "./support/vectors.ts";

const folder = new URL("../../crates/election/tests/vectors/", import.meta.url);
const given = vectors(readFileSync(new URL("election.json", folder), "utf8"));
const verifier = verifyRecord(given.record, given.heads);
const report = verifier.finish();
const { state } = verifier;

describe("the crate's record", () => {
  test("verifies, and says what the crate says", () => {
    expect(report.verdicts.filter((verdict) => verdict.fault !== undefined)).toEqual([]);
    expect(report.result).toEqual(given.result);
    expect([verifier.root, state.id]).toEqual([given.root, given.id]);
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
      expect(grouped(tracker(ballotOf(entry)))).toBe(one.tracker);
      expect(hexHash(canonical(ballotOf(entry)))).toBe(one.hash);
    }
    const { signature, ...receipt } = given.receipt;
    expect(receipt.hash).toBe(hex(leafHash(given.record[receipt.index] ?? "")));
    expect(receiptHolds(state.election.board, receipt, signature)).toBe(true);
    expect(receiptHolds(state.election.board, { ...receipt, index: 0 }, signature)).toBe(false);
  });

  test("has signatures that are ours, byte for byte", () => {
    const secrets = new Map(given.voters.map(({ id, secret }) => [id, secret]));
    for (const line of given.record) {
      const { body, kind, signature } = parse(line) as unknown as {
        body: Json;
        kind: "ballot";
        signature: string;
      };
      if (signature === "") continue;
      const voter = (ballotOf({ kind, body }) as { voter?: string }).voter;
      const secret = voter === undefined ? given.organiser_secret : (secrets.get(voter) ?? "");
      expect(base64.encode(sign(base64.decode(secret), "entry", { body, kind }))).toBe(signature);
    }
  });

  test("goes with a ballot and a challenge", () => {
    const { body, challenge, choices } = given.ballot_of_voter_9;
    expect(hold(state.election.key, readBallot(state.form, body).claims())).toBe(true);
    const { ballot, values } = readChallenge(state.form, challenge);
    expect(hold(state.election.key, ballot.claims())).toBe(true);
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
    const wrong = verifyRecord(given.record.with(at, flipped), given.heads).finish();
    expect(wrong.good).toBe(false);
    expect(wrong.result).toBeUndefined();
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
    const report = verifyRecord(board.lines, board.heads).finish();
    expect(report.verdicts.filter((verdict) => verdict.fault !== undefined)).toEqual([]);
    expect(report.result).toEqual(result);
  });

  test("verifies as it is kept for the crate", () => {
    const kept = vectors(readFileSync(new URL("browser.json", folder), "utf8"));
    const report = verifyRecord(kept.record, kept.heads).finish();
    expect(report.good).toBe(true);
    expect(report.result).toEqual(kept.result);
  });
});
