/**
 * The form of each kind of entry: members, types and encodings. The rules check the values later.
 */

import type { Json } from "./canonical.ts";
import type { Kind } from "./entry.ts";
import * as read from "./readers.ts";

const { base64url, count, flag, hash, small, text } = read;
const texts = read.list(text);
const numbers = read.list(base64url);

const choose = read.object({
  choose: read.either(read.object({ at_most: small }), read.object({ exactly: small })),
});
const rank = read.object({ rank: read.object({ points: read.list(count) }) });
const method = read.either(read.oneOf("approval", "plurality", "yes_no"), read.either(choose, rank));

const ballot = read.object({
  contests: read.list(
    read.object({
      marks: read.list(read.object({ ciphertext: base64url, proof: base64url })),
      sum: read.nullable(base64url),
    }),
  ),
  election: hash,
  voter: text,
});
const phase = read.object({ election: hash });

const contest = read.object(
  { candidates: texts, method, title: text },
  {
    about: text,
    blank: read.set,
    details: read.list(read.object({}, { about: text, link: text })),
    shuffled: read.set,
  },
);

const FORMS: { readonly [Name in Kind]: read.Reader<unknown> } = {
  election: read.object(
    {
      board: base64url,
      contests: read.list(contest),
      key: read.object({ generator: base64url, modulus: base64url, roots: numbers }, { blum: numbers }),
      organiser: base64url,
      revoting: flag,
      title: text,
      trustees: read.nullable(
        read.object(
          { base: base64url, keys: numbers, needed: small },
          { generated: read.object({ statements: numbers, transcript: hash }), signing: numbers },
        ),
      ),
    },
    { about: text, closes: text, late: read.set, opens: text, registrar: base64url, trial: read.set },
  ),
  voters: read.object({
    election: hash,
    voters: read.list(read.object({ id: text, key: base64url, weight: count })),
  }),
  replace: read.object({
    election: hash,
    voters: read.list(read.object({ id: text, key: base64url })),
  }),
  open: phase,
  ballot,
  challenge: read.object({
    ballot,
    election: hash,
    openings: read.list(read.list(read.object({ exponent: base64url, value: count }))),
  }),
  close: phase,
  tally: read.object({ contests: read.list(numbers), counted: count, election: hash, weight: count }),
  share: read.object({ election: hash, shares: base64url, trustee: small }),
  opening: read.object({
    contests: read.list(read.list(read.object({ opening: base64url, plaintext: base64url }))),
    election: hash,
  }),
  result: read.object({ contests: read.list(read.list(count)), election: hash }),
};

/** Throws unless a body has the form of its kind. */
export function checkForm(kind: Kind, body: Json): void {
  FORMS[kind](body, kind);
}
