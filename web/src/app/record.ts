/** A record by its URL: read file by file and line by line, and verified on the way. */

import { Fault } from "../protocol/errors.ts";
import { type Memory, Verifier } from "../protocol/verify.ts";

/** Told how many entries of how many are done. */
export type Progress = (done: number, all: number) => void;

/** Entries of a file of the board. */
const FILE = 1000;

async function fetched(url: string): Promise<string | undefined> {
  const response = await fetch(url, { cache: "no-cache" });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Fault(`${url} cannot be read: ${response.status}`);
  return await response.text();
}

/** The lines of a text, each of which ends with a newline. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  if (!text.endsWith("\n")) throw new Fault("the last line of a file does not end");
  return text.slice(0, -1).split("\n");
}

/** Verifies the record under a URL. The heads are read first: what comes later is beyond what they answer for. */
export async function verifyFrom(url: string, memory: Memory, progress: Progress): Promise<Verifier> {
  const heads = linesOf((await fetched(`${url}/heads.jsonl`)) ?? "");
  const last = heads.at(-1);
  const size = last === undefined ? 0 : Number((JSON.parse(last) as { size?: number }).size ?? 0);
  const verifier = new Verifier(heads, memory);
  for (let first = 0; ; first += FILE) {
    const text = await fetched(`${url}/board/${String(first).padStart(8, "0")}.jsonl`);
    if (text === undefined) break;
    const lines = linesOf(text);
    for (const line of lines) {
      verifier.add(line);
      if (verifier.size % 8 === 0) progress(verifier.size, Math.max(size, verifier.size));
    }
    if (lines.length < FILE) break;
  }
  progress(verifier.size, verifier.size);
  return verifier;
}
