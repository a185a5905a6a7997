/** What is wrong with a record, a ballot or a proof: one clear line, and where in the record if that is known. */
export class Fault extends Error {
  override name = "Fault";
}

/** Throws a fault unless the condition holds. */
export function ensure(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw new Fault(typeof message === "string" ? message : message());
}
