/**
 * Ciphertexts as others read them.
 *
 * - python-paillier's JSON, one object a line: `hearith import` and `EncryptedArray.from_phe` read it, `hearith export`
 *   and `pheutil` write it.
 * - Rows of bytes of one width, big-endian: a cell of an encrypted column in Parquet or Arrow, and a value of SQL. The
 *   entries that describe such a column go with it.
 */

import type { Core } from "./core.ts";
import type { Encoding } from "./encoding.ts";
import { ensure, Fault } from "./errors.ts";
import type { PublicKey } from "./keys.ts";

/** Digits of the square of the largest modulus. */
const MOST_DIGITS = 4933;
/** Characters of the longest object that is read. */
const MOST_CHARACTERS = 1 << 16;

/** A ciphertext of an integer that stands on a power of 16, as python-paillier keeps it; Hearith's are on the power 0. */
export interface Exponential {
  readonly ciphertext: bigint;
  readonly exponent: number;
}

/** Ciphertexts of integers as JSON, one object a line; a missing value is `null`. */
export function toPheJson(ciphertexts: Iterable<bigint | null>): string {
  const lines = Array.from(ciphertexts, (one) => (one === null ? "null" : `{"v":"${one}","e":0}`));
  return lines.map((line) => `${line}\n`).join("");
}

/** The ciphertexts of a text: an object a line, or a JSON list of them. Throws a `Fault` that names the first bad one. */
export function fromPheJson(key: Core, text: string): (Exponential | null)[] {
  const read = values(text).map((value, row) => (value === null ? null : exponential(value, row)));
  const given = read.flatMap((one, row) => (one === null ? [] : [{ ...one, row }]));
  for (const { ciphertext, row } of given) {
    ensure(ciphertext > 0n, () => `row ${row}: the ciphertext is 0`);
    ensure(ciphertext < key.squared, () => `row ${row}: the ciphertext is not below n^2`);
  }
  if (!key.areUnits(given.map(({ ciphertext }) => ciphertext))) {
    const bad = given.find(({ ciphertext }) => !key.areUnits([ciphertext]));
    throw new Fault(`row ${bad?.row}: the ciphertext shares a factor with n`);
  }
  return read;
}

/** The ciphertexts of a text that are integers: powers of 16 above 0 are multiplied in, those below 0 are refused. */
export function integersFromPheJson(key: Core, text: string): (bigint | null)[] {
  return fromPheJson(key, text).map((one, row) => {
    if (one === null || one.exponent === 0) return one?.ciphertext ?? null;
    ensure(
      one.exponent > 0 && 4 * one.exponent < key.bits,
      () => `row ${row}: exponent ${one.exponent} is not that of an integer of the key`,
    );
    return key.multiplyDeterministic(one.ciphertext, 1n << BigInt(4 * one.exponent));
  });
}

function values(text: string): unknown[] {
  if (text.trimStart().startsWith("[")) {
    const list = parsed(text, undefined);
    if (!Array.isArray(list)) throw new Fault("not python-paillier's JSON: not a list");
    return list;
  }
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  return lines.map((line, row) => parsed(line, row));
}

function parsed(text: string, row: number | undefined): unknown {
  const place = row === undefined ? "" : `row ${row}: `;
  ensure(row === undefined || text.length <= MOST_CHARACTERS, `${place}longer than any ciphertext`);
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault(`${place}not JSON`);
  }
}

function exponential(value: unknown, row: number): Exponential {
  const { v, e } = (value ?? {}) as { v?: unknown; e?: unknown };
  ensure(
    typeof v === "string" && Number.isInteger(e) && Math.abs(e as number) < 2 ** 31,
    () => `row ${row}: not an object with a text 'v' and an integer 'e'`,
  );
  ensure(v.length <= MOST_DIGITS, () => `row ${row}: member 'v' is too long`);
  ensure(/^[0-9]+$/.test(v), () => `row ${row}: member 'v' is not a decimal integer`);
  return { ciphertext: BigInt(v), exponent: e as number };
}

/** Ciphertexts as rows of bytes, one after another. */
export function toRows(key: Core, ciphertexts: readonly bigint[]): Uint8Array {
  const width = 2 * key.bytes;
  const rows = new Uint8Array(width * ciphertexts.length);
  for (const [row, one] of ciphertexts.entries()) rows.set(key.wide(one), width * row);
  return rows;
}

/** The ciphertexts of rows of bytes. Throws a `Fault` that names the first that is none of the key's. */
export function fromRows(key: Core, rows: Uint8Array): bigint[] {
  const width = 2 * key.bytes;
  ensure(rows.length % width === 0, `${rows.length} bytes are not a whole number of rows of ${width} bytes`);
  const read = Array.from({ length: rows.length / width }, (_, row) => {
    const bytes = rows.subarray(width * row, width * (row + 1));
    try {
      return key.readWide(bytes);
    } catch (error) {
      throw error instanceof Fault ? new Fault(`row ${row}: ${error.message}`) : error;
    }
  });
  key.checkCiphertexts(read);
  return read;
}

/**
 * The metadata that describe a column of such rows (`hearith_columns::metadata`): what a field in Parquet or Arrow
 * carries, beside a companion column a name with the number of additions. One name a slot.
 */
export function columnEntries(
  key: PublicKey,
  encoding: Encoding,
  names: readonly string[],
): Record<string, string> {
  encoding.checkKey(key);
  ensure(names.length === encoding.slots, () => `${names.length} names, not ${encoding.slots}`);
  const integer = encoding.scales[0] === 0 ? "integer" : "fixed";
  return {
    "hearith.version": "2",
    "hearith.scheme": "paillier",
    "hearith.key": key.id,
    "hearith.bits": String(key.bits),
    "hearith.encoding": encoding.slots > 1 ? "slots" : integer,
    "hearith.columns": JSON.stringify(names),
    "hearith.additions": JSON.stringify(names.map((name) => `${name}.additions`)),
    "hearith.scale": encoding.scales.join(),
    "hearith.range": encoding.ranges.join(),
    "hearith.max_additions": String(encoding.maxAdditions),
    ...(encoding.slots > 1 && { "hearith.slots": String(encoding.slots) }),
  };
}
