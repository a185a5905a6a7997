/** The package as it is built, in a real browser: known answers, encryption, and a pool of the browser's workers. */

import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CHROMIUM, chromiumIsThere } from "../../../web/tests/support/chromium.ts";
import { PrivateKey } from "../src/keys.ts";
import { privateMembers, publicMembers, VECTORS } from "./support/vectors.ts";

const DIST = new URL("../dist/", import.meta.url);
/** What the policy of a page has to allow: its own scripts and workers, and nothing else. */
const POLICY = "default-src 'none'; script-src 'self'; worker-src 'self'";

/** The page's script: what the tests evaluate in the page finds the package under this name. */
const SCRIPT = `import * as index from "./index.js";
import { startPool } from "./pool.browser.js";
globalThis.hearith = { ...index, startPool };`;

type Package = typeof import("../src/index.ts") & typeof import("../src/pool.browser.ts");
declare const hearith: Package;

describe.skipIf(!chromiumIsThere)("in Chromium", () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    server = createServer((request, response) => {
      const name = /^\/([a-z0-9.]+\.js)$/.exec(request.url ?? "")?.[1];
      const type = name ? "text/javascript" : "text/html; charset=utf-8";
      response.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
      const html = '<!doctype html><title>hearith</title><script type="module" src="page.js"></script>';
      response.end(name === "page.js" ? SCRIPT : name ? readFileSync(new URL(name, DIST)) : html);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
    page = await browser.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
    expect(complaints).toEqual([]);
  });

  test("known ciphertexts decrypt", async () => {
    const vectors = VECTORS.keys.filter(({ bits }) => bits <= 512 || bits === 2048);
    for (const vector of vectors) {
      const given = [...vector.encryptions, ...vector.decryptions];
      const key = JSON.stringify(privateMembers(vector));
      const found = await page.evaluate(
        async ([text, ciphertexts]) => {
          const key = await hearith.PrivateKey.read(text, { insecure: true });
          return ciphertexts.map((one) => key.decrypt(BigInt(`0x${one}`)).toString(16));
        },
        [key, given.map(({ c }) => c)] as [string, string[]],
      );
      expect(found).toEqual(given.map(({ m }) => m));
    }
  });

  test("numbers are encrypted, alone and by a pool with progress and abort", async () => {
    const vector = VECTORS.djn.find(({ bits }) => bits === 2048);
    if (!vector) throw new Error("no key");
    const { json, pooled, aborted, progress } = await page.evaluate(
      async (text) => {
        const { Encoding, Encrypted, PublicKey, startPool, toPheJson } = hearith;
        const key = await PublicKey.read(text);
        const encoding = new Encoding({ scale: 2 });
        const sum = Encrypted.of(key, 1.25, encoding).add(Encrypted.of(key, "-3", encoding));
        const workers = startPool(key, { workers: 2, tableWidth: 3 });
        const progress: number[] = [];
        const numbers = Array.from({ length: 40 }, (_, at) => BigInt(at));
        const made = await workers.encrypt(numbers, { progress: (done) => progress.push(done) });
        const control = new AbortController();
        const stopped = workers.encrypt(Array(10_000).fill(1n), { signal: control.signal });
        control.abort(new Error("enough"));
        const aborted = await stopped.then(
          () => "done",
          (error: Error) => error.message,
        );
        workers.close();
        return { json: toPheJson([sum.ciphertext]), pooled: toPheJson(made), aborted, progress };
      },
      JSON.stringify(publicMembers(vector)),
    );
    const key = await PrivateKey.read(JSON.stringify(privateMembers(vector)));
    const decrypted = (text: string) =>
      text
        .trim()
        .split("\n")
        .map((line) => key.decrypt(BigInt(JSON.parse(line).v)));
    expect(decrypted(json)).toEqual([key.public.n - 175n]);
    expect(decrypted(pooled)).toEqual(Array.from({ length: 40 }, (_, at) => BigInt(at)));
    expect(aborted).toBe("enough");
    expect(progress.at(-1)).toBe(40);
  });
});
