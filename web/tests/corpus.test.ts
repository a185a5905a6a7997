/**
 * The corpus of manipulated records (verifier/tests/corpus): each fails at the check that it must, or is good. The crate
 * and the Python verifier have the same test, so all three agree.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { verifyFrom } from "../src/app/record.ts";

interface Case {
  check: string | null;
  family: string;
  folder: string;
  insecure: boolean;
  name: string;
}

const PROGRAM = new URL("../../verifier/tests/corpus", import.meta.url).pathname;

/** The files of a folder and of those in it, as somebody chooses them. */
function chosen(folder: string): File[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => new File([readFileSync(join(entry.parentPath, entry.name))], basename(entry.name)));
}

/** The check that fails first. */
async function failing(folder: string, insecure: boolean): Promise<string | null> {
  const verifier = await verifyFrom(chosen(folder), { insecure }, () => {});
  return verifier.finish().verdicts.find(({ fault }) => fault !== undefined)?.check ?? null;
}

/** Judges what the generator writes for these arguments; what is judged in another way than it must be. */
async function disagreements(...args: string[]): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "hearith-corpus-"));
  try {
    execFileSync("python3", [PROGRAM, folder, ...args]);
    const cases: Case[] = JSON.parse(readFileSync(join(folder, "cases.json"), "utf8"));
    expect(cases.length).toBeGreaterThanOrEqual(370);
    const wrong: string[] = [];
    for (const { check, family, folder: own, insecure, name } of cases) {
      const found = await failing(join(folder, own), insecure);
      if (found !== check) wrong.push(`${family}: ${name}: ${found}, not ${check}`);
    }
    return wrong;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const MINUTES = 60_000;

test("every manipulation is found by the check that it concerns", { timeout: 10 * MINUTES }, async () => {
  expect(await disagreements()).toEqual([]);
});

// A long test: INCLUDE_IGNORED=1 runs it.
test.runIf(process.env.INCLUDE_IGNORED)(
  "random mutations are judged alike",
  { timeout: 30 * MINUTES },
  async () => {
    expect(await disagreements("--random", "1000", "--seed", "3")).toEqual([]);
  },
);
