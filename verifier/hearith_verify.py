#!/usr/bin/env python3
"""A second verifier of elections, written from docs/explanation/election.md and verifier/README.md.

It uses only the standard library.

    python3 hearith_verify.py RECORD [--insecure-key]

It reads the folder of a published record, performs every check that the page describes, prints a
verdict for each check, and exits 1 if one fails. The code favours readability over speed: it
verifies proofs one by one, on all cores.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import multiprocessing
import re
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate, pairwise
from math import factorial, gcd, isqrt
from pathlib import Path
from typing import Any

STEPS = [
    "chain", "heads", "election", "rules", "signatures", "ballots", "challenges", "tally", "decryption", "result",
]  # fmt: skip
DIGIT_BITS = 48
FILE_ENTRIES = 1000
MAX_LINE = 8 << 20
MAX_NUMBER = 2**53 - 1
MAX_POINTS = 2**16 - 1
SMALL_PRIMES_BELOW = 1 << 16


class Wrong(Exception):
    """A check failed."""


def require(condition: bool, what: str) -> None:
    if not condition:
        raise Wrong(what)


# Encodings ----------------------------------------------------------------------------------------


def canonical(value: Any) -> str:
    """Returns the canonical form of RFC 8785, for the values that records contain."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse(what: str, text: str) -> Any:
    """Parses a text that must be the canonical form of its value."""
    try:
        value = json.loads(text)
        same = canonical(value).encode() == text.encode()
    except (ValueError, RecursionError) as error:
        raise Wrong(f"{what} is not valid JSON") from error
    require(same, f"{what} is not in canonical form")
    return value


def is_base64url(text: str) -> bool:
    """Whether a text is base64url without padding in its unique form, without spare bits."""
    if re.fullmatch("[A-Za-z0-9_-]*", text) is None or len(text) % 4 == 1:
        return False
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text


def base64url(text: Any, length: int | None = None) -> bytes:
    require(isinstance(text, str) and is_base64url(text), "a value is not base64url without padding")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(length is None or len(data) == length, "a number has the wrong length")
    return data


def integer(value: Any, least: int, most: int) -> int:
    require(type(value) is int and least <= value <= most, f"a number is not an integer from {least} to {most}")
    return int(value)


def members(value: Any, names: str, optional: str = "") -> dict[str, Any]:
    """Returns the members of an object, which must have all of `names` and may have any of
    `optional`.
    """
    all_of, any_of = set(names.split()), set(optional.split())
    require(type(value) is dict and all_of <= set(value) <= all_of | any_of, "an object has unknown or missing members")
    return dict(value)


def listed(value: Any) -> list[Any]:
    require(type(value) is list, "a value is not a list")
    return list(value)


def is_hash(text: str) -> bool:
    return re.fullmatch("[0-9a-f]{64}", text) is not None


def hash_text(value: Any) -> str:
    require(isinstance(value, str) and is_hash(value), "a hash is not 64 lower-case hexadecimal digits")
    return str(value)


def is_time(value: Any) -> bool:
    """Whether a value is a time like 2026-11-22T20:15:00Z, of an existing day."""
    form = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
    if not isinstance(value, str) or re.fullmatch(form, value) is None:
        return False
    try:
        datetime.fromisoformat(value[:-1])
    except ValueError:
        return False
    # Later versions of Python accept 24:00:00 as the start of the next day.
    return value[11:13] != "24"


def name(value: Any, most: int) -> str:
    require(isinstance(value, str) and 1 <= len(value.encode()) <= most, f"a name is empty or longer than {most} bytes")
    for at, character in enumerate(value):
        joins = character in JOINERS and 0 < at < len(value) - 1
        joins = joins and all(is_in(JOINED_BOUNDS, ord(value[beside])) for beside in (at - 1, at + 1))
        found = f"a name contains U+{ord(character):04X}"
        reason = "a control character, invisible, a misplaced joiner, or not in Unicode 14.0.0"
        require(joins or is_in(ALLOWED_BOUNDS, ord(character)), f"{found}, which is {reason}")
    return str(value)


def alike(value: str) -> str:
    """Returns a form that is equal for names that readers cannot distinguish."""
    return unicodedata.normalize("NFKC", "".join(character for character in value if character not in JOINERS))


def about(value: Any) -> None:
    """Checks a description: each line is empty or has the characters of names."""
    require(isinstance(value, str) and 1 <= len(value.encode()) <= 4000, "a description must have 1 to 4000 bytes")
    for line in value.split("\n"):
        if line:
            name(line, 4000)


def link(value: Any) -> None:
    form = r"https://[A-Za-z0-9][-A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%]*"
    good = isinstance(value, str) and len(value) <= 1000 and re.fullmatch(form, value) is not None
    require(good, "a link is not an https URL of at most 1000 bytes")


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


# Names --------------------------------------------------------------------------------------------

