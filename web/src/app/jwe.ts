/** A file under a passphrase: PBES2 with AES Key Wrap and AES-GCM, as JSON Web Encryption writes it (RFC 7516, 7518), by the browser's own cryptography. */

import * as base64 from "hearith/base64.ts";
import { concat, utf8 } from "hearith/bytes.ts";
import { ensure, Fault } from "hearith/errors.ts";
import type { Json } from "../protocol/canonical.ts";
import * as read from "../protocol/readers.ts";

/** What each algorithm derives and wraps with. */
const WRAPPINGS = {
  "PBES2-HS256+A128KW": { hash: "SHA-256", length: 128 },
  "PBES2-HS384+A192KW": { hash: "SHA-384", length: 192 },
  "PBES2-HS512+A256KW": { hash: "SHA-512", length: 256 },
} as const;
const CONTENTS = { A128GCM: 128, A192GCM: 192, A256GCM: 256 } as const;
/** More iterations than any file of ours has would only keep the browser busy. */
const MOST_ITERATIONS = 10_000_000;

type Bytes = Uint8Array<ArrayBuffer>;

function member(value: { [name: string]: Json }, name: string): Bytes {
  return read.bytes()(value[name] ?? null, name) as Bytes;
}

async function wrappingKey(header: { [name: string]: Json }, passphrase: string): Promise<CryptoKey> {
  const algorithm = read.oneOf(...(Object.keys(WRAPPINGS) as (keyof typeof WRAPPINGS)[]))(
    header.alg ?? null,
    "alg",
  );
  const { hash, length } = WRAPPINGS[algorithm];
  const iterations = read.integer(1, MOST_ITERATIONS)(header.p2c ?? null, "p2c");
  const salt = concat(utf8(algorithm), Uint8Array.of(0), member(header, "p2s")) as Bytes;
  const secret = await crypto.subtle.importKey("raw", utf8(passphrase) as Bytes, "PBKDF2", false, [
    "deriveKey",
  ]);
  const derived = { name: "AES-KW", length };
  return crypto.subtle.deriveKey({ name: "PBKDF2", hash, salt, iterations }, secret, derived, false, [
    "unwrapKey",
  ]);
}

/** The text inside. */
export async function decryptJwe(jwe: { [name: string]: Json }, passphrase: string): Promise<string> {
  const encoded = read.text(jwe.protected ?? null, "protected");
  const header = JSON.parse(new TextDecoder().decode(base64.decode(encoded))) as { [name: string]: Json };
  ensure(passphrase !== "", "the file needs a passphrase");
  const content = read.oneOf(...(Object.keys(CONTENTS) as (keyof typeof CONTENTS)[]))(
    header.enc ?? null,
    "enc",
  );
  const wrapping = await wrappingKey(header, passphrase);
  try {
    const wrapped = member(jwe, "encrypted_key");
    const form = { name: "AES-GCM", length: CONTENTS[content] };
    const key = await crypto.subtle.unwrapKey("raw", wrapped, wrapping, "AES-KW", form, false, ["decrypt"]);
    const parameters = { name: "AES-GCM", iv: member(jwe, "iv"), additionalData: utf8(encoded) as Bytes };
    const text = concat(member(jwe, "ciphertext"), member(jwe, "tag")) as Bytes;
    return new TextDecoder().decode(await crypto.subtle.decrypt(parameters, key, text));
  } catch {
    throw new Fault("the passphrase does not open the file");
  }
}
