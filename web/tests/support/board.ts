/** A board of tests: an organiser, voters and a keeper who signs whatever it is given. The rules are the verifier's. */

import * as base64 from "hearith/base64.ts";
import { hex } from "hearith/bytes.ts";
import { canonical, type Json } from "../../src/protocol/canonical.ts";
import { hexHash } from "../../src/protocol/hash.ts";
import { publicKey, sign } from "../../src/protocol/signature.ts";
import { leafHash, Tree } from "../../src/protocol/tree.ts";
import { type Ceremony, hold } from "./ceremony.ts";

export interface Member {
  readonly id: string;
  readonly secret: Uint8Array;
  readonly weight: number;
}

export function secret(name: string): Uint8Array {
  return Uint8Array.from(hexHash(`secret of ${name}`).match(/../g) ?? [], (pair) =>
    Number.parseInt(pair, 16),
  );
}

export class Board {
  readonly lines: string[] = [];
  readonly heads: string[] = [];
  readonly tree = new Tree();
  readonly keeper: Uint8Array;
  readonly organiser: Uint8Array;
  id = "";

  constructor(keeper = secret("board"), organiser = secret("organiser")) {
    this.keeper = keeper;
    this.organiser = organiser;
  }

  /** Appends an entry as it stands; gives its line. */
  append(kind: string, body: Json, signature: Uint8Array): string {
    const previous =
      this.lines.length === 0 ? "0".repeat(64) : hexHash(this.lines[this.lines.length - 1] ?? "");
    const entry = { body, index: this.lines.length, kind, previous, signature: base64.encode(signature) };
    const line = canonical(entry);
    this.lines.push(line);
    this.tree.add(leafHash(line));
    return line;
  }

  signed(kind: string, body: Json, by: Uint8Array): string {
    return this.append(kind, body, sign(by, "entry", { body, kind }));
  }

  byOrganiser(kind: string, body: Json): string {
    return this.signed(kind, body, this.organiser);
  }

  head(time = "2026-11-22T20:00:00Z"): void {
    const head = { root: this.tree.root(), size: this.tree.size, time };
    this.heads.push(canonical({ ...head, signature: base64.encode(sign(this.keeper, "head", head)) }));
  }

  receipt(
    line: string,
    index = this.lines.length - 1,
  ): { election: string; hash: string; index: number; signature: string } {
    const receipt = { election: this.id, hash: hex(leafHash(line)), index };
    return { ...receipt, signature: base64.encode(sign(this.keeper, "receipt", receipt)) };
  }

  /** The first entry. Another keeper is named by its public key. */
  begin(
    ceremony: Ceremony,
    contests: Json[],
    options: { title?: string; revoting?: boolean; keeper?: string; terms?: { [name: string]: Json } } = {},
  ): void {
    const {
      title = "A test",
      revoting = false,
      terms = {},
      keeper = base64.encode(publicKey(this.keeper)),
    } = options;
    const body = {
      board: keeper,
      contests,
      ...ceremony.members,
      organiser: base64.encode(publicKey(this.organiser)),
      revoting,
      title,
      ...terms,
    };
    this.id = hexHash(canonical(body));
    this.byOrganiser("election", body);
  }

  register(members: readonly Member[]): void {
    const voters = members.map(({ id, secret, weight }) => ({
      id,
      key: base64.encode(publicKey(secret)),
      weight,
    }));
    this.byOrganiser("voters", { election: this.id, voters });
  }

  phase(kind: "open" | "close"): void {
    this.byOrganiser(kind, { election: this.id });
  }
}

export function member(id: string, weight = 1): Member {
  return { id, secret: secret(id), weight };
}

export { hold };
