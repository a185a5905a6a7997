/**
 * What runs beside the page: encryption, verification, decryption of shares. Openings of ballots stay here and are
 * dropped when the ballot is cast or shown.
 */

import * as base64 from "hearith/base64.ts";
import { equal } from "hearith/bytes.ts";
import { ensure, Fault } from "hearith/errors.ts";
import { challengeBody, encrypt, type Form, type Openings, readChallenge } from "../protocol/ballot.ts";
import type { Json } from "../protocol/canonical.ts";
import type { Contest } from "../protocol/contest.ts";
import { readElection } from "../protocol/entry.ts";
import { checkKey } from "../protocol/keycheck.ts";
import { isSecretOf } from "../protocol/share.ts";
import { publicKey, sign } from "../protocol/signature.ts";
import type { Change } from "../protocol/state.ts";
import { combined, outcome, shareBody, tallyBody, totals } from "../protocol/tally.ts";
import { tracker } from "../protocol/tracker.ts";
import type { Options, Own, Report, Verifier } from "../protocol/verify.ts";
import { type Progress, type Source, verifyFrom } from "./record.ts";

/** What is to be signed and sent, as the server takes it. */
export interface Signed {
  readonly body: Json;
  readonly kind: string;
  readonly signature: string;
}

export interface Encrypted {
  readonly tracker: string;
  readonly milliseconds: number;
}

/** What a verification found: the verdicts, and of which board. */
export interface Verified {
  readonly report: Report;
  /** Of which election, if the record could be followed that far. */
  readonly election: { readonly title: string; readonly contests: readonly Contest[] } | undefined;
  readonly size: number;
  readonly root: string;
  /** The board up to its total, if it has one. */
  readonly tallied: Verifier["tallied"];
  /** Ballots that count and voters, and what each of them weigh together. */
  readonly turnout: {
    readonly counted: number;
    readonly voters: number;
    readonly weight: number;
    readonly allWeight: number;
  };
  /** Changes of the list of voters that everybody should see. */
  readonly changes: readonly Change[];
  /** What became of those that this browser sent. */
  readonly own: readonly Own[];
}

const forms = new Map<string, Form>();
let pendingBallot: { body: Json; openings: Openings; form: Form } | undefined;
/** The last record that was verified, for what is done with it next. */
let lastVerified: Verifier | undefined;

function signed(kind: string, body: Json, secret: Uint8Array): Signed {
  return { body, kind, signature: base64.encode(sign(secret, "entry", { body, kind })) };
}

function requirePendingBallot(): NonNullable<typeof pendingBallot> {
  if (!pendingBallot) throw new Fault("there is no encrypted ballot");
  return pendingBallot;
}

/** The verifier of a record that is right so far: for tallies, shares and results. */
async function checked(url: string, options: Options, progress: Progress): Promise<Verifier> {
  lastVerified = await verifyFrom(url, options, progress);
  const report = lastVerified.finish();
  const fault = report.verdicts.find((verdict) => verdict.fault !== undefined);
  ensure(fault === undefined, () => `the record does not verify (${fault?.check}): ${fault?.fault}`);
  return lastVerified;
}

/** The tasks of the worker, by their names. */
export const tasks = {
  /** Reads an election, checks its key and computes its tables: once, while the voter still thinks. */
  prepare(id: string, manifest: Json, insecure: boolean): void {
    if (forms.has(id)) return;
    const election = readElection(manifest);
    // Under a bad key everybody could read the ballot.
    checkKey(election.key, election.proofs, insecure);
    election.key.basePower(1n);
    forms.set(id, { id, key: election.key, contests: election.contests });
  },

  encrypt(id: string, voter: string, choices: readonly ReadonlySet<number>[]): Encrypted {
    const form = forms.get(id);
    if (!form) throw new Fault("the election is not ready");
    const start = performance.now();
    pendingBallot = { ...encrypt(form, voter, choices), form };
    return { tracker: tracker(pendingBallot.body), milliseconds: performance.now() - start };
  },

  /** The ballot to cast. Nothing can open it after this. */
  cast(secret: Uint8Array): Signed {
    const { body } = requirePendingBallot();
    pendingBallot = undefined;
    return signed("ballot", body, secret);
  },

  /** The ballot with what opens it, to show: it can never be cast after this. */
  challenge(secret: Uint8Array): Signed & { values: number[][] } {
    const { body, openings, form } = requirePendingBallot();
    pendingBallot = undefined;
    const shown = challengeBody(form, body, openings);
    return { ...signed("challenge", shown, secret), values: readChallenge(form, shown).values };
  },

  forget(): void {
    pendingBallot = undefined;
  },

  sign(kind: string, body: Json, secret: Uint8Array): Signed {
    return signed(kind, body, secret);
  },

  async verify(source: Source, options: Options, progress: Progress): Promise<Verified> {
    lastVerified = await verifyFrom(source, options, progress);
    const { size, root, tallied, state } = lastVerified;
    const election =
      state.phase === "empty"
        ? undefined
        : { title: state.election.title, contests: state.election.contests };
    const allWeight = [...state.voters.values()].reduce((sum, voter) => sum + voter.weight, 0);
    const turnout = { ...state.turnout, voters: state.voters.size, allWeight };
    return {
      report: lastVerified.finish(),
      election,
      size,
      root,
      tallied,
      turnout,
      changes: state.changes,
      own: lastVerified.own,
    };
  },

  async tally(url: string, options: Options, secret: Uint8Array, progress: Progress): Promise<Signed> {
    const { state } = await checked(url, options, progress);
    return signed("tally", tallyBody(state), secret);
  },

  /** A trustee's shares, of the totals of the record that was verified last, whose total ends this board. */
  share(root: string, trustee: number, secret: bigint, signing: Uint8Array): Signed {
    ensure(
      lastVerified?.tallied?.root === root && lastVerified.finish().good,
      "the record has not been verified",
    );
    const { state } = lastVerified;
    const { key, trustees } = state.election;
    if (!trustees) throw new Fault("the election has no trustees");
    ensure(state.phase === "tallied", "there is no tally to decrypt");
    ensure(isSecretOf(key, trustees, trustee, secret), "the share is not this trustee's in this election");
    const known = trustees.signing[trustee - 1];
    const own = known !== undefined && equal(publicKey(signing), known);
    ensure(own, "the signing key is not this trustee's in this election");
    return signed("share", shareBody(state, totals(state), trustee, secret), signing);
  },

  async result(url: string, options: Options, secret: Uint8Array, progress: Progress): Promise<Signed> {
    const { state, shares } = await checked(url, options, progress);
    const contests = outcome(state, combined(state, totals(state), shares));
    return signed("result", { contests, election: state.id }, secret);
  },
};

export type Tasks = typeof tasks;

export interface Request {
  readonly id: number;
  readonly task: keyof Tasks;
  readonly args: readonly unknown[];
}

export type Answer =
  | { readonly id: number; readonly progress: readonly [number, number] }
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

/** Answers requests, one after another. */
export function serve(): void {
  addEventListener("message", async ({ data }: MessageEvent<Request>) => {
    const { id, task, args } = data;
    const answer = (answer: Answer) => postMessage(answer);
    const progress: Progress = (done, all) => answer({ id, progress: [done, all] });
    try {
      const run = tasks[task] as (...args: unknown[]) => unknown;
      answer({ id, value: await run(...args, progress) });
    } catch (error) {
      answer({ id, error: error instanceof Error ? error.message : String(error) });
    }
  });
}
