"""What a manifest can say besides: dates, a registrar, voters who come late, lost credentials,
blank votes, descriptions.
"""

from __future__ import annotations

import hashlib

from cases import Case, Cases, Change, changed, files_of, put, record, single, terms, trustees
from honest import (
    AGAIN,
    BOARD,
    ORGANISER,
    REGISTRAR,
    TIMES,
    VOTERS,
    Entry,
    head_of,
    lines_of,
    listed,
    renewed,
)
from making import Signer, encode, verifier
from signatures import bad_keys

# Where entries are in the record of terms.
FIRST, LISTED, MORE, RENEWED, OPEN, BALLOT, LATE, LOST = range(8)
BLANK, CLEO, CHALLENGE, CLOSE, TALLY, OPENING, RESULT = range(8, 15)


def dated(entries: list[Entry], **times: str) -> dict[str, bytes]:
    """The files of a record whose heads have their times, but for those given: at_5="..."."""
    lines = lines_of(entries)
    at = {**TIMES, **{int(name[3:]): time for name, time in times.items()}}
    sizes = [*sorted(size for size in at if size < len(lines)), len(lines)]
    last = max([at[size] for size in sizes if size in at], default="2026-11-19T12:00:00Z")
    return files_of(lines, [head_of(lines[:size], at.get(size, last)) for size in sizes])


def by(entry: Entry, signer: Signer) -> Entry:
    return Entry(entry.kind, entry.body, by=signer)


def dates() -> Cases:
    own = terms().entries

    def case(name: str, check: str | None, entries: list[Entry] = own, **times: str) -> Case:
        return Case("dates", name, check, dated(entries, **times))

    yield case("the record", None)
    for size in range(1, len(own)):
        yield case(f"the first {size} entries", None, own[:size])
    yield case("it opens a second early", "rules", at_5="2026-11-20T07:59:59Z")
    yield case("it opens a day early", "rules", at_4="2026-11-19T13:00:00Z", at_5="2026-11-19T13:00:00Z")
    yield case("the head before it opens is of that second", None, at_4="2026-11-20T08:00:00Z")
    yield case("it closes a second early", "rules", at_12="2026-11-22T17:59:59Z")
    yield case("it closes a day early", "rules", at_11="2026-11-21T10:00:00Z", at_12="2026-11-21T11:00:00Z")
    yield case("the head before it closes is of that second", None, at_11="2026-11-22T18:00:00Z")
    yield case("it closes late", None, at_12="2026-11-22T23:00:00Z")
    after = {"at_10": "2026-11-22T18:00:00Z", "at_11": "2026-11-22T18:00:00Z"}
    yield case("a challenge after its end", "rules", **after)
    yield case("a challenge in its last second", None, at_10="2026-11-22T17:59:59Z")
    late = [*own[:CHALLENGE], own[CLOSE]]
    yield case("a ballot after its end", "rules", late, at_9="2026-11-22T18:00:00Z", at_11="2026-11-22T18:00:00Z")
    yield case("no ballot after its end", None, late, **after)
    lines = lines_of(own)
    yield Case("dates", "one head, after all", None, files_of(lines, [head_of(lines, "2026-11-23T09:00:00Z")]))
    yield Case(
        "dates", "one head, before it closes", "rules", files_of(lines, [head_of(lines, "2026-11-22T09:00:00Z")])
    )
    yield Case("dates", "one head, before it opens", "rules", files_of(lines, [head_of(lines, "2026-11-02T09:00:00Z")]))
    for at in (OPEN, CLOSE):
        for name, signer in {"organiser": ORGANISER, "registrar": REGISTRAR, "anna": VOTERS["anna"]}.items():
            signed = [*own[:at], by(own[at], signer)]
            yield case(f"'{own[at].kind}' by the {name}", "signatures", signed)
    without = trustees().entries
    for at in (3, 9):
        signed = [*without[:at], by(without[at], BOARD)]
        yield Case("dates", f"'{without[at].kind}' by the board without dates", "signatures", record(signed))
    for part in ("opens", "closes"):
        for what, date, check in [
            ("of no day", "2026-02-31T00:00:00Z", "election"),
            ("with an offset", "2026-11-21T08:00:00+00:00", "election"),
            ("with a fraction", "2026-11-21T08:00:00.0Z", "election"),
            ("of a day alone", "2026-11-21", "election"),
            ("empty", "", "election"),
            ("null", None, "chain"),
            ("a number", 20261121, "chain"),
            ("of its own", "2026-11-21T08:00:00Z", None),
        ]:
            yield single_of("dates", f"{part} {what}", check, put(part, to=date))
        yield single_of("dates", f"no {part}", None, lambda body, part=part: body.pop(part))
    for what, date in {"at once": "2026-11-20T08:00:00Z", "before it opens": "2026-11-20T07:00:00Z"}.items():
        yield single_of("dates", f"it closes {what}", "election", put("closes", to=date))


