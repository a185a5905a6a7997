/** Ballots: encrypts choices with proofs, reads ballots, and opens them for a challenge. */

import * as base64 from "hearith/base64.ts";
import { concat, toBigint, toBytes } from "hearith/bytes.ts";
import { ensure } from "hearith/errors.ts";
import { canonical, type Json } from "./canonical.ts";
import { allowed, type Contest, markIndices, marks, type Sum, sums } from "./contest.ts";
import type { Key } from "./djn.ts";
import {
  type Claims,
  type Context,
  membershipBytes,
  proveMembership,
  proveResidue,
  readMembership,
  readResidue,
  residueBytes,
  sumBits,
} from "./proofs.ts";
import * as read from "./readers.ts";

/** The election for which a ballot is made and checked. */
export interface Form {
  readonly id: string;
  readonly key: Key;
  readonly contests: readonly Contest[];
}

const BODY = read.object({
  contests: read.list(
    read.object({
      marks: read.list(read.object({ ciphertext: read.bytes(), proof: read.bytes() })),
      sum: read.nullable(read.bytes()),
    }),
  ),
  election: read.hash,
  voter: read.text,
});

/** A ballot's ciphertexts, by contest. */
export type Ciphertexts = readonly (readonly bigint[])[];

/** A ballot of valid form, whose claims are not checked yet. */
export interface Ballot {
  readonly voter: string;
  readonly ciphertexts: Ciphertexts;
  /**
   * Checks the hashes of the proofs and, for a challenge, the openings. Returns the remaining
   * equations.
   */
  readonly claims: () => Claims;
}

/**
 * The secrets that open a ballot: for each mark, the short opening and the index of its number in
 * the allowed set.
 */
export interface Openings {
  readonly marks: { exponent: bigint; value: number }[][];
}

function context(form: Form, voter: string, contest: number, mark: number): Context {
  return { shared: `hearith-election 1 ${form.id}`, row: canonical([voter, contest, mark]) };
}

/**
 * The context of the proof of a contest's sum. If candidates are ranked, it includes the sum's
 * index.
 */
function sumContext(form: Form, voter: string, contest: number, sum: number): Context {
  const ranked = form.contests[contest]?.method.kind === "rank";
  const row = [voter, contest, "sum", ...(ranked ? [sum] : [])];
  return { shared: `hearith-election 1 ${form.id}`, row: canonical(row) };
}

/** The allowed values of a sum that is at most a limit. */
function totalsUpTo(limit: number): bigint[] {
  return Array.from({ length: limit + 1 }, (_, total) => BigInt(total));
}

/** The length of the proof of a sum in bytes. */
function proofBytes(key: Key, { kind, limit, marks }: Sum): number {
  const bits = sumBits(key, marks.length);
  return kind === "exactly" ? residueBytes(key, bits) : membershipBytes(key, limit + 1, bits);
}

/** Proves the sum of some of a contest's marks. */
function proveSum(
  key: Key,
  where: Context,
  { kind, limit, marks }: Sum,
  made: readonly { ciphertext: bigint; exponent: bigint; value: number }[],
): Uint8Array {
  const bits = sumBits(key, marks.length);
  const opening = marks.reduce((sum, mark) => sum + (made[mark]?.exponent ?? 0n), 0n);
  if (kind === "exactly") return proveResidue(key, where, key.basePower(opening), opening, bits);
  const sum = marks.reduce((all, mark) => all + (made[mark]?.value ?? 0), 0);
  const product = key.sum(marks.map((mark) => made[mark]?.ciphertext ?? 1n));
  return proveMembership(key, where, totalsUpTo(limit), product, opening, bits, sum);
}

/**
 * Returns a ballot's body for these choices (candidates by contest), and the secrets that open it.
 */
export function encrypt(
  form: Form,
  voter: string,
  choices: readonly ReadonlySet<number>[],
): { body: Json; openings: Openings } {
  ensure(
    choices.length === form.contests.length,
    "the number of choices differs from the number of contests",
  );
  const { key } = form;
  const opened: Openings["marks"] = [];
  const contests = form.contests.map((contest, at) => {
    const chosen = choices[at] ?? new Set<number>();
    const set = allowed(contest);
    const made = markIndices(contest, chosen).map((index, mark) => {
      const exponent = key.drawOpening();
      const ciphertext = key.encrypt(set[index] ?? 0n, exponent);
      const proof = proveMembership(
        key,
        context(form, voter, at, mark),
        set,
        ciphertext,
        exponent,
        key.shortBits,
        index,
      );
      return { exponent, value: index, ciphertext, proof };
    });
    opened.push(made.map(({ exponent, value }) => ({ exponent, value })));
    const proofs = sums(contest).map((sum, number) =>
      proveSum(key, sumContext(form, voter, at, number), sum, made),
    );
    return {
      marks: made.map((one) => ({
        ciphertext: base64.encode(key.wide(one.ciphertext)),
        proof: base64.encode(one.proof),
      })),
      sum: proofs.length === 0 ? null : base64.encode(concat(...proofs)),
    };
  });
  return { body: { contests, election: form.id, voter }, openings: { marks: opened } };
}

/**
 * Returns a challenge's body: the ballot and its contents. The ballot can never be cast afterwards.
 */
export function challengeBody(form: Form, ballot: Json, openings: Openings): Json {
  const width = Math.ceil(form.key.shortBits / 8);
  const shown = openings.marks.map((contest) =>
    contest.map(({ exponent, value }) => ({ exponent: base64.encode(toBytes(exponent, width)), value })),
  );
  return { ballot, election: form.id, openings: shown };
}

