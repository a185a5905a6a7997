/**
 * A server of tests, with the addresses and refusals of `hearith election serve`: as much of it as the pages see. What
 * it checks is checked by the same code that the pages verify with; that the real server agrees is tested with it.
 */

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import * as base64 from "hearith/base64.ts";
import { Fault } from "hearith/errors.ts";
import { canonical, type Json, parse } from "../../src/protocol/canonical.ts";
import { type Entry, KINDS, readEntry } from "../../src/protocol/entry.ts";
import { allHold } from "../../src/protocol/proofs.ts";
import { publicKey, verify } from "../../src/protocol/signature.ts";
import { State } from "../../src/protocol/state.ts";
import { checkTally } from "../../src/protocol/tally.ts";
import { Board } from "./board.ts";

const DIST = new URL("../../dist", import.meta.url).pathname;
const TYPES: Record<string, string> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript",
  txt: "text/plain",
};
/** Which words of a fault mean which code of a refusal, and status. */
const REFUSALS: [RegExp, string, number][] = [
  [/has already voted/, "voted", 409],
  [/twice on the board/, "doubled", 409],
  [/not allowed in phase/, "phase", 409],
  [/must keep the credential/, "bad_request", 400],
  [/signature|is not a voter/, "not_signed", 403],
  [/proof|do not sum|product/, "unproven", 422],
];

class Refusal extends Error {
  readonly code: string;
  readonly status: number;
  constructor(message: string, code: string, status: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

export class TestServer {
  readonly board = new Board();
  readonly state = new State();
  readonly #server: Server;
  url = "";
  #followed = 0;

  constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request).then(
        ([status, body, type]) => send(response, status, body, type),
        (error: Error) => {
          const { code = "internal", status = 500 } = error as Partial<Refusal>;
          send(response, status, JSON.stringify({ error: code, message: error.message }), "application/json");
        },
      );
    });
  }

  /** Takes in what was put on the board directly. */
  follow(): void {
    for (const line of this.board.lines.slice(this.#followed)) this.state.admit(readEntry(line));
    this.#followed = this.board.lines.length;
    this.board.id = this.state.id;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    return this.url;
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  async #answer(request: IncomingMessage): Promise<[number, string, string]> {
    const url = new URL(request.url ?? "/", "http://x");
    const [, first = "", second = "", third = ""] = url.pathname.split("/");
    if (request.method === "POST") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      return [201, this.#enter(second, Buffer.concat(chunks).toString()), "application/json"];
    }
    if (first === "api") return [200, JSON.stringify(this.#asked(second, third, url)), "application/json"];
    if (first === "record") return [200, this.#record(second, third), "application/jsonl"];
    const name = first === "" ? "index.html" : first;
    return [200, readFileSync(join(DIST, name), "utf8"), TYPES[name.split(".").pop() ?? ""] ?? "text/plain"];
  }

  #asked(name: string, rest: string, url: URL): unknown {
    const { board, state } = this;
    if (name === "election") {
      const [first] = board.lines;
      return {
        board: base64.encode(publicKey(board.keeper)),
        head: board.heads.length > 0 ? JSON.parse(board.heads.at(-1) ?? "") : null,
        id: state.id === "" ? null : state.id,
        manifest: first === undefined ? null : JSON.parse(first).body,
        phase: state.phase,
        size: board.lines.length,
        voted: state.phase === "empty" ? 0 : state.turnout.counted,
        voters: state.voters.size,
      };
    }
    if (name === "voters") {
      const from = Number(url.searchParams.get("from") ?? 0);
      const page = [...state.voters.values()].slice(from, from + 1000);
      const voters = page.map(({ id, counted }) => ({ id, voted: counted !== undefined }));
      return { next: page.length === 1000 ? from + 1000 : null, voters };
    }
    if (name === "lists") {
      const from = Number(url.searchParams.get("from") ?? 0);
      const entries = board.lines.map((line) => JSON.parse(line));
      const found = entries.filter(
        ({ index, kind }) => index >= from && ["voters", "replace"].includes(kind),
      );
      const page = found.slice(0, 10);
      return { entries: page, next: page.length === 10 ? page[9].index + 1 : null };
    }
    const place = name === "ballots" ? state.trackers.get(rest) : undefined;
    if (!place) throw new Refusal("no ballot on the board has this tracker", "not_found", 404);
    const counts = state.voters.get(place.voter)?.counted?.index === place.index;
    return { counts, entry: JSON.parse(board.lines[place.index] ?? "") };
  }

  #record(name: string, rest: string): string {
    const { lines, heads } = this.board;
    const text = (some: readonly string[]) => some.map((line) => `${line}\n`).join("");
    if (name === "heads.jsonl") return text(heads);
    const first = Number.parseInt(rest, 10);
    if (name !== "board" || first % 1000 !== 0 || first >= lines.length) {
      throw new Refusal("there is no such file", "not_found", 404);
    }
    return text(lines.slice(first, first + 1000));
  }

  #enter(address: string, text: string): string {
    try {
      const { body, kind = address.slice(0, -1), signature } = parse(text) as { [name: string]: Json };
      const known = KINDS.find((one) => one === kind);
      if (!known) throw new Fault("no such kind");
      const bytes = base64.decode(String(signature));
      const entry: Entry = {
        body: body ?? null,
        index: this.board.lines.length,
        kind: known,
        previous: "",
        signature: bytes,
      };
      this.#check(entry);
      const line = this.board.append(known, body ?? null, bytes);
      this.board.id = this.state.id;
      this.board.head();
      return canonical(this.board.receipt(line));
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      const [, code, status] = REFUSALS.find(([words]) => words.test(error.message)) ?? [
        null,
        "bad_request",
        400,
      ];
      throw new Refusal(error.message, code, status);
    }
  }

  #check(entry: Entry): void {
    const { state } = this;
    const signed = (key: Uint8Array | undefined) => {
      const value = { body: entry.body, kind: entry.kind };
      if (key && !verify(key, "entry", value, entry.signature))
        throw new Fault("the signature does not hold");
    };
    if (entry.kind !== "election") signed(state.author(entry));
    if (entry.kind === "tally") checkTally(state, entry.body);
    const ballot = state.admit(entry);
    if (ballot && !allHold(state.election.key, ballot.claims())) throw new Fault("a proof does not hold");
  }
}

function send(response: ServerResponse, status: number, body: string, type: string): void {
  const page = type.startsWith("text/html") || type === "text/javascript";
  const policy = page ? readFileSync(join(DIST, "csp.txt"), "utf8").trim() : "default-src 'none'";
  response.writeHead(status, {
    "Content-Type": type,
    "Content-Security-Policy": policy,
    "Access-Control-Allow-Origin": "*",
  });
  response.end(body);
}
