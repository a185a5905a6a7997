import * as base64 from "hearith/base64.ts";
import { power } from "hearith/bigint.ts";
import { toBigint } from "hearith/bytes.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { challengeBody, encrypt, type Form, readChallenge } from "../src/protocol/ballot.ts";
import { canonical, type Json, parse } from "../src/protocol/canonical.ts";
import { type Contest, candidatesOf, markIndices, readContest } from "../src/protocol/contest.ts";
import { readElection } from "../src/protocol/entry.ts";
import { confirms, type Submission } from "../src/protocol/receipt.ts";
import { publicKey, sign } from "../src/protocol/signature.ts";
import { combined, outcome, shareBody, tallyBody, totals } from "../src/protocol/tally.ts";
import { tracker } from "../src/protocol/tracker.ts";
import { type Check, type Memory, type Report, type Verifier, verifyRecord } from "../src/protocol/verify.ts";
import { Board, hold, member, secret } from "./support/board.ts";

const CONTESTS = [
  { candidates: ["Ada", "Blaise", "Carl"], method: { choose: { exactly: 2 } }, title: "Council" },
  { candidates: ["Ada", "Blaise", "Carl"], method: { choose: { at_most: 2 } }, title: "Board" },
  { candidates: ["Mon", "Tue"], method: "approval", title: "Days" },
  { candidates: ["Red", "Green", "Blue"], method: "plurality", title: "Colour" },
  { candidates: ["Yes", "No"], method: "yes_no", title: "Statute" },
];
const MEMBERS = [member("anna"), member("bert", 3), member("cleo"), member("dora")];
const CHOICES = (...chosen: number[][]) => chosen.map((one) => new Set(one));
const ceremony = hold(2, 3);
/** The key is short. */
const TESTS = { insecure: true };

interface Made {
  board: Board;
  form: Form;
  ballots: Json[];
}

/** An election with three ballots, one of them a second one, and a challenge. */
function voted(revoting = true): Made {
  const board = new Board();
  board.begin(ceremony, CONTESTS, { revoting });
  board.register(MEMBERS.slice(0, 2));
  board.register(MEMBERS.slice(2));
  board.phase("open");
  const election = readElection((parse(board.lines[0] ?? "") as { body: Json }).body);
  const form = { id: board.id, key: election.key, contests: election.contests };
  const ballots: Json[] = [];
  const vote = (id: string, choices: ReadonlySet<number>[]) => {
    const { body } = encrypt(form, id, choices);
    ballots.push(body);
    board.signed("ballot", body, secret(id));
  };
  vote("anna", CHOICES([0, 1], [], [0, 1], [2], [0]));
  vote("bert", CHOICES([1, 2], [2], [], [0], [1]));
  const { body, openings } = encrypt(form, "cleo", CHOICES([0, 2], [0, 1], [1], [1], [0]));
  board.signed("challenge", challengeBody(form, body, openings), secret("cleo"));
  if (revoting) vote("anna", CHOICES([0, 2], [0, 2], [1], [1], [0]));
  board.head();
  return { board, form, ballots };
}

function verified(board: Board, memory?: Memory): { verifier: Verifier; report: Report } {
  const verifier = verifyRecord(board.lines, board.heads, { insecure: true, ...(memory && { memory }) });
  return { verifier, report: verifier.finish() };
}

function finish({ board }: Made, trustees = [1, 3]): number[][] {
  board.phase("close");
  const { state } = verifyRecord(board.lines, board.heads, TESTS);
  board.byOrganiser("tally", tallyBody(state));
  const all = totals(state);
  const shares = new Map<number, bigint[]>();
  const verifier = () => verifyRecord(board.lines, board.heads, TESTS);
  for (const trustee of trustees) {
    const body = shareBody(state, all, trustee, ceremony.secrets[trustee - 1] ?? 0n);
    board.signed("share", body, ceremony.signing[trustee - 1] ?? new Uint8Array());
    const bytes = base64.decode((body as { shares: string }).shares);
    const width = bytes.length / all.flat().length;
    shares.set(
      trustee,
      all
        .flat()
        .map((_, at) =>
          BigInt(`0x${Buffer.from(bytes.subarray(at * width, at * width + 128)).toString("hex")}`),
        ),
    );
  }
  const { state: counted } = verifier();
  const result = outcome(counted, combined(counted, all, shares));
  board.byOrganiser("result", { contests: result, election: board.id });
  board.head();
  return result;
}

