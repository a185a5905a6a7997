/** What the form does with what somebody typed: checks it, and encrypts the salary. */

import { Encoding, Encrypted, toValue } from "hearith";

export const DEPARTMENTS = ["lab", "office", "sales", "workshop"];

/** Up to a million a month, in cents, and room for a million answers. */
export const ENCODING = new Encoding({ scale: 2, range: 1_000_000, maxAdditions: 1_000_000 });

/** What is wrong with what was typed. */
export class Mistake extends Error {}

/**
 * The answer that is sent: nobody but the holder of the private key can read the salary in it.
 *
 * @param {import("hearith").PublicKey} key
 * @param {{ code: string, dept: string, salary: string }} typed
 */
export function answer(key, { code, dept, salary }) {
  if (!DEPARTMENTS.includes(dept)) throw new Mistake("Choose your department.");
  // People write 4,200.50 and 4 200,50: only digits and one mark before the last two are taken.
  const plain = salary.trim().replace(/[\s']/g, "");
  if (!/^\d{1,7}([.,]\d{1,2})?$/.test(plain)) throw new Mistake("Write your salary as a number, such as 4200.50.");
  const number = plain.replace(",", ".");
  if (Number(number) > 1_000_000) throw new Mistake("The salary is at most 1000000.");
  return { code, dept, salary: toValue(Encrypted.of(key, number, ENCODING)) };
}
