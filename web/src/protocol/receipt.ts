/** Receipts: the board's signed promise to keep an entry. */

import * as base64 from "hearith/base64.ts";
import { hex } from "hearith/bytes.ts";
import { canonical, type Json } from "./canonical.ts";
import { verify as signatureHolds } from "./signature.ts";
import { leafHash } from "./tree.ts";

export interface Receipt {
  readonly election: string;
  readonly hash: string;
  readonly index: number;
  readonly signature: string;
}

/** The entry that was sent to the board. */
export interface Submission {
  readonly body: Json;
  readonly kind: string;
  readonly signature: string;
}

/** Whether a receipt confirms this entry with the board's signature. */
export function receiptHolds(board: Uint8Array, { signature, ...promised }: Receipt): boolean {
  return signatureHolds(board, "receipt", { ...promised }, base64.decode(signature));
}

/**
 * Whether a receipt confirms the sent entry, given the entry that the board shows for it. The
 * signature alone only shows that some entry is on the board: an attacker on the network could drop
 * a ballot and answer with another ballot's receipt.
 */
export function confirms(
  election: { readonly id: string; readonly board: Uint8Array },
  receipt: Receipt,
  shown: Json,
  { body, kind, signature }: Submission,
): boolean {
  try {
    const { previous = null } = shown as { readonly previous?: Json };
    const line = canonical({ body, index: receipt.index, kind, previous, signature });
    return (
      receipt.election === election.id &&
      canonical(shown) === line &&
      hex(leafHash(line)) === receipt.hash &&
      receiptHolds(election.board, receipt)
    );
  } catch {
    // Any other answer is not a confirmation.
    return false;
  }
}
