/** A result as a table (RFC 4180), the same as `hearith election result --csv` writes. */

import { atRanks, blankOf, mostOf } from "../protocol/contest.ts";
import { elected } from "./elected.ts";
import type { Verified } from "./worker.ts";

/** A name that no table takes for a formula. */
function plain(name: string): string {
  return /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A part of a whole in per cent, with one digit after the point, halves upwards; of nothing it is 0. */
export function percentOf(part: number, whole: number): string {
  const twice = whole === 0 ? 0n : (BigInt(part) * 2000n) / BigInt(whole);
  const thousandths = (twice + 1n) / 2n;
  return `${thousandths / 10n}.${thousandths % 10n}`;
}

/** A row a candidate. Where candidates are ranked, their points, and how often they stand at each rank. */
export function resultTable(
  verified: Pick<Verified, "election" | "turnout">,
  result: readonly (readonly number[])[],
): string {
  const contests = verified.election?.contests ?? [];
  const ranked = contests.some(({ method }) => method.kind === "rank");
  const rows = contests.flatMap((contest, at) => {
    const votes = result[at] ?? [];
    const found = elected(contest, votes);
    return contest.candidates.map((name, candidate) => {
      const count = votes[candidate] ?? 0;
      const outcome = found.elected.includes(candidate)
        ? "elected"
        : found.tied.includes(candidate)
          ? "tied"
          : candidate === blankOf(contest)
            ? "blank"
            : "";
      const percent = percentOf(count, mostOf(contest, verified.turnout.weight));
      const byRank = atRanks(contest, votes, candidate);
      const isRanked = contest.method.kind === "rank";
      const given = isRanked ? byRank.reduce((all, one) => all + one, 0) : count;
      const more = ranked ? [isRanked ? `${count}` : "", byRank.join(";")] : [];
      return [plain(contest.title), plain(name), `${given}`, percent, outcome, ...more];
    });
  });
  const head = [
    "contest",
    "candidate",
    "votes",
    "percent",
    "outcome",
    ...(ranked ? ["points", "ranks"] : []),
  ];
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
