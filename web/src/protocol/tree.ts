/**
 * The hash tree of a board (RFC 6962, section 2.1). It grows leaf by leaf and stores one hash per
 * level.
 */

import { concat, hex, utf8 } from "hearith/bytes.ts";
import { sha256 } from "./hash.ts";

export function leafHash(line: string): Uint8Array {
  return sha256(concat(Uint8Array.of(0), utf8(line)));
}

function join(left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concat(Uint8Array.of(1), left, right));
}

export class Tree {
  /** The roots of full subtrees, the largest first. */
  #peaks: { hash: Uint8Array; leaves: number }[] = [];
  size = 0;

  add(leaf: Uint8Array): void {
    let peak = { hash: leaf, leaves: 1 };
    for (let last = this.#peaks.at(-1); last?.leaves === peak.leaves; last = this.#peaks.at(-1)) {
      this.#peaks.pop();
      peak = { hash: join(last.hash, peak.hash), leaves: 2 * peak.leaves };
    }
    this.#peaks.push(peak);
    this.size += 1;
  }

  /** The root of the leaves so far, in hexadecimal. */
  root(): string {
    const last = this.#peaks.at(-1);
    if (!last) return hex(sha256(new Uint8Array()));
    return hex(this.#peaks.slice(0, -1).reduceRight((right, peak) => join(peak.hash, right), last.hash));
  }
}
