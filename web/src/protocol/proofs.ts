/**
 * Proofs with short openings that a ciphertext encrypts 0 or one of a few numbers.
 * docs/explanation/proofs.md has the equations, and crates/proofs/README.md the encoding. Provers
 * here know the opening, so they only need powers of the fixed base `h^n`.
 */

import { bitLength, gcd, power, productOfPowers, randomBits } from "hearith/bigint.ts";
import { concat, toBigint, toBytes, utf8 } from "hearith/bytes.ts";
import { ensure } from "hearith/errors.ts";
import { HIDING_BITS, type Key } from "./djn.ts";
import { challenge } from "./hash.ts";

const CHALLENGE_BYTES = 32;
const CHALLENGES = 1n << 256n;

/** The context of a proof, which is invalid in any other. */
export interface Context {
  readonly shared: string;
  readonly row: string;
}

/** An equation to check: `(h^n)^z = A (c (1 + n)^(-m))^e`, up to a square root of 1. */
interface Claim {
  readonly number: bigint;
  readonly member: bigint;
  readonly commitment: bigint;
  readonly challenge: bigint;
  readonly response: bigint;
}

/** The claims of one proof whose hash has been checked. */
export type Claims = readonly Claim[];

function responseBytes(bits: number): number {
  return Math.ceil((bits + HIDING_BITS + 1) / 8);
}

/** Bits of the opening of a sum of this many ciphertexts. */
export function sumBits(key: Key, terms: number): number {
  return key.shortBits + bitLength(BigInt(Math.max(terms, 1) - 1));
}

/** The length of a residue proof in bytes. */
export function residueBytes(key: Key, bits: number): number {
  return 2 * key.bytes + responseBytes(bits);
}

/** The length of a membership proof in bytes, for a set of this size. */
export function membershipBytes(key: Key, numbers: number, bits: number): number {
  return numbers * (2 * key.bytes + CHALLENGE_BYTES + responseBytes(bits));
}

function contextParts(context: Context): Uint8Array[] {
  return [utf8(context.shared), utf8(context.row)];
}

function residueChallenge(key: Key, context: Context, number: bigint, commitment: bigint): bigint {
  const parts = [key.narrow(key.n), key.narrow(key.generator), key.wide(number), key.wide(commitment)];
  return challenge("residue, short", ...contextParts(context), ...parts);
}

function membershipChallenge(
  key: Key,
  context: Context,
  set: readonly bigint[],
  number: bigint,
  commitments: readonly bigint[],
): bigint {
  const [members, all] = [set.map((m) => key.narrow(m)), commitments.map((a) => key.wide(a))];
  const parts = [
    key.narrow(key.n),
    key.narrow(key.generator),
    concat(...members),
    key.wide(number),
    concat(...all),
  ];
  return challenge("membership, short", ...contextParts(context), ...parts);
}

/** Proves that `number = (h^n)^opening`, for an opening of at most `bits` bits. */
export function proveResidue(
  key: Key,
  context: Context,
  number: bigint,
  opening: bigint,
  bits: number,
): Uint8Array {
  const rho = randomBits(bits + HIDING_BITS);
  const commitment = key.basePower(rho);
  const e = residueChallenge(key, context, number, commitment);
  return concat(key.wide(commitment), toBytes(rho + e * opening, responseBytes(bits)));
}

/**
 * Proves that a ciphertext with this opening encrypts the number of the set at the index `chosen`.
 */
export function proveMembership(
  key: Key,
  context: Context,
  set: readonly bigint[],
  ciphertext: bigint,
  opening: bigint,
  bits: number,
  chosen: number,
): Uint8Array {
  const value = set[chosen];
  ensure(value !== undefined, "the chosen number is not in the set");
  const challenges = set.map((_, side) => (side === chosen ? 0n : randomBits(256)));
  const responses = set.map(() => randomBits(bits + HIDING_BITS));
  // u_j is (1 + n)^(value - m_j) (h^n)^a, so a prover who knows a only needs powers of the fixed
  // base. With probability 2^-128, z_j is below e_j a, and another z_j is drawn.
  const commitments = set.map((member, side) => {
    const [e, z] = [challenges[side] ?? 0n, responses[side] ?? 0n];
    return (key.plain((member - value) * e) * key.basePower(z - e * opening)) % key.squared;
  });
  const hash = membershipChallenge(key, context, set, ciphertext, commitments);
  const e = BigInt.asUintN(256, hash - challenges.reduce((sum, one) => sum + one, 0n));
  challenges[chosen] = e;
  responses[chosen] = (responses[chosen] ?? 0n) + e * opening;
  const sides = commitments.map((commitment, side) => [
    key.wide(commitment),
    toBytes(challenges[side] ?? 0n, CHALLENGE_BYTES),
    toBytes(responses[side] ?? 0n, responseBytes(bits)),
  ]);
  return concat(...sides.flat());
}

