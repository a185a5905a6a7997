import { createCipheriv, pbkdf2Sync, randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { readSecret, readShareFile, secretText } from "../src/app/files.ts";

const SHARE = JSON.stringify({ kty: "DAJ", key_ops: ["decrypt-share"], i: 3, s: "AQI", pub: {}, shared: {} });

/** A file as RFC 7516 and 7518 describe it, by Node's own cryptography. */
function sealed(text: string, passphrase: string, alg: string, bits: number, hash: string): string {
  const [salt, iv, key] = [randomBytes(16), randomBytes(12), randomBytes(32)];
  const header = { alg, enc: "A256GCM", p2s: salt.toString("base64url"), p2c: 1000 };
  const encoded = Buffer.from(JSON.stringify(header)).toString("base64url");
  const wrapping = pbkdf2Sync(
    passphrase,
    Buffer.concat([Buffer.from(`${alg}\0`), salt]),
    1000,
    bits / 8,
    hash,
  );
  const wrap = createCipheriv(`id-aes${bits}-wrap`, wrapping, Buffer.from("a6a6a6a6a6a6a6a6", "hex"));
  const wrapped = Buffer.concat([wrap.update(key), wrap.final()]);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(encoded));
  const ciphertext = Buffer.concat([cipher.update(text), cipher.final()]);
  const members = { encrypted_key: wrapped, iv, ciphertext, tag: cipher.getAuthTag() };
  const texts = Object.entries(members).map(([name, bytes]) => [name, bytes.toString("base64url")]);
  return JSON.stringify({ protected: encoded, ...Object.fromEntries(texts) });
}

describe("a trustee's file", () => {
  test("is read in the clear", async () => {
    expect(await readShareFile(SHARE, "")).toEqual({ trustee: 3, secret: 258n });
    await expect(readShareFile('{"i":0,"s":"AQI"}', "")).rejects.toThrow("1 to 20");
    await expect(readShareFile('{"i":1}', "")).rejects.toThrow("s is not a text");
    await expect(readShareFile("{", "")).rejects.toThrow("not JSON");
  });

  test("of a key that trustees generated together is read as well", async () => {
    // As `hearith election ceremony --distributed` writes it: "version" 2, and no "v".
    const shared = { version: 2, needed: 2, trustees: 3, v_i: ["AQI"] };
    const text = JSON.stringify({ ...JSON.parse(SHARE), shared });
    expect(await readShareFile(text, "")).toEqual({ trustee: 3, secret: 258n });
  });

  test.each([
    ["PBES2-HS256+A128KW", 128, "sha256"],
    ["PBES2-HS512+A256KW", 256, "sha512"],
  ])("is read under a passphrase, %s", async (alg, bits, hash) => {
    const text = sealed(SHARE, "correct horse", alg, bits, hash);
    expect(await readShareFile(text, "correct horse")).toEqual({ trustee: 3, secret: 258n });
    await expect(readShareFile(text, "wrong horse")).rejects.toThrow("does not open");
    await expect(readShareFile(text, "")).rejects.toThrow("needs a passphrase");
    const other = { ...JSON.parse(text), tag: Buffer.alloc(16).toString("base64url") };
    await expect(readShareFile(JSON.stringify(other), "correct horse")).rejects.toThrow("does not open");
  });

  test("is refused with an algorithm that nobody knows, or endless work", async () => {
    const text = JSON.parse(sealed(SHARE, "x", "PBES2-HS512+A256KW", 256, "sha512"));
    for (const change of [{ alg: "dir" }, { enc: "A256CBC-HS512" }, { p2c: 1e9 }]) {
      const header = { ...JSON.parse(Buffer.from(text.protected, "base64url").toString()), ...change };
      const encoded = Buffer.from(JSON.stringify(header)).toString("base64url");
      await expect(readShareFile(JSON.stringify({ ...text, protected: encoded }), "x")).rejects.toThrow(
        /must be one of|not an integer/,
      );
    }
  });
});

describe("a secret's file", () => {
  const secret = {
    election: "0".repeat(64),
    kind: "voter",
    secret: new Uint8Array(32).fill(7),
    voter: "anna",
  } as const;
  test("is read back", () => {
    expect(readSecret(secretText(secret), "voter")).toEqual(secret);
    expect(readSecret(`${secretText(secret)}\n`, "voter")).toEqual(secret);
  });
  test("is refused for another purpose, or with anything else in it", () => {
    expect(() => readSecret(secretText(secret), "organiser")).toThrow("the file is the voter's key");
    expect(() => readSecret(SHARE, "voter")).toThrow("a trustee's share");
    expect(() => readSecret("PK", "voter")).toThrow("not JSON");
    expect(() => readSecret(secretText({ ...secret, voter: null }), "voter")).toThrow("must name its voter");
    expect(() => readSecret(secretText({ ...secret, secret: new Uint8Array(31) }), "voter")).toThrow(
      "31 bytes",
    );
    expect(() => readSecret(secretText(secret).replace("{", '{"more":1,'), "voter")).toThrow(
      "unknown member",
    );
  });
});
