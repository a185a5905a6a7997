/** The election's server itself, `hearith election serve`, on a store of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { request as ask, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as base64 from "../../src/protocol/base64.ts";

const DIST = new URL("../../dist", import.meta.url).pathname;

export class RealServer {
  readonly #command: string;
  readonly #organiser: Uint8Array;
  #child: ChildProcess | undefined;
  #proxy: Server | undefined;

  constructor(command: string, organiser: Uint8Array) {
    this.#command = command;
    this.#organiser = organiser;
  }

  async start(): Promise<string> {
    const board = [...crypto.getRandomValues(new Uint8Array(32))];
    const told = {
      board,
      organiser: base64.encode(this.#organiser),
      patience: 20,
      store: `sqlite:/tmp/real-${process.pid}.db`,
    };
    const child = spawn(this.#command, ["--exact", "process::server", "--nocapture", "--quiet"], {
      env: { ...process.env, HEARITH_ELECTION_TEST_SERVER: JSON.stringify(told) },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#child = child;
    let target = "";
    for await (const line of createInterface({ input: child.stdout })) {
      const found = /url (\S+)/.exec(line);
      if (found) {
        target = found[1] ?? "";
        break;
      }
    }
    child.stdout.resume();
    this.#proxy = createServer((request, response) => {
      const path = request.url ?? "/";
      if (!path.startsWith("/api") && !path.startsWith("/record")) {
        const name = path === "/" ? "index.html" : path.slice(1);
        const type = name.endsWith("html") ? "text/html; charset=utf-8" : "text/javascript";
        response.writeHead(200, {
          "Content-Type": type,
          "Content-Security-Policy": readFileSync(join(DIST, "csp.txt"), "utf8").trim(),
        });
        response.end(readFileSync(join(DIST, name)));
        return;
      }
      const passed = ask(
        `${target}${path}`,
        { method: request.method, headers: request.headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 500, answer.headers);
          answer.pipe(response);
        },
      );
      passed.on("error", () => response.destroy());
      request.pipe(passed);
    });
    await new Promise<void>((resolve) => this.#proxy?.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#proxy.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#proxy?.closeAllConnections();
    this.#proxy?.close();
    this.#child?.kill();
  }
}
