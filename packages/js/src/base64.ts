/** Base64url without padding (RFC 4648, section 5): of every string of bytes there is one text, and no other is read. */

import { ensure, Fault } from "./errors.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUES = new Map([...ALPHABET].map((character, value) => [character, value]));

export function encode(bytes: Uint8Array): string {
  const digits: string[] = [];
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const length = Math.min(3, bytes.length - at) + 1;
    for (let digit = 0; digit < length; digit++)
      digits.push(ALPHABET.charAt((group >> (18 - 6 * digit)) & 63));
  }
  return digits.join("");
}

/** Whether a text is the encoding of some bytes. */
export function isEncoding(text: string): boolean {
  const spare = [0, 0, 15, 3][text.length % 4] ?? 0;
  const last = VALUES.get(text.slice(-1)) ?? 0;
  return text.length % 4 !== 1 && /^[A-Za-z0-9_-]*$/.test(text) && (last & spare) === 0;
}

/** The bytes of a text; `length` of them, if that is given. */
export function decode(text: string, length?: number): Uint8Array {
  ensure(text.length % 4 !== 1, "not base64url: a character is left over");
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  ensure(length === undefined || bytes.length === length, () => `${bytes.length} bytes, not ${length}`);
  let bits = 0;
  let group = 0;
  let at = 0;
  for (const character of text) {
    const value = VALUES.get(character);
    if (value === undefined) throw new Fault("not base64url: a character outside its alphabet");
    group = ((group << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (group >> bits) & 255;
    }
  }
  ensure((group & ((1 << bits) - 1)) === 0, "not canonical base64url: the last bits are not 0");
  return bytes;
}
