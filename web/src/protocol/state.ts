/**
 * The rules of a board: the order of entries, their authors, and their effects on the election.
 * Other modules check proofs.
 */

import { equal } from "hearith/bytes.ts";
import { ensure, Fault } from "hearith/errors.ts";
import { type Ballot, type Ciphertexts, type Form, readBallot, readChallenge } from "./ballot.ts";
import { canonical, type Json } from "./canonical.ts";
import { DIGIT_BITS, marks, mostWeight, results } from "./contest.ts";
import {
  type Election,
  type Entry,
  OPENING,
  PHASE,
  REPLACE,
  RESULT,
  readElection,
  SHARE,
  TALLY,
  VOTERS,
  type Voter,
} from "./entry.ts";
import { hexHash } from "./hash.ts";
import * as read from "./readers.ts";
import { shareBytes } from "./share.ts";
import { tracker } from "./tracker.ts";

export type Phase = "empty" | "preparing" | "open" | "closed" | "tallied" | "finished";

/**
 * The sum of all weights must be less, so that it fits the bits of a candidate in a plurality's
 * total.
 */
const ALL_WEIGHTS = 2 ** Number(DIGIT_BITS);

export interface VoterState extends Voter {
  /** The ballot that counts, if there is one. */
  counted?: { index: number; ciphertexts: Ciphertexts };
}

/** The entry with a tracker. */
export interface TrackedBallot {
  readonly index: number;
  readonly kind: "ballot" | "challenge";
  readonly voter: string;
  /** For a challenge: the index of each mark's value in its allowed set. */
  readonly values?: number[][];
}

/**
 * A public change of the list of voters: a replaced credential, or a voter added during the vote.
 */
export interface Change {
  readonly index: number;
  readonly late: boolean;
  readonly replaced: boolean;
  readonly voter: string;
}

/** Returns the voter that an entry names. */
const VOTER_OF = (body: Json): string => {
  const member = (body as { voter?: Json })?.voter;
  return read.text(member ?? null, "voter");
};

/** The ballot in a body of this kind. */
export function ballotOf(entry: Pick<Entry, "kind" | "body">): Json {
  if (entry.kind !== "challenge") return entry.body;
  return (entry.body as { ballot?: Json })?.ballot ?? null;
}

export class State {
  id = "";
  phase: Phase = "empty";
  #election: Election | undefined;
  readonly voters = new Map<string, VoterState>();
  readonly trackers = new Map<string, TrackedBallot>();
  readonly counts = new Map<string, number>();
  readonly changes: Change[] = [];
  /** The entries that opened and closed the vote, and the last ballot or challenge. */
  opened: number | undefined;
  closed: number | undefined;
  lastBallot: number | undefined;
  /** Hashes of all ciphertexts on the board, none of which may occur twice. */
  readonly #used = new Set<string>();
  readonly #trustees = new Set<number>();
  #opened = false;
  #weights = 0;

