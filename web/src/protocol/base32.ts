/** Base32 of RFC 4648, in lower case and without padding, for trackers and voting codes. */

export const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Encodes five bits per character, padded with zero bits. */
export function encoded(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => ALPHABET.charAt(Number.parseInt(group.padEnd(5, "0"), 2)))
    .join("");
}

/** Formats a text for display, in groups of four characters. */
export function grouped(text: string): string {
  return (text.match(/.{1,4}/g) ?? []).join(" ");
}
