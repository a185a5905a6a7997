/**
 * Voting methods: the ciphertexts that a ballot has for a contest, their allowed values, and their
 * meaning.
 */

import { ensure, Fault } from "hearith/errors.ts";
import type { Json } from "./canonical.ts";
import { alike } from "./names.ts";
import * as read from "./readers.ts";

export type Method =
  | { readonly kind: "at_most" | "exactly"; readonly choose: number }
  /** The points of each rank, in order. */
  | { readonly kind: "rank"; readonly points: readonly number[] }
  | { readonly kind: "approval" | "plurality" | "yes_no" };

/** Information for voters about a candidate. */
export interface Detail {
  readonly about?: string;
  readonly link?: string;
}

export interface Contest {
  readonly title: string;
  readonly about?: string;
  readonly candidates: readonly string[];
  readonly details?: readonly Detail[];
  readonly method: Method;
  /** Whether the last candidate is the blank vote, which excludes all other candidates. */
  readonly blank?: true;
  /** Whether pages show each voter the candidates in a random order. */
  readonly shuffled?: true;
}

/** Bits per candidate in the total of a plurality contest: more than the sum of all weights has. */
export const DIGIT_BITS = 48n;
/** The maximum number of points of a rank. */
export const MOST_POINTS = 2 ** 16 - 1;

const CHOOSE = read.object({ choose: read.anything });
const RANK = read.object({ rank: read.object({ points: read.list(read.integer(1, MOST_POINTS), 1, 256) }) });

function readMethod(value: Json, name: string): Method {
  if (typeof value === "string") return { kind: read.oneOf("approval", "plurality", "yes_no")(value, name) };
  if (value !== null && typeof value === "object" && "rank" in value) {
    const { points } = RANK(value, name).rank;
    ensure(
      points.every((one, rank) => rank === 0 || one < (points[rank - 1] ?? 0)),
      () => `${name}: the points must decrease from rank to rank`,
    );
    return { kind: "rank", points };
  }
  const choose = CHOOSE(value, name).choose;
  const kind = Object.keys(choose ?? {}).join();
  if (kind !== "at_most" && kind !== "exactly")
    throw new Fault(`${name}: "choose" must have the member "at_most" or "exactly"`);
  const members = read.object({ [kind]: read.count })(choose, `${name}.choose`);
  return { kind, choose: members[kind] ?? 0 };
}

const CONTEST = read.object(
  {
    candidates: read.list(read.name(400), 1, 256),
    method: readMethod,
    title: read.name(400),
  },
  {
    about: read.about,
    blank: read.set,
    details: read.list(read.object({}, { about: read.about, link: read.link })),
    shuffled: read.set,
  },
);

export const readContest: read.Reader<Contest> = (value, name) => {
  const contest = CONTEST(value, name);
  const { candidates, method, details, blank } = contest;
  ensure(
    details === undefined || details.length === candidates.length,
    () => `${name}: the number of details differs from the number of candidates`,
  );
  if (method.kind === "rank") {
    ensure(blank === undefined, () => `${name}: a ranked contest cannot have a blank vote`);
    ensure(method.points.length <= candidates.length, () => `${name} has more ranks than candidates`);
  }
  const takesBlank = method.kind !== "approval" && method.kind !== "yes_no" && candidates.length > 1;
  ensure(
    blank === undefined || takesBlank,
    () => `${name}: a blank vote needs another candidate and the method "choose" or "plurality"`,
  );
  ensure(
    new Set(candidates.map(alike)).size === candidates.length,
    () => `${name}: two candidates have the same name, or names that look alike`,
  );
  ensure(
    method.kind !== "yes_no" || candidates.length === 2,
    () => `${name}: a yes-or-no contest needs two candidates`,
  );
  if ("choose" in method) {
    ensure(
      method.choose >= 1 && method.choose <= candidates.length - (blank ? 1 : 0),
      () =>
        `${name}: the number of choices must be between 1 and the number of candidates (without blank vote)`,
    );
  }
  return contest;
};

