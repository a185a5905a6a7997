/** Files that people bring and take: credentials, keys, shares. What is read is checked; what is secret is not kept. */

import * as base64 from "hearith/base64.ts";
import { toBigint } from "hearith/bytes.ts";
import { ensure, Fault } from "hearith/errors.ts";
import { canonical, type Json } from "../protocol/canonical.ts";
import * as read from "../protocol/readers.ts";
import { decryptJwe } from "./jwe.ts";

export interface Secret {
  readonly election: string | null;
  readonly kind: "board" | "organiser" | "registrar" | "trustee" | "voter";
  readonly secret: Uint8Array;
  readonly voter: string | null;
}

/** A file that is another one than was asked for: which, the page says in its language. */
export class WrongFile extends Fault {
  readonly reason: "json" | "share" | Secret["kind"];

  constructor(message: string, reason: WrongFile["reason"]) {
    super(message);
    this.reason = reason;
  }
}

const SECRET = read.object({
  election: read.nullable(read.hash),
  kind: read.oneOf("board", "organiser", "registrar", "trustee", "voter"),
  secret: read.bytes(32),
  voter: read.nullable(read.text),
});

function json(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongFile("the file is not JSON", "json");
  }
}

/** Whether a file is one of `hearith keygen --shares`, sealed or not. */
function isShare(value: Json): boolean {
  return typeof value === "object" && value !== null && ("ciphertext" in value || "s" in value);
}

/** A secret of one of these kinds. */
export function readSecret(text: string, ...kinds: readonly Secret["kind"][]): Secret {
  const value = json(text);
  if (isShare(value)) throw new WrongFile("the file is a trustee's share", "share");
  const found = SECRET(value, "the file");
  if (!kinds.includes(found.kind)) throw new WrongFile(`the file is the ${found.kind}'s key`, found.kind);
  ensure(
    (found.kind === "voter") === (found.voter !== null),
    "a voter's key must name its voter, and other keys none",
  );
  return found;
}

/** A new secret's file. */
export function secretText(secret: Secret): string {
  return canonical({ ...secret, secret: base64.encode(secret.secret) });
}

export interface KeyShare {
  readonly trustee: number;
  readonly secret: bigint;
}

/** A trustee's share of the key, as the ceremony wrote it, under a passphrase or not. */
export async function readShareFile(text: string, passphrase: string): Promise<KeyShare> {
  let value = json(text) as { [member: string]: Json };
  if ("ciphertext" in value) value = json(await decryptJwe(value, passphrase)) as { [member: string]: Json };
  const trustee = read.integer(1, 20)(value.i ?? null, "i");
  return { trustee, secret: toBigint(read.bytes()(value.s ?? null, "s")) };
}

/** Saves a text as a file on this device. */
export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
