/**
 * Readers of JSON: each returns a value with its type, or throws a fault that says what is wrong.
 * Unknown members are rejected.
 */

import * as base64 from "hearith/base64.ts";
import { utf8 } from "hearith/bytes.ts";
import { ensure, Fault } from "hearith/errors.ts";
import type { Json } from "./canonical.ts";
import { refused } from "./names.ts";

export type Reader<T> = (value: Json, name: string) => T;

type Read<Members> = { [Name in keyof Members]: Members[Name] extends Reader<infer T> ? T : never };

export const text: Reader<string> = (value, name) => {
  ensure(typeof value === "string", () => `${name} is not a text`);
  return value;
};

const REFUSED = "a control character, invisible, a misplaced joiner, or not in Unicode 14.0.0";

/** A name for display: 1 to `most` bytes, without control characters and invisible or unknown characters. */
export function name(most: number): Reader<string> {
  return (value, what) => {
    const read = text(value, what);
    const length = utf8(read).length;
    ensure(length >= 1 && length <= most, () => `${what} has ${length} bytes, not 1 to ${most}`);
    const wrong = refused(read)?.codePointAt(0);
    if (wrong !== undefined) {
      const code = wrong.toString(16).toUpperCase().padStart(4, "0");
      throw new Fault(`${what} contains U+${code}, which is ${REFUSED}`);
    }
    return read;
  };
}

/** A description of 1 to 4000 bytes, whose lines are empty or have the characters of names. */
export const about: Reader<string> = (value, what) => {
  const read = text(value, what);
  const length = utf8(read).length;
  ensure(length >= 1 && length <= 4000, () => `${what} has ${length} bytes, not 1 to 4000`);
  for (const line of read.split("\n").filter((one) => one !== "")) name(4000)(line, what);
  return read;
};

/** A web address to which pages link. */
export const link: Reader<string> = (value, what) => {
  const read = text(value, what);
  const known = /^https:\/\/[A-Za-z0-9][-A-Za-z0-9._~:/?#[\]@!$&'()*+,;=%]*$/.test(read);
  ensure(known && read.length <= 1000, () => `${what} is not an https URL of at most 1000 bytes`);
  return read;
};

/** A flag that is true or absent. */
export const set: Reader<true> = (value, name) => {
  if (value !== true) throw new Fault(`${name} must be true or absent`);
  return value;
};

export const flag: Reader<boolean> = (value, name) => {
  ensure(typeof value === "boolean", () => `${name} must be true or false`);
  return value;
};

/** An integer in a range. */
export function integer(least: number, most: number): Reader<number> {
  return (value, name) => {
    ensure(
      typeof value === "number" && value >= least && value <= most,
      () => `${name} is not an integer from ${least} to ${most}`,
    );
    return value;
  };
}

export const count = integer(0, Number.MAX_SAFE_INTEGER);
/** An integer below 2^32, for trustees and numbers of choices. */
export const small = integer(0, 2 ** 32 - 1);

/** One of these texts. */
export function oneOf<T extends string>(...texts: readonly T[]): Reader<T> {
  return (value, name) => {
    const found = texts.find((one) => one === value);
    if (found === undefined) throw new Fault(`${name} must be one of ${texts.join(", ")}`);
    return found;
  };
}

/** 64 lower-case hexadecimal digits. */
export const hash: Reader<string> = (value, name) => {
  ensure(typeof value === "string" && /^[0-9a-f]{64}$/.test(value), () => `${name} is not a hash`);
  return value;
};

/** Base64url, of which only the form is checked. */
export const base64url: Reader<string> = (value, name) => {
  ensure(typeof value === "string" && base64.isEncoding(value), () => `${name} is not base64url`);
  return value;
};

/** Base64url of this many bytes, decoded. */
export function bytes(length?: number): Reader<Uint8Array> {
  return (value, name) => {
    try {
      return base64.decode(text(value, name), length);
    } catch (error) {
      throw error instanceof Fault ? new Fault(`${name}: ${error.message}`) : error;
    }
  };
}

export function nullable<T>(reader: Reader<T>): Reader<T | null> {
  return (value, name) => (value === null ? null : reader(value, name));
}

export function list<T>(reader: Reader<T>, least = 0, most = Number.MAX_SAFE_INTEGER): Reader<T[]> {
  return (value, name) => {
    ensure(Array.isArray(value), () => `${name} is not a list`);
    ensure(
      value.length >= least && value.length <= most,
      () => `${name} must not have ${value.length} members`,
    );
    return value.map((member, at) => reader(member, `${name}[${at}]`));
  };
}

/** A value that one of two readers accepts. */
export function either<A, B>(one: Reader<A>, other: Reader<B>): Reader<A | B> {
  return (value, name) => {
    try {
      return one(value, name);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      return other(value, name);
    }
  };
}

/** An object with these members, optionally the others given, and no further ones. */
export function object<
  Members extends Record<string, Reader<unknown>>,
  Optional extends Record<string, Reader<unknown>> = Record<never, never>,
>(members: Members, optional?: Optional): Reader<Read<Members> & Partial<Read<Optional>>> {
  return (value, name) => {
    ensure(
      typeof value === "object" && value !== null && !Array.isArray(value),
      () => `${name} is not an object`,
    );
    const given = value as { readonly [member: string]: Json };
    const known: Record<string, Reader<unknown>> = { ...optional, ...members };
    const unknown = Object.keys(given).find((member) => !Object.hasOwn(known, member));
    ensure(unknown === undefined, () => `${name} has an unknown member, ${unknown}`);
    const missing = Object.keys(members).find((member) => !Object.hasOwn(given, member));
    ensure(missing === undefined, () => `${name} lacks the member ${missing}`);
    const read = Object.entries(given).map(([member, found]) => [
      member,
      known[member]?.(found, `${name}.${member}`),
    ]);
    return Object.fromEntries(read) as Read<Members> & Partial<Read<Optional>>;
  };
}

/** Any value, which is read later. */
export const anything: Reader<Json> = (value) => value;