/** The index of the blank vote among the candidates, if there is one. */
export function blankOf({ candidates, blank }: Contest): number | undefined {
  return blank ? candidates.length - 1 : undefined;
}

/** A proven statement about a sum of marks: it equals the limit, or is at most the limit. */
export interface Sum {
  readonly kind: "at_most" | "exactly";
  readonly limit: number;
  /** The marks, each as often as it counts. */
  readonly marks: readonly number[];
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

/**
 * The proven sums of marks, in order: the sum of all marks, or one sum per rank and then one per
 * candidate.
 */
export function sums(contest: Contest): Sum[] {
  const { method, candidates, blank } = contest;
  if ("choose" in method) {
    // The blank vote counts as many times as a voter may choose candidates.
    const more = blank ? upTo(method.choose - 1).map(() => candidates.length - 1) : [];
    return [{ kind: method.kind, limit: method.choose, marks: [...upTo(candidates.length), ...more] }];
  }
  if (method.kind !== "rank") return [];
  const [ranks, count] = [method.points.length, candidates.length];
  const ofRanks = upTo(ranks).map(
    (rank): Sum => ({ kind: "exactly", limit: 1, marks: upTo(count).map((one) => rank * count + one) }),
  );
  // With a single rank, the proofs of its marks already cover the candidates.
  if (ranks === 1) return ofRanks;
  const kind = ranks === count ? "exactly" : "at_most";
  const ofCandidates = upTo(count).map(
    (one): Sum => ({ kind, limit: 1, marks: upTo(ranks).map((rank) => rank * count + one) }),
  );
  return [...ofRanks, ...ofCandidates];
}

/** Whether the totals over ballots of this weight agree with the ballots' proofs. */
function addUp({ kind, limit, marks }: Sum, totals: readonly bigint[], weight: bigint): boolean {
  const sum = marks.reduce((all, mark) => all + (totals[mark] ?? 0n), 0n);
  const most = BigInt(limit) * weight;
  return kind === "exactly" ? sum === most : sum <= most;
}

/** Its share of the election's limit of 512 candidates: its candidates, once per rank. */
export function size({ candidates, method }: Contest): number {
  return candidates.length * (method.kind === "rank" ? method.points.length : 1);
}

/** The count of its numbers in a result: votes, or points and then counts at each rank. */
export function results(contest: Contest): number {
  return contest.candidates.length + (contest.method.kind === "rank" ? marks(contest) : 0);
}

/** The maximum result of a candidate, in votes or points, for this weight of all who voted. */
export function mostOf({ method }: Contest, weight: number): number {
  return method.kind === "rank" ? (method.points[0] ?? 0) * weight : weight;
}

/** The counts of a candidate at each rank, from a result's numbers. */
export function atRanks(contest: Contest, result: readonly number[], candidate: number): number[] {
  const { candidates, method } = contest;
  if (method.kind !== "rank") return [];
  return method.points.map((_, rank) => result[(rank + 1) * candidates.length + candidate] ?? 0);
}

/** The maximum weight of all voters for which a candidate's points fit a number of a record. */
export function mostWeight({ method }: Contest): number {
  const first = method.kind === "rank" ? (method.points[0] ?? 1) : 1;
  return Math.floor(Number.MAX_SAFE_INTEGER / first);
}

/** The maximum number of bits of a number in the tally. */
export function totalBits({ candidates, method }: Contest): number {
  return Number(DIGIT_BITS) * (method.kind === "plurality" ? candidates.length : 1);
}

/**
 * The number of ciphertexts in a ballot for the contest. For ranks they are in the order of the
 * ranks.
 */
export function marks(contest: Contest): number {
  const { kind } = contest.method;
  return kind === "plurality" || kind === "yes_no" ? 1 : size(contest);
}

/** The values that each of them may have. */
export function allowed(contest: Contest): bigint[] {
  if (contest.method.kind !== "plurality") return [0n, 1n];
  return contest.candidates.map((_, candidate) => 1n << (DIGIT_BITS * BigInt(candidate)));
}

/**
 * For each mark, the index of its value for these chosen candidates. If they are ranked, the first
 * of the set has the first rank.
 */
export function markIndices(contest: Contest, chosen: ReadonlySet<number>): number[] {
  check(contest, chosen);
  const { kind } = contest.method;
  if (kind === "plurality") return [...chosen];
  if (kind === "yes_no") return [chosen.has(0) ? 1 : 0];
  if (kind === "rank")
    return [...chosen].flatMap((one) => contest.candidates.map((_, other) => (one === other ? 1 : 0)));
  return contest.candidates.map((_, candidate) => (chosen.has(candidate) ? 1 : 0));
}

/** The candidates chosen by marks with these indices; if they are ranked, in order. */
export function candidatesOf(contest: Contest, indices: readonly number[]): number[] {
  const { kind } = contest.method;
  if (kind === "plurality") return [...indices];
  if (kind === "yes_no") return [indices[0] === 1 ? 0 : 1];
  return indices.flatMap((index, mark) => (index === 1 ? [mark % contest.candidates.length] : []));
}

/** The allowed numbers of chosen candidates. */
export function limits(contest: Contest): { least: number; most: number } {
  const { method, candidates } = contest;
  // With a blank vote, choosing nobody is explicit.
  if (method.kind === "at_most" && contest.blank) return { least: 1, most: method.choose };
  if (method.kind === "exactly") return { least: method.choose, most: method.choose };
  if (method.kind === "at_most") return { least: 0, most: method.choose };
  if (method.kind === "rank") return { least: method.points.length, most: method.points.length };
  return method.kind === "approval" ? { least: 0, most: candidates.length } : { least: 1, most: 1 };
}

/** Whether the number of choices is allowed. A blank vote must be the only choice. */
export function fits(contest: Contest, chosen: ReadonlySet<number>): boolean {
  const blank = blankOf(contest);
  if (blank !== undefined && chosen.has(blank)) return chosen.size === 1;
  const { least, most } = limits(contest);
  return chosen.size >= least && chosen.size <= most;
}

function check(contest: Contest, chosen: ReadonlySet<number>): void {
  ensure(fits(contest, chosen), "the number of chosen candidates is not allowed");
  ensure(
    [...chosen].every((one) => one in contest.candidates),
    "there is no such candidate",
  );
}

/**
 * Returns a result's numbers from the contest's decrypted totals and the weight of all who voted:
 * votes for each candidate, or points and then counts at each rank, in the order of the ranks.
 */
export function votes(contest: Contest, totals: readonly bigint[], weight: bigint): number[] {
  const [first = 0n] = totals;
  const { method } = contest;
  let found = [...totals];
  if (method.kind === "yes_no") found = [first, weight - first];
  if (method.kind === "plurality") {
    found = contest.candidates.map((_, candidate) =>
      BigInt.asUintN(Number(DIGIT_BITS), first >> (DIGIT_BITS * BigInt(candidate))),
    );
    ensure(
      first >> (DIGIT_BITS * BigInt(found.length)) === 0n,
      "the total has more digits than there are candidates",
    );
  }
  ensure(
    found.every((count) => count >= 0n && count <= weight),
    "a total exceeds the weight of all votes",
  );
  const right =
    method.kind === "yes_no" || method.kind === "plurality"
      ? found.reduce((all, count) => all + count, 0n) === weight
      : sums(contest).every((sum) => addUp(sum, found, weight));
  ensure(right, "the totals do not sum to the number that the contest requires");
  return method.kind === "rank"
    ? [...pointsOf(contest, method.points, found), ...found.map(Number)]
    : found.map(Number);
}

function pointsOf({ candidates }: Contest, points: readonly number[], counts: readonly bigint[]): number[] {
  return candidates.map((_, candidate) => {
    const atRanks = points.map(
      (one, rank) => BigInt(one) * (counts[rank * candidates.length + candidate] ?? 0n),
    );
    return Number(atRanks.reduce((all, one) => all + one, 0n));
  });
}
