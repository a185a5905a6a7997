"""Names: characters that nobody sees, joiners, and candidates that nobody can tell apart."""

from __future__ import annotations

from cases import LISTED, Case, Cases, changed, put, record, single, trustees

HIDDEN = {
    "a control": "\x01", "a tab": "\t", "a newline": "\n", "U+0085": "\x85", "a soft hyphen": "\xad",
    "a grapheme joiner": "\u034f", "an Arabic letter mark": "\u061c", "an Arabic number sign": "\u0600",
    "a Hangul filler": "\u115f", "a Khmer inherent vowel": "\u17b4", "a Mongolian selector": "\u180b",
    "a Mongolian separator": "\u180e", "a zero width space": "\u200b", "a left-to-right mark": "\u200e",
    "a right-to-left mark": "\u200f", "a line separator": "\u2028", "a paragraph separator": "\u2029",
    "an embedding": "\u202b", "the end of an embedding": "\u202c", "an override": "\u202e", "a word joiner": "\u2060",
    "an invisible plus": "\u2064", "an isolate": "\u2067", "the end of an isolate": "\u2069",
    "Braille without dots": "\u2800", "a wide Hangul filler": "\u3164", "a private character": "\ue000",
    "a variation selector": "\ufe0f", "a byte order mark": "\ufeff", "a narrow Hangul filler": "\uffa0",
    "an annotation": "\ufff9", "no character": "\uffff", "a musical control": "\U0001d173", "a tag": "\U000e0041",
    "a variation selector of plane 14": "\U000e0100", "a private character of plane 15": "\U000f0000",
    "the last code point": "\U0010ffff", "an unassigned character": "\u0378", "a character of Unicode 15.0.0": "\U0001fae8",
    "an ideograph of Unicode 15.0.0": "\U00031350", "an ideograph of Unicode 15.1.0": "\U0002ebf0",
    "a letter of Unicode 16.0.0": "\ua7cb",
}  # fmt: skip

SEEN = {
    "a letter of Unicode 14.0.0": "\U00010570", "an emoji": "\U0001f33b", "an ideograph of plane 3": "\U00031349",
    "a no-break space": "\xa0", "an ideographic space": "\u3000", "an accent": "e\u0301", "a replacement": "\ufffd",
    "a Hebrew point": "\u05b8",
}  # fmt: skip

JOINED = {
    "Persian": ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", True),
    "Hindi": ("\u0915\u094d\u200d\u0937", True),
    "Bengali, before a mark": ("\u09b0\u200d\u09cd\u09af", True),
    "between letters": ("a\u200db", True),
    "at the beginning": ("\u200cab", False),
    "at the end": ("ab\u200d", False),
    "after a space": ("a \u200cb", False),
    "before a digit": ("a\u200d1", False),
    "after a joiner": ("a\u200c\u200db", False),
    "between emoji": ("\U0001f3f3\u200d\U0001f308", False),
    "alone": ("\u200d", False),
}

ALIKE = {
    "a composed accent": ("Zo\xeb", "Zoe\u0308", False),
    "wide letters": ("Ada", "\uff21\uff44\uff41", False),
    "a ligature": ("fi", "\ufb01", False),
    "a no-break space": ("A B", "A\xa0B", False),
    "a superscript": ("m2", "m\xb2", False),
    "a modifier letter of Unicode 14.0.0": ("\u02d0", "\U00010781", False),
    "marks in another order": ("q\u0307\u0323", "q\u0323\u0307", False),
    "a syllable of letters": ("\uac01", "\u1100\u1161\u11a8", False),
    "Arabic forms": ("\u0643\u062a", "\ufedb\ufe96", False),
    "a joiner": ("\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u062e", False),
    "the other joiner": ("a\u200cb", "a\u200db", False),
    "a letter of its own by compatibility": ("\u212b", "\xc5", False),
    "capitals": ("Ada", "ADA", True),
    "another accent": ("Ad\xe1", "Ad\xe0", True),
    "another script": ("Ada", "\u0410da", True),
}


def names() -> Cases:
    named = [
        *((f"with {what}", f"A{text}b", False) for what, text in HIDDEN.items()),
        *((f"with {what}", f"A{text}b", True) for what, text in SEEN.items()),
        *((f"with a joiner {what}", text, good) for what, (text, good) in JOINED.items()),
    ]
    for number, (what, text, good) in enumerate(named):
        check = None if good else "election"
        # By turns, so that each rule is tried in each place.
        path = [("contests", 0, "candidates", 1), ("contests", 1, "title"), ("title",)][number % 3]
        yield single("names", f"{'.'.join(map(str, path))} {what}", check, put(*path, to=text))
        voter = record(changed(trustees(), LISTED, put("voters", 1, "id", to=text)))
        yield Case("names", f"a voter {what}", None if good else "rules", voter)
    for what, (one, other, good) in ALIKE.items():
        both = put("contests", 2, "candidates", to=[one, other])
        yield single("names", f"candidates who differ by {what}", None if good else "election", both)
        # Of voters every byte counts: their names are not compared by anybody but their keys.
        voters = changed(trustees(), LISTED, lambda body, pair=(one, other): rename(body, pair))
        yield Case("names", f"voters who differ by {what}", None, record(voters))


def rename(body: dict[str, object], pair: tuple[str, str]) -> None:
    for voter, name in zip(body["voters"], pair, strict=False):  # type: ignore[call-overload]
        voter["id"] = name
