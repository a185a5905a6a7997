import { createHash } from "node:crypto";
import * as base64 from "hearith/base64.ts";
import { gcd, inverse, power, productOfPowers, randomBits } from "hearith/bigint.ts";
import { fromHex, hex, toBytes, utf8 } from "hearith/bytes.ts";
import { describe, expect, test } from "vitest";
import { grouped } from "../src/protocol/base32.ts";
import { canonical, parse } from "../src/protocol/canonical.ts";
import { typedCode } from "../src/protocol/checked.ts";
import { isPublicKey, publicKey, sign, verify } from "../src/protocol/signature.ts";
import { tracker } from "../src/protocol/tracker.ts";
import { leafHash, Tree } from "../src/protocol/tree.ts";

describe("base64url", () => {
  test("agrees with Node's", () => {
    for (let length = 0; length < 70; length++) {
      const bytes = crypto.getRandomValues(new Uint8Array(length));
      expect(base64.encode(bytes)).toBe(Buffer.from(bytes).toString("base64url"));
      expect(base64.decode(base64.encode(bytes), length)).toEqual(bytes);
    }
  });
  test.each(["A", "AAAAA", "AB", "AAB", "AA==", "A+", "A/", "A A", "Aé"])("refuses %s", (text) => {
    expect(() => base64.decode(text)).toThrow();
  });
});

describe("canonical JSON", () => {
  test("is RFC 8785's", () => {
    // The example of its section 3.2.3, as far as it goes without fractions.
    const value = JSON.parse(
      '{"\\u20ac":"Euro","\\r":"CR","\\ufb33":"Hebrew","1":"One","\\ud83d\\ude00":"Smile","\\u0080":"Control","\\u00f6":"O"}',
    );
    expect(Object.values(JSON.parse(canonical(value)))).toHaveLength(7);
    expect([...canonical(value).matchAll(/:"(\w+)"/g)].map((match) => match[1])).toEqual([
      "CR",
      "One",
      "Control",
      "O",
      "Euro",
      "Smile",
      "Hebrew",
    ]);
    expect(canonical({ b: [1, true, null], a: '\u0007\n"é' })).toBe(
      '{"a":"\\u0007\\n\\"é","b":[1,true,null]}',
    );
  });
  test.each([
    '{"b":1,"a":2}',
    '{"a": 1}',
    '{"a":1,"a":1}',
    "1.0",
    "1e2",
    "-1",
    "-0",
    "0.5",
    "9007199254740992",
    '"\\u0041"',
    '"\\ud800"',
    "[1,]",
    "",
  ])("refuses %s", (text) => {
    expect(() => parse(text)).toThrow();
  });
});

describe("arithmetic", () => {
  const modulus = randomBits(256) | 1n;
  const slow = (base: bigint, exponent: bigint) => {
    let result = 1n;
    for (const bit of exponent.toString(2))
      result = (((result * result) % modulus) * (bit === "1" ? base : 1n)) % modulus;
    return result;
  };
  test("powers agree with square and multiply", () => {
    for (const bits of [1, 5, 63, 200]) {
      const [base, exponent] = [randomBits(250), randomBits(bits)];
      expect(power(base, exponent, modulus)).toBe(slow(base % modulus, exponent));
    }
    expect(() => power(2n, -1n, modulus)).toThrow();
  });
  test("products of powers agree with powers", () => {
    for (const count of [0, 1, 2, 17, 70]) {
      const bases = Array.from({ length: count }, () => randomBits(250) % modulus);
      const exponents = bases.map((_, at) => randomBits(at % 3 === 0 ? 128 : 1));
      const expected = bases.reduce(
        (product, base, at) => (product * slow(base, exponents[at] ?? 0n)) % modulus,
        1n,
      );
      expect(productOfPowers(bases, exponents, modulus)).toBe(expected);
    }
  });
  test("inverses", () => {
    expect(inverse(6n, 9n)).toBeUndefined();
    expect(((inverse(12345n, 1_000_003n) ?? 0n) * 12345n) % 1_000_003n).toBe(1n);
    expect(gcd(84n, 30n)).toBe(6n);
  });
  test("a number that does not fit its bytes", () => {
    expect(() => toBytes(256n, 1)).toThrow();
    expect(hex(toBytes(255n, 2))).toBe("00ff");
  });
});

describe("signatures", () => {
  // RFC 8032, section 7.1, the first key.
  const secret = fromHex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  test("hold for their value and purpose alone", () => {
    const key = publicKey(secret);
    expect(hex(key)).toBe("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    const signature = sign(secret, "entry", { a: 1 });
    expect(verify(key, "entry", { a: 1 }, signature)).toBe(true);
    expect(verify(key, "entry", { a: 2 }, signature)).toBe(false);
    expect(verify(key, "head", { a: 1 }, signature)).toBe(false);
    expect(verify(publicKey(signature.slice(0, 32)), "entry", { a: 1 }, signature)).toBe(false);
    expect(verify(key, "entry", { a: 1 }, signature.slice(1))).toBe(false);
  });
  test("have one encoding", () => {
    const key = publicKey(secret);
    const signature = sign(secret, "entry", 1);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${hex(signature.slice(32).reverse())}`) + order;
    const other = new Uint8Array([...signature.slice(0, 32), ...toBytes(s, 32).reverse()]);
    expect(verify(key, "entry", 1, other)).toBe(false);
  });
  test("a key of small order is none", () => {
    const one = new Uint8Array(32).fill(0, 1);
    one[0] = 1;
    expect(isPublicKey(one)).toBe(false);
    // With it, R = B s would do for whatever is signed.
    expect(verify(one, "entry", 1, new Uint8Array([...one, ...new Uint8Array(32)]))).toBe(false);
    expect(isPublicKey(new Uint8Array(32).fill(255))).toBe(false);
    expect(isPublicKey(publicKey(secret))).toBe(true);
  });
});

describe("trackers", () => {
  test("are 26 characters in groups, however they are typed", () => {
    const text = tracker({ a: 1 });
    // Python: base64.b32encode(hashlib.sha256(b'{"a":1}').digest()[:16]).decode().rstrip("=").lower()
    expect(text).toBe("afnl2724yv5c3wklowipaswyba");
    expect(
      grouped(text)
        .split(" ")
        .map((group) => group.length),
    ).toEqual([4, 4, 4, 4, 4, 4, 2]);
    expect(typedCode(` ${grouped(text).toUpperCase()}`, "tracker")).toEqual({ code: text });
    expect(typedCode(text.slice(1), "tracker")).toEqual({ wrong: "length", count: 25 });
  });
});

describe("the tree", () => {
  test("is RFC 6962's", () => {
    // Its recursive definition, with Node's hash.

    const hashed = (...parts: Uint8Array[]) =>
      parts.reduce((state, part) => state.update(part), createHash("sha256")).digest();
    const root = (leaves: Uint8Array[]): Uint8Array => {
      if (leaves.length <= 1) return leaves[0] ?? hashed();
      let split = 1;
      while (2 * split < leaves.length) split *= 2;
      return hashed(Uint8Array.of(1), root(leaves.slice(0, split)), root(leaves.slice(split)));
    };
    const tree = new Tree();
    const leaves: Uint8Array[] = [];
    for (let size = 0; size < 40; size++) {
      expect(tree.root()).toBe(Buffer.from(root(leaves)).toString("hex"));
      const line = `line ${size}`;
      expect(hex(leafHash(line))).toBe(hashed(Uint8Array.of(0), utf8(line)).toString("hex"));
      leaves.push(leafHash(line));
      tree.add(leafHash(line));
    }
  });
});
