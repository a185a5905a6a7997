/** What a worker of a pool computes, and the messages of it. Only residues and ciphertexts travel, and the key once. */

import type { Core } from "./core.ts";
import { PrivateKey, PublicKey } from "./keys.ts";

/** The numbers of a key. They were checked when the key was read. */
export interface KeyNumbers {
  readonly n: bigint;
  readonly generator: bigint | undefined;
  /** Bits of the exponents of a subgroup key. */
  readonly exponentBits: number | undefined;
  readonly primes: readonly [bigint, bigint] | undefined;
  /** The primes of a subgroup, of a private key that decrypts with them. */
  readonly orders: readonly [bigint, bigint] | undefined;
  /** Bits of a digit of the table that a worker builds first. */
  readonly tableWidth: number;
}

/** What is done to each number: residues are encrypted, ciphertexts re-randomised or decrypted. */
export type Operation = "encrypt" | "rerandomise" | "decrypt";

export type Request =
  | { readonly key: KeyNumbers }
  | { readonly operation: Operation; readonly numbers: readonly bigint[] };
export type Reply = { readonly ready: true } | { readonly numbers: bigint[] } | { readonly fault: string };

/** Answers one request after another. */
export class Tasks {
  #key: Core | undefined;
  #private: PrivateKey | undefined;

  answer(request: Request): Reply {
    try {
      if ("key" in request) {
        this.#take(request.key);
        return { ready: true };
      }
      const { numbers, operation } = request;
      return { numbers: numbers.map((number) => this.#done(operation, number)) };
    } catch (error) {
      return { fault: error instanceof Error ? error.message : String(error) };
    }
  }

  #take({ n, generator, exponentBits, primes, orders, tableWidth }: KeyNumbers): void {
    const key = new PublicKey(n, generator, "", undefined, exponentBits);
    if (primes) this.#private = new PrivateKey(key, ...primes, undefined, orders);
    else key.prepare(tableWidth);
    this.#key = key;
  }

  #done(operation: Operation, number: bigint): bigint {
    if (!this.#key) throw new Error("the worker has no key");
    if (operation === "encrypt") return this.#key.encrypt(number);
    if (operation === "rerandomise") return this.#key.rerandomise(number);
    if (!this.#private) throw new Error("a pool with a public key cannot decrypt");
    return this.#private.decrypt(number);
  }
}
