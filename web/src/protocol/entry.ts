/** Entries: the lines of a board, and the heads signed by the board. */

import { bitLength } from "hearith/bigint.ts";
import { equal, toBigint } from "hearith/bytes.ts";
import { ensure } from "hearith/errors.ts";
import type { Json } from "./canonical.ts";
import { parse } from "./canonical.ts";
import { type Contest, readContest, size, totalBits } from "./contest.ts";
import { Key } from "./djn.ts";
import { checkForm } from "./forms.ts";
import type { KeyProofs } from "./keycheck.ts";
import * as read from "./readers.ts";
import { canGenerate, type Trustees } from "./share.ts";
import { isPublicKey, verify } from "./signature.ts";

export const KINDS = [
  "election",
  "voters",
  "replace",
  "open",
  "ballot",
  "challenge",
  "close",
  "tally",
  "share",
  "opening",
  "result",
] as const;
export type Kind = (typeof KINDS)[number];

export interface Entry {
  readonly body: Json;
  readonly index: number;
  readonly kind: Kind;
  readonly previous: string;
  readonly signature: Uint8Array;
}

const ENTRY = read.object({
  body: read.anything,
  index: read.count,
  kind: read.oneOf(...KINDS),
  previous: read.hash,
  signature: read.bytes(),
});

/** Reads one line of a board. */
export function readEntry(line: string): Entry {
  const entry = ENTRY(parse(line), "entry");
  checkForm(entry.kind, entry.body);
  return entry;
}

/** The first entry, to which all others refer. */
export interface Election {
  readonly title: string;
  readonly about?: string;
  /** When the board opens and closes the vote by itself, if it does. */
  readonly opens?: string;
  readonly closes?: string;
  /** Whether voters can be added, and credentials replaced, during the vote. */
  readonly late?: true;
  /** Whether the result is not binding. */
  readonly trial?: true;
  /** The registrar, who lists voters instead of the organiser. */
  readonly registrar?: Uint8Array;
  readonly board: Uint8Array;
  readonly organiser: Uint8Array;
  readonly revoting: boolean;
  readonly contests: readonly Contest[];
  readonly key: Key;
  readonly proofs: KeyProofs;
  readonly trustees: Trustees | null;
}

const edKey: read.Reader<Uint8Array> = (value, name) => {
  const key = read.bytes(32)(value, name);
  ensure(isPublicKey(key), () => `${name} is not an Ed25519 public key`);
  return key;
};

const date: read.Reader<string> = (value, name) => {
  const time = read.text(value, name);
  ensure(isTime(time), () => `${name} is not a time like 2026-11-22T20:15:00Z`);
  return time;
};

const ELECTION = read.object(
  {
    board: edKey,
    contests: read.list(readContest, 1, 64),
    key: read.object(
      { generator: read.bytes(), modulus: read.bytes(), roots: read.list(read.bytes()) },
      { blum: read.list(read.bytes()) },
    ),
    organiser: edKey,
    revoting: read.flag,
    title: read.name(400),
    trustees: read.nullable(
      read.object(
        { base: read.bytes(), keys: read.list(read.bytes(), 1, 20), needed: read.integer(1, 20) },
        {
          generated: read.object({ statements: read.list(read.bytes()), transcript: read.hash }),
          signing: read.list(edKey),
        },
      ),
    ),
  },
  { about: read.about, closes: date, late: read.set, opens: date, registrar: edKey, trial: read.set },
);

/** The maximum length of a modulus in bytes. */
const MOST_BYTES = 1024;

