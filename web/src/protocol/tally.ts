/**
 * The tally of an election: the product of the ballots that count, and its decryption by shares or
 * an opening.
 */

import * as base64 from "hearith/base64.ts";
import { power } from "hearith/bigint.ts";
import { toBigint } from "hearith/bytes.ts";
import { ensure, Fault } from "hearith/errors.ts";
import { canonical, type Json } from "./canonical.ts";
import { marks, votes } from "./contest.ts";
import { OPENING, RESULT, SHARE } from "./entry.ts";
import type { Context } from "./proofs.ts";
import { combine, decryptShare, joinShares, readShares } from "./share.ts";
import type { State } from "./state.ts";

/** Ciphertexts of the totals, by contest. */
export type Totals = readonly (readonly bigint[])[];

/**
 * The totals of all ballots that count: products of ciphertexts raised to their voters' weights.
 */
export function totals(state: State): Totals {
  const { key, contests } = state.election;
  const counted = [...state.voters.values()].filter((voter) => voter.counted);
  return contests.map((contest, at) =>
    Array.from({ length: marks(contest) }, (_, mark) =>
      counted.reduce((product, voter) => {
        const ciphertext = voter.counted?.ciphertexts[at]?.[mark] ?? 1n;
        const weighed =
          voter.weight === 1 ? ciphertext : power(ciphertext, BigInt(voter.weight), key.squared);
        return (product * weighed) % key.squared;
      }, 1n),
    ),
  );
}

/** The body of the tally's entry. */
export function tallyBody(state: State): Json {
  const { key } = state.election;
  const contests = totals(state).map((marks) => marks.map((one) => base64.encode(key.wide(one))));
  return { contests, ...state.turnout, election: state.id };
}

/** Checks a tally against the ballots that count. */
export function checkTally(state: State, body: Json): Totals {
  const expected = totals(state);
  ensure(
    canonical(tallyBody(state)) === canonical(body),
    "the tally is not the product of the ballots that count",
  );
  return expected;
}

/** Each ciphertext of the totals, with the context of its shares' proofs. */
function rows(state: State, totals: Totals): { c: bigint; context: Context }[] {
  const shared = `hearith-election 1 share ${state.id}`;
  return totals.flatMap((marks, contest) =>
    marks.map((c, mark) => ({ c, context: { shared, row: canonical([contest, mark]) } })),
  );
}

/** The body of a trustee's entry, with shares of all totals. */
export function shareBody(state: State, totals: Totals, trustee: number, secret: bigint): Json {
  const { key, trustees } = state.election;
  if (!trustees) throw new Fault("the election has no trustees");
  const shares = rows(state, totals).map(({ c, context }) =>
    decryptShare(key, trustees, trustee, secret, context, c),
  );
  return { election: state.id, shares: joinShares(shares), trustee };
}

/** Checks a trustee's shares of all totals. */
export function checkShares(state: State, totals: Totals, body: Json): { trustee: number; shares: bigint[] } {
  const { key, trustees } = state.election;
  if (!trustees) throw new Fault("the election has no trustees");
  const given = SHARE(body, "share");
  ensure(given.election === state.id, "the shares belong to another election");
  const shares = readShares(key, trustees, given.trustee, rows(state, totals), given.shares);
  return { trustee: given.trustee, shares };
}

/** Decrypts the totals from the shares of enough trustees. */
export function combined(
  state: State,
  totals: Totals,
  shares: ReadonlyMap<number, readonly bigint[]>,
): Totals {
  const { key, trustees } = state.election;
  if (!trustees) throw new Fault("the election has no trustees");
  let row = 0;
  return totals.map((marks) =>
    marks.map(() => {
      const own = new Map([...shares].map(([trustee, numbers]) => [trustee, numbers[row] ?? 0n]));
      row += 1;
      return combine(key, trustees, own);
    }),
  );
}

/**
 * Decrypts the totals from the openings of a single key holder, and checks each against its
 * ciphertext.
 */
export function opened(state: State, totals: Totals, body: Json): Totals {
  const { key } = state.election;
  const given = OPENING(body, "opening");
  ensure(given.election === state.id, "the opening belongs to another election");
  ensure(
    given.contests.length === totals.length,
    "the opening and the tally differ in the number of contests",
  );
  return totals.map((marks, at) => {
    const own = given.contests[at] ?? [];
    ensure(own.length === marks.length, "the opening and the tally differ in the number of marks");
    return own.map(({ opening, plaintext }, mark) => {
      ensure(
        opening.length === key.bytes && plaintext.length === key.bytes,
        "an opening or plaintext has the wrong length",
      );
      const [r, m] = [toBigint(opening), toBigint(plaintext)];
      ensure(r > 0n && r < key.n && m < key.n, "an opening or plaintext is out of range");
      const again = (key.plain(m) * power(r, key.n, key.squared)) % key.squared;
      ensure(again === marks[mark], "an opening does not match its ciphertext");
      return m;
    });
  });
}

/** Votes for every candidate, by contest, from the decrypted totals. */
export function outcome(state: State, plaintexts: Totals): number[][] {
  const weight = BigInt(state.turnout.weight);
  return state.election.contests.map((contest, at) => votes(contest, plaintexts[at] ?? [], weight));
}

/** Checks that a result follows from the decrypted totals. */
export function checkResult(state: State, body: Json, found: number[][]): number[][] {
  const given = RESULT(body, "result");
  ensure(given.election === state.id, "the result belongs to another election");
  ensure(canonical(given.contests) === canonical(found), "the result is not what the tally decrypts to");
  return given.contests;
}
