/**
 * The canonical form of JSON that is hashed and signed: RFC 8785, restricted to integers from 0 to
 * 2^53 - 1. A text that differs from its canonical form in any byte is rejected, so different lines
 * never have the same value.
 */

import { ensure, Fault } from "hearith/errors.ts";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Returns the canonical text of a value. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "number") {
    ensure(
      Number.isSafeInteger(value) && value >= 0 && !Object.is(value, -0),
      "a number is not an integer from 0 to 2^53 - 1",
    );
    return String(value);
  }
  if (typeof value === "string") {
    ensure(value.isWellFormed(), "a text is not valid Unicode");
    return JSON.stringify(value);
  }
  if (value === null || typeof value === "boolean") return String(value);
  // JavaScript compares UTF-16 units, the order that RFC 8785 requires.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${canonical(name)}:${canonical(member)}`).join(",")}}`;
}

/** Parses a text, which must be canonical. */
export function parse(text: string): Json {
  let [value, again]: [Json, string] = [null, ""];
  try {
    value = JSON.parse(text);
    again = canonical(value);
  } catch (error) {
    // The text is not JSON, or is nested too deeply for the stack.
    throw error instanceof Fault ? error : new Fault("the text is not JSON");
  }
  ensure(again === text, "the JSON is not in canonical form");
  return value;
}