def single_of(family: str, name: str, check: str | None, change: Change) -> Case:
    """A record of the first entry of terms, changed and signed anew."""
    return Case(family, name, check, record(changed(terms(), FIRST, change)))


def lists() -> Cases:
    own, id_of = terms().entries, terms().id
    again = AGAIN

    def case(name: str, check: str | None, entries: list[Entry]) -> Case:
        return Case("lists", name, check, record(entries))

    def new(kind: str, voters: list[object], signer: Signer = REGISTRAR) -> Entry:
        return Entry(kind, {"election": id_of, "voters": voters}, by=signer)

    for at in (LISTED, RENEWED, LATE, LOST):
        for name, signer in {"organiser": ORGANISER, "board": BOARD, "anna": VOTERS["anna"]}.items():
            entries = [*own[:at], by(own[at], signer)]
            yield case(f"entry {at}, '{own[at].kind}', by the {name}", "signatures", entries)
    yield case("the last ballot by the old credential", "signatures", [*own[:CLEO], by(own[CLEO], VOTERS["cleo"])])
    early = [*own[:LOST], own[CLEO]]
    yield case("a ballot by a credential that is not replaced yet", "signatures", early)
    for phase, before in {"before it opens": own[:OPEN], "while it is open": own[:BLANK]}.items():
        for what, check, voters in [
            ("of nobody", "rules", []),
            ("of somebody who is no voter", "rules", [{**renewed("bert")[0], "id": "mallory"}]),
            ("twice in an entry", "rules", [*renewed("bert"), *renewed("bert")]),
            ("by the same key", "rules", renewed("bert")),
            ("by the first key again", None, [{"id": "bert", "key": encode(VOTERS["bert"].public)}]),
            ("with a weight", "chain", [listed("bert")]),
            ("by another's key", None, [{"id": "bert", "key": encode(again["anna"].public)}]),
        ]:
            yield case(f"{phase}, a replacement {what}", check, [*before, new("replace", voters)])
    yield case("a replacement of somebody who has voted", "rules", [*own[:CLEO], new("replace", renewed("anna"))])
    yield case("two, one of whom has voted", "rules", [*own[:LOST], new("replace", renewed("cleo", "anna"))])
    yield case("a replacement of somebody who has challenged", None, [*own[:CLOSE], new("replace", renewed("dora"))])
    for at in (TALLY, OPENING, RESULT):
        for kind, voters in {"replace": renewed("dora"), "voters": [listed("dora")]}.items():
            yield case(f"'{kind}' before entry {at}", "rules", [*own[:at], new(kind, voters)])
    for name, key in bad_keys().items():
        yield case(f"a new key {name}", "rules", [*own[:OPEN], new("replace", [{"id": "bert", "key": key}])])
        yield single_of("lists", f"a registrar's key {name}", "election", put("registrar", to=key))
    many = [{"id": f"voter {number}", "key": encode(VOTERS["anna"].public), "weight": 1} for number in range(1001)]
    others = [{"id": one["id"], "key": encode(again["anna"].public)} for one in many]
    thousand = [*own[:MORE], new("voters", many[:1000]), new("voters", many[1000:])]
    yield case("a thousand replacements", None, [*thousand, new("replace", others[:1000])])
    yield case("a thousand and one replacements", "rules", [*thousand, new("replace", others)])
    yield case("somebody twice, the second time late", "rules", [*own[:BLANK], new("voters", [listed("anna")])])
    yield case("voters after a ballot", None, own[: LATE + 1])
    # Without the flag the list is closed when voting begins.
    strict = changed(terms(), FIRST, lambda body: body.pop("late"))
    id_of = hash_of(strict[0])
    entries = [strict[0], *(Entry(one.kind, {**one.body, "election": id_of}, by=one.by) for one in own[1 : OPEN + 1])]
    yield case("a replacement before it opens, without late", None, entries)
    yield case("voters while it is open, without late", "rules", [*entries, new("voters", [listed("dora")])])
    yield case("a replacement while it is open, without late", "rules", [*entries, new("replace", renewed("cleo"))])
    without = trustees()
    for kind, voters in {"replace": renewed("dora"), "voters": [listed("dora")]}.items():
        entry = Entry(kind, {"election": without.id, "voters": voters})
        yield case(f"'{kind}' in an election of before", "rules", [*without.entries[:5], entry])
    for part in ("organiser", "board"):
        change = lambda body, part=part: body.update(registrar=body[part])  # noqa: E731
        yield single_of("lists", f"the registrar has the {part}'s key", "election", change)
    shared = lambda body: body.update(registrar=body["trustees"]["signing"][1])  # noqa: E731
    yield single("lists", "the registrar has a trustee's key", "election", shared)
    own_key = put("registrar", to=encode(REGISTRAR.public))
    yield single("lists", "a registrar beside trustees", None, own_key)
    for part in ("late", "trial"):
        for what, value in {"false": False, "null": None, "1": 1, "text": "true"}.items():
            yield single_of("lists", f"{part} is {what}", "chain", put(part, to=value))


