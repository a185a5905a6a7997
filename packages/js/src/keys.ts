/**
 * Keys, read from and written as the JSON Web Keys of python-paillier that the command line writes too.
 *
 * A public key is `{"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": ..., "h": ..., "kid": ...}`, with `h`
 * if it is of the DJN variant; a private key has `p`, `q` and its public key in `pub`. A subgroup key is of
 * `"alg": "PAI-SG1"`, with the bits of its exponents in `x`, and its private key has the primes of the subgroup in `sp` and
 * `sq`.
 */

import * as base64 from "./base64.ts";
import { bitLength, inverse, mod } from "./bigint.ts";
import { concat, hex, toBigint, toBytes, utf8 } from "./bytes.ts";
import { Core } from "./core.ts";
import { Square } from "./dual.ts";
import { ensure, Fault } from "./errors.ts";
import {
  checkExponent,
  checkGenerator,
  checkModulus,
  checkPrimes,
  checkSubgroup,
  generates,
  MAX_BITS,
} from "./modulus.ts";

/** The algorithm of subgroup keys: readers that know nothing of them refuse it. */
const SUBGROUP = "PAI-SG1";
/** Characters of the longest text of a key that is read. */
const MAX_TEXT = 1 << 16;
/** Characters of the longest base64url text that is decoded. */
const LONGEST = 4096;
/** Bytes of the longest comment. */
const LONGEST_COMMENT = 1024;

export interface KeyOptions {
  /** Admits keys that protect nothing: below 2048 bits, with a prime modulus or with close primes. For tests. */
  readonly insecure?: boolean;
}

/** Two numbers, of which one belongs to each prime. */
type Pair = readonly [bigint, bigint];
type Members = { readonly [name: string]: unknown };

/** Encrypts and computes on ciphertexts. */
export class PublicKey extends Core {
  /**
   * Names the key pair, as the command line shows it: the first 32 hexadecimal digits of the SHA-256 of `n`; of a subgroup
   * key, of its exponents' length, `n` and `h`.
   */
  readonly id: string;
  /** What the key says about itself. */
  readonly comment: string;
  /** Bits of the randomisers' exponents of a subgroup key. */
  readonly exponentBits: number | undefined;

  /** Of checked numbers alone: others go through `PublicKey.read`. */
  constructor(n: bigint, generator: bigint | undefined, id: string, comment?: string, exponentBits?: number) {
    super(n, generator, exponentBits);
    this.exponentBits = exponentBits;
    this.id = id;
    this.comment = comment ?? `Paillier public key ${id} of Hearith`;
  }

  get variant(): "standard" | "djn" | "subgroup" {
    if (this.exponentBits !== undefined) return "subgroup";
    return this.generator === undefined ? "standard" : "djn";
  }

  /** The key in the text of a JSON Web Key. Throws a `Fault` that says what is wrong with it. */
  static async read(text: string, options: KeyOptions = {}): Promise<PublicKey> {
    const members = parsed(text);
    ensure(
      !("p" in members || "q" in members || "pub" in members),
      "this is a private key, not a public key",
    );
    return publicKey(members, options);
  }

  /** The key as a JSON Web Key of one line, byte for byte as the command line writes it. */
  toJson(): string {
    return JSON.stringify(publicMembers(this));
  }
}

/**
 * Decrypts. Not in constant time, and nothing of it can be wiped: use it for tests and on machines that nobody else
 * measures. Private keys belong to the command line or the Python package.
 *
 * A subgroup key decrypts with the short exponents of its subgroup, and rejects ciphertexts whose randomisers are not of
 * it. `anyRandomiser` decrypts these too.
 */
export class PrivateKey {
  readonly public: PublicKey;
  readonly comment: string;
  readonly #p: Half;
  readonly #q: Half;
  /** The inverse of p modulo q. */
  readonly #inverse: bigint;
  readonly #orders: Pair | undefined;
  readonly #isShort: boolean;

  /** Of checked numbers alone: others go through `PrivateKey.read`. The primes of a subgroup belong to `p` and `q`. */
  constructor(
    publicKey: PublicKey,
    p: bigint,
    q: bigint,
    comment?: string,
    orders?: Pair,
    anyRandomiser = false,
  ) {
    this.public = publicKey;
    this.comment = comment ?? `Paillier private key ${publicKey.id} of Hearith`;
    if (p > q) {
      [p, q] = [q, p];
      orders = orders && [orders[1], orders[0]];
    }
    this.#orders = orders;
    this.#isShort = orders !== undefined && !anyRandomiser;
    const exponents: Pair = orders && !anyRandomiser ? [2n * orders[0], 2n * orders[1]] : [p - 1n, q - 1n];
    this.#p = new Half(p, q, exponents[0]);
    this.#q = new Half(q, p, exponents[1]);
    this.#inverse = inverseModulo(p, q);
  }

