/**
 * The verifier: checks all claims of a record from its lines alone. Each check has a verdict, which
 * names the first fault.
 */

import { hex } from "hearith/bytes.ts";
import { ensure, Fault } from "hearith/errors.ts";
import type { Ballot } from "./ballot.ts";
import { type Entry, type Head, readEntry, readHead } from "./entry.ts";
import { hexHash } from "./hash.ts";
import { checkKey } from "./keycheck.ts";
import { type Claims, firstInvalid } from "./proofs.ts";
import { checkDealing } from "./share.ts";
import { verify as signatureHolds } from "./signature.ts";
import { State } from "./state.ts";
import { checkResult, checkShares, checkTally, combined, opened, outcome, type Totals } from "./tally.ts";
import { leafHash, Tree } from "./tree.ts";

/** The checks of docs/explanation/election.md, in its order, and the browser's own check. */
export const CHECKS = [
  "chain",
  "heads",
  "election",
  "rules",
  "signatures",
  "ballots",
  "challenges",
  "tally",
  "decryption",
  "result",
  "memory",
] as const;
export type Check = (typeof CHECKS)[number];

export interface Verdict {
  readonly check: Check;
  /** The number of checked items. */
  count: number;
  /** The first fault. */
  fault?: string;
}

/**
 * A browser's memory of a board: the election's id, heads that it saw, and entries with receipts.
 */
export interface Memory {
  readonly id?: string;
  readonly heads: readonly { root: string; size: number }[];
  readonly leaves: readonly { hash: string; index: number }[];
  /** Trackers of ballots that were sent, cast or challenged. */
  readonly trackers?: readonly string[];
}

/**
 * The entry of a ballot that this browser sent, and whether it counts, computed from the record
 * alone.
 */
export interface Own {
  readonly tracker: string;
  readonly index: number;
  readonly fate: "counts" | "replaced" | "challenged";
}

export interface Report {
  readonly verdicts: readonly Verdict[];
  readonly good: boolean;
  readonly result?: number[][];
}

export interface Options {
  readonly memory?: Memory;
  /** Accepts insecure short keys, for tests. */
  readonly insecure?: boolean;
}

/** The number of ballots whose proofs one equation checks. */
const BATCH = 64;

const PROVEN = ["ballots", "challenges"] as const;
type Proven = (typeof PROVEN)[number];

