/** The order in which a voter sees candidates: by chance where the contest asks for it, and the blank vote last. */

import { blankOf, type Contest } from "../protocol/contest.ts";

/** A whole number below another, each as likely as all others. */
function drawn(below: number): number {
  const limit = 2 ** 32 - (2 ** 32 % below);
  for (;;) {
    const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
    if (number < limit) return number % below;
  }
}

/** The candidates' numbers in the order in which they are shown. Nothing of it is in the ballot. */
export function shuffled(contest: Contest): number[] {
  const order = contest.candidates.map((_, candidate) => candidate);
  const some = order.length - (blankOf(contest) === undefined ? 0 : 1);
  // Fisher and Yates, from the last on.
  for (let last = contest.shuffled ? some - 1 : 0; last > 0; last -= 1) {
    const other = drawn(last + 1);
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  return order;
}
