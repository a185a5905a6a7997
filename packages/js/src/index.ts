/** Paillier encryption for browsers and Node: sums of numbers that stay encrypted, as the command line `hearith` reads them. */

export { TABLE_WIDTH } from "./core.ts";
export { formatDecimal, type Numeric, parseDecimal } from "./decimal.ts";
export { Encoding, type EncodingOptions } from "./encoding.ts";
export { Encrypted } from "./encrypted.ts";
export { Fault } from "./errors.ts";
export {
  columnEntries,
  type Exponential,
  fromPheJson,
  fromRows,
  integersFromPheJson,
  toPheJson,
  toRows,
} from "./exchange.ts";
export { type KeyOptions, PrivateKey, PublicKey } from "./keys.ts";
export { fromValue, toValue } from "./values.ts";