  get election(): Election {
    if (!this.#election) throw new Fault("the first entry is not an election");
    return this.#election;
  }

  get form(): Form {
    return { id: this.id, key: this.election.key, contests: this.election.contests };
  }

  /** The key that must have signed an entry. */
  author(entry: Pick<Entry, "kind" | "body">): Uint8Array {
    if (entry.kind === "share") {
      const { trustee } = SHARE(entry.body, "share");
      const key = this.election.trustees?.signing[trustee - 1];
      ensure(key !== undefined, () => `there is no trustee ${trustee}`);
      return key;
    }
    const { organiser, registrar = organiser, board, opens, closes } = this.election;
    if (entry.kind === "voters" || entry.kind === "replace") return registrar;
    if (entry.kind === "open" && opens !== undefined) return board;
    if (entry.kind === "close" && closes !== undefined) return board;
    if (entry.kind !== "ballot" && entry.kind !== "challenge") return organiser;
    const voter = VOTER_OF(ballotOf(entry));
    const found = this.voters.get(voter);
    ensure(found !== undefined, () => `${voter} is not a voter of this election`);
    return found.key;
  }

  /** The number of ballots that count, and the sum of their weights. */
  get turnout(): { counted: number; weight: number } {
    const voted = [...this.voters.values()].filter((voter) => voter.counted);
    return { counted: voted.length, weight: voted.reduce((sum, voter) => sum + voter.weight, 0) };
  }

  /** Admits an entry. Returns its ballot, if it has one, whose claims are not checked yet. */
  admit(entry: Entry): Ballot | undefined {
    const ballot = this.#admit(entry);
    if (entry.kind === "open") this.opened = entry.index;
    if (entry.kind === "close") this.closed = entry.index;
    if (ballot) this.lastBallot = entry.index;
    this.counts.set(entry.kind, (this.counts.get(entry.kind) ?? 0) + 1);
    return ballot;
  }

  #admit(entry: Entry): Ballot | undefined {
    const { kind, body } = entry;
    switch (kind) {
      case "election":
        this.#in("empty", kind);
        this.#election = readElection(body);
        this.id = hexHash(canonical(body));
        this.phase = "preparing";
        return undefined;
      case "voters":
        this.#lists(kind);
        this.#register(body, entry.index);
        return undefined;
      case "replace":
        this.#lists(kind);
        this.#replace(body, entry.index);
        return undefined;
      case "open":
        this.#moves("preparing", "open", kind, body);
        ensure(this.voters.size > 0, "there are no voters");
        return undefined;
      case "close":
        this.#moves("open", "closed", kind, body);
        return undefined;
      case "ballot":
        this.#in("open", kind);
        return this.#cast(entry);
      case "challenge":
        this.#in("open", kind);
        return this.#challenge(entry);
      case "tally":
        this.#in("closed", kind);
        this.#tallied(body);
        this.phase = "tallied";
        return undefined;
      case "share":
        this.#in("tallied", kind);
        this.#shared(body);
        return undefined;
      case "opening":
        this.#in("tallied", kind);
        ensure(!this.election.trustees && !this.#opened, "the election has trustees or an earlier opening");
        this.#openings(body);
        this.#opened = true;
        return undefined;
      case "result":
        this.#in("tallied", kind);
        this.#decrypted(body);
        this.phase = "finished";
        return undefined;
    }
  }

  #in(phase: Phase, kind: string): void {
    ensure(this.phase === phase, () => `an entry of kind "${kind}" is not allowed in phase "${this.phase}"`);
  }

