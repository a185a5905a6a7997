/**
 * The verifier: everything that a record claims is checked again, from its lines alone. Each check has its verdict;
 * the first thing wrong in each is named.
 */

import type { Ballot } from "./ballot.ts";
import * as base64 from "./base64.ts";
import { hex } from "./bytes.ts";
import { hasSmallFactor, rootsHold } from "./djn.ts";
import { type Entry, type Head, readEntry, readHead } from "./entry.ts";
import { ensure, Fault } from "./errors.ts";
import { hexHash } from "./hash.ts";
import { type Claims, firstWrong } from "./proofs.ts";
import { checkDealing } from "./share.ts";
import { verify as signatureHolds } from "./signature.ts";
import { State } from "./state.ts";
import { checkResult, checkShares, checkTally, combined, opened, outcome, type Totals } from "./tally.ts";
import { leafHash, Tree } from "./tree.ts";

export const CHECKS = [
  "chain",
  "signatures",
  "rules",
  "key",
  "ballots",
  "tally",
  "shares",
  "result",
  "heads",
  "memory",
] as const;
export type Check = (typeof CHECKS)[number];

export interface Verdict {
  readonly check: Check;
  /** How many things of the kind were checked. */
  count: number;
  /** The first thing that is wrong. */
  fault?: string;
}

/** What a browser remembers of a board: its election's id, heads that it saw, and ballots that it got receipts for. */
export interface Memory {
  readonly id?: string;
  readonly heads: readonly { root: string; size: number }[];
  readonly leaves: readonly { hash: string; index: number }[];
}

export interface Report {
  readonly verdicts: readonly Verdict[];
  readonly good: boolean;
  readonly result?: number[][];
}

/** Ballots whose proofs are checked by one equation. */
const BATCH = 64;

export class Verifier {
  readonly state = new State();
  /** The board up to its total: the same for all trustees, whoever has shared by then. */
  tallied: { readonly root: string; readonly size: number } | undefined;
  readonly #verdicts = new Map<Check, Verdict>(CHECKS.map((check) => [check, { check, count: 0 }]));
  readonly #tree = new Tree();
  readonly #heads = new Map<number, string[]>();
  readonly #leaves = new Map<number, string>();
  readonly #remembered = new Map<number, string>();
  readonly #id: string | undefined;
  #last = "0".repeat(64);
  #broken = false;
  #pending: { index: number; claims: Claims }[] = [];
  #totals: Totals | undefined;
  #opened: Totals | undefined;
  #shares = new Map<number, readonly bigint[]>();
  #result: number[][] | undefined;

