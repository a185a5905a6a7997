/** The server: what is asked of it and how it refuses. docs/how-to/election-server.md has its addresses. */

import { canonical, type Json } from "../protocol/canonical.ts";
import type { Receipt } from "../protocol/receipt.ts";
import type { Phase } from "../protocol/state.ts";
import type { Signed } from "./worker.ts";

/** The server's answer about the election. */
export interface Overview {
  /** The key that the board signs with, before there is an election as well. */
  readonly board: string;
  readonly id: string | null;
  readonly manifest: Json;
  readonly phase: Phase;
  readonly size: number;
  readonly head: { root: string; size: number; time: string; signature: string } | null;
  readonly voted: number;
  readonly voters: number;
}

/** What a tracker leads to. Whether it counts the server says too, which is for a verified record to say. */
export interface Found {
  readonly entry: { readonly body: Json; readonly index: number; readonly kind: string };
}

export interface VoterPage {
  readonly next: number | null;
  readonly voters: readonly { id: string; voted: boolean }[];
}

/** A refusal: its code, for programs, and words. Without a code the server was not reached. */
export class Refused extends Error {
  override name = "Refused";
  readonly code: string | undefined;

  constructor(message: string, code?: string) {
    super(message);
    this.code = code;
  }

  /** Whether nothing was entered for certain: sending the same again would be refused again. */
  get definite(): boolean {
    return this.code !== undefined && DEFINITE.has(this.code);
  }
}

/** Refusals of what was sent, not of the moment. */
const DEFINITE = new Set([
  "bad_request",
  "cross_site",
  "doubled",
  "not_signed",
  "phase",
  "too_large",
  "unproven",
  "voted",
]);

/** Where the server is: where the page came from, folder included, unless it was saved and is given. */
export const SERVER = (() => {
  const given = new URLSearchParams(location.search).get("server");
  const here = location.origin + location.pathname.replace(/[^/]*$/, "");
  return (given ?? (location.protocol === "file:" ? "http://127.0.0.1:8080" : here)).replace(/\/$/, "");
})();

export const RECORD = `${SERVER}/record`;

/** Whether the address asks for elections of tests, whose keys are short, to be taken. */
export const INSECURE = new URLSearchParams(location.search).has("insecure-key");

async function ask<T>(path: string, init?: RequestInit): Promise<T> {
  let response: Response;
  try {
    response = await fetch(`${SERVER}/api/${path}`, { cache: "no-store", ...init });
  } catch {
    throw new Refused("the server cannot be reached");
  }
  const value = (await response.json().catch(() => ({}))) as { error?: string; message?: string };
  if (response.ok) return value as T;
  throw new Refused(
    value.message ?? `the server answered with HTTP status ${response.status}`,
    value.error ?? "unknown",
  );
}

function post<T>(path: string, value: Json): Promise<T> {
  // The server takes a body as it is signed: in its canonical form.
  const body = canonical(value);
  return ask(path, { method: "POST", body, headers: { "Content-Type": "application/json" } });
}

/** The address by which a voter votes with a code: what is after # stays in the browser. */
export function voteUrl(code: string): string {
  return `${SERVER}/#/vote/${code}`;
}

/** The address of the board's page, of a ballot on it. */
export function boardUrl(tracker: string): string {
  return `${SERVER}/#/board/${tracker}`;
}

export const overview = () => ask<Overview>("election");
/** Entries that list voters, or replace their keys, from an index on. */
export const lists = (from: number) =>
  ask<{ readonly entries: readonly { kind: string; body: Json }[]; readonly next: number | null }>(
    `lists?from=${from}`,
  );
export const voters = (from: number) => ask<VoterPage>(`voters?from=${from}`);

/** Whether a voter is on the board's list and has a ballot there, as the server says; unknown where it does not. */
export type Standing = "new" | "voted" | "stranger" | "unknown";

/** Reads the list up to this voter: nobody is asked for by name. */
export async function standing(voter: string): Promise<Standing> {
  for (let from: number | null = 0; from !== null; ) {
    const page: VoterPage = await voters(from);
    const found = page.voters.find(({ id }) => id === voter);
    if (found) return found.voted ? "voted" : "new";
    from = page.next;
  }
  return "stranger";
}

export const tracked = (tracker: string) => ask<Found>(`ballots/${tracker}`);
export const cast = ({ body, signature }: Signed) => post<Receipt>("ballots", { body, signature });
export const challenge = ({ body, signature }: Signed) => post<Receipt>("challenges", { body, signature });
export const publish = ({ body, kind, signature }: Signed) =>
  post<Receipt>("entries", { body, kind, signature });
