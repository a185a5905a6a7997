/** How one votes in a contest: how many ciphertexts a ballot has for it, what each may hold, and what they say. */

import { ensure, Fault } from "hearith/errors.ts";
import type { Json } from "./canonical.ts";
import { alike } from "./names.ts";
import * as read from "./readers.ts";

export type Method =
  | { readonly kind: "at_most" | "exactly"; readonly choose: number }
  /** What each rank is worth, the first one first. */
  | { readonly kind: "rank"; readonly points: readonly number[] }
  | { readonly kind: "approval" | "plurality" | "yes_no" };

/** What voters should know about a candidate. */
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
  /** Whether the last candidate is the blank vote: no candidate, and no other beside it. */
  readonly blank?: true;
  /** Whether pages show each voter the candidates in an order of their own. */
  readonly shuffled?: true;
}

/** Bits between the digits of a plurality's total: more than all weights together have. */
export const DIGIT_BITS = 48n;
/** The most points that a rank is worth. */
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

/** The blank vote's place among the candidates, if the contest has one. */
export function blankOf({ candidates, blank }: Contest): number | undefined {
  return blank ? candidates.length - 1 : undefined;
}

/** What a proof says of a sum of marks: that it is exactly so many, or at most. */
export interface Sum {
  readonly kind: "at_most" | "exactly";
  readonly limit: number;
  /** The marks, as often as they count. */
  readonly marks: readonly number[];
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}

/** What proofs say of sums of marks, in their order: of as many as are chosen, or of each rank and then of each candidate. */
export function sums(contest: Contest): Sum[] {
  const { method, candidates, blank } = contest;
  if ("choose" in method) {
    // The blank vote counts as often as there are votes to give.
    const more = blank ? upTo(method.choose - 1).map(() => candidates.length - 1) : [];
    return [{ kind: method.kind, limit: method.choose, marks: [...upTo(candidates.length), ...more] }];
  }
  if (method.kind !== "rank") return [];
  const [ranks, count] = [method.points.length, candidates.length];
  const ofRanks = upTo(ranks).map(
    (rank): Sum => ({ kind: "exactly", limit: 1, marks: upTo(count).map((one) => rank * count + one) }),
  );
  // With one rank its marks say it of each candidate.
  if (ranks === 1) return ofRanks;
  const kind = ranks === count ? "exactly" : "at_most";
  const ofCandidates = upTo(count).map(
    (one): Sum => ({ kind, limit: 1, marks: upTo(ranks).map((rank) => rank * count + one) }),
  );
  return [...ofRanks, ...ofCandidates];
}

/** Whether totals over ballots of so much weight come to what their proofs say. */
function addUp({ kind, limit, marks }: Sum, totals: readonly bigint[], weight: bigint): boolean {
  const sum = marks.reduce((all, mark) => all + (totals[mark] ?? 0n), 0n);
  const most = BigInt(limit) * weight;
  return kind === "exactly" ? sum === most : sum <= most;
}

/** How many of an election's 512 candidates it takes: its own, as often as there are ranks. */
export function size({ candidates, method }: Contest): number {
  return candidates.length * (method.kind === "rank" ? method.points.length : 1);
}

/** How many numbers a result has for it: votes, or points and then how often each stands at each rank. */
export function results(contest: Contest): number {
  return contest.candidates.length + (contest.method.kind === "rank" ? marks(contest) : 0);
}

/** The most that a candidate can have in a result, where so much weight has voted: of votes, or of points. */
export function mostOf({ method }: Contest, weight: number): number {
  return method.kind === "rank" ? (method.points[0] ?? 0) * weight : weight;
}

/** How often a candidate stands at each rank, from a result's numbers. */
export function atRanks(contest: Contest, result: readonly number[], candidate: number): number[] {
  const { candidates, method } = contest;
  if (method.kind !== "rank") return [];
  return method.points.map((_, rank) => result[(rank + 1) * candidates.length + candidate] ?? 0);
}

/** The most that all voters may weigh together, for a candidate's points to be a number of a record. */
export function mostWeight({ method }: Contest): number {
  const first = method.kind === "rank" ? (method.points[0] ?? 1) : 1;
  return Math.floor(Number.MAX_SAFE_INTEGER / first);
}

/** Bits of a number of the tally: no sum of votes has more. */
export function totalBits({ candidates, method }: Contest): number {
  return Number(DIGIT_BITS) * (method.kind === "plurality" ? candidates.length : 1);
}

/** Ciphertexts that a ballot has for the contest. Of ranks they come rank by rank. */
export function marks(contest: Contest): number {
  const { kind } = contest.method;
  return kind === "plurality" || kind === "yes_no" ? 1 : size(contest);
}

/** What each of them may hold. */
export function allowed(contest: Contest): bigint[] {
  if (contest.method.kind !== "plurality") return [0n, 1n];
  return contest.candidates.map((_, candidate) => 1n << (DIGIT_BITS * BigInt(candidate)));
}

/** For each mark which of the allowed numbers it holds, when these candidates are chosen; if they are ranked, the first
 * of the set at the first rank. */
export function markIndices(contest: Contest, chosen: ReadonlySet<number>): number[] {
  check(contest, chosen);
  const { kind } = contest.method;
  if (kind === "plurality") return [...chosen];
  if (kind === "yes_no") return [chosen.has(0) ? 1 : 0];
  if (kind === "rank")
    return [...chosen].flatMap((one) => contest.candidates.map((_, other) => (one === other ? 1 : 0)));
  return contest.candidates.map((_, candidate) => (chosen.has(candidate) ? 1 : 0));
}

/** The candidates that marks with these indices choose; if they are ranked, the first one first. */
export function candidatesOf(contest: Contest, indices: readonly number[]): number[] {
  const { kind } = contest.method;
  if (kind === "plurality") return [...indices];
  if (kind === "yes_no") return [indices[0] === 1 ? 0 : 1];
  return indices.flatMap((index, mark) => (index === 1 ? [mark % contest.candidates.length] : []));
}

/** How many candidates may be chosen. */
export function limits(contest: Contest): { least: number; most: number } {
  const { method, candidates } = contest;
  // Whoever would vote for nobody can say so.
  if (method.kind === "at_most" && contest.blank) return { least: 1, most: method.choose };
  if (method.kind === "exactly") return { least: method.choose, most: method.choose };
  if (method.kind === "at_most") return { least: 0, most: method.choose };
  if (method.kind === "rank") return { least: method.points.length, most: method.points.length };
  return method.kind === "approval" ? { least: 0, most: candidates.length } : { least: 1, most: 1 };
}

/** Whether so many are chosen as must be: of blank votes one, and nobody else. */
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

/** A result's numbers, from what a contest's ciphertexts add up to and the weight of all who voted: votes for each
 * candidate, or points and then how often each stands at each rank, rank by rank. */
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
