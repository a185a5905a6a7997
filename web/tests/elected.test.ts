import { expect, test } from "vitest";
import { elected, seats } from "../src/app/elected.ts";
import type { Contest, Method } from "../src/protocol/contest.ts";

function contest(kind: Method["kind"], choose = 0): Contest {
  const rank = kind === "rank" ? { kind, points: [3, 1] } : { kind };
  const method = (choose > 0 ? { kind, choose } : rank) as Method;
  return { title: "?", candidates: ["a", "b", "c", "d"], method };
}

test.each([
  [contest("plurality"), [3, 5, 1, 0], [1], [], 0],
  [contest("plurality"), [5, 5, 1, 0], [], [0, 1], 1],
  [contest("plurality"), [0, 0, 0, 0], [], [], 0],
  [contest("yes_no"), [2, 2], [], [0, 1], 1],
  [contest("yes_no"), [2, 3], [1], [], 0],
  [contest("approval"), [4, 2, 4, 1], [], [0, 2], 1],
  [contest("at_most", 2), [1, 3, 2, 0], [1, 2], [], 0],
  [contest("at_most", 2), [1, 3, 1, 1], [1], [0, 2, 3], 1],
  [contest("at_most", 2), [3, 3, 3, 0], [], [0, 1, 2], 2],
  // Fewer have votes than there are seats: nobody is elected without one.
  [contest("at_most", 3), [0, 2, 0, 1], [1, 3], [], 0],
  [contest("exactly", 4), [1, 1, 1, 1], [0, 1, 2, 3], [], 0],
  // Points decide, however often somebody stands at a rank.
  [contest("rank"), [4, 7, 3, 2, 1, 1, 9, 9, 1, 4, 0, 2], [1], [], 0],
  [contest("rank"), [4, 4, 3, 2, 1, 1, 1, 1, 1, 1, 0, 2], [], [0, 1], 1],
] as const)("%j with %j", (contest, votes, who, tied, open) => {
  expect(elected(contest, votes)).toEqual({ elected: who, tied, open });
});

test("whoever is elected has more votes than whoever is not, whatever the votes", () => {
  for (let round = 0; round < 2000; round++) {
    const one = contest("at_most", 1 + (round % 4));
    const votes = one.candidates.map((_, at) => (round * 7919 + at * 104729 * (round + 1)) % 5);
    const { elected: who, tied, open } = elected(one, votes);
    const of = (some: readonly number[]) => some.map((candidate) => votes[candidate] ?? 0);
    const rest = votes.filter((_, at) => !who.includes(at) && !tied.includes(at));
    expect(Math.min(...of(who), 9)).toBeGreaterThan(Math.max(...of(tied), 0));
    expect(Math.min(...of(who), ...of(tied), 9)).toBeGreaterThan(Math.max(...rest, 0));
    expect(new Set(of(tied)).size).toBeLessThanOrEqual(1);
    expect(tied.length === 0 ? open : tied.length - open).toBeGreaterThanOrEqual(0);
    const voted = votes.filter((count) => count > 0).length;
    expect(who.length + open).toBe(Math.min(seats(one), voted));
  }
});
