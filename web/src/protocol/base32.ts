/** RFC 4648's base32, lower case and without padding: trackers and voting codes. */

export const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Five bits in a character, with zeros behind the last ones. */
export function encoded(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? [])
    .map((group) => ALPHABET.charAt(Number.parseInt(group.padEnd(5, "0"), 2)))
    .join("");
}

/** A text as it is shown: in groups of four. */
export function grouped(text: string): string {
  return (text.match(/.{1,4}/g) ?? []).join(" ");
}
