/** The election's server itself, `hearith election serve`, on a store of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as base64 from "hearith/base64.ts";
import { secretText } from "../../src/app/files.ts";

const DIST = new URL("../../dist", import.meta.url).pathname;

export class RealServer {
  readonly #command: string;
  readonly #organiser: Uint8Array;
  readonly #folder = mkdtempSync(join(tmpdir(), "hearith-web-"));
  #child: ChildProcess | undefined;

  /** By the command line at this path, for an organiser with this public key. */
  constructor(command: string, organiser: Uint8Array) {
    this.#command = command;
    this.#organiser = organiser;
  }

  async start(): Promise<string> {
    const secret = crypto.getRandomValues(new Uint8Array(32));
    const key = join(this.#folder, "board.json");
    writeFileSync(key, secretText({ election: null, kind: "board", secret, voter: null }), { mode: 0o600 });
    const options = {
      store: `sqlite:${join(this.#folder, "board.db")}`,
      "board-key": key,
      organiser: base64.encode(this.#organiser),
      listen: "127.0.0.1:0",
      web: DIST,
    };
    const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const child = spawn(this.#command, ["election", "serve", ...args], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#child = child;
    const said: string[] = [];
    for await (const line of createInterface({ input: child.stderr })) {
      const found = /\baddress\W+(127\.0\.0\.1:\d+)/.exec(line);
      if (found) {
        child.stderr.resume();
        return `http://${found[1]}`;
      }
      said.push(line);
    }
    throw new Error(`the server does not start: ${said.join("\n")}`);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child && child.exitCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
