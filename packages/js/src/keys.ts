/**
 * Keys, read from and written as the JSON Web Keys of python-paillier that the command line writes too.
 *
 * A public key is `{"kty": "DAJ", "alg": "PAI-GN1", "key_ops": ["encrypt"], "n": ..., "h": ..., "kid": ...}`, with `h`
 * if it is of the DJN variant; a private key has `p`, `q` and its public key in `pub`.
 */

import * as base64 from "./base64.ts";
import { inverse, mod } from "./bigint.ts";
import { hex, toBigint, toBytes, utf8 } from "./bytes.ts";
import { Core } from "./core.ts";
import { Square } from "./dual.ts";
import { ensure, Fault } from "./errors.ts";
import { checkGenerator, checkModulus, checkPrimes, generates, MAX_BITS } from "./modulus.ts";

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

type Members = { readonly [name: string]: unknown };

/** Encrypts and computes on ciphertexts. */
export class PublicKey extends Core {
  /** Names the key pair: the first 32 hexadecimal digits of the SHA-256 of `n`, as the command line shows them. */
  readonly id: string;
  /** What the key says about itself. */
  readonly comment: string;

  /** Of checked numbers alone: others go through `PublicKey.read`. */
  constructor(n: bigint, generator: bigint | undefined, id: string, comment?: string) {
    super(n, generator);
    this.id = id;
    this.comment = comment ?? `Paillier public key ${id} of Hearith`;
  }

  get variant(): "standard" | "djn" {
    return this.generator === undefined ? "standard" : "djn";
  }

  /** The key in the text of a JSON Web Key. Throws a `Fault` that says what is wrong with it. */
  static async read(text: string, options: KeyOptions = {}): Promise<PublicKey> {
    const members = parsed(text);
    ensure(!("p" in members || "q" in members || "pub" in members), "a private key, not a public one");
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
 */
export class PrivateKey {
  readonly public: PublicKey;
  readonly comment: string;
  readonly #p: Half;
  readonly #q: Half;
  /** The inverse of p modulo q. */
  readonly #inverse: bigint;

  /** Of checked numbers alone: others go through `PrivateKey.read`. */
  constructor(publicKey: PublicKey, p: bigint, q: bigint, comment?: string) {
    this.public = publicKey;
    this.comment = comment ?? `Paillier private key ${publicKey.id} of Hearith`;
    [p, q] = p < q ? [p, q] : [q, p];
    this.#p = new Half(p, publicKey.n);
    this.#q = new Half(q, publicKey.n);
    this.#inverse = inverseModulo(p, q);
  }

  /** The key in the text of a JSON Web Key. Throws a `Fault` that says what is wrong with it, and never shows the key. */
  static async read(text: string, options: KeyOptions = {}): Promise<PrivateKey> {
    const members = parsed(text);
    ensure(
      !("ciphertext" in members),
      "the private key is encrypted: `hearith key` takes its passphrase off",
    );
    ensure(!("s" in members), "a share of a private key: it decrypts together with others only");
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
    ensure(
      key.generator === undefined || generates(key.generator, p, q),
      "the key's generator h is not valid",
    );
    return new PrivateKey(key, p, q, comment(members));
  }

  /** The residue modulo `n` that a ciphertext hides. */
  decrypt(ciphertext: bigint): bigint {
    const { squared } = this.public;
    ensure(ciphertext > 0n, "the ciphertext is not above 0");
    ensure(ciphertext < squared, "the ciphertext is not below n^2");
    const [low, high] = [this.#p.decrypt(ciphertext), this.#q.decrypt(ciphertext)];
    // Garner's form of the Chinese remainder theorem.
    return low + this.#p.prime * mod((high - low) * this.#inverse, this.#q.prime);
  }

  /** The primes, `p < q`: the secret itself, for a worker of one's own. */
  primes(): [bigint, bigint] {
    return [this.#p.prime, this.#q.prime];
  }

  /** Shows no secret, whoever prints the key or puts it into JSON by mistake. */
  toJSON(): string {
    return `PrivateKey(${this.public.id})`;
  }

  /** The key as a JSON Web Key of one line, byte for byte as the command line writes it. It is the secret itself. */
  toJson(): string {
    const [p, q] = this.primes().map(encoded);
    const key = {
      kty: "DAJ",
      key_ops: ["decrypt"],
      p,
      q,
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
  /** The inverse of `L((1 + n)^(p - 1))` modulo `p`. */
  readonly #inverse: bigint;

  constructor(prime: bigint, n: bigint) {
    this.prime = prime;
    this.#square = new Square(prime);
    // (1 + n)^(p - 1) = 1 + (p - 1) n = 1 - n modulo p^2, as p divides n, so L gives -n / p.
    this.#inverse = inverseModulo(-(n / prime), prime);
  }

  /** The plaintext modulo the prime: `c^(p - 1) = 1 + L p` modulo `p^2`. */
  decrypt(ciphertext: bigint): bigint {
    const square = this.#square;
    const power = square.leave(square.power(square.enter(ciphertext), this.prime - 1n));
    ensure(power % this.prime === 1n, "the ciphertext shares a factor with n");
    return ((power / this.prime) * this.#inverse) % this.prime;
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
  ensure(text.length <= MAX_TEXT, () => `${text.length} characters are more than any key has`);
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
  expect(members, "alg", "PAI-GN1");
  const n = number(members, "n");
  checkModulus(n, options.insecure);
  const generator = members.h === undefined || members.h === null ? undefined : number(members, "h");
  if (generator !== undefined) checkGenerator(generator, n);
  return new PublicKey(n, generator, await keyId(n), comment(members));
}

function expect(members: Members, member: string, wanted: string): void {
  ensure(members[member] === wanted, `member '${member}' is not that of a Paillier key`);
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
  return { kty: "DAJ", alg: "PAI-GN1", key_ops: ["encrypt"], n: encoded(key.n), ...h, kid: key.comment };
}

/** The id of the key with this modulus. */
async function keyId(n: bigint): Promise<string> {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) throw new Fault("no Web Crypto: serve the page over https or from localhost");
  const digest = await subtle.digest("SHA-256", shortest(n) as BufferSource);
  return hex(new Uint8Array(digest)).slice(0, 32);
}
