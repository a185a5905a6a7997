/** Who is elected by the votes: so many as the contest has seats, and nobody by lot. */

import { blankOf, type Contest, limits } from "../protocol/contest.ts";

export interface Elected {
  /** Candidates with the most votes, as many as there are seats, in the ballot's order. */
  readonly elected: readonly number[];
  /** Those with equally many votes for the seats that are left. */
  readonly tied: readonly number[];
  /** Seats that are left for them. */
  readonly open: number;
}

/** Seats of a contest: as many as a voter may choose; approval is for one, and so are ranks. */
export function seats(contest: Contest): number {
  const { kind } = contest.method;
  return kind === "approval" || kind === "rank" ? 1 : limits(contest).most;
}

/** Who has the most votes, or points. Candidates without a vote are never elected, nor tied; the blank vote is no candidate. */
export function elected(contest: Contest, votes: readonly number[]): Elected {
  const seatCount = seats(contest);
  const blank = blankOf(contest);
  const all = contest.candidates.map((_, candidate) => ({ candidate, count: votes[candidate] ?? 0 }));
  const voted = all.filter(({ candidate, count }) => count > 0 && candidate !== blank);
  const ranked = [...voted].sort((a, b) => b.count - a.count);
  const last = ranked[seatCount - 1]?.count ?? 0;
  const next = ranked[seatCount]?.count ?? 0;
  const tied = last > 0 && last === next;
  const sure = voted.filter(({ count }) => (tied ? count > last : count >= Math.max(last, 1)));
  return {
    elected: sure.map(({ candidate }) => candidate),
    tied: tied ? voted.filter(({ count }) => count === last).map(({ candidate }) => candidate) : [],
    open: tied ? seatCount - sure.length : 0,
  };
}
