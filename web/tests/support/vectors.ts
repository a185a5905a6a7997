/** The vectors that the crate wrote, and a record of our own under the same election. */

import * as base64 from "hearith/base64.ts";
import { toBigint } from "hearith/bytes.ts";
import { challengeBody, encrypt } from "../../src/protocol/ballot.ts";
import { type Json, parse } from "../../src/protocol/canonical.ts";
import { limits } from "../../src/protocol/contest.ts";
import { combined, outcome, shareBody, tallyBody, totals } from "../../src/protocol/tally.ts";
import { type Verifier, verifyRecord } from "../../src/protocol/verify.ts";
import { Board } from "./board.ts";

export interface Vectors {
  ballot_of_voter_9: { body: Json; challenge: Json; choices: number[][] };
  board_secret: string;
  heads: string[];
  id: string;
  organiser_secret: string;
  receipt: { election: string; hash: string; index: number; signature: string };
  record: string[];
  result: number[][];
  root: string;
  shares_of_key: { i: number; s: string }[];
  trustee_secrets: string[];
  trackers: { hash: string; index: number; tracker: string }[];
  voters: { id: string; secret: string }[];
}

export function vectors(text: string): Vectors {
  return JSON.parse(text);
}

/** Voters choose as their number has it, so that every method is used in several ways. */
function choices(verifier: Verifier, voter: number): Set<number>[] {
  return verifier.state.election.contests.map((contest, at) => {
    const { least, most } = limits(contest);
    const count = least + ((voter + at) % (most - least + 1));
    const first = (voter * 3 + at) % contest.candidates.length;
    return new Set(Array.from({ length: count }, (_, more) => (first + more) % contest.candidates.length));
  });
}

/** What everybody's last ballots come to, by plain sums. */
function plainly(verifier: Verifier, ballots: ReadonlyMap<string, ReadonlySet<number>[]>): number[][] {
  return verifier.state.election.contests.map((contest, at) =>
    contest.candidates.map((_, candidate) =>
      [...ballots].reduce((sum, [voter, chosen]) => {
        const weight = verifier.state.voters.get(voter)?.weight ?? 0;
        return sum + (chosen[at]?.has(candidate) ? weight : 0);
      }, 0),
    ),
  );
}

/** A record from the same first entries: everybody votes, some twice, some challenge, enough trustees share. */
export function makeRecord(given: Vectors): { board: Board; result: number[][] } {
  const secret = (text: string) => base64.decode(text, 32);
  const board = new Board(secret(given.board_secret), secret(given.organiser_secret));
  for (const line of given.record) {
    const { body, kind, signature } = parse(line) as unknown as {
      body: Json;
      kind: string;
      signature: string;
    };
    if (!["election", "voters", "open"].includes(kind)) break;
    board.append(kind, body, base64.decode(signature));
  }
  board.id = given.id;
  const verifier = verifyRecord(board.lines, [], { insecure: true });
  const { form, election } = verifier.state;
  const ballots = new Map<string, Set<number>[]>();
  given.voters.forEach(({ id, secret: text }, number) => {
    for (const round of number % 4 === 1 && election.revoting ? [1, 0] : [0]) {
      const chosen = choices(verifier, number + round);
      const { body, openings } = encrypt(form, id, chosen);
      if (number % 5 === 2) board.signed("challenge", challengeBody(form, body, openings), secret(text));
      else ballots.set(id, chosen);
      if (number % 5 !== 2) board.signed("ballot", body, secret(text));
    }
    if (number % 3 === 0) board.head(`2026-11-22T21:00:${String(number % 60).padStart(2, "0")}Z`);
  });
  board.phase("close");
  const { state } = verifyRecord(board.lines, board.heads, { insecure: true });
  board.byOrganiser("tally", tallyBody(state));
  const all = totals(state);
  for (const { i, s } of given.shares_of_key.slice(0, election.trustees?.needed)) {
    const body = shareBody(state, all, i, toBigint(base64.decode(s)));
    board.signed("share", body, secret(given.trustee_secrets[i - 1] ?? ""));
  }
  const shared = verifyRecord(board.lines, board.heads, { insecure: true });
  const result = outcome(shared.state, combined(shared.state, all, shared.shares));
  board.byOrganiser("result", { contests: result, election: board.id });
  board.head("2026-11-22T22:00:00Z");
  if (JSON.stringify(result) !== JSON.stringify(plainly(verifier, ballots)))
    throw new Error("the result is wrong");
  return { board, result };
}