export class Verifier {
  readonly state = new State();
  /** The board up to its tally, which is the same for all trustees, independent of later shares. */
  tallied: { readonly root: string; readonly size: number } | undefined;
  readonly #verdicts = new Map<Check, Verdict>(CHECKS.map((check) => [check, { check, count: 0 }]));
  readonly #tree = new Tree();
  readonly #heads: Head[] = [];
  readonly #leaves = new Map<number, string>();
  readonly #remembered = new Map<number, string>();
  readonly #trackers: readonly string[];
  readonly #id: string | undefined;
  readonly #insecure: boolean;
  #last = "0".repeat(64);
  /** Whether the first entry is a valid election. */
  #begun = false;
  #broken = false;
  readonly #pending: { [Name in Proven]: { index: number; claims: Claims }[] } = {
    ballots: [],
    challenges: [],
  };
  #totals: Totals | undefined;
  #opened: Totals | undefined;
  #shares = new Map<number, readonly bigint[]>();
  #result: number[][] | undefined;

  constructor(
    heads: readonly string[],
    { memory = { heads: [], leaves: [] }, insecure = false }: Options = {},
  ) {
    this.#id = memory.id;
    this.#trackers = memory.trackers ?? [];
    this.#insecure = insecure;
    for (const { hash, index } of memory.leaves) this.#leaves.set(index, hash);
    for (const { root, size } of memory.heads) this.#remembered.set(size, root);
    this.#in("heads", () => {
      for (const line of heads) this.#follows(readHead(line));
    });
  }

  /** The number of entries so far. */
  get size(): number {
    return this.#tree.size;
  }

  /** The root of the tree so far. */
  get root(): string {
    return this.#tree.root();
  }

  /** Valid shares of the totals, by trustee. */
  get shares(): ReadonlyMap<number, readonly bigint[]> {
    return this.#shares;
  }

  /** The ballots on the board that this browser sent. */
  get own(): Own[] {
    return this.#trackers.flatMap((tracker) => {
      const trackedBallot = this.state.trackers.get(tracker);
      if (!trackedBallot) return [];
      const counted = this.state.voters.get(trackedBallot.voter)?.counted?.index === trackedBallot.index;
      const fate = trackedBallot.kind === "challenge" ? "challenged" : counted ? "counts" : "replaced";
      return [{ tracker, index: trackedBallot.index, fate }];
    });
  }

  /** Adds the board's next line. */
  add(line: string): void {
    if (this.#broken) return;
    const index = this.#tree.size;
    const entry = this.#in("chain", () => this.#linked(line, index), index);
    if (!entry) {
      this.#broken = true;
      return;
    }
    const leaf = leafHash(line);
    this.#tree.add(leaf);
    this.#last = hexHash(line);
    this.#compare(hex(leaf), index);
    // The rules need an election.
    if (index === 0) this.#broken = !this.#begin(entry);
    else this.#take(entry, index);
  }

  /** Ends the board with a problem in reading its next line or the heads. */
  fail(check: "chain" | "heads", problem: string): void {
    this.#in(check, () => ensure(false, problem));
    if (check === "chain") this.#broken = true;
  }

  /** Returns all verdicts after the last line. Further calls return the same. */
  finish(): Report {
    for (const check of PROVEN) this.#flush(check);
    const size = this.#tree.size;
    if (size === 0 && !this.#broken) this.#in("chain", () => ensure(false, "the board is empty"));
    this.#in("heads", () => this.#checkHeads(size));
    this.#checkDates();
    const gone = [...this.#remembered.keys(), ...[...this.#leaves.keys()].map((one) => one + 1)].find(
      (one) => one > size,
    );
    this.#in("memory", () => ensure(gone === undefined, "entries that this browser has seen are gone"));
    const missing = this.#trackers.find((tracker) => !this.state.trackers.has(tracker));
    this.#in("memory", () =>
      ensure(missing === undefined, () => `the board lacks a ballot that this browser sent: ${missing}`),
    );
    const verdicts = [...this.#verdicts.values()];
    const good = verdicts.every((verdict) => verdict.fault === undefined);
    return { verdicts, good, ...(this.#result && good ? { result: this.#result } : {}) };
  }

  /** Runs a check and records its first fault. */
  #in<T>(check: Check, run: () => T, index?: number): T | undefined {
    const verdict = this.#verdicts.get(check);
    try {
      const value = run();
      if (verdict && index !== undefined) verdict.count += 1;
      return value;
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const where = index === undefined ? "" : `entry ${index}: `;
      if (verdict) verdict.fault ??= where + error.message;
      return undefined;
    }
  }

  #linked(line: string, index: number): Entry {
    const entry = readEntry(line);
    ensure(entry.index === index, () => `the line states the index ${entry.index}`);
    ensure(entry.previous === this.#last, "'previous' is not the hash of the line before");
    return entry;
  }

  /**
   * Checks the first entry with its key and its sharing. Returns whether later entries can be
   * checked.
   */
  #begin(entry: Entry): boolean {
    const { state } = this;
    const sound = () => {
      ensure(entry.kind === "election", "the first entry is not an election");
      state.admit(entry);
      const { key, proofs, trustees } = state.election;
      checkKey(key, proofs, this.#insecure);
      if (trustees) checkDealing(key, trustees);
      return true;
    };
    if (!this.#in("election", sound, 0)) return false;
    this.#in("memory", () =>
      ensure((this.#id ?? state.id) === state.id, "the record belongs to another election"),
    );
    this.#begun = this.#in("signatures", () => this.#signed(entry), 0) ?? false;
    return this.#begun;
  }

  #take(entry: Entry, index: number): void {
    const admitted = this.#in("rules", () => ({ ballot: this.state.admit(entry) }), index);
    // An entry that violates the rules is not checked further.
    if (!admitted) return;
    this.#in("signatures", () => this.#signed(entry), index);
    if (admitted.ballot)
      this.#later(entry.kind === "challenge" ? "challenges" : "ballots", index, admitted.ballot);
    this.#special(entry, index);
  }

  #signed({ body, kind, signature }: Entry): true {
    const author = this.state.author({ body, kind });
    const holds = signatureHolds(author, "entry", { body, kind }, signature);
    ensure(holds, "the signature does not hold");
    return true;
  }

  #later(check: Proven, index: number, ballot: Ballot): void {
    const pending = this.#pending[check];
    const claims = this.#in(check, () => ballot.claims(), index);
    if (claims) pending.push({ index, claims });
    if (pending.length >= BATCH) this.#flush(check);
  }

  #flush(check: Proven): void {
    const pending = this.#pending[check].splice(0);
    const verdict = this.#verdicts.get(check);
    if (pending.length === 0 || !verdict) return;
    const wrong = firstInvalid(
      this.state.election.key,
      pending.map((one) => one.claims),
    );
    if (wrong !== undefined)
      verdict.fault ??= `entry ${pending[wrong]?.index}: a proof of the ballot does not hold`;
  }

  /** Checks tallies, shares, openings and results. */
  #special(entry: Entry, index: number): void {
    const { state } = this;
    if (entry.kind === "tally") {
      this.#totals = this.#in("tally", () => checkTally(state, entry.body), index);
      this.tallied = { root: this.root, size: this.size };
    }
    if (entry.kind === "share") this.#in("decryption", () => this.#share(entry), index);
    if (entry.kind === "opening") {
      this.#opened = this.#in("decryption", () => opened(state, this.#right(), entry.body), index);
    }
    if (entry.kind === "result") {
      this.#result = this.#in("result", () => checkResult(state, entry.body, this.#decrypted()), index);
    }
  }

  #share(entry: Entry): void {
    const { trustee, shares } = checkShares(this.state, this.#right(), entry.body);
    this.#shares.set(trustee, shares);
  }

  #decrypted(): number[][] {
    return outcome(this.state, this.#opened ?? combined(this.state, this.#right(), this.#shares));
  }

  /** Returns the totals if the board's tally is correct. */
  #right(): Totals {
    ensure(this.#totals !== undefined, "there is no correct tally");
    return this.#totals;
  }

  /** Stores a head and checks it against the one before it. */
  #follows(head: Head): void {
    const before = this.#heads.at(-1);
    this.#heads.push(head);
    ensure(head.size > 0, "a head covers no entries");
    const back = before !== undefined && (head.size < before.size || head.time < before.time);
    ensure(!back, () => `the head of ${head.size} entries is smaller or older than the head before it`);
  }

  /** Compares the tree with the heads of its current size and with the browser's memory. */
  #compare(leaf: string, index: number): void {
    const size = index + 1;
    for (const head of this.#heads.filter((one) => one.size === size)) {
      this.#in(
        "heads",
        () =>
          ensure(
            head.root === this.#tree.root(),
            () => `the head of ${size} entries does not have the root of the board`,
          ),
        index,
      );
    }
    const [remembered, receipt] = [this.#remembered.get(size), this.#leaves.get(index)];
    if (remembered !== undefined) {
      this.#in(
        "memory",
        () => ensure(this.#tree.root() === remembered, "the board differs from the one seen before"),
        index,
      );
    }
    if (receipt !== undefined) {
      this.#in(
        "memory",
        () => ensure(leaf === receipt, "the entry is not the one that a receipt confirms"),
        index,
      );
    }
  }

  /** Checks by the times of heads that voting begins and ends on the manifest's dates. */
  #checkDates(): void {
    const { opened, closed, lastBallot } = this.state;
    if (this.state.phase === "empty") return;
    const { opens, closes } = this.state.election;
    const early = (at: number | undefined, date: string | undefined) =>
      at !== undefined &&
      date !== undefined &&
      this.#heads.some(({ size, time }) => size > at && time < date);
    const late =
      lastBallot !== undefined &&
      closes !== undefined &&
      this.#heads.some(({ size, time }) => size <= lastBallot && time >= closes);
    this.#in("rules", () => {
      ensure(!early(opened, opens), () => `entry ${opened}: voting begins before its date`);
      ensure(!early(closed, closes), () => `entry ${closed}: voting ends before its date`);
      ensure(!late, () => `entry ${lastBallot}: a ballot was added after the date at which voting ends`);
    });
  }

  /** Checks the signatures of the heads, and that the last one covers all entries. */
  #checkHeads(size: number): void {
    const beyond = this.#heads.find((head) => head.size > size);
    const newest = this.#heads.at(-1)?.size ?? 0;
    if (!this.#broken) {
      ensure(size === 0 || newest > 0, "there is no head");
      ensure(beyond === undefined, () => `a head covers ${beyond?.size} entries, but the board has ${size}`);
      ensure(
        newest >= size,
        () => `${size - newest} entries follow the last head: the board has not signed them`,
      );
    }
    if (!this.#begun) return;
    for (const { root, signature, size, time } of this.#heads) {
      const holds = signatureHolds(this.state.election.board, "head", { root, size, time }, signature);
      ensure(holds, () => `the signature of the head of ${size} entries does not hold`);
    }
  }
}

/** Verifies a complete record. */
export function verifyRecord(
  lines: Iterable<string>,
  heads: readonly string[],
  options: Options = {},
): Verifier {
  const verifier = new Verifier(heads, options);
  for (const line of lines) verifier.add(line);
  return verifier;
}
