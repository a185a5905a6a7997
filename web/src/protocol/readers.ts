/** Readers of JSON: each takes a value and gives it typed, or says what is wrong with it. Members nobody knows are refused. */

import * as base64 from "./base64.ts";
import { utf8 } from "./bytes.ts";
import type { Json } from "./canonical.ts";
import { ensure, Fault } from "./errors.ts";

export type Reader<T> = (value: Json, name: string) => T;

type Read<Members> = { [Name in keyof Members]: Members[Name] extends Reader<infer T> ? T : never };

export const text: Reader<string> = (value, name) => {
  ensure(typeof value === "string", () => `${name} is no text`);
  return value;
};

/** A name to show: not empty, of so many bytes at most, without control characters. */
export function name(most: number): Reader<string> {
  return (value, what) => {
    const read = text(value, what);
    const length = utf8(read).length;
    ensure(length >= 1 && length <= most, () => `${what} has ${length} bytes, not 1 to ${most}`);
    ensure(!/\p{Cc}/u.test(read), () => `${what} has control characters`);
    return read;
  };
}

export const flag: Reader<boolean> = (value, name) => {
  ensure(typeof value === "boolean", () => `${name} is neither true nor false`);
  return value;
};

/** A whole number between two others. */
export function integer(least: number, most: number): Reader<number> {
  return (value, name) => {
    ensure(
      typeof value === "number" && value >= least && value <= most,
      () => `${name} is no number from ${least} to ${most}`,
    );
    return value;
  };
}

export const count = integer(0, Number.MAX_SAFE_INTEGER);

/** One of a few texts. */
export function oneOf<T extends string>(...texts: readonly T[]): Reader<T> {
  return (value, name) => {
    const found = texts.find((one) => one === value);
    if (found === undefined) throw new Fault(`${name} is none of ${texts.join(", ")}`);
    return found;
  };
}

/** 64 lower-case hexadecimal digits. */
export const hash: Reader<string> = (value, name) => {
  ensure(typeof value === "string" && /^[0-9a-f]{64}$/.test(value), () => `${name} is no hash`);
  return value;
};

/** Base64url of so many bytes, kept as bytes. */
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
    ensure(Array.isArray(value), () => `${name} is no list`);
    ensure(value.length >= least && value.length <= most, () => `${name} has ${value.length} members`);
    return value.map((member, at) => reader(member, `${name}[${at}]`));
  };
}

/** An object with these members and no others. */
export function object<Members extends Record<string, Reader<unknown>>>(
  members: Members,
): Reader<Read<Members>> {
  return (value, name) => {
    ensure(
      typeof value === "object" && value !== null && !Array.isArray(value),
      () => `${name} is no object`,
    );
    const given = value as { readonly [member: string]: Json };
    const unknown = Object.keys(given).find((member) => !Object.hasOwn(members, member));
    ensure(unknown === undefined, () => `${name} has a member that nobody knows, ${unknown}`);
    const read = Object.entries(members).map(([member, reader]) => {
      const found = Object.hasOwn(given, member) ? given[member] : undefined;
      if (found === undefined) throw new Fault(`${name} has no ${member}`);
      return [member, reader(found, `${name}.${member}`)];
    });
    return Object.fromEntries(read) as Read<Members>;
  };
}

/** Any value, for what is read later. */
export const anything: Reader<Json> = (value) => value;