  /**
   * Throws if the list of voters is closed: since the beginning of the vote or, with `late`, since
   * its end.
   */
  #lists(kind: string): void {
    if (!(this.phase === "open" && this.election.late)) this.#in("preparing", kind);
  }

  #moves(from: Phase, to: Phase, kind: string, body: Json): void {
    this.#in(from, kind);
    this.#belongs(PHASE(body, kind).election);
    this.phase = to;
  }

  #belongs(election: string): void {
    ensure(election === this.id, "the entry belongs to another election");
  }

  #replace(body: Json, index: number): void {
    const { election, voters } = REPLACE(body, "replace");
    this.#belongs(election);
    const known = new Map<string, VoterState>();
    for (const { id, key } of voters) {
      const voter = this.voters.get(id);
      ensure(voter !== undefined, () => `there is no voter ${id}`);
      ensure(!known.has(id), () => `the entry lists the voter ${id} twice`);
      // The holder of the new key could replace the ballot.
      ensure(!voter.counted, () => `the voter ${id} has voted and must keep the credential`);
      ensure(!equal(voter.key, key), () => `the new key of ${id} is the same as the old one`);
      known.set(id, { ...voter, key });
    }
    for (const [id, voter] of known) {
      this.voters.set(id, voter);
      this.changes.push({ index, late: this.phase === "open", replaced: true, voter: id });
    }
  }

  #register(body: Json, index: number): void {
    const { election, voters } = VOTERS(body, "voters");
    this.#belongs(election);
    for (const voter of voters) {
      ensure(!this.voters.has(voter.id), () => `a voter with the ID ${voter.id} already exists`);
      this.#weights += voter.weight;
      ensure(this.#weights < ALL_WEIGHTS, "the sum of all weights reaches 2^48");
      const most = Math.min(...this.election.contests.map(mostWeight));
      ensure(this.#weights <= most, "the sum of all weights, times the points of a first rank, reaches 2^53");
      this.voters.set(voter.id, voter);
    }
    for (const { id } of this.phase === "open" ? voters : [])
      this.changes.push({ index, late: true, replaced: false, voter: id });
  }

  /** Throws unless there is one value of the right length for every mark of every contest. */
  #everyMark<T>(contests: readonly (readonly T[])[], right: (one: T) => boolean): void {
    const all = this.election.contests;
    const fits =
      contests.length === all.length && all.every((one, at) => contests[at]?.length === marks(one));
    ensure(
      fits && contests.flat().every(right),
      "the entry does not have one value of the right length for each mark of each contest",
    );
  }

  #tallied(body: Json): void {
    const { contests, counted, election, weight } = TALLY(body, "tally");
    this.#belongs(election);
    const board = this.turnout;
    ensure(
      counted === board.counted,
      () => `the tally counts ${counted} ballots, but the board has ${board.counted}`,
    );
    ensure(
      weight === board.weight,
      () => `the tally has weight ${weight}, but the board has ${board.weight}`,
    );
    this.#everyMark(contests, (one) => one.length === 2 * this.election.key.bytes);
  }

  #openings(body: Json): void {
    const { contests, election } = OPENING(body, "opening");
    this.#belongs(election);
    const width = this.election.key.bytes;
    this.#everyMark(contests, (one) => one.opening.length === width && one.plaintext.length === width);
  }

  #shared(body: Json): void {
    const { election, shares, trustee } = SHARE(body, "share");
    this.#belongs(election);
    const { key, trustees, contests } = this.election;
    const rows = contests.reduce((sum, contest) => sum + marks(contest), 0);
    ensure(trustees !== null && trustee <= trustees.keys.length, () => `there is no trustee ${trustee}`);
    ensure(!this.#trustees.has(trustee), () => `trustee ${trustee} has already given a share`);
    ensure(
      shares.length === rows * shareBytes(key, trustees),
      "the shares have the wrong length for the marks of the tally",
    );
    this.#trustees.add(trustee);
  }

  #decrypted(body: Json): void {
    const { contests, election } = RESULT(body, "result");
    this.#belongs(election);
    const all = this.election.contests;
    const fits =
      contests.length === all.length && all.every((one, at) => contests[at]?.length === results(one));
    ensure(fits, "the result has the wrong number of contests or votes");
    const needed = this.election.trustees?.needed ?? 0;
    ensure(this.#trustees.size >= needed, () => `${this.#trustees.size} of ${needed} required shares`);
    ensure(this.election.trustees !== null || this.#opened, "the tally is not decrypted yet");
  }

  #use(ballot: Ballot): void {
    const { key } = this.election;
    const hashes = ballot.ciphertexts.flat().map((one) => hexHash(key.wide(one)));
    const free = hashes.every((one, at) => !this.#used.has(one) && hashes.indexOf(one) === at);
    ensure(free, "a ciphertext occurs twice on the board");
    for (const one of hashes) this.#used.add(one);
  }

  #cast(entry: Entry): Ballot {
    const ballot = readBallot(this.form, entry.body);
    const voter = this.voters.get(ballot.voter);
    ensure(voter !== undefined, () => `${ballot.voter} is not a voter of this election`);
    ensure(this.election.revoting || !voter.counted, () => `the voter ${voter.id} has already voted`);
    this.#use(ballot);
    voter.counted = { index: entry.index, ciphertexts: ballot.ciphertexts };
    this.trackers.set(tracker(entry.body), { index: entry.index, kind: "ballot", voter: voter.id });
    return ballot;
  }

  #challenge(entry: Entry): Ballot {
    const { ballot, values } = readChallenge(this.form, entry.body);
    ensure(this.voters.has(ballot.voter), () => `${ballot.voter} is not a voter of this election`);
    this.#use(ballot);
    const trackedBallot = { index: entry.index, kind: "challenge", voter: ballot.voter, values } as const;
    this.trackers.set(tracker(ballotOf(entry)), trackedBallot);
    return ballot;
  }
}
