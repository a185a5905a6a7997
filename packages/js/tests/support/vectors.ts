/** The known answers of the crate: computed with GMP by the textbook's formulas, and confirmed by python-paillier. */

import { readFileSync } from "node:fs";
import * as base64 from "../../src/base64.ts";
import { fromHex } from "../../src/bytes.ts";

interface Encryption {
  readonly m: string;
  readonly c: string;
}
export interface KeyVector {
  readonly kind: string;
  readonly bits: number;
  readonly p: string;
  readonly q: string;
  readonly n: string;
  readonly encryptions: readonly (Encryption & { readonly r: string })[];
  readonly decryptions: readonly Encryption[];
  readonly arithmetic: Readonly<Record<string, string>>;
}
export interface DjnVector {
  readonly bits: number;
  readonly p: string;
  readonly q: string;
  readonly n: string;
  readonly h: string;
  readonly encryptions: readonly (Encryption & { readonly a: string })[];
}

const PATH = new URL("../../../../crates/paillier/tests/vectors/vectors.json", import.meta.url);
export const VECTORS = JSON.parse(readFileSync(PATH, "utf8")) as { keys: KeyVector[]; djn: DjnVector[] };

export function number(hex: string): bigint {
  return BigInt(`0x${hex}`);
}

function encoded(hex: string): string {
  return base64.encode(fromHex(hex.length % 2 ? `0${hex}` : hex));
}

export function publicMembers({ n, h }: { n: string; h?: string }) {
  return {
    kty: "DAJ",
    alg: "PAI-GN1",
    key_ops: ["encrypt"],
    n: encoded(n),
    ...(h && { h: encoded(h) }),
    kid: "of a test",
  };
}

export function privateMembers(vector: { n: string; h?: string; p: string; q: string }) {
  const [p, q] = [encoded(vector.p), encoded(vector.q)];
  return { kty: "DAJ", key_ops: ["decrypt"], p, q, pub: publicMembers(vector), kid: "of a test" };
}
