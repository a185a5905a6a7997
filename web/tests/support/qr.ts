/** Reads a QR code's modules back, for codes of one block in byte mode: written from ISO/IEC 18004, sharing nothing with what draws them. */

type Modules = readonly (readonly boolean[])[];

const MASKS: ((y: number, x: number) => boolean)[] = [
  (y, x) => (y + x) % 2 === 0,
  (y) => y % 2 === 0,
  (_, x) => x % 3 === 0,
  (y, x) => (y + x) % 3 === 0,
  (y, x) => (Math.floor(y / 2) + Math.floor(x / 3)) % 2 === 0,
  (y, x) => ((y * x) % 2) + ((y * x) % 3) === 0,
  (y, x) => (((y * x) % 2) + ((y * x) % 3)) % 2 === 0,
  (y, x) => (((y + x) % 2) + ((y * x) % 3)) % 2 === 0,
];

/** Whether a module belongs to a pattern that every code of this size has. */
function isFixed(y: number, x: number, size: number): boolean {
  const corner = (y < 9 && x < 9) || (y < 9 && x >= size - 8) || (y >= size - 8 && x < 9);
  // Up to version 6 there is one alignment pattern, from version 2 on.
  const aligned = size > 21 && Math.abs(y - (size - 7)) <= 2 && Math.abs(x - (size - 7)) <= 2;
  return corner || aligned || y === 6 || x === 6;
}

/** The text of a code without its border. */
export function decodeQr(modules: Modules): string {
  const size = modules.length;
  const dark = (y: number, x: number) => modules[y]?.[x] === true;
  // The format's fifteen bits begin along row 8: two of level, three of the mask, under a mask of their own.
  const format = [0, 1, 2, 3, 4].reduce((bits, x) => 2 * bits + Number(dark(8, x)), 0) ^ 0b10101;
  // Level L has one block up to version 5, level M up to 3.
  const most = format >> 3 === 1 ? 37 : 29;
  if (size > most) throw new Error(`a code of ${size} modules may have several blocks`);
  const mask = MASKS[format & 7] as (y: number, x: number) => boolean;
  const bits: number[] = [];
  let up = true;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const y = up ? size - 1 - step : step;
      for (const x of [right, right - 1])
        if (!isFixed(y, x, size)) bits.push(Number(dark(y, x) !== mask(y, x)));
    }
    up = !up;
  }
  const number = (from: number, count: number) =>
    bits.slice(from, from + count).reduce((all, bit) => 2 * all + bit, 0);
  if (number(0, 4) !== 4) throw new Error(`a code in mode ${number(0, 4)}, not of bytes`);
  const bytes = Array.from({ length: number(4, 8) }, (_, at) => number(12 + 8 * at, 8));
  return new TextDecoder().decode(Uint8Array.from(bytes));
}
