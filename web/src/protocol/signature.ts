/** Strict Ed25519 (RFC 8032): no cofactor, no points of small order, only canonical encodings. */

import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { concat, equal, utf8 } from "hearith/bytes.ts";
import { canonical, type Json } from "./canonical.ts";

/** The purpose of a signature. */
export type Tag = "entry" | "generation" | "head" | "receipt";

const { Point } = ed25519;
const ORDER = Point.Fn.ORDER;

function message(tag: Tag, value: Json): Uint8Array {
  return utf8(`hearith-election 1 ${tag}\n${canonical(value)}`);
}

function scalar(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => (number << 8n) | BigInt(byte), 0n);
}

/** Whether a public key is a canonical point that is not of small order. */
export function isPublicKey(key: Uint8Array): boolean {
  try {
    return !Point.fromBytes(key).isSmallOrder();
  } catch {
    return false;
  }
}

export function publicKey(secret: Uint8Array): Uint8Array {
  return ed25519.getPublicKey(secret);
}

export function sign(secret: Uint8Array, tag: Tag, value: Json): Uint8Array {
  return ed25519.sign(message(tag, value), secret);
}

/** Whether a signature by this key is valid for this value and purpose. */
export function verify(key: Uint8Array, tag: Tag, value: Json, signature: Uint8Array): boolean {
  if (signature.length !== 64) return false;
  try {
    const [r, s] = [signature.subarray(0, 32), scalar(signature.subarray(32))];
    const [author, nonce] = [Point.fromBytes(key), Point.fromBytes(r)];
    if (s >= ORDER || author.isSmallOrder() || nonce.isSmallOrder()) return false;
    const e = scalar(sha512(concat(r, key, message(tag, value)))) % ORDER;
    const found = Point.BASE.multiplyUnsafe(s).subtract(author.multiplyUnsafe(e));
    return equal(found.toBytes(), r);
  } catch {
    return false;
  }
}