JOINERS = "\u200c\u200d"
#: Characters of Unicode 14.0.0, as base-36 lengths of alternating runs outside and inside the set.
# fmt: off
# Tables by scripts/name_tables.py
NFKC_DIGEST = "44bcdf2d9eadbe1e5e1e889c862305efd259b9de26eed2cc492baf4291236bb9"
ALLOWED = (
    "w 2n x d 1 ip 1 14 2 6 4 7 1 1 1 k 1 b1 1 12 2 1e 2 3 1 1j 8 r 4 6 h m 1 5c 1 1c 2 1n 2 2t e 1n 2 1d "
    "2 f 1 s 2 1 1 b 5 v 9 22 1 4h 1 8 2 2 2 m 1 7 1 1 3 4 2 9 2 2 2 4 8 1 4 2 1 5 2 p 2 3 1 6 4 2 2 m 1 "
    "7 1 2 1 2 1 2 2 1 1 5 4 2 2 3 3 1 7 4 1 1 7 h a 3 1 9 1 3 1 m 1 7 1 2 1 5 2 a 1 3 1 3 2 1 f 4 2 c 7 "
    "7 1 3 1 8 2 2 2 m 1 7 1 2 1 5 2 9 2 2 2 3 7 3 4 2 1 5 2 i a 2 1 6 3 3 1 4 3 2 1 1 1 2 3 2 3 3 3 c 4 "
    "5 3 3 1 4 2 1 6 1 e l 5 d 1 3 1 n 1 g 2 9 1 3 1 4 7 2 1 3 2 1 2 4 2 a 7 m 1 3 1 n 1 a 1 5 2 9 1 3 1 "
    "4 7 2 6 2 1 4 2 a 1 2 d d 1 3 1 1f 1 3 1 6 4 g 2 q 1 3 1 i 3 o 1 9 1 1 2 7 3 1 4 6 1 1 1 8 6 a 2 3 c "
    "1m 4 t 11 2 1 1 1 5 1 o 1 1 1 n 2 5 1 1 1 6 2 a 2 4 w 20 1 10 4 13 1 10 1 f 1 d 11 5i 1 1 5 1 2 3z 2 "
    "6g 1 4 2 7 1 1 1 4 2 15 1 4 2 x 1 4 2 7 1 1 1 4 2 f 1 1l 1 4 2 1v 2 w 3 q 6 2e 2 6 2 il 3 2h 7 m 9 o "
    "9 k c d 1 3 1 2 c 1g 2 14 2 a 6 a 6 b 5 a 6 2h 7 17 5 1y a v 1 c 4 c 4 1 3 16 2 5 b 18 4 q 6 b 3 1q "
    "2 1t 1 t 2 b 6 a 6 e 2 v 1d 25 3 1b 1 38 8 1o 3 f 3 1o 7 17 2 b 8 17 5 eu 2 6 2 12 2 6 2 8 1 1 1 1 1 "
    "1 1 v 2 1h 1 f 1 e 2 6 1 j 2 3 1 9 1 b 5 o 7 1d g 2 2 r 1 d 3 x f x f 3w 4 if p b l ps 1 oj 2 w 1 9p "
    "5 19 1 1 5 1 2 1k 7 2 e o 9 7 1 7 1 7 1 7 1 7 1 7 1 7 1 7 1 3i y q 1 2h c 5y q c 4 1s 1 2e 2 2v 5 17 "
    "1 1f 1 16 1 2c c 1b 1 mlp 3 1j 9 9o k 54 8 5n 5 2 1 1 1 5 o 1n 3 a 6 1k 8 1y 8 c 6 38 b u 3 26 1 b 4 "
    "x 1 1j 9 e 2 a 2 2v o s a 6 2 6 2 6 9 7 1 7 1 1o 4 3i 2 a 6 8mc c n 4 1d 6is a6 2 2y 12 7 c 5 5 q 1 "
    "5 1 1 1 2 1 2 1 3h g cd 2 1i 7 1 w g g a 6 1f 1 j 1 4 4 5 1 3r 4 4f 1 u 3 6 2 6 2 6 2 3 3 7 1 7 d 2 "
    "2 c 1 q 1 j 1 2 1 f 2 e y 3f 5 3 4 19 3 2g 1 d 3 1 1b 1a 3m t 3 1d f s 4 10 9 u 5 17 5 u 1 11 4 e 16 "
    "4e 2 a 6 10 4 10 4 14 8 1g b c 1 f 1 7 1 2 1 b 1 f 1 7 1 2 1v 8n 9 m a 8 o 6 1 16 1 9 1x 6 2 1 1 18 "
    "1 2 3 1 2 n 1 20 8 9 1c j 1 2 5 x 3 r 5 1 1s 1k 4 k 2 1e 1 2 5 8 1 3 1 t 2 3 4 a 7 9 7 1s w 13 4 c 9 "
    "1i 3 t 2 r 5 q 7 4 c 7 28 21 1j 1f d 1f 7 1a 8 a 86 v 1 16 1 3 2 2 26 14 8 16 m q 12 s k n 9 26 4 10 "
    "9 1q 1 5 d p 7 a 6 1h 1 i 8 13 9 2o 1 k b i 1 18 1t 7 1 1 1 4 1 f 1 b 6 1n 5 a 6 4 1 8 2 2 2 m 1 7 1 "
    "2 1 5 1 a 2 2 2 3 2 1 6 1 5 7 2 7 3 5 3v 2k 1 5 u 20 8 a 4m 1i 2 12 y 1x b a 6 d j 1m 6 a 1i r 2 f 4 "
    "n 55 1o 2s 2b c 8 2 1 2 8 1 2 1 u 1 2 2 c 9 a 1y 8 2 1a 2 b r 20 8 2b d 21 7b 9 1 19 1 e a t 3 w 2 m "
    "1 e 21 7 1 2 1 18 3 1 1 2 1 9 8 a 6 6 1 2 1 11 1 2 1 6 7 a 8m p 53 1 f 1e d pn 2u 33 1 5 b 5g 218 2r "
    "d tr 34h g7 6nt ft 7 v 1 a 4 29 1 a 6 u 2 6 a 1y a a 1 7 1 l 5 j j4 2j 2t 23 4 1l 7 h 1s 5 b 2 e 4qg "
    "8 ye 16 9 6w7 4 1 7 1 2 1 83 19 3 h 4 8 b0 1s4 2z 5 d 3 9 7 a 2 4 3mo 1a 2 n 9 38 1o 6u a 13 2 22 8 "
    "34 l 1y 4a k c 2f 9 p 3r 2d 1 1z 1 2 2 1 2 2 2 4 1 c 1 1 1 7 1 1t 1 4 2 8 1 7 1 s 1 4 1 5 1 1 3 7 1 "
    "9g 2 84 2 ji f 5 1 f uo v 69 7 1 h 2 7 1 2 1 5 5x 19 3 e 2 a 4 2 8w v h 1m 5 1 yo 7 1 4 1 2 1 f 1 5h "
    "2 g 15 24 4 a 4 2 lt 1w 24 1p 5e 4 1 r 1 2 1 1 2 1 1 a 1 4 1 1 1 1 6 1 4 1 1 1 1 1 1 3 1 2 1 1 2 1 1 "
    "1 1 1 1 1 1 1 1 2 1 1 2 4 1 7 1 4 1 4 1 1 1 a 1 h 5 3 1 5 1 h 1g 2 7i 18 4 2s c f 2 f 1 f 1 11 a 4u "
    "1k t d 18 4 9 7 2 e 6 4a rc 5 g 3 d 3 38 c 2h 7 c 4 1 f c 4 1k 8 a 6 14 8 u 2 2 26 9g c e 2 5 3 5 3 "
    "7 9 t 3 b 5 6 a a 6 8 8 7 9 43 1 1j 11 a sm wyo w 37d 7 66 2 4g2 e 5rl 2e7 f2 15u 3t7 jk51 "
)
JOINED = (
    "1t q 6 q 1b 1 a 1 4 1 5 n 1 v 1 cq 4 c e 5 7 1 1 1 h 27 1 11 1 2 2 4 1 1 6 1 1 3 1 1 1 k 1 2b 1 3v 1 "
    "4t 1 12 2 1 6 15 8 19 1 1 1 2 1 2 1 1 8 r 4 4 t b 5 1s e 2u 1 8 2 a 1 6 a 3 2 1 g 1n 2 2t o 18 4 1 2 "
    "1 2 1a i s 4 b 5 o 1 6 9 22 1 3l d j 1 8 2 2 2 m 1 7 1 1 3 4 2 9 2 2 2 4 8 1 4 2 1 5 c 2 a 1 1 1 2 3 "
    "1 6 4 2 2 m 1 7 1 2 1 2 1 2 2 1 1 5 4 2 2 3 3 1 7 4 1 1 h 6 b 3 1 9 1 3 1 m 1 7 1 2 1 5 2 a 1 3 1 3 "
    "2 1 f 4 l 7 1 3 1 8 2 2 2 m 1 7 1 2 1 5 2 9 2 2 2 3 7 3 4 2 1 5 d 1 g 2 1 6 3 3 1 4 3 2 1 1 1 2 3 2 "
    "3 3 3 c 4 5 3 3 1 4 2 1 6 1 14 d 1 3 1 n 1 g 2 9 1 3 1 4 7 2 1 3 2 1 2 4 s 4 1 8 1 3 1 n 1 a 1 5 2 9 "
    "1 3 1 4 7 2 6 2 1 4 d 2 d d 1 3 1 1f 1 3 1 5 5 4 7 5 m 6 1 3 1 i 3 o 1 9 1 1 2 7 3 1 4 6 1 1 1 8 i 2 "
    "d 1m 5 f 1e 2 1 1 1 5 1 o 1 1 1 n 2 5 1 1 1 6 e 4 w 1 n 2 r 1 1 1 1 1 4 a 1 10 4 k 1 i 1 10 9 1 1l "
    "1s g 1s a 4 2 12 1 1 5 1 2 17 1 2r 2 6g 1 4 2 7 1 1 1 4 2 15 1 4 2 x 1 4 2 7 1 1 1 4 2 f 1 1l 1 4 2 "
    "1v 2 3 w g g 2e 2 6 3 h8 2 h 1 q 5 23 6 8 7 m 9 m b k c d 1 3 1 2 c 1g 2 u 3 1 4 2 1u 2h 7 17 5 1y a "
    "v 1 c 4 c k u 2 5 b 18 4 q 1i s 4 1r 1 t 2 1 13 1 8 v 1d 25 u 9 c 1c a 1m c 1k l 3 a 10 2 9 7 17 2 3 "
    "g 3 1 13 5 eu 2 6 2 12 2 6 2 8 1 1 1 1 1 1 1 v 2 1h 1 7 1 1 3 3 1 7 3 4 2 6 4 d 5 3 1 7 38 1 d 1 g d "
    "1f x h 1 4 1 2 a 1 1 3 5 6 1 1 1 1 1 1 4 1 b 2 4 5 5 4 1 1g 2 22j 6d 6 9 c 12 1 1 5 1 2 1k 7 1 f o 9 "
    "7 1 7 1 7 1 7 1 7 1 7 1 7 1 7 1 w 1b 1 d1 2 z 6 1 5 5 2 4 2e 2 2 2 3 1 2i 1 4 5 17 1 1f 1 16 h w 1c "
    "g e8 534 1s h3h 1v 1a 2 7h 3 g a 2 k 1f 1 a 1 2v a 2 11 9 2 2v 2 1s 5 2 1 1 1 5 o 1i 4 1 j 1g c 1y q "
    "o 3 1 1 3 a 10 2 10 c t 3 1t e 1 g g a 5 1 1j 9 e i n 3 21 o 3 2 g 2 5 a 6 2 6 2 6 9 7 1 7 1 17 1 e "
    "6 3f 1 2 i 8mc c n 4 1d 6is a6 2 2y 12 7 c 5 5 c 1 d 1 5 1 1 1 2 1 2 1 30 x a3 i 1s 2 1i 14 c 10 g "
    "1s 5 1 3r 10 q 6 q b 1m 1 u 3 6 2 6 2 6 2 3 z c 1 q 1 j 1 2 1 f 2 e y 3f 76 1 3m t 3 1d f 1 v w d k "
    "1 8 6 17 5 u 2 10 4 8 1c 4e i 10 4 10 4 14 8 1g c b 1 f 1 7 1 2 1 b 1 f 1 7 1 2 1v 8n 9 m a 8 o 6 1 "
    "16 1 9 1x 6 2 1 1 18 1 2 3 1 2 n a n 9 v 1t j 1 2 a m a q 1y 1k 6 2 1s 4 1 2 5 8 1 3 1 t 2 3 4 1 w t "
    "3 t z 8 1 u p 1i a m a j d i 32 21 1j 1f d 1f d 14 9k 16 1 2 3 2 26 t a 1 8 x v m 16 l r n 9 1z 15 6 "
    "9 1o 7 1 d p n 1h f 4 8 10 2 1 9 1x 4 4 1 2 a 1 1 1 z i 1 11 6 1 1t 7 1 1 1 4 1 f 1 a 7 1n l 4 1 8 2 "
    "2 2 m 1 7 1 2 1 5 1 a 2 2 2 3 2 1 6 1 5 7 2 7 3 5 3v 23 j 4 u 1y 1 1 54 1i 2 9 n 6 y 1t 3 1 1n 1l 1z "
    "r 2 f k 7 55 1n 2t 1s v 8 2 1 2 8 1 2 1 u 1 2 2 9 2k 8 2 1a 2 8 1 2 r 1r 8 1 8 22 3 1 i 21 7b 9 1 19 "
    "1 9 1d u 2 m 1 e 21 7 1 2 1 18 3 1 1 2 1 9 o 6 1 2 1 11 1 2 1 6 93 n 55 1 27 pm 6e 5g 218 2p f tr "
    "34h g7 6nt ft 7 v h 27 h u 2 5 b 1j 9 4 v l 5 j j4 1s 3k 23 4 1l 7 h 1s 2 1 2 b 2 e 4qg 8 ye 16 9 "
    "6w7 4 1 7 1 2 1 83 19 3 h 4 8 b0 1s4 2z 5 d 3 9 7 a 3 2 3mp 1a 2 n f2 5 3 6 8 8 2 7 u 4 44 3 cb 2d 1 "
    "1z 1 2 2 1 2 2 2 4 1 c 1 1 1 7 1 1t 1 4 2 8 1 7 1 s 1 4 1 5 1 1 3 7 1 9g 2 p 1 p 1 v 1 p 1 v 1 p 1 v "
    "1 p 1 v 1 p 1 8 fo 1j 4 1e 8 1 e 1 m 5 1 f uo v 69 7 1 h 2 7 1 2 1 5 5x 19 3 e g 1 8x v h 1c z4 7 1 "
    "4 1 2 1 f 1 5h b 7 15 24 xg 4 1 r 1 2 1 1 2 1 1 a 1 4 1 1 1 1 6 1 4 1 1 1 1 1 1 3 1 2 1 1 2 1 1 1 1 "
    "1 1 1 1 1 1 2 1 1 2 4 1 7 1 4 1 4 1 1 1 a 1 h 5 3 1 5 1 h 3es wyo w 37d 7 66 2 4g2 e 5rl 2e7 f2 15u "
    "3t7 jk51 "
)
# End of the tables
# fmt: on
ALLOWED_BOUNDS, JOINED_BOUNDS = (list(accumulate(int(run, 36) for run in runs.split())) for runs in (ALLOWED, JOINED))


