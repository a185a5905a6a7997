/** A ballot's tracker: what a voter notes, and finds the ballot by. */

import { fromHex } from "./bytes.ts";
import { canonical, type Json } from "./canonical.ts";
import { hexHash } from "./hash.ts";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** RFC 4648's base32, lower case and without padding. */
function base32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => ALPHABET.charAt(Number.parseInt(group.padEnd(5, "0"), 2)))
    .join("");
}

/** The tracker of a ballot's body: 26 characters. */
export function tracker(body: Json): string {
  return base32(fromHex(hexHash(canonical(body))).subarray(0, 16));
}

/** A tracker as it is shown: in groups of four. */
export function grouped(text: string): string {
  return (text.match(/.{1,4}/g) ?? []).join(" ");
}

/** What somebody typed, as a tracker; undefined if it cannot be one. */
export function typed(text: string): string | undefined {
  const found = text.toLowerCase().replaceAll(/[^a-z2-7]/g, "");
  return found.length === 26 ? found : undefined;
}