  constructor(heads: readonly string[], memory: Memory = { heads: [], leaves: [] }) {
    this.#id = memory.id;
    for (const { hash, index } of memory.leaves) this.#leaves.set(index, hash);
    for (const { root, size } of memory.heads) this.#remembered.set(size, root);
    for (const line of heads) {
      this.#in("heads", () => {
        const head = readHead(line);
        this.#heads.set(head.size, [...(this.#heads.get(head.size) ?? []), line]);
      });
    }
  }

  /** Entries so far. */
  get size(): number {
    return this.#tree.size;
  }

  /** The tree's root so far. */
  get root(): string {
    return this.#tree.root();
  }

  /** Right shares of the totals, by trustee. */
  get shares(): ReadonlyMap<number, readonly bigint[]> {
    return this.#shares;
  }

  /** Takes the board's next line. */
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
    const ballot = this.#in("rules", () => this.state.admit(entry), index);
    // Whoever follows the rules no further cannot say whose signature this should be.
    if (index === 0 && this.#verdicts.get("rules")?.fault !== undefined) {
      this.#broken = true;
      return;
    }
    this.#in("signatures", () => this.#signed(entry), index);
    if (ballot) this.#later(index, ballot);
    this.#special(entry, index);
    this.#compare(hex(leaf), index);
  }

  /** All verdicts, after the last line; asked again, the same. */
  finish(): Report {
    this.#flush();
    const size = this.#tree.size;
    const beyond = [...this.#heads.keys()].find((one) => one > size);
    this.#in("heads", () => {
      ensure(beyond === undefined, () => `a head has ${beyond} entries, the board ${size}`);
      ensure(this.#heads.size > 0, "there is no head");
    });
    const gone = [...this.#remembered.keys(), ...[...this.#leaves.keys()].map((one) => one + 1)].find(
      (one) => one > size,
    );
    this.#in("memory", () => ensure(gone === undefined, "entries that this browser has seen are gone"));
    if (size === 0) this.#in("chain", () => ensure(false, "the board is empty"));
    const verdicts = [...this.#verdicts.values()];
    const good = verdicts.every((verdict) => verdict.fault === undefined);
    return { verdicts, good, ...(this.#result && good ? { result: this.#result } : {}) };
  }

  /** Runs a check; what is wrong is kept, the first time. */
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
    ensure(entry.index === index, () => `its number is ${entry.index}`);
    ensure(entry.previous === this.#last, "it does not follow the entry before it");
    return entry;
  }

  #signed(entry: Entry): void {
    const author = this.state.author(entry);
    if (!author) {
      ensure(entry.signature.length === 0, "a share with a signature");
      return;
    }
    const { body, kind, signature } = entry;
    ensure(signatureHolds(author, "entry", { body, kind }, signature), "its signature does not hold");
  }

  #later(index: number, ballot: Ballot): void {
    const claims = this.#in("ballots", () => ballot.claims(), index);
    if (claims) this.#pending.push({ index, claims });
    if (this.#pending.length >= BATCH) this.#flush();
  }

  #flush(): void {
    const [pending, verdict] = [this.#pending, this.#verdicts.get("ballots")];
    this.#pending = [];
    if (pending.length === 0 || !verdict) return;
    const wrong = firstWrong(
      this.state.election.key,
      pending.map((one) => one.claims),
    );
    if (wrong !== undefined)
      verdict.fault ??= `entry ${pending[wrong]?.index}: a proof of the ballot does not hold`;
  }

  /** What the entries of the beginning and the end say besides. */
  #special(entry: Entry, index: number): void {
    const { state } = this;
    if (entry.kind === "election") {
      this.#in("chain", () =>
        ensure((this.#id ?? state.id) === state.id, "the record is that of another election"),
      );
      const { key, roots, trustees } = state.election;
      const sound = () => {
        ensure(!hasSmallFactor(key), "the modulus has a small factor");
        ensure(rootsHold(key, roots), "the roots of the key do not hold");
        if (trustees) checkDealing(key, trustees);
      };
      this.#in("key", sound, index);
    }
    if (entry.kind === "tally") {
      this.#totals = this.#in("tally", () => checkTally(state, entry.body), index);
      this.tallied = { root: this.root, size: this.size };
    }
    if (entry.kind === "share") this.#in("shares", () => this.#share(entry), index);
    if (entry.kind === "opening") {
      this.#opened = this.#in("shares", () => opened(state, this.#right(), entry.body), index);
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

  /** The totals, if the board's are right. */
  #right(): Totals {
    ensure(this.#totals !== undefined, "there are no right totals");
    return this.#totals;
  }

  /** Compares the tree, as far as it has grown, with the heads of this size and with what is remembered. */
  #compare(leaf: string, index: number): void {
    const size = index + 1;
    const [lines, remembered, receipt] = [
      this.#heads.get(size),
      this.#remembered.get(size),
      this.#leaves.get(index),
    ];
    for (const line of lines ?? []) this.#in("heads", () => this.#head(readHead(line)), index);
    if (remembered !== undefined) {
      this.#in(
        "memory",
        () => ensure(this.#tree.root() === remembered, "the board is not the one seen before"),
        index,
      );
    }
    if (receipt !== undefined) {
      this.#in("memory", () => ensure(leaf === receipt, "the ballot of a receipt is not here"), index);
    }
  }

  #head({ root, signature, size, time }: Head): void {
    ensure(root === this.#tree.root(), () => `the head of ${size} entries is not this board's`);
    const holds = signatureHolds(this.state.election.board, "head", { root, size, time }, signature);
    ensure(holds, () => `the signature of the head of ${size} entries does not hold`);
  }
}

/** Whether a receipt is the board's promise to keep this entry. */
export function receiptHolds(
  board: Uint8Array,
  receipt: { election: string; hash: string; index: number },
  signature: string,
): boolean {
  return signatureHolds(board, "receipt", receipt, base64.decode(signature));
}

/** Verifies a whole record that is at hand. */
export function verifyRecord(lines: Iterable<string>, heads: readonly string[], memory?: Memory): Verifier {
  const verifier = new Verifier(heads, memory);
  for (const line of lines) verifier.add(line);
  return verifier;
}