def is_in(bounds: list[int], code: int) -> bool:
    """Whether a code point is in a set, given the bounds of its runs."""
    return bisect_right(bounds, code) % 2 == 1


# The forms of lines -------------------------------------------------------------------------------

HASH, TEXT, FLAG, TRUE, NUMBER, SMALL = "hash", "text", "flag", "true", "number", "small"
BYTES = "bytes"
FORMS: dict[str, Any] = {
    "election": {
        "about?": TEXT,
        "board": BYTES,
        "closes?": TEXT,
        "contests": [
            {
                "about?": TEXT,
                "blank?": TRUE,
                "candidates": [TEXT],
                "details?": [{"about?": TEXT, "link?": TEXT}],
                "method": "method",
                "shuffled?": TRUE,
                "title": TEXT,
            }
        ],
        "key": {"blum?": [BYTES], "generator": BYTES, "modulus": BYTES, "roots": [BYTES]},
        "late?": TRUE,
        "opens?": TEXT,
        "organiser": BYTES,
        "registrar?": BYTES,
        "revoting": FLAG,
        "title": TEXT,
        "trial?": TRUE,
        "trustees": (
            None,
            {
                "base": BYTES,
                "generated?": {"statements": [BYTES], "transcript": HASH},
                "keys": [BYTES],
                "needed": SMALL,
                "signing?": [BYTES],
            },
        ),
    },
    "voters": {"election": HASH, "voters": [{"id": TEXT, "key": BYTES, "weight": NUMBER}]},
    "replace": {"election": HASH, "voters": [{"id": TEXT, "key": BYTES}]},
    "open": {"election": HASH},
    "ballot": {
        "contests": [{"marks": [{"ciphertext": BYTES, "proof": BYTES}], "sum": (None, BYTES)}],
        "election": HASH,
        "voter": TEXT,
    },
    "close": {"election": HASH},
    "tally": {"contests": [[BYTES]], "counted": NUMBER, "election": HASH, "weight": NUMBER},
    "share": {"election": HASH, "shares": BYTES, "trustee": SMALL},
    "opening": {"contests": [[{"opening": BYTES, "plaintext": BYTES}]], "election": HASH},
    "result": {"contests": [[NUMBER]], "election": HASH},
}
FORMS["challenge"] = {
    "ballot": FORMS["ballot"],
    "election": HASH,
    "openings": [[{"exponent": BYTES, "value": NUMBER}]],
}
METHODS = (
    {"choose": ({"at_most": SMALL}, {"exactly": SMALL})}, {"rank": {"points": [NUMBER]}},
    "approval", "plurality", "yes_no",
)  # fmt: skip


def has_form(value: Any, form: Any) -> bool:
    """Whether members, types and encodings match a form. Values are checked later."""
    if form is None:
        return value is None
    if isinstance(form, tuple):
        return any(has_form(value, one) for one in form)
    if isinstance(form, list):
        return type(value) is list and all(has_form(one, form[0]) for one in value)
    if isinstance(form, dict):
        known = {name.rstrip("?"): one for name, one in form.items()}
        return (
            type(value) is dict
            and all(name in known and has_form(one, known[name]) for name, one in value.items())
            and all(name in value for name in form if not name.endswith("?"))
        )
    if form in (NUMBER, SMALL):
        return type(value) is int and 0 <= value <= (MAX_NUMBER if form == NUMBER else 2**32 - 1)
    if form == FLAG:
        return type(value) is bool
    if form == TRUE:
        return value is True
    if form == "method":
        return has_form(value, METHODS)
    if type(value) is not str:
        return False
    if form in (BYTES, HASH):
        return is_base64url(value) if form == BYTES else is_hash(value)
    return form in (TEXT, value)


