/**
 * Encrypted numbers as text that says what they are: a value of PostgreSQL's type `ciphertext`, and a cell of
 * `hearith export --values` (`hearith_paillier::described`).
 */

import { decode, encode, isEncoding } from "./base64.ts";
import { formatDecimal } from "./decimal.ts";
import { Encoding } from "./encoding.ts";
import { Encrypted } from "./encrypted.ts";
import { ensure } from "./errors.ts";
import type { PublicKey } from "./keys.ts";

const PREFIX = "he1";
/** Characters of the longest ciphertext. */
const MOST_CHARACTERS = 2731;
const FORM =
  /^he1:([0-9a-f]{32}):([1-9]\d{1,3}):(0|[1-9]\d?):([1-9]\d{0,38}):([1-9]\d{0,19}):([1-9]\d{0,19}):([\w-]+)$/;

/** The text of an encrypted number. Throws for numbers in slots, which have none. */
export function toValue(number: Encrypted): string {
  const { key, encoding, additions } = number;
  ensure(encoding.slots === 1, "packed numbers cannot be written as a single value");
  ensure(additions > 0n, "a number with 0 additions cannot be written as a value");
  const parts = [key.id, key.bits, encoding.scales[0], encoding.ranges[0], encoding.maxAdditions, additions];
  return `${PREFIX}:${parts.join(":")}:${encode(key.wide(number.ciphertext))}`;
}

/** The encrypted number of a text. Throws a `Fault` unless it is one under this key. */
export function fromValue(key: PublicKey, text: string): Encrypted {
  const parts = FORM.exec(text);
  ensure(
    parts !== null,
    `not an encrypted number: its text is ${PREFIX}:KEY:BITS:SCALE:RANGE:HEADROOM:ADDITIONS:CIPHERTEXT`,
  );
  const [, id, bits, scale, range, headroom, additions, ciphertext] = parts as unknown as string[];
  ensure(id === key.id && bits === String(key.bits), "the number was encrypted with another key");
  const places = Number(scale);
  const units = BigInt(range as string);
  ensure(places <= 38 && units < 1n << 127n, "the scale or the range is out of range");
  const encoding = new Encoding({
    scale: places,
    range: formatDecimal(units, places),
    maxAdditions: BigInt(headroom as string),
  });
  const digits = ciphertext as string;
  ensure(digits.length <= MOST_CHARACTERS && isEncoding(digits), "the ciphertext is not base64url");
  return Encrypted.from(
    key,
    encoding,
    key.readWide(decode(digits, 2 * key.bytes)),
    BigInt(additions as string),
  );
}
