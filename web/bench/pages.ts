/** Measures the pages in Chromium and writes bench/results/web.md: scripts/bench_web.sh. */

import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import * as base64 from "hearith/base64.ts";
import { type Browser, chromium, type Page } from "playwright-core";
import { expect, test } from "vitest";
import { encrypt } from "../src/protocol/ballot.ts";
import { canonical, type Json } from "../src/protocol/canonical.ts";
import { member } from "../tests/support/board.ts";
import { hold, LARGE } from "../tests/support/ceremony.ts";
import { CHROMIUM } from "../tests/support/chromium.ts";
import { TestServer } from "../tests/support/server.ts";

const ROUNDS = 15;
const BALLOTS = 64;
const NAMES = Array.from({ length: 10 }, (_, at) => `Candidate ${at}`);
const METHODS: [string, Json, number[]][] = [
  ["exactly 3 of 10", { choose: { exactly: 3 } }, [1, 4, 7]],
  ["at most 3 of 10", { choose: { at_most: 3 } }, [1, 4]],
  ["as many of 10 as one likes", "approval", [0, 2, 4, 6, 8]],
  ["one of 10, in one ciphertext", "plurality", [3]],
];

function spread(times: number[]): string[] {
  const sorted = times.toSorted((a, b) => a - b);
  return [sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)].map((time) =>
    (time ?? 0).toFixed(0),
  );
}

async function open(browser: Browser, url: string, path: string): Promise<Page> {
  const page = await (await browser.newContext({ locale: "en-GB" })).newPage();
  await page.goto(`${url}/#/${path}`);
  await page.getByRole("heading", { level: 1, name: "Measured" }).waitFor();
  return page;
}

async function measured(page: Page, name: string): Promise<number[]> {
  return page.evaluate((name) => performance.getEntriesByName(name).map((entry) => entry.duration), name);
}

function election(method: Json): { server: TestServer; voters: ReturnType<typeof member>[] } {
  const server = new TestServer();
  const { board } = server;
  const voters = Array.from({ length: BALLOTS }, (_, at) => member(`voter ${at}`));
  board.begin(hold(1, 1, LARGE), [{ candidates: NAMES, method, title: "Council" }], { title: "Measured" });
  board.register(voters);
  board.phase("open");
  server.follow();
  return { server, voters };
}

/** Encrypts a ballot again and again, as a voter who cannot decide would. */
async function encryptions(browser: Browser, [, method, chosen]: (typeof METHODS)[number]) {
  const { server, voters } = election(method);
  const page = await open(browser, await server.start(), "vote");
  const secret = base64.encode(voters[0]?.secret ?? new Uint8Array());
  const file = canonical({ election: server.board.id, kind: "voter", secret, voter: "voter 0" });
  const buffer = Buffer.from(file);
  await page
    .getByLabel("Or your credential as a file")
    .setInputFiles({ name: "c.json", mimeType: "application/json", buffer });
  for (const at of chosen) await page.getByLabel(NAMES[at] ?? "", { exact: true }).check();
  for (let round = 0; round <= ROUNDS; round++) {
    await page.getByRole("button", { name: "Continue (nothing is sent yet)" }).click();
    await page.getByRole("heading", { name: "NOT CAST YET" }).waitFor();
    await page.getByRole("button", { name: "Change my choice" }).click();
  }
  const times = (await measured(page, "hearith-encrypt")).slice(1);
  const [prepared = 0] = await measured(page, "hearith-prepare");
  await server.stop();
  return { times, prepared };
}

/** Verifies a record of some ballots. */
async function verification(browser: Browser, [, method, chosen]: (typeof METHODS)[number]): Promise<number> {
  const { server, voters } = election(method);
  const { form } = server.state;
  for (const { id, secret } of voters)
    server.board.signed("ballot", encrypt(form, id, [new Set(chosen)]).body, secret);
  server.board.head();
  server.follow();
  const page = await open(browser, await server.start(), "result");
  await page.getByRole("button", { name: "Verify everything now" }).click();
  await page.getByText("Everything holds.").waitFor({ timeout: 120_000 });
  const [time = 0] = await measured(page, "hearith-verify");
  await server.stop();
  return time;
}

test("the pages", { timeout: 480_000 }, async () => {
  const args = ["--no-sandbox"];
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args,
  });
  const rows: string[] = [];
  const prepared: number[] = [];
  for (const method of METHODS) {
    const found = await encryptions(browser, method);
    prepared.push(found.prepared);
    rows.push(`| ${[method[0], ...spread(found.times)].join(" | ")} |`);
    if (method === METHODS[0]) expect(Number(spread(found.times)[0])).toBeLessThanOrEqual(300);
  }
  const time = await verification(browser, METHODS[0] as (typeof METHODS)[number]);
  const version = browser.version();
  await browser.close();
  const text = `# The election's pages

Made by \`make bench-web\` (\`web/bench/pages.ts\`), in Chromium ${version} in headless mode.

- Machine: ${cpus()[0]?.model.trim()}, ${cpus().length} hardware threads
- Date: ${new Date().toISOString().slice(0, 10)}
- Method: a key of 2048 bits; ${ROUNDS} rounds after one that is not counted, in the worker of the built page,
  from the choice to the encrypted ballot with all its proofs.

| encrypted ballot with its proofs | ms | least | most |
| --- | ---: | ---: | ---: |
${rows.join("\n")}

The tables of the key take ${spread(prepared)[0]} ms once, while the voter is still choosing.

A record of ${BALLOTS} ballots, exactly 3 of 10, is verified in ${(time / 1000).toFixed(1)} s: ${(time / BALLOTS).toFixed(0)} ms per ballot,
on one thread, everything included.
`;
  writeFileSync(new URL("../../bench/results/web.md", import.meta.url), text);
  console.log(text);
});
