/**
 * How numbers lie in a plaintext: as an integer times `10^-scale`, alone or several side by side in slots, with headroom
 * for additions. The layout is that of the command line's columns (`hearith_paillier::encoding::SlotLayout`).
 */

import { bitLength, mod } from "./bigint.ts";
import type { Core } from "./core.ts";
import { formatDecimal, MAX_SCALE, type Numeric, parseDecimal } from "./decimal.ts";
import { ensure } from "./errors.ts";

/** What an encoding is made of. What is left out is as in `hearith encrypt`. */
export interface EncodingOptions {
  /** Fractional decimal digits that are kept, 0 to 38: of each slot, or of all. */
  readonly scale?: number | readonly number[];
  /** Largest magnitude of one number, before scaling: of each slot, or of all. By default 2^63 - 1 after scaling. */
  readonly range?: Numeric | readonly Numeric[];
  /** Additions that a ciphertext has headroom for, 1 to 2^64 - 1. By default 2^32. */
  readonly maxAdditions?: number | bigint;
  /** Numbers in a ciphertext. By default one. */
  readonly slots?: number;
}

const DEFAULT_RANGE = (1n << 63n) - 1n;
const DEFAULT_MAX_ADDITIONS = 1n << 32n;

/** Scale, range and headroom of the numbers of a ciphertext. */
export class Encoding {
  readonly slots: number;
  /** Fractional digits of each slot. */
  readonly scales: readonly number[];
  /** The largest magnitude of each slot's numbers, in units of the last digit. */
  readonly ranges: readonly bigint[];
  readonly maxAdditions: bigint;
  /** Bits of a slot: of the largest number, of the additions, and a sign. */
  readonly slotBits: number;
  readonly #text: string;

  constructor(options: EncodingOptions = {}) {
    const { scale = 0, range, slots = 1 } = options;
    ensure(
      Number.isInteger(slots) && slots >= 1 && slots <= MAX_SLOTS,
      "the number of slots is out of range",
    );
    this.slots = slots;
    this.scales = each(scale, slots, "scale");
    ensure(
      this.scales.every((one) => Number.isInteger(one) && one >= 0 && one <= MAX_SCALE),
      `a scale must be between 0 and ${MAX_SCALE}`,
    );
    this.ranges =
      range === undefined
        ? this.scales.map(() => DEFAULT_RANGE)
        : each(range, slots, "range").map((one, at) => parseDecimal(one, this.scales[at] ?? 0));
    ensure(
      this.ranges.every((one) => one > 0n),
      "a range must be above 0",
    );
    this.maxAdditions = wholeNumber(options.maxAdditions ?? DEFAULT_MAX_ADDITIONS);
    ensure(
      this.maxAdditions >= 1n && this.maxAdditions < 1n << 64n,
      "the headroom must be between 1 and 2^64 - 1 additions",
    );
    this.slotBits = Math.max(...this.ranges.map(bitLength)) + bitLength(this.maxAdditions - 1n) + 1;
    this.#text = [this.maxAdditions, slots, this.scales, this.ranges].join(";");
  }

  /** Whether two describe the same numbers: only then do ciphertexts add up. */
  equals(other: Encoding): boolean {
    return this === other || this.#text === other.#text;
  }

  /** Throws unless all slots of sums stay below `n / 2`. */
  checkKey(key: Core): void {
    const fits = Math.floor((key.bits - 1) / this.slotBits);
    ensure(
      this.slots <= fits,
      () =>
        `${this.slots} slots of ${this.slotBits} bits do not fit into a key of ${key.bits} bits; ${fits} would`,
    );
  }

  /** The plaintext of one number, or of a number a slot. */
  encode(key: Core, values: Numeric | readonly Numeric[]): bigint {
    this.checkKey(key);
    const numbers = listed(values);
    ensure(numbers.length === this.slots, () => `${numbers.length} numbers, not ${this.slots}`);
    const units = numbers.map((value, slot) => {
      const number = parseDecimal(value, this.scales[slot] ?? 0);
      const range = this.ranges[slot] ?? 0n;
      ensure(
        number <= range && number >= -range,
        () =>
          `the number in slot ${slot} is out of range: at most ${formatDecimal(range, this.scales[slot] ?? 0)}`,
      );
      return number;
    });
    return mod(
      units.reduceRight((all, number) => (all << BigInt(this.slotBits)) + number, 0n),
      key.n,
    );
  }

  /** The numbers of a plaintext that so many additions made, as decimals. Throws if one has overflowed. */
  decode(key: Core, plaintext: bigint, additions: bigint = this.maxAdditions): string[] {
    this.checkKey(key);
    const width = BigInt(this.slotBits);
    // A negative number borrows from the slot above: half a slot's numbers, added to each, give all borrows back.
    const offset = this.ranges.reduce((all) => (all << width) + (1n << (width - 1n)), 0n);
    let rest = mod(plaintext + offset, key.n);
    const numbers = this.ranges.map((range, slot) => {
      const number = BigInt.asUintN(this.slotBits, rest) - (1n << (width - 1n));
      rest >>= width;
      const bound = range * additions;
      ensure(number <= bound && number >= -bound, () => `the number in slot ${slot} has overflowed`);
      return formatDecimal(number, this.scales[slot] ?? 0);
    });
    ensure(rest === 0n, "the numbers have overflowed, or were packed with another encoding");
    return numbers;
  }
}

/** More slots than any key holds: each has two bits or more. */
const MAX_SLOTS = 4096;

/** A whole number, exactly. */
export function wholeNumber(value: number | bigint): bigint {
  ensure(
    typeof value === "bigint" || Number.isSafeInteger(value),
    "the number is not an integer of at most 53 bits",
  );
  return BigInt(value);
}

function listed<T extends Numeric>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T];
}

/** One for each slot, or one for all. */
function each<T extends Numeric>(value: T | readonly T[], slots: number, name: string): readonly T[] {
  if (!Array.isArray(value)) return Array.from({ length: slots }, () => value as T);
  ensure(value.length === slots, () => `${name} lists ${value.length} slots, not ${slots}`);
  return value;
}