# Ed25519 (RFC 8032) -------------------------------------------------------------------------------

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_1 = pow(2, (P - 1) // 4, P)
Point = tuple[int, int, int, int]
NEUTRAL: Point = (0, 1, 1, 0)


def add(a: Point, b: Point) -> Point:
    left = (a[1] - a[0]) * (b[1] - b[0]) % P
    right = (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = right - left, d - c, d + c, right + left
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(scalar: int, point: Point) -> Point:
    result = NEUTRAL
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def same(a: Point, b: Point) -> bool:
    return (a[0] * b[2] - b[0] * a[2]) % P == 0 and (a[1] * b[2] - b[1] * a[2]) % P == 0


def decompress(data: bytes) -> Point | None:
    """Returns the point of 32 bytes, if the encoding is canonical and the point is not of small
    order.
    """
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & ((1 << 255) - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT_OF_MINUS_1 % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    point = (x, y, 1, x * y % P)
    return None if same(times(8, point), NEUTRAL) else point


def base_point() -> Point:
    found = decompress((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    assert found is not None
    return found


BASE = base_point()


def signature_holds(key: bytes, tag: str, text: str, signature: bytes) -> bool:
    point, r = decompress(key), decompress(signature[:32]) if len(signature) == 64 else None
    if point is None or r is None:
        return False
    s = int.from_bytes(signature[32:], "little")
    digest = hashlib.sha512(signature[:32] + key + f"{tag}\n{text}".encode()).digest()
    h = int.from_bytes(digest, "little") % ORDER
    return s < ORDER and same(times(s, BASE), add(r, times(h, point)))


def signing_key(value: Any) -> bytes:
    key = base64url(value, 32)
    require(decompress(key) is not None, "a key is not an Ed25519 public key")
    return key


# The key ------------------------------------------------------------------------------------------


@dataclass
class Key:
    """n and h, and values derived from them."""

    n: int
    h: int
    width: int = 0
    bits: int = 0
    square: int = 0
    base: int = 0
    windows: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bits = self.n.bit_length()
        self.width = (self.bits + 7) // 8
        self.square = self.n * self.n
        self.base = pow(self.h, self.n, self.square)

    def power_of_base(self, exponent: int) -> int:
        """Returns (h^n)^exponent, by a table of powers for each byte value at each position."""
        result, place = 1, 0
        while exponent:
            if place == len(self.windows):
                last = self.windows[-1] if place else [self.base, 1]
                start = last[-1] * last[1 if place else 0] % self.square
                row = [1]
                for _ in range(255):
                    row.append(row[-1] * start % self.square)
                self.windows.append(row)
            result = result * self.windows[place][exponent & 255] % self.square
            exponent, place = exponent >> 8, place + 1
        return result

    @property
    def short_bits(self) -> int:
        return self.bits // 2

    def wide(self, number: int) -> bytes:
        """Encodes a number modulo n^2."""
        return number.to_bytes(2 * self.width, "big")

    def narrow(self, number: int) -> bytes:
        return number.to_bytes(self.width, "big")

    def unit(self, data: bytes) -> int:
        """Decodes a ciphertext or commitment: below n^2, not 0, coprime to n."""
        number = int.from_bytes(data, "big")
        require(0 < number < self.square and gcd(number, self.n) == 1, "a number is out of range or not coprime to n")
        return number

    def equal(self, left: int, right: int) -> bool:
        """Whether an equation holds up to a square root of 1."""
        return (left * left - right * right) % self.square == 0


def small_primes(below: int) -> Iterator[int]:
    sieve = bytearray([1]) * below
    for number in range(2, below):
        if sieve[number]:
            yield number
            sieve[number * number :: number] = bytes(len(range(number * number, below, number)))


def transcript(proof: str, *parts: bytes) -> int:
    everything = [f"hearith-proofs 1 {proof}".encode(), *parts]
    return int.from_bytes(sha256(*(len(part).to_bytes(8, "big") + part for part in everything)), "big")


def hashed(key: Key, proof: str, index: int) -> int:
    """Returns a number modulo n derived from a hash of n."""
    blocks, block = b"", 0
    while len(blocks) < key.width + 16:
        counters = index.to_bytes(4, "big") + block.to_bytes(4, "big")
        blocks += transcript(proof, key.narrow(key.n), counters).to_bytes(32, "big")
        block += 1
    return int.from_bytes(blocks[: key.width + 16], "big") % key.n


def check_dealing(key: Key, base: int, trustees: list[int], needed: int) -> None:
    """Checks that nobody chose v, and that all v_i lie on one polynomial whose value at 0 decrypts
    (docs/explanation/threshold.md).
    """
    expected = ((1 + key.n) * pow(hashed(key, "base", 0), key.n, key.square)) ** 2 % key.square
    chosen = "v is not derived from the hash of n, so the dealer could choose results (earlier versions shared keys like this)"
    require(base == expected, chosen)
    delta = factorial(len(trustees))
    for first in range(1, len(trustees) - needed + 2):
        window, product = range(first, first + needed), 1
        for i, coefficient in lagrange(delta, window).items():
            product = product * pow(trustees[i - 1], coefficient, key.square) % key.square
        dealt = key.equal(product, 1 + 2 * delta * delta * key.n)
        require(dealt, f"v_{first} to v_{first + needed - 1} do not belong to one sharing of a decryption key")


def lagrange(delta: int, chosen: Collection[int]) -> dict[int, int]:
    """Returns, for each chosen trustee, D times the Lagrange coefficient of its share at 0."""
    found = {}
    for i in chosen:
        top, bottom = delta, 1
        for j in chosen:
            if j != i:
                top, bottom = top * j, bottom * (j - i)
        found[i] = top // bottom
    return found


def generated_bits(bits: int, needed: int, trustees: int) -> int:
    """Returns the bits of the longest share of a key that trustees generated together."""
    of_trustees = trustees.bit_length()
    coefficient = bits + 128 + of_trustees + 128 + factorial(trustees).bit_length() + needed - 1
    share = coefficient + 1 + sum(int(trustees**power) for power in range(needed)).bit_length()
    return 2 * bits + share + of_trustees


def check_modulus(key: Key, insecure: bool) -> None:
    """Checks all properties of n and h that can be checked directly.

    For test keys it skips only the check of the length.
    """
    n = key.n
    require(key.bits % 2 == 0 and 64 <= key.bits <= 8192, "the key must have 64 to 8192 bits, an even number")
    require(insecure or key.bits >= 2048, "the key is INSECURE: it is shorter than 2048 bits")
    require(all(n % prime for prime in small_primes(SMALL_PRIMES_BELOW)), "the modulus has a small factor, below 65536")
    root = isqrt(n)
    require(root * root != n, "the modulus is a perfect square")
    units = 1 < key.h < n - 1 and gcd((key.h - 1) * key.h * (key.h + 1), n) == 1
    require(n % 4 == 1 and units, "n is not 1 modulo 4, or h is out of range, or one of h - 1, h, h + 1 is not a unit")
    require(pow(2, n - 1, n) != 1, "the modulus is probably prime: 2^(n - 1) is 1 modulo n")
    for above in range(root + 1, root + 101):
        rest = above * above - n
        require(isqrt(rest) ** 2 != rest, "the primes of the modulus are too close: Fermat's method finds them")


def check_key(key: Key, roots: list[Any], square_roots: list[Any], insecure: bool) -> None:
    check_modulus(key, insecure)
    require(len(roots) == 11, "the key does not have 11 roots")
    require(len(square_roots) == 128, "the key does not have 128 square roots")
    both = [[int.from_bytes(base64url(one, key.width), "big") for one in some] for some in (roots, square_roots)]
    require(all(0 < one < key.n for some in both for one in some), "a root of the key is out of range")
    for index, root in enumerate(both[0]):
        require(pow(root, key.n, key.n) == hashed(key, "roots", index), f"root {index} of the key is wrong")
    check_blum(key, both[1])


def check_blum(key: Key, roots: list[int]) -> None:
    """Checks that n has two prime factors: for each hashed y, one of y, w y, -y and -w y is shown
    to be a square.
    """
    w = next((w for w in range(2, 1000) if jacobi(w, key.n) == -1), None)
    require(w is not None, "no number below 1000 has Jacobi symbol -1 modulo n")
    assert w is not None
    for index, root in enumerate(roots):
        y = hashed(key, "blum", index)
        fits = {one % key.n for one in (y, w * y, -y, -w * y)}
        require(root * root % key.n in fits, f"square root {index} of the key is wrong")


def jacobi(a: int, n: int) -> int:
    """Returns the Jacobi symbol (a / n) of an odd n, by reciprocity."""
    a, sign = a % n, 1
    while a:
        while a % 2 == 0:
            a //= 2
            sign = -sign if n % 8 in (3, 5) else sign
        a, n = n, a
        sign = -sign if a % 4 == n % 4 == 3 else sign
        a %= n
    return sign if n == 1 else 0


# Proofs -------------------------------------------------------------------------------------------


def response_bytes(bits: int) -> int:
    return (bits + 385 + 7) // 8


def response(data: bytes, bits: int) -> int:
    z = int.from_bytes(data, "big")
    require(z < 1 << (bits + 385), "the response of a proof is out of range")
    return z


def check_residue(key: Key, context: tuple[bytes, bytes], bits: int, u: int, data: bytes) -> None:
    """Checks a proof that u is a power of h^n."""
    require(len(data) == 2 * key.width + response_bytes(bits), "a proof has the wrong length")
    a = key.unit(data[: 2 * key.width])
    z = response(data[2 * key.width :], bits)
    e = transcript("residue, short", *context, key.narrow(key.n), key.narrow(key.h), key.wide(u), key.wide(a))
    right = a * pow(u, e, key.square) % key.square
    require(key.equal(key.power_of_base(z), right), "the proof does not hold")


def check_membership(
    key: Key, context: tuple[bytes, bytes], bits: int, numbers: list[int], c: int, data: bytes
) -> None:
    """Checks a proof that c holds one of the numbers."""
    side = 2 * key.width + 32 + response_bytes(bits)
    require(len(data) == len(numbers) * side, "a proof has the wrong length")
    sides = []
    for start in range(0, len(data), side):
        a, rest = key.unit(data[start : start + 2 * key.width]), data[start + 2 * key.width : start + side]
        sides.append((a, int.from_bytes(rest[:32], "big"), response(rest[32:], bits)))
    wanted = transcript(
        "membership, short", *context, key.narrow(key.n), key.narrow(key.h),
        b"".join(key.narrow(number) for number in numbers), key.wide(c), b"".join(key.wide(a) for a, _, _ in sides),
    )  # fmt: skip
    require(sum(e for _, e, _ in sides) % (1 << 256) == wanted, "the proof does not hold")
    for number, (a, e, z) in zip(numbers, sides, strict=True):
        u = c * (1 - number * key.n) % key.square
        right = a * pow(u, e, key.square) % key.square
        require(key.equal(key.power_of_base(z), right), "the proof does not hold")


# The election -------------------------------------------------------------------------------------


@dataclass
class Sum:
    """A proven statement about a sum of marks: it equals the limit, or is at most the limit."""

    exactly: bool
    limit: int
    #: The marks, each as often as it counts.
    marks: list[int]

    def allows(self, totals: list[int], weight: int) -> bool:
        """Whether totals over all ballots agree with their proofs."""
        total = sum(totals[mark] for mark in self.marks)
        return total == self.limit * weight if self.exactly else total <= self.limit * weight


@dataclass
class Contest:
    candidates: list[str]
    method: str
    limit: int = 0
    #: Whether the last candidate is the blank vote.
    blank: bool = False
    #: The points of each rank, if candidates are ranked.
    points: list[int] = field(default_factory=list)

    @property
    def sums(self) -> list[Sum]:
        """Returns the proven sums of marks, in order."""
        if self.limit:
            # The blank vote counts as often as there are votes to give.
            more = self.limit - 1 if self.blank else 0
            return [Sum(self.method == "exactly", self.limit, [*range(self.marks), *[self.marks - 1] * more])]
        # One sum per rank, then one per candidate. With a single rank, the proofs of its marks
        # already cover the candidates.
        ranks, count = len(self.points), len(self.candidates)
        of_ranks = [Sum(True, 1, list(range(rank * count, (rank + 1) * count))) for rank in range(ranks)]
        candidates = [Sum(ranks == count, 1, list(range(one, ranks * count, count))) for one in range(count)]
        return [*of_ranks, *candidates] if ranks > 1 else of_ranks

    @property
    def marks(self) -> int:
        if self.method == "rank":
            return len(self.points) * len(self.candidates)
        return len(self.candidates) if self.method in ("approval", "exactly", "at_most") else 1

    @property
    def size(self) -> int:
        """Returns its share of an election's limit of 512 candidates: its candidates, once per
        rank.
        """
        return len(self.candidates) * max(1, len(self.points))

    @property
    def results(self) -> int:
        """Returns the count of its numbers in a result."""
        return len(self.candidates) + (self.marks if self.points else 0)

    @property
    def numbers(self) -> list[int]:
        """Returns the values that a mark may hold."""
        if self.method == "plurality":
            return [1 << (DIGIT_BITS * place) for place in range(len(self.candidates))]
        return [0, 1]

    def votes(self, plain: list[int], weight: int) -> list[int]:
        if self.method == "plurality":
            count = len(self.candidates)
            require(plain[0] < 1 << (DIGIT_BITS * count), "the tally does not decrypt to a valid result")
            votes = [plain[0] >> (DIGIT_BITS * place) & ((1 << DIGIT_BITS) - 1) for place in range(count)]
        elif self.method == "yes_no":
            votes = [plain[0], weight - plain[0]]
        else:
            votes = plain
        require(all(0 <= one <= weight for one in votes), "the tally does not decrypt to a valid result")
        one_each = self.method not in ("plurality", "yes_no") or sum(votes) == weight
        fits = one_each and all(one.allows(votes, weight) for one in self.sums)
        require(fits, "the tally does not decrypt to a valid result")
        if not self.points:
            return votes
        # The points of each candidate, then its count at each rank.
        count = len(self.candidates)
        at_ranks = [votes[candidate::count] for candidate in range(count)]
        points = [sum(a * b for a, b in zip(counts, self.points, strict=True)) for counts in at_ranks]
        return [*points, *votes]


def read_contest(value: Any, bits: int) -> Contest:
    value = members(value, "candidates method title", "about blank details shuffled")
    candidates = [name(one, 400) for one in listed(value["candidates"])]
    name(value["title"], 400)
    check_details(value, len(candidates))
    blank = "blank" in value
    require(1 <= len(candidates) <= 256, "a contest must have 1 to 256 candidates")
    require(len(set(map(alike, candidates))) == len(candidates), "two candidates have names that look alike")
    method, limit = value["method"], 0
    points: list[int] = []
    if type(method) is dict and "rank" in method:
        points = listed(members(members(method, "rank")["rank"], "points")["points"])
        require(1 <= len(points) <= len(candidates), "there are no ranks, or more ranks than candidates")
        points, method = [integer(one, 1, MAX_POINTS) for one in points], "rank"
        require(all(a > b for a, b in pairwise(points)), "the points must decrease from rank to rank")
        require(not blank, "a ranked contest cannot have a blank vote")
    elif type(method) is dict:
        choose = members(method, "choose")["choose"]
        require(type(choose) is dict and len(choose) == 1, "the method of a contest is unknown")
        method, limit = next(iter(choose.items()))
        require(method in ("exactly", "at_most"), "the method of a contest is unknown")
        integer(limit, 1, len(candidates) - blank)
    else:
        require(method in ("approval", "plurality", "yes_no"), "the method of a contest is unknown")
    takes_blank = method not in ("approval", "yes_no") and len(candidates) > 1
    require(takes_blank or not blank, "a blank vote needs another candidate and the method 'choose' or 'plurality'")
    require(method != "yes_no" or len(candidates) == 2, "a yes-or-no contest needs two candidates")
    # Proofs about a number hold modulo the larger prime factor of n, which exceeds the square root
    # of n.
    total_bits = DIGIT_BITS * (len(candidates) if method == "plurality" else 1)
    require(total_bits < bits // 2, "the key is too short: the tally's numbers must have fewer than half of its bits")
    return Contest(candidates, method, limit, blank, points)


def check_details(value: dict[str, Any], candidates: int) -> None:
    """Checks the descriptions of a contest and its candidates for voters."""
    if "about" in value:
        about(value["about"])
    if "details" in value:
        details = [members(one, "", "about link") for one in listed(value["details"])]
        require(len(details) == candidates, "the number of details differs from the number of candidates")
        for one in details:
            if "about" in one:
                about(one["about"])
            if "link" in one:
                link(one["link"])


class Election:
    def __init__(self, body: Any, text: str, insecure: bool) -> None:
        names = "board contests key organiser revoting title trustees"
        body = members(body, names, "about closes late opens registrar trial")
        self.id = sha256(text.encode()).hex()
        name(body["title"], 400)
        require(type(body["revoting"]) is bool, "revoting must be true or false")
        self.revoting, self.late = body["revoting"], "late" in body
        self.read_dates(body)
        old = "the key carries no proof that it has two prime factors: the election was set up by an earlier version"
        require("blum" in body["key"], old)
        parts = members(body["key"], "blum generator modulus roots")
        n, h = base64url(parts["modulus"]), base64url(parts["generator"])
        require(len(n) <= 1024 and int.from_bytes(n, "big") > 1, "the modulus is below 2 or longer than 1024 bytes")
        self.key = Key(int.from_bytes(n, "big"), int.from_bytes(h, "big"))
        require(len(n) == len(h) == self.key.width, "the modulus or the generator has the wrong length")
        check_key(self.key, listed(parts["roots"]), listed(parts["blum"]), insecure)
        self.contests = [read_contest(one, self.key.bits) for one in listed(body["contests"])]
        require(1 <= len(self.contests) <= 64, "an election must have 1 to 64 contests")
        counted = sum(one.size for one in self.contests)
        require(counted <= 512, "there are more than 512 candidates, counting each once per rank")
        first_points = max(max(one.points, default=1) for one in self.contests)
        #: The maximum weight of all voters, which bounds every total and every candidate's points.
        self.most_weight = min((1 << DIGIT_BITS) - 1, MAX_NUMBER // first_points)
        self.organiser, self.board = signing_key(body["organiser"]), signing_key(body["board"])
        require(self.organiser != self.board, "the organiser and the board have the same key")
        self.registrar = signing_key(body["registrar"]) if "registrar" in body else self.organiser
        others = {self.organiser, self.board}
        require("registrar" not in body or self.registrar not in others, "the registrar has another official's key")
        self.trustees: list[int] = []
        self.signing: list[bytes] = []
        self.needed, self.answer_bits = 0, 2 * self.key.bits + 512
        if body["trustees"] is not None:
            self.read_trustees(body, others | {self.registrar})

    def read_trustees(self, body: dict[str, Any], others: set[bytes]) -> None:
        """Reads the trustees, whose key was dealt or generated together."""
        shared = members({"generated": None, "signing": None, **body["trustees"]}, "base generated keys needed signing")
        width = 2 * self.key.width
        self.base = self.key.unit(base64url(shared["base"], width))
        self.trustees = [self.key.unit(base64url(one, width)) for one in listed(shared["keys"])]
        count = len(self.trustees)
        require(1 <= count <= 20, "a key must have 1 to 20 trustees")
        self.needed = integer(shared["needed"], 1, count)
        if shared["generated"] is not None:
            few = 3 <= count <= 9 and self.needed >= 2 and 2 * self.needed - 1 <= count
            require(few, "key generation needs 3 to 9 trustees, and a threshold of 2 to half of them (rounded up)")
            self.answer_bits = generated_bits(self.key.bits, self.needed, count) + 512
        check_dealing(self.key, self.base, self.trustees, self.needed)
        old = "the trustees have no signing keys: the election was set up by an earlier version"
        require(shared["signing"] is not None, old)
        self.signing = [signing_key(one) for one in listed(shared["signing"])]
        require(len(self.signing) == count, "the number of signing keys differs from the number of trustees")
        own = len({*self.signing, *others}) == count + len(others)
        require(own, "two of the trustees, registrar, organiser and board have the same key")
        if shared["generated"] is not None:
            self.check_statements(body["key"], shared)

    def check_statements(self, key: Any, shared: dict[str, Any]) -> None:
        """Checks each trustee's statement about a key that they generated together."""
        generated = members(shared["generated"], "statements transcript")
        statements = [base64url(one) for one in listed(generated["statements"])]
        require(len(statements) == len(self.signing), "each trustee must have one statement about the key")
        common = {"key": key, "transcript": generated["transcript"]}
        common |= {name: shared[name] for name in ("base", "keys", "needed")}
        for trustee, (signer, signed) in enumerate(zip(self.signing, statements, strict=True), 1):
            text = canonical({**common, "trustee": trustee})
            holds = signature_holds(signer, "hearith-election 1 generation", text, signed)
            require(holds, f"trustee {trustee} did not sign its statement about the key")

    def read_dates(self, body: dict[str, Any]) -> None:
        """Reads the optional dates at which voting begins and ends, and the description for
        voters.
        """
        if "about" in body:
            about(body["about"])
        self.opens, self.closes = body.get("opens"), body.get("closes")
        for date in (self.opens, self.closes):
            require(date is None or is_time(date), "a date is not a time like 2026-11-22T20:15:00Z")
        # Texts of this form sort like times.
        if self.opens is not None and self.closes is not None:
            require(self.opens < self.closes, "voting must end after it begins")

    def places(self) -> list[tuple[int, int]]:
        return [(number, mark) for number, one in enumerate(self.contests) for mark in range(one.marks)]

    def context(self, voter: str, contest: int, place: int) -> tuple[bytes, bytes]:
        return f"hearith-election 1 {self.id}".encode(), canonical([voter, contest, place]).encode()

    def marks(self, value: Any, read: Callable[[Any], Any]) -> list[list[Any]]:
        """Reads one value for every mark of every contest."""
        lists = [listed(one) for one in listed(value)]
        fits = len(lists) == len(self.contests)
        fits = fits and all(len(one) == it.marks for one, it in zip(lists, self.contests, strict=True))
        require(fits, "the entry does not have one value for each mark of each contest")
        return [[read(one) for one in inner] for inner in lists]

    def sum_bits(self, one: Sum) -> int:
        return self.key.short_bits + (len(one.marks) - 1).bit_length()

    def sum_bytes(self, one: Sum) -> int:
        """Returns the bytes of the proof of a sum."""
        answer = response_bytes(self.sum_bits(one))
        return 2 * self.key.width + answer if one.exactly else (one.limit + 1) * (2 * self.key.width + 32 + answer)

    def sum_context(self, voter: str, number: int, at: int) -> tuple[bytes, bytes]:
        """Returns the context of the proof of a sum, which includes its index if candidates are
        ranked.
        """
        ranked = self.contests[number].method == "rank"
        shared = f"hearith-election 1 {self.id}".encode()
        return shared, canonical([voter, number, "sum", *([at] if ranked else [])]).encode()

    def read_ballot(self, value: Any) -> Ballot:
        """Reads a ballot and checks the lengths of its parts."""
        value = members(value, "contests election voter")
        require(value["election"] == self.id, "the ballot belongs to another election")
        require(isinstance(value["voter"], str), "the voter is not a text")
        parts = listed(value["contests"])
        require(len(parts) == len(self.contests), "the ballot and the election differ in the number of contests")
        key, contests = self.key, []
        for part, contest in zip(parts, self.contests, strict=True):
            part = members(part, "marks sum")
            marks = [members(mark, "ciphertext proof") for mark in listed(part["marks"])]
            require(len(marks) == contest.marks, "the ballot has the wrong number of marks for a contest")
            side = 2 * key.width + 32 + response_bytes(key.short_bits)
            width = len(contest.numbers) * side
            read = [(base64url(one["ciphertext"], 2 * key.width), base64url(one["proof"], width)) for one in marks]
            proofs: list[bytes] = []
            if contest.sums:
                rest = base64url(part["sum"], sum(self.sum_bytes(one) for one in contest.sums))
                for one in contest.sums:
                    proof, rest = rest[: self.sum_bytes(one)], rest[self.sum_bytes(one) :]
                    proofs.append(proof)
            else:
                require(part["sum"] is None, "the ballot proves a sum for a contest that requires none")
            contests.append((read, proofs))
        return Ballot(value["voter"], contests)

    def check_ballot(self, ballot: Ballot) -> None:
        """Verifies all proofs of a ballot."""
        key = self.key
        for number, (contest, (marks, proofs)) in enumerate(zip(self.contests, ballot.contests, strict=True)):
            numbers = []
            for place, (ciphertext, mark_proof) in enumerate(marks):
                numbers.append(key.unit(ciphertext))
                context = self.context(ballot.voter, number, place)
                check_membership(key, context, key.short_bits, contest.numbers, numbers[-1], mark_proof)
            for at, (one, proof) in enumerate(zip(contest.sums, proofs, strict=True)):
                context, bits = self.sum_context(ballot.voter, number, at), self.sum_bits(one)
                product = 1
                for mark in one.marks:
                    product = product * numbers[mark] % key.square
                if one.exactly:
                    u = product * (1 - one.limit * key.n) % key.square
                    check_residue(key, context, bits, u, proof)
                else:
                    check_membership(key, context, bits, list(range(one.limit + 1)), product, proof)

    def read_openings(self, value: Any) -> list[list[tuple[int, int]]]:
        width = (self.key.short_bits + 7) // 8

        def read(one: Any) -> tuple[int, int]:
            one = members(one, "exponent value")
            return int.from_bytes(base64url(one["exponent"], width), "big"), integer(one["value"], 0, 255)

        openings = self.marks(value, read)
        for contest, inner in zip(self.contests, openings, strict=True):
            require(all(value < len(contest.numbers) for _, value in inner), "the value of an opening is out of range")
        return openings

    def check_openings(self, ballot: Ballot, openings: list[list[tuple[int, int]]]) -> None:
        key = self.key
        for contest, (marks, _), inner in zip(self.contests, ballot.contests, openings, strict=True):
            for (ciphertext, _), (exponent, value) in zip(marks, inner, strict=True):
                require(exponent < 1 << key.short_bits, "an opening does not match its ciphertext")
                made = (1 + contest.numbers[value] * key.n) * key.power_of_base(exponent) % key.square
                require(key.wide(made) == ciphertext, "an opening does not match its ciphertext")

    def share_bytes(self) -> int:
        """Returns the bytes of a share of the decryption of one mark."""
        return 3 * 2 * self.key.width + (self.answer_bits + 7) // 8

    def read_shares(self, data: bytes, trustee: int, tally: list[int]) -> list[int]:
        """Returns the shares c_i of every mark, after verifying their proofs."""
        key, bits, width = self.key, self.answer_bits, 2 * self.key.width
        row_bytes, shares = self.share_bytes(), []
        require(len(data) == row_bytes * len(tally), "the shares have the wrong length for the marks of the tally")
        v, v_i = self.base, self.trustees[trustee - 1]
        counters = b"".join(one.to_bytes(4, "big") for one in (self.needed, len(self.trustees), trustee))
        for row, (c, place) in enumerate(zip(tally, self.places(), strict=True)):
            part = data[row * row_bytes : (row + 1) * row_bytes]
            c_i, a, b = (key.unit(part[start : start + width]) for start in (0, width, 2 * width))
            z = int.from_bytes(part[3 * width :], "big")
            require(z < 1 << bits, f"mark {row}: the response of the proof is out of range")
            e = transcript(
                "share", f"hearith-election 1 share {self.id}".encode(), canonical(list(place)).encode(),
                key.narrow(key.n), counters, *(key.wide(one) for one in (v, v_i, c, c_i, a, b)),
            )  # fmt: skip
            n2 = key.square
            holds = key.equal(pow(c, 4 * z, n2), a * pow(c_i, 2 * e, n2))
            holds = holds and key.equal(pow(v, z, n2), b * pow(v_i, e, n2))
            require(holds, f"mark {row}: the proof of the share does not hold")
            shares.append(c_i)
        return shares

    def combine(self, shares: dict[int, list[int]]) -> list[int]:
        """Returns the plaintexts, from any `needed` valid shares."""
        chosen, n, n2 = sorted(shares)[: self.needed], self.key.n, self.key.square
        delta, plain = factorial(len(self.trustees)), []
        for row in range(len(self.places())):
            product = 1
            for i, coefficient in lagrange(delta, chosen).items():
                product = product * pow(shares[i][row], 2 * coefficient, n2) % n2
            require(product % n == 1, "the shares do not combine to a plaintext")
            plain.append((product - 1) // n * pow(4 * delta * delta, -1, n) % n)
        return plain


@dataclass
class Ballot:
    voter: str
    #: For each contest: the marks as ciphertext and proof, and the proofs of their sums.
    contests: list[tuple[list[tuple[bytes, bytes]], list[bytes]]]

    def ciphertexts(self) -> list[bytes]:
        return [ciphertext for marks, _ in self.contests for ciphertext, _ in marks]


# The record ---------------------------------------------------------------------------------------


def read_lines(path: Path) -> Iterator[str]:
    *lines, rest = path.read_bytes().split(b"\n")
    for line in lines:
        require(len(line) <= MAX_LINE, "a line is longer than 8 MiB")
        try:
            yield line.decode()
        except UnicodeDecodeError as error:
            raise Wrong("a line is not UTF-8") from error
    require(rest == b"", "the last line does not end with a newline")


def board_lines(record: Path) -> Iterator[str]:
    first = 0
    while (path := record / "board" / f"{first:08}.jsonl").exists():
        count = 0
        for line in read_lines(path):
            count += 1
            require(count <= FILE_ENTRIES, "a file has more than 1000 entries")
            yield line
        more = (record / "board" / f"{first + FILE_ENTRIES:08}.jsonl").exists()
        require(count == FILE_ENTRIES or not more, "a file before the last one has fewer than 1000 entries")
        first += FILE_ENTRIES


class Tree:
    """The tree of RFC 6962: the roots of its full subtrees, largest first."""

    def __init__(self) -> None:
        self.size = 0
        self.full: list[bytes] = []

    def push(self, line: str) -> None:
        node, size = sha256(b"\0", line.encode()), self.size
        while size & 1:
            node, size = sha256(b"\1", self.full.pop(), node), size >> 1
        self.full.append(node)
        self.size += 1

    def root(self) -> str:
        if not self.full:
            return sha256().hex()
        node = self.full[-1]
        for left in reversed(self.full[:-1]):
            node = sha256(b"\1", left, node)
        return node.hex()


@dataclass
class Voter:
    key: bytes
    weight: int
    counted: tuple[int, Ballot] | None = None


@dataclass
class Pending:
    """A cast or challenged ballot whose proofs are still to be verified."""

    index: int
    ballot: Ballot
    openings: list[list[tuple[int, int]]] | None = None

    def fault(self, election: Election) -> str | None:
        try:
            election.check_ballot(self.ballot)
            if self.openings is not None:
                election.check_openings(self.ballot, self.openings)
        except Wrong as error:
            return f"entry {self.index}: {error}"
        return None


WORKING_ON: list[Election] = []


def fault_of(pending: Pending) -> str | None:
    return pending.fault(WORKING_ON[-1])


@dataclass
class Verifier:
    insecure: bool = False
    faults: dict[str, list[str]] = field(default_factory=lambda: {step: [] for step in STEPS})
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STEPS, 0))
    election: Election | None = None
    phase: str = "preparing"
    voters: dict[str, Voter] = field(default_factory=dict)
    seen: set[bytes] = field(default_factory=set)
    pending: list[Pending] = field(default_factory=list)
    #: Credentials replaced and voters added during voting: entry, change, voter.
    changes: list[tuple[int, str, str]] = field(default_factory=list)
    opened: int | None = None
    closed: int | None = None
    last_ballot: int | None = None
    tally: list[int] | None = None
    weight: int = 0
    share_data: dict[int, tuple[int, bytes]] = field(default_factory=dict)
    opening: tuple[int, list[list[tuple[bytes, bytes]]]] | None = None
    result: tuple[int, list[list[int]]] | None = None

    def fault(self, step: str, what: str) -> None:
        self.faults[step].append(what)

    def run(self, record: Path) -> bool:
        tree, previous, roots, whole = Tree(), "0" * 64, {}, True
        heads = self.read_heads(record)
        wanted = {size for size, _, _ in heads}
        lines = board_lines(record)
        while True:
            index = tree.size
            try:
                if (line := next(lines, None)) is None:
                    break
                entry = members(parse("an entry", line), "body index kind previous signature")
                require(entry["index"] == index and type(entry["index"]) is int, "the index is not the line's number")
                require(hash_text(entry["previous"]) == previous, "'previous' is not the hash of the line before")
                require(isinstance(entry["kind"], str) and entry["kind"] in FORMS, "the entry is of an unknown kind")
                require(has_form(entry["body"], FORMS[entry["kind"]]), f"the body is not a valid '{entry['kind']}'")
                signature = base64url(entry["signature"])
            except Wrong as error:
                self.fault("chain", f"entry {index}: {error}")
                whole = False
                break
            self.counts["chain"] += 1
            previous = sha256(line.encode()).hex()
            tree.push(line)
            if tree.size in wanted:
                roots[tree.size] = tree.root()
            if not self.take(index, entry, signature):
                whole = False
                break
        if tree.size == 0 and not self.faults["chain"]:
            self.fault("chain", "there is no record here")
        self.check_heads(heads, roots, tree.size, whole)
        self.check_dates(heads)
        self.check_end()
        return not any(self.faults.values())

    # Heads

    def read_heads(self, record: Path) -> list[tuple[int, Any, str]]:
        heads: list[tuple[int, Any, str]] = []
        path = record / "heads.jsonl"
        try:
            for line in read_lines(path) if path.exists() else ():
                head = members(parse("a head", line), "root signature size time")
                require(is_time(head["time"]), "the time of a head is not like 2026-11-22T20:15:00Z")
                hash_text(head["root"])
                base64url(head["signature"])
                heads.append((integer(head["size"], 0, 2**53 - 1), head, head["time"]))
        except Wrong as error:
            self.fault("heads", str(error))
        if any(size == 0 for size, _, _ in heads):
            self.fault("heads", "a head covers no entries")
        for before, after in pairwise(heads):
            if after[0] < before[0] or after[2] < before[2]:
                self.fault("heads", f"the head of {after[0]} entries is smaller or older than the head before it")
        self.counts["heads"] = len(heads)
        return heads

    def check_heads(self, heads: list[tuple[int, Any, str]], roots: dict[int, str], size: int, whole: bool) -> None:
        for of, head, _ in heads:
            if of in roots and head["root"] != roots[of]:
                self.fault("heads", f"the head of {of} entries does not have the root of the board")
            elif whole and of not in roots:
                self.fault("heads", f"the board does not have the {of} entries that a head covers")
            if self.election is not None:
                text = canonical({part: head[part] for part in ("root", "size", "time")})
                signature = base64url(head["signature"])
                if not signature_holds(self.election.board, "hearith-election 1 head", text, signature):
                    self.fault("heads", f"the head of {of} entries: the signature does not hold")
        if whole and (heads[-1][0] if heads else 0) < size:
            self.fault("heads", "entries follow the last head: the board has not signed them")

    def check_dates(self, heads: list[tuple[int, Any, str]]) -> None:
        """Checks by the times of the heads before and after that voting begins and ends on its
        dates.
        """
        if self.election is None:
            return
        opens, closes = self.election.opens, self.election.closes
        for at, date, what in ((self.opened, opens, "begins"), (self.closed, closes, "ends")):
            if at is not None and date is not None and any(size > at and time < date for size, _, time in heads):
                self.fault("rules", f"entry {at}: voting {what} before its date")
        at = self.last_ballot
        if at is not None and closes is not None and any(size <= at and time >= closes for size, _, time in heads):
            self.fault("rules", f"entry {at}: a ballot was added after the date at which voting ends")

    # Entries

    def take(self, index: int, entry: Any, signature: bytes) -> bool:
        kind, body = entry["kind"], entry["body"]
        text = canonical({"body": body, "kind": kind})
        if self.election is None:
            self.counts["election"] += 1
            try:
                require(kind == "election", "the first entry is not an election")
                election = Election(body, canonical(body), self.insecure)
            except Wrong as error:
                self.fault("election", f"entry {index}: {error}")
                return False
            if not signature_holds(election.organiser, "hearith-election 1 entry", text, signature):
                self.fault("signatures", f"entry {index}: the signature does not hold")
                return False
            self.counts["signatures"] += 1
            self.election = election
            return True
        self.counts["rules"] += 1
        try:
            author = self.admit(index, kind, body)
        except Wrong as error:
            self.fault("rules", f"entry {index}: {error}")
            return True
        self.counts["signatures"] += 1
        if not signature_holds(author, "hearith-election 1 entry", text, signature):
            self.fault("signatures", f"entry {index}: the signature does not hold")
        return True

    def admit(self, index: int, kind: str, body: Any) -> bytes:
        """Applies the rules and returns the key that must have signed the entry."""
        election = self.election
        assert election is not None
        listing = "open" if self.phase == "open" and election.late else "preparing"
        readers: dict[str, tuple[str, Callable[[int, Any], bytes]]] = {
            "voters": (listing, self.take_voters),
            "replace": (listing, self.take_replace),
            "open": ("preparing", self.take_open),
            "ballot": ("open", self.take_ballot),
            "challenge": ("open", self.take_challenge),
            "close": ("open", self.take_close),
            "tally": ("closed", self.take_tally),
            "share": ("tallied", self.take_share),
            "opening": ("tallied", self.take_opening),
            "result": ("tallied", self.take_result),
        }
        require(kind in readers, f"an entry of kind '{kind}' is not allowed now")
        phase, reader = readers[kind]
        require(type(body) is dict and body.get("election") == election.id, "the entry belongs to another election")
        require(self.phase == phase, f"an entry of kind '{kind}' is not allowed now")
        return reader(index, body)

    def take_voters(self, index: int, body: Any) -> bytes:
        election = self.election
        assert election is not None
        voters = listed(members(body, "election voters")["voters"])
        require(1 <= len(voters) <= 1000, "an entry must list 1 to 1000 voters")
        added: dict[str, Voter] = {}
        for one in voters:
            one = members(one, "id key weight")
            who = name(one["id"], 128)
            require(who not in self.voters and who not in added, "a voter with this ID already exists")
            added[who] = Voter(signing_key(one["key"]), integer(one["weight"], 1, 1 << 32))
        together = sum(one.weight for one in [*self.voters.values(), *added.values()])
        require(together <= election.most_weight, "the sum of all weights reaches 2^48, or the sum of all points 2^53")
        self.voters.update(added)
        if self.phase == "open":
            self.changes += [(index, "added while voting went on", who) for who in added]
        return election.registrar

    def take_replace(self, index: int, body: Any) -> bytes:
        assert self.election is not None
        voters = [members(one, "id key") for one in listed(members(body, "election voters")["voters"])]
        require(1 <= len(voters) <= 1000, "an entry must replace the credentials of 1 to 1000 voters")
        keys: dict[str, bytes] = {}
        for one in voters:
            who, key = one["id"], signing_key(one["key"])
            require(who in self.voters, "there is no voter with this ID")
            require(who not in keys, "the entry lists the voter twice")
            # The holder of the new key could replace the ballot.
            require(self.voters[who].counted is None, "the voter has voted and must keep the credential")
            require(self.voters[who].key != key, "the new key is the same as the old one")
            keys[who] = key
        when = " while voting went on" if self.phase == "open" else ""
        for who, key in keys.items():
            self.voters[who].key = key
            self.changes.append((index, f"credential replaced{when}", who))
        return self.election.registrar

    def take_open(self, index: int, body: Any) -> bytes:
        assert self.election is not None
        members(body, "election")
        require(bool(self.voters), "there are no voters")
        self.phase, self.opened = "open", index
        return self.election.organiser if self.election.opens is None else self.election.board

    def take_close(self, index: int, body: Any) -> bytes:
        assert self.election is not None
        members(body, "election")
        self.phase, self.closed = "closed", index
        return self.election.organiser if self.election.closes is None else self.election.board

    def fresh(self, ballot: Ballot) -> None:
        """Checks that no ciphertext is on the board already."""
        own = ballot.ciphertexts()
        require(len(set(own)) == len(own) and not self.seen.intersection(own), "a ciphertext occurs twice on the board")

    def take_ballot(self, index: int, body: Any) -> bytes:
        election = self.election
        assert election is not None
        ballot = election.read_ballot(body)
        require(ballot.voter in self.voters, "not a voter of this election")
        voter = self.voters[ballot.voter]
        require(voter.counted is None or election.revoting, "the voter has already cast a ballot")
        self.fresh(ballot)
        self.seen.update(ballot.ciphertexts())
        voter.counted, self.last_ballot = (index, ballot), index
        self.counts["ballots"] += 1
        self.pending.append(Pending(index, ballot))
        return voter.key

    def take_challenge(self, index: int, body: Any) -> bytes:
        election = self.election
        assert election is not None
        body = members(body, "ballot election openings")
        ballot = election.read_ballot(body["ballot"])
        require(ballot.voter in self.voters, "not a voter of this election")
        self.fresh(ballot)
        openings = election.read_openings(body["openings"])
        self.seen.update(ballot.ciphertexts())
        self.counts["challenges"] += 1
        self.last_ballot = index
        self.pending.append(Pending(index, ballot, openings))
        return self.voters[ballot.voter].key

    def take_tally(self, index: int, body: Any) -> bytes:
        election = self.election
        assert election is not None
        body, key = members(body, "contests counted election weight"), election.key
        counted = [voter for voter in self.voters.values() if voter.counted is not None]
        weight = sum(voter.weight for voter in counted)
        said = [integer(body[part], 0, 2**53 - 1) for part in ("counted", "weight")]
        require(said == [len(counted), weight], "the number or weight of the counted ballots is wrong")
        numbers = election.marks(body["contests"], lambda one: base64url(one, 2 * key.width))
        flat = [number for inner in numbers for number in inner]
        products = [1] * len(flat)
        for voter in counted:
            assert voter.counted is not None
            for mark, ciphertext in enumerate(voter.counted[1].ciphertexts()):
                power = pow(int.from_bytes(ciphertext, "big"), voter.weight, key.square)
                products[mark] = products[mark] * power % key.square
        self.phase, self.weight = "tallied", weight
        self.tally = [int.from_bytes(number, "big") for number in flat]
        self.counts["tally"] = len(flat)
        if products != self.tally:
            self.fault("tally", f"entry {index}: the tally is not the product of the ballots on the board")
        return election.organiser

    def take_share(self, index: int, body: Any) -> bytes:
        election = self.election
        assert election is not None
        body = members(body, "election shares trustee")
        require(bool(election.trustees), "the election has no trustees")
        trustee = integer(body["trustee"], 1, len(election.trustees))
        require(trustee not in self.share_data, f"trustee {trustee} has already given a share")
        data = base64url(body["shares"])
        fits = len(data) == election.share_bytes() * len(election.places())
        require(fits, "the shares have the wrong length for the marks of the tally")
        self.share_data[trustee] = (index, data)
        return election.signing[trustee - 1]

    def take_opening(self, index: int, body: Any) -> bytes:
        election = self.election
        assert election is not None
        require(not election.trustees and self.opening is None, "the election has trustees or an earlier opening")
        width = election.key.width

        def read(one: Any) -> tuple[bytes, bytes]:
            one = members(one, "opening plaintext")
            return base64url(one["opening"], width), base64url(one["plaintext"], width)

        self.opening = (index, election.marks(members(body, "contests election")["contests"], read))
        return election.organiser

    def take_result(self, index: int, body: Any) -> bytes:
        election = self.election
        assert election is not None
        votes = [listed(one) for one in listed(members(body, "contests election")["contests"])]
        require(len(self.share_data) >= election.needed, f"fewer than the {election.needed} shares needed")
        require(bool(election.trustees) or self.opening is not None, "the tally is not decrypted yet")
        fits = len(votes) == len(election.contests)
        fits = fits and all(len(one) == it.results for one, it in zip(votes, election.contests, strict=True))
        require(fits, "the result has the wrong number of contests or votes")
        self.result = (index, [[integer(one, 0, 2**53 - 1) for one in inner] for inner in votes])
        self.phase = "finished"
        return election.organiser

    # The end

    def check_proofs(self, election: Election) -> None:
        """Verifies the proofs of all ballots, on all cores unless there are few."""
        election.key.power_of_base((1 << (election.key.short_bits + 500)) - 1)
        if len(self.pending) < 50:
            faults = [one.fault(election) for one in self.pending]
        else:
            WORKING_ON.append(election)
            with multiprocessing.get_context("fork").Pool() as pool:
                faults = pool.map(fault_of, self.pending, chunksize=8)
        for one, fault in zip(self.pending, faults, strict=True):
            if fault is not None:
                self.fault("ballots" if one.openings is None else "challenges", fault)

    def check_end(self) -> None:
        election, tally = self.election, self.tally
        if election is not None:
            self.check_proofs(election)
        if election is None or tally is None:
            return
        plain = self.decrypt(election, tally)
        if self.result is None:
            return
        self.counts["result"] = 1
        index, votes = self.result
        try:
            require(plain is not None, "the tally is not decrypted correctly")
            assert plain is not None
            for number, contest in enumerate(election.contests):
                own = [plain.pop(0) for _ in range(contest.marks)]
                require(contest.votes(own, self.weight) == votes[number], f"contest {number}: not the decrypted tally")
        except Wrong as error:
            self.fault("result", f"entry {index}: {error}")

    def decrypt(self, election: Election, tally: list[int]) -> list[int] | None:
        key, shares = election.key, {}
        try:
            for number in tally:
                key.unit(key.wide(number))
        except Wrong as error:
            self.fault("decryption", str(error))
            return None
        for trustee, (index, data) in self.share_data.items():
            self.counts["decryption"] += 1
            try:
                shares[trustee] = election.read_shares(data, trustee, tally)
            except Wrong as error:
                self.fault("decryption", f"entry {index}: trustee {trustee}: {error}")
        if self.opening is not None:
            self.counts["decryption"] += 1
            return self.check_opening(key, tally)
        if not election.trustees or len(shares) < election.needed:
            return None
        try:
            return election.combine(shares)
        except Wrong as error:
            self.fault("decryption", str(error))
            return None

    def check_opening(self, key: Key, tally: list[int]) -> list[int] | None:
        assert self.opening is not None
        index, decrypted = self.opening
        plain = []
        for number, (opening, plaintext) in zip(tally, [one for inner in decrypted for one in inner], strict=True):
            r, m = int.from_bytes(opening, "big"), int.from_bytes(plaintext, "big")
            right = 0 < r < key.n and m < key.n and (1 + m * key.n) * pow(r, key.n, key.square) % key.square == number
            if not right:
                self.fault("decryption", f"entry {index}: an opening does not match its ciphertext")
                return None
            plain.append(m)
        return plain


def main() -> int:
    parser = argparse.ArgumentParser(description="Verify the published record of an election.")
    parser.add_argument("record", type=Path, help="folder of the record")
    parser.add_argument("--insecure-key", action="store_true", help="accept keys shorter than 2048 bits (for tests)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    arguments = parser.parse_args()
    if tuple(map(int, unicodedata.unidata_version.split("."))) < (14, 0, 0):
        parser.error("comparing names needs Unicode 14.0.0 or later: use Python 3.11 or newer")
    verifier = Verifier(insecure=arguments.insecure_key)
    good = verifier.run(arguments.record)
    result = verifier.result[1] if good and verifier.result is not None else None
    if arguments.json:
        report = {"verified": good, "faults": verifier.faults, "checked": verifier.counts, "result": result}
        print(json.dumps({**report, "changes": verifier.changes}))
        return 0 if good else 1
    for step in STEPS:
        faults = verifier.faults[step]
        print(f"{step:<11}{f'WRONG {len(faults)}' if faults else f'good  {verifier.counts[step]}'}")
        for what in faults[:20]:
            print(f"  {what}", file=sys.stderr)
    for index, what, who in verifier.changes:
        print(f"entry {index}: {what}: {who}")
    if result is not None and verifier.election is not None:
        for contest, votes in zip(verifier.election.contests, result, strict=True):
            # If candidates are ranked, their points; the counts at each rank follow after them.
            print("; ".join(f"{one}: {count}" for one, count in zip(contest.candidates, votes, strict=False)))
    print("verified" if good else "NOT VERIFIED")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
