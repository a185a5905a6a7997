"""Small elections that are held honestly, and boards that go along with whatever is entered."""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from typing import Any

from making import Dealing, Maker, P, Q, Signer, draw_opening, encode, membership, residue, verifier

Body = dict[str, Any]
ORGANISER, BOARD, REGISTRAR = Signer("the organiser"), Signer("the board"), Signer("the registrar")
TRUSTEES = [Signer(f"trustee {trustee}") for trustee in range(1, 21)]
VOTERS = {name: Signer(name) for name in ("anna", "bert", "cleo", "dora")}
WEIGHTS = {"anna": 1, "bert": 2, "cleo": 1, "dora": 1}
TIME = "2026-11-22T20:30:00Z"
TRANSCRIPT = hashlib.sha256(b"all that was sent to everybody").hexdigest()
CONTESTS: list[Body] = [
    {"candidates": ["Ada", "Bo"], "method": {"choose": {"exactly": 1}}, "title": "Chair"},
    {"candidates": ["Ada", "Bo"], "method": {"choose": {"at_most": 1}}, "title": "Deputy"},
    {"candidates": ["Mon", "Tue"], "method": "approval", "title": "Days"},
    {"candidates": ["red", "blue"], "method": "plurality", "title": "Colour"},
    {"candidates": ["yes", "no"], "method": "yes_no", "title": "A new roof?"},
]


@dataclass
class Entry:
    """An entry before it has a place. Without a signature its author signs when it is placed."""

    kind: str
    body: Any
    signature: str | None = None
    by: Signer | None = None

    def author(self) -> Signer:
        if self.by is not None:
            return self.by
        if self.kind == "share":
            trustee = self.body.get("trustee")
            return TRUSTEES[trustee - 1] if type(trustee) is int and 1 <= trustee <= len(TRUSTEES) else ORGANISER
        if self.kind not in ("ballot", "challenge"):
            return ORGANISER
        ballot = self.body if self.kind == "ballot" else self.body.get("ballot")
        voter = ballot.get("voter") if isinstance(ballot, dict) else None
        return VOTERS.get(voter, ORGANISER) if isinstance(voter, str) else ORGANISER

    def signed(self) -> str:
        if self.signature is not None:
            return self.signature
        text = verifier.canonical({"body": self.body, "kind": self.kind})
        return encode(self.author().sign("entry", text))


def lines_of(entries: list[Entry]) -> list[str]:
    """The lines of a board that enters whatever it is given."""
    lines, previous = [], "0" * 64
    for index, entry in enumerate(entries):
        members = {"index": index, "previous": previous, "signature": entry.signed()}
        lines.append(verifier.canonical({"body": entry.body, "kind": entry.kind, **members}))
        previous = hashlib.sha256(lines[-1].encode()).hexdigest()
    return lines


def root_of(lines: list[str]) -> str:
    tree = verifier.Tree()
    for line in lines:
        tree.push(line)
    return tree.root()


def head_of(lines: list[str], time: str = TIME, by: Signer = BOARD, **changes: Any) -> str:
    """A head of these lines; with changes it is signed as it is changed."""
    head = {"root": root_of(lines), "size": len(lines), "time": time, **changes}
    return verifier.canonical({**head, "signature": encode(by.sign("head", verifier.canonical(head)))})


def trustees_of(dealing: Dealing) -> Body:
    """What a manifest says of trustees: what was dealt, and the keys that they made themselves; of
    a key that they generated together, what each says of it.
    """
    signers = TRUSTEES[: dealing.trustees]
    members = {**dealing.members(), "signing": [encode(signer.public) for signer in signers]}
    if dealing.generated:
        members["generated"] = generated(dealing.maker.members(), members, signers)
    return members


def generated(key: Body, shared: Body, signers: list[Signer], tag: str = "generation", **changes: Any) -> Body:
    """The statements of trustees about a key; with changes all sign what is changed."""
    common = {"key": key, **{name: shared[name] for name in ("base", "keys", "needed")}, "transcript": TRANSCRIPT}
    texts = [verifier.canonical({**common, "trustee": trustee, **changes}) for trustee in range(1, len(signers) + 1)]
    statements = [encode(signer.sign(tag, text)) for signer, text in zip(signers, texts, strict=True)]
    return {"statements": statements, "transcript": TRANSCRIPT}


