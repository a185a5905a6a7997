/** Bytes: joined, compared, and read as numbers, always big-endian. */

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function concat(...parts: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function fromHex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function equal(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

/** A natural number in so many bytes. It must fit. */
export function toBytes(number: bigint, width: number): Uint8Array {
  const digits = number.toString(16);
  if (number < 0n || digits.length > 2 * width) throw new RangeError("the number does not fit in its bytes");
  return fromHex(digits.padStart(2 * width, "0"));
}

export function toBigint(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${hex(bytes)}`);
}

/** A number of up to 53 bits in so many bytes. */
export function counter(number: number, width: 4 | 8): Uint8Array {
  return toBytes(BigInt(number), width);
}