function faults(report: Report): Partial<Record<Check, string>> {
  return Object.fromEntries(report.verdicts.flatMap(({ check, fault }) => (fault ? [[check, fault]] : [])));
}

describe("orders of candidates", () => {
  const RANKED = [
    { candidates: ["Ada", "Bo", "Cy"], method: { rank: { points: [3, 2, 1] } }, title: "All" },
    { candidates: ["Ada", "Bo", "Cy", "Dee"], method: { rank: { points: [65535, 7] } }, title: "Two" },
    { candidates: ["Ada", "Bo"], method: { rank: { points: [9] } }, title: "One" },
  ];
  const VOTERS = Array.from({ length: 4 }, (_, at) => member(`voter ${at}`, at === 1 ? 3 : 1));

  /** So many of some candidates in an order by chance. */
  function drawn(candidates: number, ranks: number): number[] {
    const rest = Array.from({ length: candidates }, (_, at) => at);
    return Array.from(
      { length: ranks },
      () => rest.splice(Math.floor(Math.random() * rest.length), 1)[0] ?? 0,
    );
  }

  test("come to the points that plain counting gives", () => {
    const board = new Board();
    board.begin(ceremony, RANKED);
    board.register(VOTERS);
    board.phase("open");
    const { form } = verifyRecord(board.lines, [], TESTS).state;
    const expected = RANKED.map(({ candidates, method }) =>
      Array<number>(candidates.length * (1 + method.rank.points.length)).fill(0),
    );
    for (const { id, weight } of VOTERS) {
      const orders = RANKED.map(({ candidates, method }) =>
        drawn(candidates.length, method.rank.points.length),
      );
      RANKED.forEach(({ candidates, method }, at) => {
        const numbers = expected[at] ?? [];
        (orders[at] ?? []).forEach((candidate, rank) => {
          numbers[candidate] = (numbers[candidate] ?? 0) + weight * (method.rank.points[rank] ?? 0);
          const count = candidates.length * (1 + rank) + candidate;
          numbers[count] = (numbers[count] ?? 0) + weight;
        });
      });
      const { body, openings } = encrypt(form, id, CHOICES(...orders));
      // What is opened is the order that was chosen.
      const { values } = readChallenge(form, challengeBody(form, body, openings));
      expect(form.contests.map((contest, at) => candidatesOf(contest, values[at] ?? []))).toEqual(orders);
      board.signed("ballot", body, secret(id));
    }
    board.head();
    const made = { board, form, ballots: [] };
    expect(finish(made)).toEqual(expected);
    const { report } = verified(board);
    expect(faults(report)).toEqual({});
    expect(report.result).toEqual(expected);
  });

  test("need somebody at every rank, and nobody at two", () => {
    const contests = RANKED.map((contest) => readContest(contest, "contest"));
    const held = (at: number, order: readonly number[]) =>
      markIndices(contests[at] as Contest, new Set(order)).join("");
    expect([held(0, [2, 0, 1]), held(1, [3, 1]), held(2, [1])]).toEqual(["001100010", "00010100", "01"]);
    for (const [at, order] of [
      [0, [2, 0]],
      [0, [2, 0, 3]],
      [0, []],
      [1, [2]],
      [1, [0, 1, 2]],
      [1, [0, 4]],
      [2, []],
      [2, [0, 1]],
    ] as const) {
      expect(() => held(at, order), `${at}: ${order}`).toThrow();
    }
  });
});

