/** Decimal numbers as integers in units of `10^-scale`, exactly: as the command line reads and shows them. */

import { ensure } from "./errors.ts";

/** Most fractional digits: what a 128-bit integer holds. */
export const MAX_SCALE = 38;
/** Magnitudes are below this. */
const LIMIT = 1n << 127n;

/** A number to encrypt: a JavaScript number stands for its shortest decimal. */
export type Numeric = bigint | number | string;

/** The decimal in a text, an integer or a float, in units of `10^-scale`. Further places must be zeros. */
export function parseDecimal(value: Numeric, scale: number): bigint {
  const text = typeof value === "number" ? shortest(value) : String(value);
  const match = /^([+-]?)(\d*)(?:\.(\d*))?$/.exec(text);
  const [sign = "", whole = "", places = ""] = match?.slice(1) ?? [];
  ensure(match !== null && whole.length + places.length > 0, "not a decimal number");
  let end = places.length;
  while (places.charAt(end - 1) === "0") end--;
  ensure(end <= scale, () => `more than ${scale} decimal places`);
  const digits = whole + places.slice(0, end) + "0".repeat(scale - end);
  // Longer texts are not worth converting: zeros in front aside, a magnitude has 39 digits.
  const first = digits.search(/[1-9]/);
  ensure(first < 0 || digits.length - first <= 39, "the number is out of range");
  const magnitude = BigInt(first < 0 ? 0 : digits.slice(first));
  const number = sign === "-" ? -magnitude : magnitude;
  ensure(number >= -LIMIT && number < LIMIT, "the number is out of range");
  return number;
}

/** A number in units of `10^-scale`, as a decimal with exactly `scale` places. */
export function formatDecimal(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
  const [whole, places] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)];
  return (value < 0n ? "-" : "") + whole + (scale > 0 ? `.${places}` : "");
}

/** The shortest decimal of a float, without an exponent. */
function shortest(value: number): string {
  ensure(Number.isFinite(value), "not a finite number");
  const [mantissa = "", exponent = "0"] = value.toString().split("e");
  if (exponent === "0") return mantissa;
  const [whole = "", places = ""] = mantissa.replace("-", "").split(".");
  const sign = value < 0 ? "-" : "";
  const point = Number(exponent);
  const digits = whole + places;
  return point < 0
    ? `${sign}0.${"0".repeat(-point - whole.length)}${digits}`
    : sign + digits + "0".repeat(point - places.length);
}
