/** SHA-256, and the hash from which proofs derive their challenges. */

import { sha256 } from "@noble/hashes/sha2.js";
import { concat, counter, hex, toBigint, utf8 } from "hearith/bytes.ts";

export { sha256 };

/** The hash of a text or of bytes, as 64 hexadecimal digits. */
export function hexHash(data: string | Uint8Array): string {
  return hex(sha256(typeof data === "string" ? utf8(data) : data));
}

/** Hashes parts, each with its length, so different lists of parts have different inputs. */
export function transcript(name: string, ...parts: Uint8Array[]): Uint8Array {
  const all = [utf8(`hearith-proofs 1 ${name}`), ...parts];
  return sha256(concat(...all.flatMap((part) => [counter(part.length, 8), part])));
}

/** The same as a number, for a challenge. */
export function challenge(name: string, ...parts: Uint8Array[]): bigint {
  return toBigint(transcript(name, ...parts));
}
