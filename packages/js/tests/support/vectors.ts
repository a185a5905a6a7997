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

export interface SubgroupVector {
  readonly bits: number;
  readonly x: number;
  readonly id: string;
  readonly P: string;
  readonly Q: string;
  readonly p: string;
  readonly q: string;
  readonly h: string;
  readonly own: readonly (Encryption & { readonly r: string })[];
  readonly foreign: readonly Encryption[];
}

function vectors(name: string): unknown {
  const path = new URL(`../../../../crates/paillier/tests/vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8"));
}
export const VECTORS = vectors("vectors") as { keys: KeyVector[]; djn: DjnVector[] };
export const SUBGROUPS = vectors("subgroup") as SubgroupVector[];

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

export function subgroupMembers(vector: SubgroupVector) {
  const n = number(vector.P) * number(vector.Q);
  const pub = { ...publicMembers({ n: n.toString(16), h: vector.h }), alg: "PAI-SG1" };
  const { kid, ...others } = pub;
  return {
    kty: "DAJ",
    key_ops: ["decrypt"],
    p: encoded(vector.P),
    q: encoded(vector.Q),
    sp: encoded(vector.p),
    sq: encoded(vector.q),
    pub: { ...others, x: vector.x, kid },
    kid: "of a test",
  };
}
