/**
 * A voter's credential as a code: 128 random bits, from which the voter's key under one election follows. The code
 * names no election, and yet belongs to one: under another manifest, whose key somebody else may hold, it gives a key
 * that nobody could have registered there without knowing the code.
 */

import * as base64 from "hearith/base64.ts";
import { concat, utf8 } from "hearith/bytes.ts";
import { ensure } from "hearith/errors.ts";
import { ALPHABET, encoded } from "../protocol/base32.ts";
import { sha256 } from "../protocol/hash.ts";
import { publicKey } from "../protocol/signature.ts";

const SEED_BYTES = 16;

/** A voter of an election that is being set up, with the code that the voter's key comes from. */
export interface Made {
  readonly id: string;
  /** What the voter is called, where the board has an alias. */
  readonly name?: string;
  readonly weight: number;
  /** The 26 characters of the code, without its checks. */
  readonly code: string;
  readonly secret: Uint8Array;
  /** The key's public half, as the board has it. */
  readonly key: string;
}

/** The secret of a voter's key: SHA-256 of a name, the election's id and the seed. */
export function secretOf(election: string, seed: Uint8Array): Uint8Array {
  return sha256(concat(utf8(`hearith-election 1 credential\n${election}\n`), seed));
}

/** A seed's 128 bits and two zeros, five in a character. */
export function codeOf(seed: Uint8Array): string {
  return encoded(seed);
}

/** The seed of 26 characters. Fails where the last two bits are not zero: no code has them. */
export function seedOf(code: string): Uint8Array {
  const bits = [...code].map((one) => ALPHABET.indexOf(one).toString(2).padStart(5, "0")).join("");
  ensure(bits.length === 8 * SEED_BYTES + 2 && bits.endsWith("00"), "this is not a voting code");
  const bytes = bits.match(/.{8}/g) ?? [];
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
}

/** A new code for a voter. */
export function make(election: string, id: string, weight: number, name?: string): Made {
  return made(election, id, weight, codeOf(crypto.getRandomValues(new Uint8Array(SEED_BYTES))), name);
}

/** A name for the board that tells nothing: forty random bits, of a code that nothing else is made of. */
export function alias(): string {
  const code = codeOf(crypto.getRandomValues(new Uint8Array(SEED_BYTES)));
  return `voter ${code.slice(0, 4)} ${code.slice(4, 8)}`;
}

/** A voter whose code was made before. */
export function made(election: string, id: string, weight: number, code: string, name?: string): Made {
  const secret = secretOf(election, seedOf(code));
  const named = name === undefined ? {} : { name };
  return { id, ...named, weight, code, secret, key: base64.encode(publicKey(secret)) };
}