function readResponse(bytes: Uint8Array, bits: number): bigint {
  const response = toBigint(bytes);
  ensure(bitLength(response) <= bits + HIDING_BITS + 1, "the response of a proof is out of range");
  return response;
}

/** Reads a residue proof for this number. Returns its claims. */
export function readResidue(
  key: Key,
  context: Context,
  number: bigint,
  bits: number,
  proof: Uint8Array,
): Claims {
  const wide = 2 * key.bytes;
  ensure(proof.length === residueBytes(key, bits), "a proof has the wrong length");
  const commitment = key.readWide(proof.subarray(0, wide));
  const response = readResponse(proof.subarray(wide), bits);
  const e = residueChallenge(key, context, number, commitment);
  return [{ number, member: 0n, commitment, challenge: e, response }];
}

/** Reads a membership proof and checks that its challenges sum to its hash. Returns its claims. */
export function readMembership(
  key: Key,
  context: Context,
  set: readonly bigint[],
  number: bigint,
  bits: number,
  proof: Uint8Array,
): Claims {
  const wide = 2 * key.bytes;
  const width = membershipBytes(key, 1, bits);
  ensure(proof.length === set.length * width, "a proof has the wrong length");
  const claims = set.map((member, side) => {
    const part = proof.subarray(side * width, (side + 1) * width);
    return {
      number,
      member,
      commitment: key.readWide(part.subarray(0, wide)),
      challenge: toBigint(part.subarray(wide, wide + CHALLENGE_BYTES)),
      response: readResponse(part.subarray(wide + CHALLENGE_BYTES), bits),
    };
  });
  const commitments = claims.map((claim) => claim.commitment);
  const hash = membershipChallenge(key, context, set, number, commitments);
  const sum = claims.reduce((total, claim) => total + claim.challenge, 0n) % CHALLENGES;
  ensure(sum === hash, "the challenges of a proof do not sum to its hash");
  return claims;
}

/**
 * Whether all claims hold, by one equation with a random even weight for each claim. A wrong claim
 * passes with a probability of 2^-127. Even weights accept square roots of 1, which are n-th
 * powers.
 */
export function allHold(key: Key, claims: Claims): boolean {
  const { n, squared } = key;
  if (
    gcd(
      claims.reduce((all, one) => (((all * one.number) % n) * one.commitment) % n, 1n),
      n,
    ) !== 1n
  )
    return false;
  let [left, shift] = [0n, 0n];
  const exponents = new Map<bigint, bigint>();
  const weights = claims.map((claim) => {
    const weight = randomBits(127) << 1n;
    const weighed = claim.challenge * weight;
    left += claim.response * weight;
    shift += claim.member * weighed;
    exponents.set(claim.number, (exponents.get(claim.number) ?? 0n) + weighed);
    return weight;
  });
  const commitments = productOfPowers(
    claims.map((claim) => claim.commitment),
    weights,
    squared,
  );
  const numbers = productOfPowers([...exponents.keys()], [...exponents.values()], squared);
  const right = (((commitments * numbers) % squared) * key.plain(-shift)) % squared;
  return power(key.base, left, squared) === right;
}

/** The index of the first proof that does not hold, or undefined if all hold. */
export function firstInvalid(key: Key, proofs: readonly Claims[]): number | undefined {
  let [first, end] = [0, proofs.length];
  if (allHold(key, proofs.flat())) return undefined;
  while (end - first > 1) {
    const middle = first + Math.floor((end - first) / 2);
    if (allHold(key, proofs.slice(first, middle).flat())) first = middle;
    else end = middle;
  }
  return first;
}
