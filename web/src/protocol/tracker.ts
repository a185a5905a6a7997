/** A ballot's tracker, by which its voter finds it. */

import { fromHex } from "hearith/bytes.ts";
import { encoded } from "./base32.ts";
import { canonical, type Json } from "./canonical.ts";
import { hexHash } from "./hash.ts";

/** Returns the tracker of a ballot's body: 26 characters. */
export function tracker(body: Json): string {
  return encoded(fromHex(hexHash(canonical(body))).subarray(0, 16));
}