def hash_of(entry: Entry) -> str:
    return hashlib.sha256(verifier.canonical(entry.body).encode()).hexdigest()


def descriptions() -> Cases:
    places = {
        "the election": ("about",),
        "a contest": ("contests", 0, "about"),
        "a candidate": ("contests", 0, "details", 0, "about"),
    }
    texts = {
        "on lines": ("one\ntwo\n\nthree\n", None),
        "of a newline": ("\n", None),
        "of 4000 bytes": ("\xe9" * 2000, None),
        "of 4001 bytes": ("\xe9" * 2000 + "a", "election"),
        "empty": ("", "election"),
        "with a tab": ("a\tb", "election"),
        "with a carriage return": ("a\r\nb", "election"),
        "with an override": ("a\u202eb", "election"),
        "with a joiner between lines": ("a\u200d\nb", "election"),
        "of a number": (1, "chain"),
        "null": (None, "chain"),
    }
    for where, path in places.items():
        for what, (text, check) in texts.items():
            yield single_of("descriptions", f"of {where}, {what}", check, put(*path, to=text))
    links: dict[str, tuple[object, str | None]] = {
        "of http": ("http://example.org/", "election"),
        "of a script": ("javascript:alert(1)", "election"),
        "in capitals": ("HTTPS://example.org/", "election"),
        "of nothing": ("https://", "election"),
        "of a user alone": ("https://@", "election"),
        "without a host": ("https:///a", "election"),
        "with a space": ("https://example.org/a b", "election"),
        "with a quote": ('https://example.org/"', "election"),
        "with an accent": ("https://example.org/\xe9", "election"),
        "with a newline": ("https://example.org/\n", "election"),
        "of 1000 bytes": ("https://example.org/" + "a" * 980, None),
        "of 1001 bytes": ("https://example.org/" + "a" * 981, "election"),
        "with all that it may have": ("https://a-b.example:8/~c/%20?d=e&f;g#[h]@!$'()*+,i_j", None),
        "null": (None, "chain"),
    }
    for what, (text, check) in links.items():
        yield single_of("descriptions", f"a link {what}", check, put("contests", 0, "details", 0, "link", to=text))
    for what, details, check in [
        ("too few", [{}, {}, {}], "election"),
        ("too many", [{}] * 5, "election"),
        ("none", [], "election"),
        ("all empty", [{}] * 4, None),
        ("with another member", [{"image": "a"}, {}, {}, {}], "chain"),
        ("null", None, "chain"),
    ]:
        yield single_of("descriptions", f"details: {what}", check, put("contests", 0, "details", to=details))
    for part in ("blank", "shuffled"):
        for what, value in {"false": False, "null": None, "1": 1}.items():
            yield single_of("descriptions", f"{part} is {what}", "chain", put("contests", 0, part, to=value))
    for what, method, candidates, check in [
        ("approval", "approval", ["a", "b"], "election"),
        ("yes or no", "yes_no", ["a", "b"], "election"),
        ("one candidate", "plurality", ["a"], "election"),
        ("one candidate of one", {"choose": {"exactly": 1}}, ["a"], "election"),
        ("as many as there are", {"choose": {"exactly": 2}}, ["a", "b"], "election"),
        ("at most as many as there are", {"choose": {"at_most": 2}}, ["a", "b"], "election"),
        ("one of two", {"choose": {"exactly": 1}}, ["a", "b"], None),
        ("plurality of two", "plurality", ["a", "b"], None),
    ]:
        contest = {"blank": True, "candidates": candidates, "method": method, "title": "One"}
        yield single_of("descriptions", f"a blank vote in {what}", check, put("contests", 1, to=contest))