@dataclass
class Election:
    """An election that is being held, entry by entry."""

    maker: Maker
    dealing: Dealing | None
    contests: list[Body] = field(default_factory=lambda: CONTESTS)
    revoting: bool = True
    #: Members of the manifest that can be left out.
    terms: Body = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.manifest: Body = {
            "board": encode(BOARD.public),
            "contests": copy.deepcopy(self.contests),
            "key": self.maker.members(),
            "organiser": encode(ORGANISER.public),
            "revoting": self.revoting,
            "title": "The club",
            "trustees": trustees_of(self.dealing) if self.dealing else None,
            **self.terms,
        }
        self.read = verifier.Election(self.manifest, verifier.canonical(self.manifest), insecure=True)
        self.id = self.read.id
        self.counted: dict[str, Body] = {}
        self.enter("election", self.manifest, of_election=False)

    def enter(self, kind: str, body: Body, of_election: bool = True, by: Signer | None = None) -> Entry:
        entry = Entry(kind, {"election": self.id, **body} if of_election else body, by=by)
        self.entries.append(entry)
        return entry

    def begin(self) -> None:
        voters = [
            {"id": name, "key": encode(signer.public), "weight": WEIGHTS[name]} for name, signer in VOTERS.items()
        ]
        self.enter("voters", {"voters": voters[:2]})
        self.enter("voters", {"voters": voters[2:]})
        self.enter("open", {})

    # Ballots

    def ballot(self, voter: str, choices: list[list[int]], **how: Any) -> tuple[Body, list[list[Body]]]:
        """A ballot's body for what marks hold, by their place in the set; and what it was made
        with.
        """
        selections, openings = zip(
            *(self.selection(voter, at, held, **how) for at, held in enumerate(choices)), strict=True
        )
        return {"contests": list(selections), "election": self.id, "voter": voter}, list(openings)

    def selection(
        self,
        voter: str,
        at: int,
        held: list[int],
        sign: int = 1,
        negated: bool = False,
        lies: bool = False,
        weighed: bool = True,
        instead: dict[tuple[int, int], int] | None = None,
        numbered: bool = True,
    ) -> tuple[Body, list[Body]]:
        key, contest = self.maker.key, self.read.contests[at]
        numbers, marks, openings = contest.numbers, [], []
        made: list[tuple[int, int]] = []
        for place, value in enumerate(held):
            exponent = draw_opening(key)
            # A lie is a number that the set has not, and a proof that it were the first.
            number, chosen = (2 if lies and place == 0 else numbers[value]), 0 if lies and place == 0 else value
            number = (instead or {}).get((at, place), number)
            c = (1 + number * key.n) * key.power_of_base(exponent) % key.square
            c = -c % key.square if negated else c
            context = self.read.context(voter, at, place)
            proof = membership(key, context, key.short_bits, numbers, c, exponent, chosen, sign)
            marks.append({"ciphertext": encode(key.wide(c)), "proof": encode(proof)})
            openings.append({"exponent": encode(exponent.to_bytes((key.short_bits + 7) // 8, "big")), "value": value})
            made.append((c, exponent))
        proofs = [
            self.sum_proof(voter, at, number, held, made, sign, weighed, numbered)
            for number in range(len(contest.sums))
        ]
        return {"marks": marks, "sum": encode(b"".join(proofs)) if proofs else None}, openings

    def sum_proof(
        self,
        voter: str,
        at: int,
        number: int,
        held: list[int],
        made: list[tuple[int, int]],
        sign: int,
        weighed: bool,
        numbered: bool,
    ) -> bytes:
        """The proof of a contest's sum, by the ciphertexts and openings of its marks; not weighed,
        every mark counts once, and not numbered, it is for the first sum of the contest.
        """
        key, one = self.maker.key, self.read.contests[at].sums[number]
        context, bits = self.read.sum_context(voter, at, number if numbered else 0), self.read.sum_bits(one)
        product, exponent = 1, 0
        for mark in one.marks if weighed else sorted(set(one.marks)):
            product, exponent = product * made[mark][0] % key.square, exponent + made[mark][1]
        if one.exactly:
            u = product * (1 - one.limit * key.n) % key.square
            return residue(key, context, bits, u, exponent, sign)
        chosen = min(sum(held[mark] for mark in one.marks), one.limit)
        return membership(key, context, bits, list(range(one.limit + 1)), product, exponent, chosen, sign)

    def cast(self, voter: str, choices: list[list[int]], by: Signer | None = None, **how: Any) -> Entry:
        body, _ = self.ballot(voter, choices, **how)
        self.counted[voter] = body
        return self.enter("ballot", body, of_election=False, by=by)

    def challenge(self, voter: str, choices: list[list[int]]) -> Entry:
        body, openings = self.ballot(voter, choices)
        return self.enter("challenge", {"ballot": body, "openings": openings})

    # The end

    def close(self) -> None:
        self.enter("close", {}, by=BOARD if "closes" in self.terms else None)

    def totals(self, counted: dict[str, Body] | None = None, weights: dict[str, int] | None = None) -> list[int]:
        key, products = self.maker.key, [1] * len(self.read.places())
        for voter, body in (self.counted if counted is None else counted).items():
            flat = [mark["ciphertext"] for selection in body["contests"] for mark in selection["marks"]]
            for at, text in enumerate(flat):
                number = int.from_bytes(verifier.base64url(text), "big")
                products[at] = products[at] * pow(number, (weights or WEIGHTS)[voter], key.square) % key.square
        return products

    def by_contest(self, flat: list[Any]) -> list[list[Any]]:
        rest = list(flat)
        return [[rest.pop(0) for _ in range(contest.marks)] for contest in self.read.contests]

    def tally_body(self, totals: list[int]) -> Body:
        numbers = [encode(self.maker.key.wide(total)) for total in totals]
        weight = sum(WEIGHTS[voter] for voter in self.counted)
        return {"contests": self.by_contest(numbers), "counted": len(self.counted), "weight": weight}

    def share_contexts(self) -> list[tuple[bytes, bytes]]:
        shared = f"hearith-election 1 share {self.id}".encode()
        return [(shared, verifier.canonical(list(place)).encode()) for place in self.read.places()]

    def share_body(self, trustee: int, totals: list[int], sign: int = 1) -> Body:
        assert self.dealing is not None
        data = self.dealing.share(trustee, self.share_contexts(), totals, sign)
        return {"shares": encode(data), "trustee": trustee}

    def opening_body(self, totals: list[int]) -> Body:
        key, inverse = self.maker.key, pow(self.maker.n, -1, (P - 1) * (Q - 1))
        order = (P - 1) // 2 * ((Q - 1) // 2)
        decryption = order * pow(order, -1, key.n)
        decrypted = []
        for total in totals:
            # Twice, since the power takes no root of 1 away but that of squares.
            square = pow(total, 2 * decryption, key.square)
            plain = (square - 1) // key.n * pow(2, -1, key.n) % key.n
            opening = pow(total * (1 - plain * key.n) % key.n, inverse, key.n)
            decrypted.append({"opening": encode(key.narrow(opening)), "plaintext": encode(key.narrow(plain))})
        return {"contests": self.by_contest(decrypted)}

    def finish(self, result: list[list[int]]) -> None:
        self.close()
        totals = self.totals()
        self.enter("tally", self.tally_body(totals))
        if self.dealing is None:
            self.enter("opening", self.opening_body(totals))
        else:
            for trustee in (1, 3):
                self.enter("share", self.share_body(trustee, totals))
        self.enter("result", {"contests": result})


def held_by_trustees(**how: Any) -> Election:
    """Two of three trustees; anna votes twice, cleo challenges once, dora stays at home; every
    method of voting.
    """
    maker = Maker({P: 1, Q: 1})
    election = Election(maker, Dealing(maker, 2, 3))
    election.begin()
    election.cast("anna", [[1, 0], [1, 0], [1, 1], [0], [1]])
    election.cast("bert", [[0, 1], [0, 0], [1, 0], [1], [0]], **how)
    election.challenge("cleo", [[0, 1], [1, 0], [0, 1], [1], [0]])
    election.cast("anna", [[0, 1], [0, 1], [0, 1], [1], [1]])
    election.cast("cleo", [[1, 0], [1, 0], [1, 0], [0], [1]])
    election.finish([[1, 3], [1, 1], [3, 1], [1, 3], [2, 2]])
    return election


def held_by_generators() -> Election:
    """Two of three trustees, who generated the key together; two voters."""
    maker = Maker({P: 1, Q: 1})
    election = Election(maker, Dealing(maker, 2, 3, generated=True), [CONTESTS[4]], revoting=False)
    election.begin()
    election.cast("anna", [[1]])
    election.cast("bert", [[0]])
    election.finish([[1, 2]])
    return election


def held_by_one() -> Election:
    """One holder of the key, three voters who vote once."""
    maker = Maker({P: 1, Q: 1})
    election = Election(maker, None, [CONTESTS[0], CONTESTS[4]], revoting=False)
    election.begin()
    election.cast("anna", [[1, 0], [1]])
    election.cast("bert", [[0, 1], [1]])
    election.cast("cleo", [[1, 0], [0]])
    election.finish([[2, 2], [3, 1]])
    return election


#: What somebody signs with whose credential was replaced.
AGAIN = {name: Signer(f"{name} again") for name in VOTERS}
TERMS: Body = {
    "about": "The club elects.\n\nEverybody may ask questions on Monday.",
    "closes": "2026-11-22T18:00:00Z",
    "late": True,
    "opens": "2026-11-20T08:00:00Z",
    "registrar": encode(REGISTRAR.public),
    "trial": True,
}
TERMS_CONTESTS: list[Body] = [
    {
        "about": "Two speak for the club.",
        "blank": True,
        "candidates": ["Ada", "Bo", "Cy", "nobody"],
        "details": [{"about": "Ada\nwas chair before.", "link": "https://example.org/ada?in=2026#top"}, {}, {}, {}],
        "method": {"choose": {"exactly": 2}},
        "shuffled": True,
        "title": "Speakers",
    },
    {"blank": True, "candidates": ["Mon", "Tue", "none"], "method": {"choose": {"at_most": 2}}, "title": "Days"},
    {"blank": True, "candidates": ["red", "none"], "method": "plurality", "title": "Colour"},
]
#: The times of heads by how many entries they are of.
TIMES = {
    1: "2026-11-19T12:00:00Z",
    4: "2026-11-20T07:59:59Z",
    5: "2026-11-20T08:00:00Z",
    11: "2026-11-22T17:59:59Z",
    12: "2026-11-22T18:00:00Z",
    15: "2026-11-23T09:00:00Z",
}


def listed(name: str, signer: Signer | None = None) -> Body:
    return {"id": name, "key": encode((signer or VOTERS[name]).public), "weight": WEIGHTS[name]}


def renewed(*names: str) -> list[Body]:
    return [{"id": name, "key": encode(AGAIN[name].public)} for name in names]


def held_by_terms() -> Election:
    """Dates, a registrar, a blank vote; dora comes late, bert and cleo lose their credentials."""
    maker = Maker({P: 1, Q: 1})
    election = Election(maker, None, TERMS_CONTESTS, revoting=False, terms=TERMS)
    election.enter("voters", {"voters": [listed("anna"), listed("bert")]}, by=REGISTRAR)
    election.enter("voters", {"voters": [listed("cleo")]}, by=REGISTRAR)
    election.enter("replace", {"voters": renewed("bert")}, by=REGISTRAR)
    election.enter("open", {}, by=BOARD)
    election.cast("anna", [[1, 1, 0, 0], [1, 0, 0], [0]])
    election.enter("voters", {"voters": [listed("dora")]}, by=REGISTRAR)
    election.enter("replace", {"voters": renewed("cleo")}, by=REGISTRAR)
    election.cast("bert", [[0, 0, 0, 1], [0, 0, 1], [1]], by=AGAIN["bert"])
    election.cast("cleo", [[0, 1, 1, 0], [1, 1, 0], [0]], by=AGAIN["cleo"])
    election.challenge("dora", [[1, 0, 1, 0], [0, 0, 1], [1]])
    election.finish([[1, 2, 1, 2], [2, 1, 2], [2, 2]])
    return election


#: All candidates in order, two of three, and one of two.
RANK_CONTESTS: list[Body] = [
    {"candidates": ["Ada", "Bo", "Cy"], "method": {"rank": {"points": [3, 2, 1]}}, "title": "Chair"},
    {"candidates": ["Mon", "Tue", "Wed"], "method": {"rank": {"points": [5, 2]}}, "title": "Day"},
    {"candidates": ["red", "blue"], "method": {"rank": {"points": [1]}}, "title": "Colour"},
]


def order(candidates: int, *ranks: int) -> list[int]:
    """Marks, rank by rank, of candidates in this order."""
    return [int(one == ranked) for ranked in ranks for one in range(candidates)]


def held_by_ranks() -> Election:
    """Candidates in order; cleo challenges a ballot first, dora stays at home."""
    maker = Maker({P: 1, Q: 1})
    election = Election(maker, None, RANK_CONTESTS, revoting=False)
    election.begin()
    election.cast("anna", [order(3, 0, 1, 2), order(3, 2, 0), order(2, 0)])
    election.cast("bert", [order(3, 2, 0, 1), order(3, 0, 1), order(2, 1)])
    election.challenge("cleo", [order(3, 1, 0, 2), order(3, 1, 2), order(2, 0)])
    election.cast("cleo", [order(3, 1, 2, 0), order(3, 2, 1), order(2, 1)])
    # Points, and how often each stands at the first rank, the second and the third.
    chair = [8, 7, 9, 1, 1, 2, 2, 1, 1, 1, 2, 1]
    election.finish([chair, [12, 6, 10, 2, 0, 2, 1, 3, 0], [1, 3, 1, 3]])
    return election