  /** The same key with the exponents of other keys: slower, and it decrypts ciphertexts of any origin. */
  anyRandomiser(): PrivateKey {
    return new PrivateKey(this.public, ...this.primes(), this.comment, this.#orders, true);
  }

  /** Whether it decrypts ciphertexts whatever their randomisers are. */
  get decryptsAny(): boolean {
    return !this.#isShort;
  }

  /** The key in the text of a JSON Web Key. Throws a `Fault` that says what is wrong with it, and never shows the key. */
  static async read(text: string, options: KeyOptions = {}): Promise<PrivateKey> {
    const members = parsed(text);
    ensure(
      !("ciphertext" in members),
      "the private key is encrypted: `hearith key decrypt` removes its passphrase",
    );
    ensure(
      !("s" in members),
      "this is a share of a private key: it decrypts only together with other shares",
    );
    expect(members, "kty", "DAJ");
    const operations = members.key_ops;
    ensure(
      Array.isArray(operations) && operations.includes("decrypt"),
      "member 'key_ops' does not contain 'decrypt'",
    );
    ensure(isObject(members.pub), "member 'pub' is not a public key");
    const key = await publicKey(members.pub, options);
    const [p, q] = [number(members, "p"), number(members, "q")];
    ensure(
      p < 1n << BigInt(MAX_BITS / 2) && q < 1n << BigInt(MAX_BITS / 2),
      `a key of more than ${MAX_BITS} bits is not supported`,
    );
    checkPrimes(p, q, options.insecure);
    ensure(p * q === key.n, "the primes of the private key do not belong to its public modulus");
    const { generator, exponentBits } = key;
    if (generator === undefined || exponentBits === undefined) {
      ensure(generator === undefined || generates(generator, p, q), "the key's generator h is not valid");
      return new PrivateKey(key, p, q, comment(members));
    }
    ensure(
      "sp" in members && "sq" in members,
      "the private subgroup key is not valid: the primes of its subgroup are missing",
    );
    const [sp, sq] = [number(members, "sp"), number(members, "sq")];
    const [primes, orders]: [Pair, Pair] =
      p < q
        ? [
            [p, q],
            [sp, sq],
          ]
        : [
            [q, p],
            [sq, sp],
          ];
    checkSubgroup(primes, orders, generator, exponentBits);
    return new PrivateKey(key, ...primes, comment(members), orders);
  }

  /** The residue modulo `n` that a ciphertext hides. */
  decrypt(ciphertext: bigint): bigint {
    const { squared } = this.public;
    ensure(ciphertext > 0n, "the ciphertext is not above 0");
    ensure(ciphertext < squared, "the ciphertext is not below n^2");
    // Both are looked at before they are put together: a number that is right in one half only has a factor of n in it.
    const [low, high] = [this.#p.decrypt(ciphertext), this.#q.decrypt(ciphertext)];
    if (low === undefined || high === undefined) {
      if (!this.#isShort) throw new Fault("the ciphertext shares a factor with n");
      throw new Fault(
        "the ciphertext was not made with this subgroup key's randomisers (rows of other origin need anyRandomiser)",
      );
    }
    // Garner's form of the Chinese remainder theorem.
    return low + this.#p.prime * mod((high - low) * this.#inverse, this.#q.prime);
  }

  /** The primes, `p < q`: the secret itself, for a worker of one's own. */
  primes(): [bigint, bigint] {
    return [this.#p.prime, this.#q.prime];
  }

  /** The primes of its subgroup, of `p` first, if it has one: as secret as `primes`. */
  subgroupPrimes(): [bigint, bigint] | undefined {
    return this.#orders && [this.#orders[0], this.#orders[1]];
  }

  /** Shows no secret, whoever prints the key or puts it into JSON by mistake. */
  toJSON(): string {
    return `PrivateKey(${this.public.id})`;
  }

  /** The key as a JSON Web Key of one line, byte for byte as the command line writes it. It is the secret itself. */
  toJson(): string {
    const [p, q] = this.primes().map(encoded);
    const orders = this.#orders && { sp: encoded(this.#orders[0]), sq: encoded(this.#orders[1]) };
    const key = {
      kty: "DAJ",
      key_ops: ["decrypt"],
      p,
      q,
      ...orders,
      pub: publicMembers(this.public),
      kid: this.comment,
    };
    return JSON.stringify(key);
  }
}

/** What decrypts modulo one prime. */
class Half {
  readonly prime: bigint;
  readonly #square: Square;
  readonly #exponent: bigint;
  /** The inverse of `L((1 + n)^exponent)` modulo `p`. */
  readonly #inverse: bigint;

  constructor(prime: bigint, other: bigint, exponent: bigint) {
    this.prime = prime;
    this.#square = new Square(prime);
    this.#exponent = exponent;
    // (1 + n)^e = 1 + e n modulo p^2, as p divides n, so L gives e q.
    this.#inverse = inverseModulo(exponent * other, prime);
  }

  /** The plaintext modulo the prime: `c^e = 1 + L p` modulo `p^2`; undefined if the power is not 1 modulo the prime. */
  decrypt(ciphertext: bigint): bigint | undefined {
    const square = this.#square;
    const power = square.leave(square.power(square.enter(ciphertext), this.#exponent));
    return power % this.prime === 1n ? ((power / this.prime) * this.#inverse) % this.prime : undefined;
  }
}

function inverseModulo(of: bigint, modulus: bigint): bigint {
  const found = inverse(of, modulus);
  if (found === undefined) throw new Fault("the primes of the private key share a factor");
  return found;
}

function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(text: string): Members {
  ensure(text.length <= MAX_TEXT, () => `${text.length} characters are too long for a key`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message may quote a secret.
    throw new Fault("not a JSON Web Key: not JSON");
  }
  if (!isObject(value)) throw new Fault("not a JSON Web Key: not an object");
  return value;
}

async function publicKey(members: Members, options: KeyOptions): Promise<PublicKey> {
  expect(members, "kty", "DAJ");
  const isSubgroup = members.alg === SUBGROUP;
  if (!isSubgroup) expect(members, "alg", "PAI-GN1");
  const n = number(members, "n");
  const exponentBits = isSubgroup ? count(members, "x") : undefined;
  checkModulus(n, options.insecure);
  if (exponentBits !== undefined) checkExponent(exponentBits, bitLength(n));
  const hasGenerator = members.h !== undefined && members.h !== null;
  ensure(hasGenerator || !isSubgroup, "member 'h' is missing");
  const generator = hasGenerator ? number(members, "h") : undefined;
  if (generator !== undefined) checkGenerator(generator, n);
  const id = await keyId(n, generator, exponentBits);
  return new PublicKey(n, generator, id, comment(members), exponentBits);
}

function expect(members: Members, member: string, wanted: string): void {
  ensure(members[member] === wanted, `member '${member}' does not have the value of a Paillier key`);
}

/** A number of bits. */
function count(members: Members, member: string): number {
  const value = members[member];
  ensure(value !== undefined && value !== null, `member '${member}' is missing`);
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0)
    throw new Fault(`member '${member}' is not a number of bits`);
  return value;
}

/** A number in unpadded base64url; padding, which some writers add, is passed over. */
function number(members: Members, member: string): bigint {
  const text = members[member];
  if (typeof text !== "string") throw new Fault(`member '${member}' is not a text`);
  let end = text.length;
  while (text.charAt(end - 1) === "=") end--;
  const digits = text.slice(0, end);
  ensure(digits.length <= LONGEST, `member '${member}' is too long`);
  ensure(base64.isEncoding(digits), `member '${member}' is not base64url`);
  return toBigint(base64.decode(digits));
}

function comment(members: Members): string | undefined {
  const { kid } = members;
  if (kid === undefined || kid === null) return undefined;
  if (typeof kid !== "string") throw new Fault("member 'kid' is not a text");
  ensure(utf8(kid).length <= LONGEST_COMMENT, "member 'kid' is too long");
  return kid;
}

function shortest(number: bigint): Uint8Array {
  return toBytes(number, Math.ceil(number.toString(16).length / 2));
}

function encoded(number: bigint): string {
  return base64.encode(shortest(number));
}

function publicMembers(key: PublicKey) {
  const h = key.generator === undefined ? {} : { h: encoded(key.generator) };
  const x = key.exponentBits === undefined ? {} : { x: key.exponentBits };
  const alg = key.exponentBits === undefined ? "PAI-GN1" : SUBGROUP;
  return { kty: "DAJ", alg, key_ops: ["encrypt"], n: encoded(key.n), ...h, ...x, kid: key.comment };
}

/** What the hash of a subgroup key's id begins with. */
const SUBGROUP_LABEL = "hearith subgroup key 1\0";

/** The id of the key with this modulus; of a subgroup key its generator and its exponents' length are bound too. */
async function keyId(n: bigint, generator?: bigint, exponentBits?: number): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) throw new Fault("no Web Crypto: serve the page over https or from localhost");
  let hashed = shortest(n);
  if (generator !== undefined && exponentBits !== undefined) {
    const parts = [
      utf8(SUBGROUP_LABEL),
      toBytes(BigInt(exponentBits), 4),
      hashed,
      toBytes(generator, hashed.length),
    ];
    hashed = concat(...parts);
  }
  const digest = await subtle.digest("SHA-256", hashed as BufferSource);
  return hex(new Uint8Array(digest)).slice(0, 32);
}
