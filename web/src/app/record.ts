/** A record by its URL, or saved in files: read file by file and line by line, and verified on the way. */

import { canonical } from "../protocol/canonical.ts";
import { readEntry } from "../protocol/entry.ts";
import { Fault } from "../protocol/errors.ts";
import { hexHash } from "../protocol/hash.ts";
import { type Memory, Verifier } from "../protocol/verify.ts";

/** Told how many entries of how many are done. */
export type Progress = (done: number, all: number) => void;

/** Where a record is: its URL, or its files as they were saved, whatever folder they are in. */
export type Place = string | readonly File[];

/** Entries of a file of the board. */
const FILE = 1000;
const HEADS = "heads.jsonl";

/** The file of the board that begins with this entry. */
function boardFile(first: number): string {
  return `board/${String(first).padStart(8, "0")}.jsonl`;
}

/** A file of a record by its name; undefined where there is none. */
function open(place: Place, name: string): Promise<string | undefined> {
  if (typeof place === "string") return fetched(`${place}/${name}`);
  const last = name.split("/").pop();
  return Promise.resolve(place.find((file) => file.name === last)?.text());
}

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

/** The id of the election whose record this is: the hash of what its first entry says. */
export async function electionIn(place: Place): Promise<string> {
  const [first] = linesOf((await open(place, boardFile(0))) ?? "");
  if (first === undefined) throw new Fault("these are not the files of a record: 00000000.jsonl is missing");
  return hexHash(canonical(readEntry(first).body));
}

/** Verifies the record at a place. The heads are read first: what comes later is beyond what they answer for. */
export async function verifyFrom(place: Place, memory: Memory, progress: Progress): Promise<Verifier> {
  const heads = linesOf((await open(place, HEADS)) ?? "");
  const last = heads.at(-1);
  const size = last === undefined ? 0 : Number((JSON.parse(last) as { size?: number }).size ?? 0);
  const verifier = new Verifier(heads, memory);
  for (let first = 0; ; first += FILE) {
    const text = await open(place, boardFile(first));
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