describe("a whole election", () => {
  let made: Made;
  let result: number[][];
  beforeAll(() => {
    made = voted();
    result = finish(made);
  });

  test("counts the last ballots, weighed, of every method", () => {
    expect(result).toEqual([
      [1, 3, 4],
      [1, 0, 4],
      [0, 1],
      [3, 1, 0],
      [1, 3],
    ]);
  });

  test("verifies, and knows who voted", () => {
    const { verifier, report } = verified(made.board);
    expect(faults(report)).toEqual({});
    expect(report.good).toBe(true);
    expect(report.result).toEqual(result);
    expect(report.verdicts.find(({ check }) => check === "ballots")?.count).toBe(3);
    expect(report.verdicts.find(({ check }) => check === "challenges")?.count).toBe(1);
    expect(
      [...verifier.state.voters.values()].filter((voter) => voter.counted).map((voter) => voter.id),
    ).toEqual(["anna", "bert"]);
    const place = verifier.state.trackers.get(tracker(made.ballots[1] ?? null));
    expect(place).toEqual({ index: 5, kind: "ballot", voter: "bert" });
    const challenge = [...verifier.state.trackers.values()].find((one) => one.kind === "challenge");
    expect(challenge?.values).toEqual([[1, 0, 1], [1, 1, 0], [0, 1], [1], [1]]);
  });

  test("remembers what it has seen", () => {
    const { board } = made;
    const line = board.lines[5] ?? "";
    const { hash, index } = board.receipt(line, 5);
    const heads = [{ root: board.tree.root(), size: board.lines.length }];
    expect(verified(board, { heads, leaves: [{ hash, index }] }).report.good).toBe(true);
    const other = [{ root: "0".repeat(64), size: board.lines.length }];
    expect(faults(verified(board, { heads: other, leaves: [] }).report).memory).toMatch("seen before");
    expect(faults(verified(board, { heads: [], leaves: [{ hash, index: 6 }] }).report).memory).toMatch(
      "receipt",
    );
    const elsewhere = { id: "0".repeat(64), heads: [], leaves: [] };
    expect(faults(verified(board, elsewhere).report).memory).toMatch("another election");
    expect(verified(board, { ...elsewhere, id: board.id }).report.good).toBe(true);
    const gone = [{ root: board.tree.root(), size: board.lines.length + 1 }];
    expect(faults(verified(board, { heads: gone, leaves: [] }).report).memory).toMatch("gone");
  });

  test("says what became of ballots that were sent from here", () => {
    const { board, ballots } = made;
    const challenged = [...verified(board).verifier.state.trackers].find(
      ([, { kind }]) => kind === "challenge",
    );
    const trackers = [...ballots.map(tracker), challenged?.[0] ?? ""];
    const memory = { heads: [], leaves: [], trackers };
    const { verifier, report } = verified(board, memory);
    expect(report.good).toBe(true);
    expect(verifier.own.map(({ index, fate }) => [index, fate])).toEqual([
      [4, "replaced"],
      [5, "counts"],
      [7, "counts"],
      [6, "challenged"],
    ]);
    const dropped = { ...memory, trackers: [...trackers, "a".repeat(26)] };
    expect(faults(verified(board, dropped).report).memory).toMatch("this browser sent");
  });

  test("confirms what was sent by the entry that the board shows, and nothing else", () => {
    const { board } = made;
    const election = { id: board.id, board: publicKey(board.keeper) };
    const shown = (index: number) =>
      parse(board.lines[index] ?? "") as unknown as Submission & { [name: string]: Json };
    const sent = ({ body, kind, signature }: Submission): Submission => ({ body, kind, signature });
    const receipt = (index: number) => board.receipt(board.lines[index] ?? "", index);
    for (const index of [4, 5, 6, 7]) {
      expect(confirms(election, receipt(index), shown(index), sent(shown(index)))).toBe(true);
    }
    // A genuine receipt of another ballot, with the one or the other entry; something else; nothing.
    const mine = sent(shown(5));
    for (const [at, entry] of [
      [4, shown(4)],
      [4, shown(5)],
      [5, shown(4)],
      [5, { ...shown(5), more: 1 }],
      [5, { ...shown(5), previous: "0".repeat(64) }],
      [5, null],
      [5, []],
      [5, "a"],
    ] as const)
      expect(confirms(election, receipt(at), entry, mine)).toBe(false);
    const { signature, ...promised } = receipt(5);
    expect(confirms({ ...election, id: "0".repeat(64) }, receipt(5), shown(5), mine)).toBe(false);
    expect(confirms(election, { ...promised, signature: signature.slice(2) }, shown(5), mine)).toBe(false);
    const stranger = { ...election, board: publicKey(board.organiser) };
    expect(confirms(stranger, receipt(5), shown(5), mine)).toBe(false);
  });

  const altered = (change: (board: Board) => void): Partial<Record<Check, string>> => {
    const copy = new Board();
    copy.id = made.board.id;
    copy.lines.push(...made.board.lines);
    copy.heads.push(...made.board.heads);
    change(copy);
    return faults(verified(copy).report);
  };
  /** Changes one entry and mends the chain and the head: what whoever keeps the board could do. */
  const rewritten = (
    index: number,
    change: (entry: { body: Json; kind: string; signature: string }) => object,
  ) => {
    const copy = new Board();
    copy.id = made.board.id;
    made.board.lines.forEach((line, at) => {
      const entry = parse(line) as unknown as { body: Json; kind: string; signature: string };
      const { body, kind, signature } = at === index ? { ...entry, ...change(entry) } : entry;
      copy.append(kind, body, base64.decode(signature));
    });
    copy.head();
    return faults(verified(copy).report);
  };

  test("an altered, missing or moved line breaks the chain", () => {
    expect(
      altered(({ lines }) => lines.splice(5, 1, (lines[5] ?? "").replace("bert", "cleo"))),
    ).toHaveProperty("chain");
    expect(altered(({ lines }) => lines.splice(5, 1)).chain).toMatch("entry 5");
    expect(altered(({ lines }) => lines.splice(5, 2, lines[6] ?? "", lines[5] ?? "")).chain).toMatch(
      "entry 5",
    );
    expect(altered(({ lines }) => lines.pop()).heads).toMatch("a head covers");
    expect(altered(({ lines }) => lines.splice(5, 1, (lines[5] ?? "").replace(":", ": "))).chain).toMatch(
      "canonical",
    );
    expect(altered(({ lines }) => lines.splice(0)).chain).toMatch("empty");
  });

  test("a false head is found", () => {
    expect(altered(({ heads }) => heads.splice(0)).heads).toMatch("no head");
    expect(
      altered(({ heads }) => heads.splice(0, 1, (heads[0] ?? "").replace("22T20", "22T19"))).heads,
    ).toMatch("signature");
    expect(
      altered(({ heads }) => heads.splice(0, 1, (heads[0] ?? "").replace(/"root":"./, '"root":"z'))).heads,
    ).toMatch("hash");
  });

  test("an entry that is not its author's is found", () => {
    expect(rewritten(5, ({ body }) => ({ body: { ...(body as object), voter: "dora" } })).signatures).toMatch(
      "entry 5",
    );
    expect(
      rewritten(3, () => ({
        signature: base64.encode(
          sign(secret("anna"), "entry", { body: { election: made.board.id }, kind: "open" }),
        ),
      })).signatures,
    ).toMatch("entry 3");
  });

  test("a wrong tally, share or result is found", () => {
    const [tally, share, result] = [
      made.board.lines.length - 4,
      made.board.lines.length - 3,
      made.board.lines.length - 1,
    ];
    expect(rewritten(tally, ({ body }) => ({ body: { ...(body as object), counted: 3 } })).rules).toMatch(
      "counts 3",
    );
    expect(
      rewritten(share, ({ body }) => ({ body: { ...(body as object), trustee: 2 } })).decryption,
    ).toMatch("hold");
    expect(rewritten(share, ({ body }) => ({ body: { ...(body as object), trustee: 3 } }))).toHaveProperty(
      "decryption",
    );
    expect(
      rewritten(result, ({ body }) => ({
        body: {
          ...(body as object),
          contests: [
            [1, 3, 4],
            [1, 0, 4],
            [0, 1],
            [2, 2, 0],
            [1, 3],
          ],
        },
      })).result,
    ).toMatch("not what");
  });
});

describe("the key", () => {
  test.each([3n, 65_521n])("is refused with the small factor %d", (factor) => {
    const { key, members } = ceremony;
    // 1 modulo 4 and of the same length, as all else asks for.
    let n = key.n;
    while (n % factor !== 0n) n -= 4n;
    const [modulus, generator] = [n, n - 4n].map((number) => base64.encode(key.narrow(number)));
    const numbers = { ...(members.key as object), generator, modulus } as Json;
    const board = new Board();
    board.begin({ ...ceremony, members: { key: numbers, trustees: null } }, CONTESTS);
    board.head();
    expect(faults(verified(board).report).election).toMatch("divisible by");
  });
});

describe("the dealer", () => {
  const { key, members } = ceremony;
  const given = members.trustees as { base: string; keys: string[]; needed: number };
  const mapped = (text: string, change: (number: bigint) => bigint) =>
    base64.encode(key.wide(change(toBigint(base64.decode(text))) % key.squared));
  const fault = (trustees: Json) => {
    const board = new Board();
    board.begin({ ...ceremony, members: { ...members, trustees } }, CONTESTS);
    board.head();
    return faults(verified(board).report);
  };
  const one = mapped(given.base, () => 1n);

  test("who deals honestly is not accused", () => {
    expect(fault(members.trustees)).toEqual({});
    for (const [needed, count] of [
      [1, 1],
      [1, 3],
      [3, 3],
      [3, 5],
    ] as const)
      expect(fault(hold(needed, count).members.trustees)).toEqual({});
  });

  test.each([
    ["twice the votes", (keys: string[]) => keys.map((text) => mapped(text, (v) => v * v)), "v_1 to v_2"],
    [
      "one share off",
      (keys: string[]) =>
        keys.with(
          2,
          mapped(keys[2] ?? "", (v) => v * (1n + key.n)),
        ),
      "v_2 to v_3",
    ],
    ["ones", (keys: string[]) => keys.map(() => one), "v_1 to v_2"],
  ])("is found out: %s", (_, change, message) => {
    expect(fault({ ...given, keys: change(given.keys) }).election).toMatch(message);
  });

  test("does not choose v", () => {
    expect(fault({ ...given, base: one, keys: given.keys.map(() => one) }).election).toMatch("hash of n");
    const nth = (text: string) => mapped(text, (v) => power(v, key.n, key.squared));
    expect(fault({ ...given, base: nth(given.base), keys: given.keys.map(nth) }).election).toMatch(
      "hash of n",
    );
  });
});

describe("the rules", () => {
  test("a second ballot is refused where revoting is not allowed", () => {
    const made = voted(false);
    const { body } = encrypt(made.form, "anna", CHOICES([0, 1], [], [0, 1], [2], [0]));
    made.board.signed("ballot", body, secret("anna"));
    expect(faults(verified(made.board).report).rules).toMatch("has already voted");
  });

  test("copies, strangers and challenged ballots are refused", () => {
    for (const [build, message] of [
      [
        ({ board, ballots }: Made) => board.signed("ballot", ballots[0] ?? null, secret("anna")),
        "occurs twice on the board",
      ],
      [
        ({ board, ballots }: Made) =>
          board.signed("ballot", { ...(ballots[0] as object), voter: "dora" }, secret("dora")),
        "occurs twice on the board",
      ],
      [
        ({ board, ballots }: Made) =>
          board.signed("ballot", { ...(ballots[0] as object), voter: "eve" }, secret("eve")),
        "not a voter",
      ],
      [
        ({ board, form }: Made) =>
          board.signed("ballot", encrypt(form, "eve", CHOICES([0, 1], [], [], [0], [0])).body, secret("eve")),
        "not a voter",
      ],
      [
        ({ board }: Made) => {
          const challenge = parse(board.lines[6] ?? "") as { body: { ballot: Json } };
          return board.signed("ballot", challenge.body.ballot, secret("cleo"));
        },
        "occurs twice on the board",
      ],
      [
        ({ board, ballots }: Made) =>
          board.signed("ballot", { ...(ballots[0] as object), election: "0".repeat(64) }, secret("anna")),
        "another election",
      ],
      [
        ({ board }: Made) =>
          board.byOrganiser("tally", { contests: [], counted: 0, election: board.id, weight: 0 }),
        'not allowed in phase "open"',
      ],
    ] as const) {
      const made = voted();
      build(made);
      expect(faults(verified(made.board).report).rules).toMatch(new RegExp(message));
    }
  });

  test("what has not the form of its kind breaks the chain", () => {
    for (const [kind, more] of [
      ["open", { more: 1 }],
      ["tally", {}],
      ["ballot", { contests: [], voter: 1 }],
    ] as const) {
      const made = voted();
      made.board.byOrganiser(kind, { election: made.board.id, ...more });
      made.board.head();
      const found = faults(verified(made.board).report);
      expect(Object.keys(found)).toEqual(["chain"]);
    }
  });

  test("a challenge must open what is in the ballot", () => {
    const made = voted();
    const { body, openings } = encrypt(made.form, "dora", CHOICES([0, 2], [0, 1], [1], [1], [0]));
    const lie = structuredClone(openings);
    const first = lie.marks[0]?.[0];
    if (first) first.value = 0;
    made.board.signed("challenge", challengeBody(made.form, body, lie), secret("dora"));
    expect(faults(verified(made.board).report).challenges).toMatch(
      "entry 8: contest 0, mark 0: the opening does not match the ciphertext",
    );
  });

  test("a ballot that was made for another voter is found", () => {
    const made = voted();
    const { body } = encrypt(made.form, "bert", CHOICES([0, 1], [], [0, 1], [2], [0]));
    made.board.signed("ballot", { ...(body as object), voter: "dora" }, secret("dora"));
    expect(faults(verified(made.board).report).ballots).toMatch(
      "entry 8: the challenges of a proof do not sum",
    );
  });

  test("a wrong proof among good ones is named", () => {
    const made = voted();
    const { body } = encrypt(made.form, "dora", CHOICES([0, 2], [0, 1], [1], [1], [0]));
    const wrong = JSON.parse(canonical(body));
    const mark = wrong.contests[2].marks[0];
    const proof = base64.decode(mark.proof);
    proof[proof.length - 1] = (proof[proof.length - 1] ?? 0) ^ 1;
    mark.proof = base64.encode(proof);
    made.board.signed("ballot", wrong, secret("dora"));
    const { body: last } = encrypt(made.form, "bert", CHOICES([0, 2], [0, 1], [1], [1], [0]));
    made.board.signed("ballot", last, secret("bert"));
    expect(faults(verified(made.board).report).ballots).toMatch("entry 8");
  });

  test("too few shares give no result", () => {
    const made = voted();
    expect(() => finish(made, [2])).toThrow("1 of 2");
  });

  test("choices that the contest does not allow are not encrypted", () => {
    const made = voted();
    for (const [at, chosen] of [
      [0, [0]],
      [1, [0, 1, 2]],
      [3, []],
      [3, [0, 1]],
      [4, []],
      [3, [7]],
    ] as const) {
      const choices = CHOICES([0, 1], [], [], [0], [0]).with(at, new Set(chosen));
      expect(() => encrypt(made.form, "anna", choices)).toThrow();
    }
  });
});
