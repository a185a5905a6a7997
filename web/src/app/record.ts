/** A record by its URL, or saved in files: read file by file and line by line, and verified on the way. */

import { Fault } from "hearith/errors.ts";
import { canonical } from "../protocol/canonical.ts";
import { readEntry, readHead } from "../protocol/entry.ts";
import { hexHash } from "../protocol/hash.ts";
import { type Options, Verifier } from "../protocol/verify.ts";

/** Told how many entries of how many are done. */
export type Progress = (done: number, all: number) => void;

/** Where a record is: its URL, or its files as they were saved, whatever folder they are in. */
export type Source = string | readonly File[];

/** Entries of a file of the board. */
export const FILE = 1000;
const HEADS = "heads.jsonl";

/** The file of the board that begins with this entry. */
export function boardFile(first: number): string {
  return `board/${String(first).padStart(8, "0")}.jsonl`;
}

/** Bytes that a line has at most. */
const LONGEST_LINE = 8 << 20;
const NEWLINE = 10;

/** A file of a record by its name; undefined where there is none. */
function open(source: Source, name: string): Promise<Uint8Array | undefined> {
  if (typeof source === "string") return fetched(`${source}/${name}`);
  const last = name.split("/").pop();
  return bytesOf(source.find((file) => file.name === last));
}

async function bytesOf(file: Blob | undefined): Promise<Uint8Array | undefined> {
  return file && new Uint8Array(await file.arrayBuffer());
}

async function fetched(url: string): Promise<Uint8Array | undefined> {
  // As it is now: with this setting the browser asks the server for no kept copy either.
  const response = await fetch(url, { cache: "reload" });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Fault(`${url} cannot be read: HTTP status ${response.status}`);
  return bytesOf(await response.blob());
}

/** The lines of a file, each of which ends with a newline. Nothing in them is repaired: what is not UTF-8 is wrong. */
export function* linesOf(file: Uint8Array): Generator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let start = 0; start < file.length; ) {
    const end = file.indexOf(NEWLINE, start);
    if (end < 0) throw new Fault("the last line of a file does not end with a newline");
    if (end - start > LONGEST_LINE) throw new Fault("a line is longer than 8 MiB");
    let line: string;
    try {
      line = decoder.decode(file.subarray(start, end));
    } catch {
      throw new Fault("a line is not UTF-8");
    }
    yield line;
    start = end + 1;
  }
}

/** Gives lines to somebody until there are no more, or one cannot be read; then what is wrong with it. */
function each(file: Uint8Array, take: (line: string) => void): string | undefined {
  try {
    for (const line of linesOf(file)) take(line);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
}

/** The id of the election whose record this is: the hash of what its first entry says. */
export async function electionIn(source: Source): Promise<string> {
  const [first] = linesOf((await open(source, boardFile(0))) ?? new Uint8Array());
  if (first === undefined) throw new Fault("these are not the files of a record: 00000000.jsonl is missing");
  return hexHash(canonical(readEntry(first).body));
}

/** Entries that the newest head is of. */
function promised(heads: readonly string[]): number {
  try {
    return readHead(heads.at(-1) ?? "").size;
  } catch {
    return 0;
  }
}

/** Verifies the record at a source. A server's is verified as far as its newest head goes: it may have grown since. */
export async function verifyFrom(source: Source, options: Options, progress: Progress): Promise<Verifier> {
  const heads: string[] = [];
  const wrong = each((await open(source, HEADS)) ?? new Uint8Array(), (line) => heads.push(line));
  const verifier = new Verifier(heads, options);
  if (wrong !== undefined) verifier.fail("heads", wrong);
  const size = promised(heads);
  const most = typeof source === "string" ? size : Number.MAX_SAFE_INTEGER;
  for (let first = 0; first < most; first += FILE) {
    const file = await open(source, boardFile(first));
    if (file === undefined) break;
    const problem = addFile(verifier, file, most, (done) => progress(done, Math.max(size, done)));
    if (problem !== undefined) verifier.fail("chain", problem);
    if (verifier.size < first + FILE && verifier.size < most) {
      // The next file must not be there where this one is not full.
      const more = typeof source !== "string" && (await open(source, boardFile(first + FILE))) !== undefined;
      if (more) verifier.fail("chain", "a file before the last one has fewer than 1000 entries");
      break;
    }
  }
  progress(verifier.size, verifier.size);
  return verifier;
}

/** Adds the lines of a file, as far as the board is to be read; what is wrong with the file itself. */
function addFile(
  verifier: Verifier,
  file: Uint8Array,
  most: number,
  progress: (done: number) => void,
): string | undefined {
  let count = 0;
  return each(file, (line) => {
    if (verifier.size >= most) return;
    count += 1;
    if (count > FILE) throw new Fault("a file has more than 1000 entries");
    verifier.add(line);
    if (count % 8 === 0) progress(verifier.size);
  });
}