/** Reads an election. `checkKey` checks its key. */
export function readElection(body: Json): Election {
  const { key: numbers, trustees: given, ...rest } = ELECTION(body, "election");
  const candidates = rest.contests.reduce((sum, contest) => sum + size(contest), 0);
  ensure(candidates <= 512, "there are more than 512 candidates, counting each once per rank");
  ensure(!equal(rest.organiser, rest.board), "the organiser and the board have the same key");
  const { opens, closes, registrar } = rest;
  // Texts of this form sort like times.
  ensure(opens === undefined || closes === undefined || opens < closes, "voting must end after it begins");
  const officials = [rest.organiser, rest.board];
  ensure(
    registrar === undefined || !officials.some((key) => equal(key, registrar)),
    "the registrar has the organiser's or the board's key",
  );
  if (registrar) officials.push(registrar);
  const { blum } = numbers;
  ensure(
    blum !== undefined,
    "the key carries no proof that it has two prime factors: the election was set up by an earlier version",
  );
  const width = numbers.modulus.length;
  ensure(
    width <= MOST_BYTES,
    () => `a modulus of ${width} bytes is too long: at most ${MOST_BYTES} are allowed`,
  );
  for (const one of [numbers.generator, ...numbers.roots, ...blum]) {
    ensure(one.length === width, "a number of the key is not as long as its modulus");
  }
  const key = new Key(toBigint(numbers.modulus), toBigint(numbers.generator));
  ensure(key.bytes === width, "the key's modulus begins with a zero byte");
  const trustees = given && {
    base: key.readWide(given.base),
    keys: given.keys.map((one) => key.readWide(one)),
    needed: given.needed,
    signing: signingKeys(given.signing, given.keys.length, officials),
    ...(given.generated && { generated: given.generated }),
  };
  if (trustees) {
    ensure(trustees.needed <= trustees.keys.length, "the threshold exceeds the number of trustees");
    ensure(
      key.areUnits([trustees.base, ...trustees.keys]),
      "the base or a key of the trustees is not a unit modulo n^2",
    );
    if (trustees.generated) checkStatements(body, trustees);
  }
  for (const contest of rest.contests) {
    // Proofs about a number hold modulo the larger prime factor of n, which exceeds the square root
    // of n.
    ensure(
      totalBits(contest) < Math.floor(bitLength(key.n) / 2),
      "the key is too short: the tally's numbers must have fewer than half of its bits",
    );
  }
  const proofs = { roots: numbers.roots.map(toBigint), blum: blum.map(toBigint) };
  return { ...rest, key, proofs, trustees };
}

/** Checks each trustee's statement that it took part in the generation of the key. */
function checkStatements(body: Json, { generated, keys, needed, signing }: Trustees): void {
  ensure(
    canGenerate(needed, keys.length),
    "key generation needs 3 to 9 trustees, and a threshold of 2 to half of them (rounded up)",
  );
  const statements = generated?.statements ?? [];
  ensure(statements.length === signing.length, "each trustee must have one statement about the key");
  const { key, trustees } = body as { [member: string]: { [member: string]: Json } };
  const common = { base: trustees?.base ?? null, key: key ?? null, keys: trustees?.keys ?? null, needed };
  for (const [at, signature] of statements.entries()) {
    const statement = { ...common, transcript: generated?.transcript ?? null, trustee: at + 1 };
    const signer = signing[at];
    ensure(
      signer !== undefined && verify(signer, "generation", statement, signature),
      () => `trustee ${at + 1} did not sign its statement about the key`,
    );
  }
}

/**
 * Checks that the trustees' signing keys are all different. A dealer could compute the rest of a
 * share.
 */
function signingKeys(
  keys: readonly Uint8Array[] | undefined,
  count: number,
  others: readonly Uint8Array[],
): readonly Uint8Array[] {
  ensure(
    keys !== undefined,
    "the trustees have no signing keys: the election was set up by an earlier version",
  );
  ensure(keys.length === count, "the number of signing keys differs from the number of trustees");
  const all = [...others, ...keys];
  const own = all.every((one, at) => all.findIndex((other) => equal(one, other)) === at);
  ensure(own, "two of the trustees, registrar, organiser and board have the same key");
  return keys;
}

export interface Voter {
  readonly id: string;
  readonly key: Uint8Array;
  readonly weight: number;
}

export const VOTERS = read.object({
  election: read.hash,
  voters: read.list(
    read.object({ id: read.name(128), key: edKey, weight: read.integer(1, 2 ** 32) }),
    1,
    1000,
  ),
});
export const REPLACE = read.object({
  election: read.hash,
  voters: read.list(read.object({ id: read.text, key: edKey }), 1, 1000),
});
export const PHASE = read.object({ election: read.hash });
export const TALLY = read.object({
  contests: read.list(read.list(read.bytes())),
  counted: read.count,
  election: read.hash,
  weight: read.count,
});
export const OPENING = read.object({
  contests: read.list(read.list(read.object({ opening: read.bytes(), plaintext: read.bytes() }))),
  election: read.hash,
});
export const SHARE = read.object({ election: read.hash, shares: read.bytes(), trustee: read.integer(1, 20) });
export const RESULT = read.object({ contests: read.list(read.list(read.count)), election: read.hash });

export interface Head {
  readonly root: string;
  readonly size: number;
  readonly time: string;
  readonly signature: Uint8Array;
}

const HEAD = read.object({ root: read.hash, signature: read.bytes(), size: read.count, time: read.text });

/**
 * Whether a text is a time like `2026-11-22T20:15:00Z`, of an existing day in the years 0001 to
 * 9999.
 */
export function isTime(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) || text.startsWith("0000")) return false;
  const time = new Date(text);
  // `Date` accepts 31 February as a day in March.
  return !Number.isNaN(time.getTime()) && time.toISOString() === text.replace("Z", ".000Z");
}

export function readHead(line: string): Head {
  const head = HEAD(parse(line), "head");
  ensure(isTime(head.time), "the time of a head is not like 2026-11-22T20:15:00Z");
  return head;
}