/** Reads a ballot and checks its form. */
export function readBallot(form: Form, body: Json): Ballot {
  const { contests, election, voter } = BODY(body, "ballot");
  const { key } = form;
  ensure(election === form.id, "the ballot belongs to another election");
  ensure(
    contests.length === form.contests.length,
    "the ballot and the election differ in the number of contests",
  );
  const ciphertexts = form.contests.map((contest, at) => {
    const given = contests[at]?.marks ?? [];
    const width = membershipBytes(key, allowed(contest).length, key.shortBits);
    ensure(given.length === marks(contest), () => `contest ${at} has the wrong number of marks`);
    ensure(
      given.every(({ ciphertext, proof }) => ciphertext.length === 2 * key.bytes && proof.length === width),
      () => `a mark of contest ${at} has the wrong length`,
    );
    checkSum(form, at, contests[at]?.sum ?? null);
    return given.map((mark) => toBigint(mark.ciphertext));
  });
  const ofContest = (contest: Contest, at: number): Claims[] => {
    const [numbers, given, set] = [ciphertexts[at] ?? [], contests[at], allowed(contest)];
    const ofMark = (proof: Uint8Array, mark: number) =>
      readMembership(key, context(form, voter, at, mark), set, numbers[mark] ?? 0n, key.shortBits, proof);
    const proofs = given?.marks.map(({ proof }, mark) => ofMark(proof, mark)) ?? [];
    return [...proofs, ...readSums(form, voter, at, numbers, given?.sum ?? null)];
  };
  const claims = () => {
    const inRange = ciphertexts.flat().every((one) => one > 0n && one < key.squared);
    ensure(inRange, "a ciphertext is not between 0 and n^2");
    return form.contests.flatMap(ofContest).flat();
  };
  return { voter, ciphertexts, claims };
}

/** Checks that a contest has the proofs of its sums, with the right length, if it requires any. */
function checkSum({ key, contests }: Form, at: number, proofs: Uint8Array | null): void {
  const contest = contests[at];
  const asked = contest ? sums(contest) : [];
  if (asked.length === 0) {
    ensure(proofs === null, () => `contest ${at} has a proof of a sum but requires none`);
    return;
  }
  const width = asked.reduce((all, sum) => all + proofBytes(key, sum), 0);
  ensure(
    proofs?.length === width,
    () => `contest ${at}: the proof of the sum is missing or has the wrong length`,
  );
}

/** The claims of a contest's proofs of sums, which are concatenated. */
function readSums(
  form: Form,
  voter: string,
  at: number,
  numbers: bigint[],
  proofs: Uint8Array | null,
): Claims[] {
  const contest = form.contests[at];
  if (!contest || proofs === null) return [];
  const { key } = form;
  let start = 0;
  return sums(contest).map((sum, number) => {
    const proof = proofs.subarray(start, start + proofBytes(key, sum));
    start += proof.length;
    const those = sum.marks.map((mark) => numbers[mark] ?? 1n);
    const [bits, total, where] = [
      sumBits(key, those.length),
      key.sum(those),
      sumContext(form, voter, at, number),
    ];
    if (sum.kind === "exactly") {
      return readResidue(key, where, (total * key.plain(-BigInt(sum.limit))) % key.squared, bits, proof);
    }
    return readMembership(key, where, totalsUpTo(sum.limit), total, bits, proof);
  });
}

const CHALLENGE = read.object({
  ballot: read.anything,
  election: read.hash,
  openings: read.list(read.list(read.object({ exponent: read.bytes(), value: read.count }))),
});

/** Reads a challenge and checks its form: the ballot, and the stated value of each mark. */
export function readChallenge(form: Form, body: Json): { ballot: Ballot; values: number[][] } {
  const challenge = CHALLENGE(body, "challenge");
  ensure(challenge.election === form.id, "the challenge belongs to another election");
  const ballot = readBallot(form, challenge.ballot);
  const { openings } = challenge;
  const width = Math.ceil(form.key.shortBits / 8);
  ensure(
    openings.length === form.contests.length,
    "the challenge and the election differ in the number of contests",
  );
  for (const [at, contest] of form.contests.entries()) {
    const [given, numbers] = [openings[at] ?? [], allowed(contest).length];
    ensure(given.length === marks(contest), () => `contest ${at} has the wrong number of openings`);
    const inRange = given.every(({ exponent, value }) => exponent.length === width && value < numbers);
    ensure(inRange, () => `an opening of contest ${at} is out of range`);
  }
  const claims = () => {
    checkOpenings(form, ballot, openings);
    return ballot.claims();
  };
  return {
    ballot: { ...ballot, claims },
    values: openings.map((contest) => contest.map(({ value }) => value)),
  };
}

/** Re-encrypts the contents that a challenge states, and compares the ciphertexts. */
function checkOpenings(
  form: Form,
  ballot: Ballot,
  openings: { exponent: Uint8Array; value: number }[][],
): void {
  const { key } = form;
  for (const [at, contest] of form.contests.entries()) {
    const set = allowed(contest);
    openings[at]?.forEach(({ exponent, value }, mark) => {
      const opening = toBigint(exponent);
      const right =
        opening >> BigInt(key.shortBits) === 0n &&
        key.encrypt(set[value] ?? 0n, opening) === ballot.ciphertexts[at]?.[mark];
      ensure(right, () => `contest ${at}, mark ${mark}: the opening does not match the ciphertext`);
    });
  }
}
