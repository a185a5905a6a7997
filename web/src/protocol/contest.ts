/** How one votes in a contest: how many ciphertexts a ballot has for it, what each may hold, and what they say. */

import { ensure, Fault } from "hearith/errors.ts";
import type { Json } from "./canonical.ts";
import { alike } from "./names.ts";
import * as read from "./readers.ts";

export type Method =
  | { readonly kind: "at_most" | "exactly"; readonly choose: number }
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

/** Bits between the places of a plurality's total: more than all weights together have. */
export const PLACE_BITS = 48n;

const CHOOSE = read.object({ choose: read.anything });

function readMethod(value: Json, name: string): Method {
  if (typeof value === "string") return { kind: read.oneOf("approval", "plurality", "yes_no")(value, name) };
  const choose = CHOOSE(value, name).choose;
  const kind = Object.keys(choose ?? {}).join();
  if (kind !== "at_most" && kind !== "exactly")
    throw new Fault(`${name}: neither at most nor exactly so many`);
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
    () => `${name} has not as many details as candidates`,
  );
  const takesBlank = method.kind !== "approval" && method.kind !== "yes_no" && candidates.length > 1;
  ensure(
    blank === undefined || takesBlank,
    () => `${name}: a blank vote takes another candidate, and a method that takes so many or one`,
  );
  ensure(
    new Set(candidates.map(alike)).size === candidates.length,
    () => `${name} has a candidate twice, or two whose names look alike`,
  );
  ensure(
    method.kind !== "yes_no" || candidates.length === 2,
    () => `${name}: yes or no takes two candidates`,
  );
  if ("choose" in method) {
    ensure(
      method.choose >= 1 && method.choose <= candidates.length - (blank ? 1 : 0),
      () => `${name}: so many cannot be chosen`,
    );
  }
  return contest;
};

/** The blank vote's place among the candidates, if the contest has one. */
export function blankOf({ candidates, blank }: Contest): number | undefined {
  return blank ? candidates.length - 1 : undefined;
}

/** The marks whose sum a proof is about: the blank vote as often as there are votes to give. */
export function summed(contest: Contest): number[] {
  const { method } = contest;
  const all = Array.from({ length: marks(contest) }, (_, mark) => mark);
  if (!contest.blank || !("choose" in method)) return all;
  return [...all, ...Array.from({ length: method.choose - 1 }, () => all.length - 1)];
}

/** Whether votes of all candidates may come to this sum, where so much weight has voted. */
function addUp(method: Method, sum: bigint, weight: bigint): boolean {
  if (method.kind === "approval") return true;
  if ("choose" in method) {
    const most = BigInt(method.choose) * weight;
    return method.kind === "exactly" ? sum === most : sum <= most;
  }
  return sum === weight;
}

/** Bits of a number of the tally: no sum of votes has more. */
export function totalBits({ candidates, method }: Contest): number {
  return Number(PLACE_BITS) * (method.kind === "plurality" ? candidates.length : 1);
}

/** Ciphertexts that a ballot has for the contest. */
export function marks(contest: Contest): number {
  const { kind } = contest.method;
  return kind === "plurality" || kind === "yes_no" ? 1 : contest.candidates.length;
}

/** What each of them may hold. */
export function allowed(contest: Contest): bigint[] {
  if (contest.method.kind !== "plurality") return [0n, 1n];
  return contest.candidates.map((_, place) => 1n << (PLACE_BITS * BigInt(place)));
}

/** For each mark which of the allowed numbers it holds, when these candidates are chosen. */
export function places(contest: Contest, chosen: ReadonlySet<number>): number[] {
  check(contest, chosen);
  const { kind } = contest.method;
  if (kind === "plurality") return [...chosen];
  if (kind === "yes_no") return [chosen.has(0) ? 1 : 0];
  return contest.candidates.map((_, candidate) => (chosen.has(candidate) ? 1 : 0));
}

/** The candidates that marks of these places choose. */
export function candidatesOf(contest: Contest, held: readonly number[]): number[] {
  const { kind } = contest.method;
  if (kind === "plurality") return [...held];
  if (kind === "yes_no") return [held[0] === 1 ? 0 : 1];
  return held.flatMap((place, candidate) => (place === 1 ? [candidate] : []));
}

/** How many candidates may be chosen. */
export function limits(contest: Contest): { least: number; most: number } {
  const { method, candidates } = contest;
  // Whoever would vote for nobody can say so.
  if (method.kind === "at_most" && contest.blank) return { least: 1, most: method.choose };
  if (method.kind === "exactly") return { least: method.choose, most: method.choose };
  if (method.kind === "at_most") return { least: 0, most: method.choose };
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
  ensure(fits(contest, chosen), "not as many candidates as must be chosen");
  ensure(
    [...chosen].every((one) => one in contest.candidates),
    "there is no such candidate",
  );
}

/** Votes for each candidate, from what a contest's ciphertexts add up to and the weight of all who voted. */
export function votes(contest: Contest, totals: readonly bigint[], weight: bigint): number[] {
  const [first = 0n] = totals;
  const { kind } = contest.method;
  let found = [...totals];
  if (kind === "yes_no") found = [first, weight - first];
  if (kind === "plurality") {
    found = contest.candidates.map((_, place) =>
      BigInt.asUintN(Number(PLACE_BITS), first >> (PLACE_BITS * BigInt(place))),
    );
    ensure(first >> (PLACE_BITS * BigInt(found.length)) === 0n, "the total has votes for nobody");
  }
  ensure(
    found.every((count) => count >= 0n && count <= weight),
    "the totals are more than all votes",
  );
  const counted = "choose" in contest.method ? summed(contest).map((mark) => found[mark] ?? 0n) : found;
  const sum = counted.reduce((all, count) => all + count, 0n);
  ensure(addUp(contest.method, sum, weight), "the totals do not add up to what the contest asks for");
  return found.map(Number);
}
