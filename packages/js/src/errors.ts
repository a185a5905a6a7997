/** What is wrong with an input (a key, a number, a record, a proof): one clear line, and where if that is known. */
export class Fault extends Error {
  override name = "Fault";
}

/** Throws a fault unless the condition holds. */
export function ensure(condition: boolean, message: string | (() => string)): asserts condition {
  if (!condition) throw new Fault(typeof message === "string" ? message : message());
}
