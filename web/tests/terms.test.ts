/** What a contest and a draft can say besides: blank votes, an order by chance, descriptions, dates; results as tables. */

import { expect, test } from "vitest";
import { EMPTY, members, question, readDraft } from "../src/app/draft.ts";
import { elected } from "../src/app/elected.ts";
import { percentOf, resultTable } from "../src/app/resultTable.ts";
import { shuffled } from "../src/app/shuffled.ts";
import { LANGUAGES } from "../src/app/texts.ts";
import { canonical, type Json } from "../src/protocol/canonical.ts";
import { type Contest, fits, readContest, sums } from "../src/protocol/contest.ts";

const CONTEST: Contest = {
  title: "Speakers",
  candidates: ["Ada", "Bo", "Cy", "nobody"],
  method: { kind: "exactly", choose: 2 },
  blank: true,
  shuffled: true,
};

test("a blank vote stands alone, and counts as often as there are votes", () => {
  const of = (...chosen: number[]) => fits(CONTEST, new Set(chosen));
  expect([of(0, 1), of(3), of(0), of(0, 3), of(0, 1, 2), of()]).toEqual([
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
  expect(sums(CONTEST)[0]?.marks).toEqual([0, 1, 2, 3, 3]);
  const upTo: Contest = { ...CONTEST, method: { kind: "at_most", choose: 2 } };
  expect([fits(upTo, new Set([0])), fits(upTo, new Set([3])), fits(upTo, new Set())]).toEqual([
    true,
    true,
    false,
  ]);
  expect(elected(CONTEST, [2, 1, 0, 9])).toEqual({ elected: [0, 1], tied: [], open: 0 });
});

test("candidates are shown in every order, the blank vote last", () => {
  const orders = new Set(Array.from({ length: 400 }, () => shuffled(CONTEST).join("")));
  // Of 400 draws of one in six, one is missing once in 10^31.
  expect([...orders].sort()).toEqual(["0123", "0213", "1023", "1203", "2013", "2103"]);
  const { shuffled: _, ...kept } = CONTEST;
  expect(shuffled(kept)).toEqual([0, 1, 2, 3]);
});

test("a draft is what its file says, and its file what it says", () => {
  const draft = {
    ...EMPTY,
    title: " The club ",
    about: "Come all.",
    late: true,
    trial: true,
    opens: "2026-11-20T08:00",
    closes: "2026-11-22T18:00",
    questions: [
      {
        ...question(0),
        title: "Chair",
        candidates: "Ada | chair since 2020 | https://example.org/ada\n\n Bo\n",
        method: "exactly" as const,
        choose: 1,
        blank: "nobody",
        shuffled: true,
      },
      { ...question(1), title: "A roof?", candidates: "yes\nno", method: "yes_no" as const, blank: "x" },
    ],
  };
  const made = members(draft);
  expect(made.contests).toEqual([
    {
      blank: true,
      candidates: ["Ada", "Bo", "nobody"],
      details: [{ about: "chair since 2020", link: "https://example.org/ada" }, {}, {}],
      method: { choose: { exactly: 1 } },
      shuffled: true,
      title: "Chair",
    },
    { candidates: ["yes", "no"], method: "yes_no", title: "A roof?" },
  ]);
  for (const contest of made.contests as []) readContest(contest, "contest");
  expect(Date.parse(made.closes as string) - Date.parse(made.opens as string)).toBe(58 * 3600_000);
  const again = readDraft(canonical(made));
  expect(again.questions[1]).toEqual({ ...draft.questions[1], blank: "" });
  expect(canonical(members(again))).toBe(canonical(made));
  expect(members(EMPTY)).toEqual({
    contests: [{ candidates: [], method: "plurality", title: "" }],
    revoting: true,
    title: "",
  });
});

test("a draft says what ranks are worth", () => {
  const ranked = { ...question(0), title: "Chair", candidates: "Ada\nBo\nCy", method: "rank" as const };
  const method = (points: string) => {
    const made = members({ ...EMPTY, title: "Club", questions: [{ ...ranked, blank: "nobody", points }] });
    return (made.contests as { blank?: true; method: Json }[])[0];
  };
  expect(method("")).toEqual({
    candidates: ["Ada", "Bo", "Cy"],
    method: { rank: { points: [3, 2, 1] } },
    title: "Chair",
  });
  for (const text of ["5, 2", "5;2", " 5  2 "]) {
    expect(method(text)?.method).toEqual({ rank: { points: [5, 2] } });
  }
  const again = readDraft(
    canonical(members({ ...EMPTY, title: "Club", questions: [{ ...ranked, points: "5 2" }] })),
  );
  expect(again.questions[0]?.points).toBe("5, 2");
  for (const text of ["2, 5", "5, x", "0", "1.5", "-1", "65536", "4 3 2 1", "2, 2"]) {
    expect(() => readContest((method(text) ?? null) as Json, "contest"), text).toThrow();
  }
});

test("a table of ranks has points, and how often each stands where", () => {
  const order = {
    ...CONTEST,
    title: "Order",
    candidates: ["a", "b", "c"],
    method: { kind: "rank", points: [5, 2] },
  };
  const { blank: _, shuffled: __, ...ranked } = order as unknown as Contest;
  const contests = [{ ...CONTEST, candidates: ["Ada", "Bo", "Cy", "nobody"] }, ranked];
  const turnout = { counted: 4, voters: 4, weight: 4, allWeight: 4 };
  const result = [
    [2, 1, 1, 2],
    [12, 6, 10, 2, 0, 2, 1, 3, 0],
  ];
  expect(resultTable({ election: { title: "Club", contests }, turnout }, result)).toBe(
    [
      "contest,candidate,votes,percent,outcome,points,ranks",
      "Speakers,Ada,2,50.0,elected,,",
      "Speakers,Bo,1,25.0,tied,,",
      "Speakers,Cy,1,25.0,tied,,",
      "Speakers,nobody,2,50.0,blank,,",
      "Order,a,3,60.0,elected,12,2;1",
      "Order,b,3,30.0,,6,0;3",
      "Order,c,2,50.0,,10,2;0",
      "",
    ].join("\r\n"),
  );
});

test("results are tables that no program takes for formulas", () => {
  const contests = [{ ...CONTEST, candidates: ['=1, "x"', "Bo", "Cy", "nobody"] }];
  const turnout = { counted: 3, voters: 3, weight: 3, allWeight: 3 };
  const table = resultTable({ election: { title: "Club", contests }, turnout }, [[2, 1, 1, 1]]);
  expect(table).toBe(
    [
      "contest,candidate,votes,percent,outcome",
      `Speakers,"'=1, ""x""",2,66.7,elected`,
      "Speakers,Bo,1,33.3,tied",
      "Speakers,Cy,1,33.3,tied",
      "Speakers,nobody,1,33.3,blank",
      "",
    ].join("\r\n"),
  );
  expect([percentOf(1, 16), percentOf(0, 0), percentOf(1, 2001)]).toEqual(["6.3", "0.0", "0.0"]);
});

test("every language fills in what its texts are given", () => {
  for (const [name, texts] of Object.entries(LANGUAGES)) {
    const said = [
      texts.vote.opensAt("17:15"),
      texts.vote.closesAt("17:15"),
      texts.organise.opensItself("17:15"),
      texts.organise.closesItself("17:15"),
    ];
    expect(said.filter((one) => !one.includes("17:15"))).toEqual([]);
    expect(texts.codes.group(5), name).toContain("5");
    expect(texts.board.turnout(1234, 5678), name).toMatch(/1234.*5678/);
    expect(texts.result.renewed(true), name).not.toBe(texts.result.renewed(false));
  }
});