def blanks() -> Cases:
    """A blank vote stands alone: it takes as many votes as there are to give."""
    own = terms()
    good = [[1, 1, 0, 0], [1, 0, 0], [0]]

    def ballot(name: str, contest: int, held: list[int], check: str | None, **how: bool) -> Case:
        choices = [held if at == contest else one for at, one in enumerate(good)]
        body, _ = own.ballot("anna", choices, **how)
        return Case("blanks", name, check, record([*own.entries[:BALLOT], Entry("ballot", body)]))

    for contest, held, check in [
        (0, [1, 0, 0, 1], "ballots"),
        (0, [1, 1, 0, 1], "ballots"),
        (0, [0, 0, 0, 0], "ballots"),
        (0, [1, 0, 0, 0], "ballots"),
        (0, [0, 0, 0, 1], None),
        (0, [0, 1, 1, 0], None),
        (1, [1, 0, 1], "ballots"),
        (1, [1, 1, 1], "ballots"),
        (1, [0, 0, 0], None),
        (1, [0, 0, 1], None),
        (1, [1, 1, 0], None),
        (2, [1], None),
    ]:
        yield ballot(f"contest {contest}: {held}", contest, held, check)
    yield ballot("exactly two, proved of the marks alone", 0, [1, 0, 0, 1], "ballots", weighed=False)
    yield ballot("at most two, proved of the marks alone", 1, [1, 0, 1], "ballots", weighed=False)
    yield ballot("nobody, proved of the marks alone", 0, [0, 0, 0, 1], "ballots", weighed=False)
    for contest, votes in [(0, [2, 2, 1, 2]), (0, [1, 2, 1, 1]), (0, [1, 2, 3, 2]), (1, [2, 1, 1]), (2, [3, 1])]:
        entries = changed(own, RESULT, put("contests", contest, to=votes))
        yield Case("blanks", f"result: contest {contest} is {votes}", "result", record(entries))
