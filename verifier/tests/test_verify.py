"""The second verifier, on a good record and on every way to spoil one; the first one has to say the
same.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "verifier"))

import hearith_verify as verifier

FOLDER = ROOT / "crates/election/tests/vectors"
VECTORS = json.loads((FOLDER / "election.json").read_text())
ONE_HOLDER = json.loads((FOLDER / "one_holder.json").read_text())
Change = Callable[[list[Any]], None]


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compress(point: verifier.Point) -> bytes:
    inverse = pow(point[2], -1, verifier.P)
    x, y = point[0] * inverse % verifier.P, point[1] * inverse % verifier.P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def sign(secret: bytes, tag: str, text: str) -> bytes:
    """RFC 8032, 5.1.6."""
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
    public, message = compress(verifier.times(scalar, verifier.BASE)), f"{tag}\n{text}".encode()
    r = int.from_bytes(hashlib.sha512(digest[32:] + message).digest(), "little") % verifier.ORDER
    big_r = compress(verifier.times(r, verifier.BASE))
    h = int.from_bytes(hashlib.sha512(big_r + public + message).digest(), "little") % verifier.ORDER
    return big_r + ((r + h * scalar) % verifier.ORDER).to_bytes(32, "little")


ORGANISER, BOARD = decode(VECTORS["organiser_secret"]), decode(VECTORS["board_secret"])
VOTERS = {one["id"]: decode(one["secret"]) for one in VECTORS["voters"]}


def entries() -> list[Any]:
    return [json.loads(line) for line in VECTORS["record"]]


def resign(entry: Any, secret: bytes | None = None) -> None:
    """Signs a changed entry as its author would."""
    body = entry["body"]
    author = {"ballot": body, "challenge": body.get("ballot")}.get(entry["kind"])
    secret = secret or (VOTERS[author["voter"]] if author else ORGANISER)
    text = verifier.canonical({"body": body, "kind": entry["kind"]})
    entry["signature"] = encode(sign(secret, "hearith-election 1 entry", text))


def write(folder: Path, record: list[Any], board: bytes = BOARD) -> Path:
    """The record of a board that goes along with whatever is entered: chained and signed anew."""
    lines, previous, tree = [], "0" * 64, verifier.Tree()
    for index, entry in enumerate(record):
        entry["index"], entry["previous"] = index, previous
        lines.append(verifier.canonical(entry))
        previous = hashlib.sha256(lines[-1].encode()).hexdigest()
        tree.push(lines[-1])
    head: dict[str, Any] = {"root": tree.root(), "size": tree.size, "time": "2026-11-22T20:30:00Z"}
    head["signature"] = encode(sign(board, "hearith-election 1 head", verifier.canonical(head)))
    return write_lines(folder, lines, [verifier.canonical(head)])


def write_lines(folder: Path, lines: list[str], heads: list[str]) -> Path:
    (folder / "board").mkdir(parents=True)
    (folder / "board/00000000.jsonl").write_bytes("".join(line + "\n" for line in lines).encode())
    (folder / "heads.jsonl").write_text("".join(line + "\n" for line in heads))
    return folder


def program() -> Path | None:
    """The first verifier, where it was built."""
    named = os.environ.get("HEARITH_COMMAND")
    found = Path(named) if named else ROOT / "target/debug/hearith"
    return found if found.exists() else None


def verdict(folder: Path) -> tuple[bool, list[str]]:
    """Whether both verifiers take the record, and at which checks ours does not."""
    run = verifier.Verifier(insecure=True)
    good = run.run(folder)
    if (first := program()) is not None:
        arguments = [first, "election", "verify", folder, "--insecure-key", "--json", "--quiet"]
        other = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert other.returncode == (0 if good else 1), other.stderr
        answer = json.loads(other.stdout)
        assert answer["verified"] == good
        if good and run.result is not None:
            assert answer["result"]["contests"] == run.result[1]
    return good, [step for step in verifier.STEPS if run.faults[step]]


def of_kind(record: list[Any], kind: str, number: int = 0) -> Any:
    return [entry for entry in record if entry["kind"] == kind][number]


def flip(text: str, byte: int) -> str:
    data = bytearray(decode(text))
    data[byte] ^= 1
    return encode(bytes(data))


def test_a_good_record_holds(tmp_path: Path) -> None:
    folder = write_lines(tmp_path / "record", VECTORS["record"], VECTORS["heads"])
    run = verifier.Verifier(insecure=True)
    assert run.run(folder), run.faults
    assert run.result is not None
    assert run.result[1] == VECTORS["result"]
    assert verdict(folder) == (True, [])
    assert verdict(write(tmp_path / "again", entries())) == (True, [])


def test_what_we_sign_is_what_the_vectors_sign() -> None:
    entry = of_kind(entries(), "open")
    before = entry["signature"]
    resign(entry)
    assert entry["signature"] == before


def test_small_keys_are_refused_unless_they_are_asked_for(tmp_path: Path) -> None:
    folder = write_lines(tmp_path / "record", VECTORS["record"], VECTORS["heads"])
    run = verifier.Verifier()
    assert not run.run(folder)
    assert run.faults["election"]


def ballot(number: int, change: Callable[[Any], None]) -> Change:
    def apply(record: list[Any]) -> None:
        entry = of_kind(record, "ballot", number)
        change(entry["body"])
        resign(entry)

    return apply


def body(kind: str, change: Callable[[Any], None]) -> Change:
    def apply(record: list[Any]) -> None:
        entry = of_kind(record, kind)
        change(entry["body"])
        if kind != "share":
            resign(entry)

    return apply


def mark(contest: int, place: int, part: str, byte: int) -> Callable[[Any], None]:
    def apply(of: Any) -> None:
        one = of["contests"][contest]["marks"][place]
        one[part] = flip(one[part], byte)

    return apply


def flip_sum(of: Any) -> None:
    of["contests"][0]["sum"] = flip(of["contests"][0]["sum"], 130)


def play_again(record: list[Any]) -> None:
    close = next(index for index, entry in enumerate(record) if entry["kind"] == "close")
    record.insert(close, copy.deepcopy(of_kind(record, "ballot")))


def cast_challenged(record: list[Any]) -> None:
    challenge = of_kind(record, "challenge")
    cast = {"body": copy.deepcopy(challenge["body"]["ballot"]), "kind": "ballot"}
    resign(cast)
    record.insert(record.index(challenge) + 1, cast)


def copy_ballot(record: list[Any]) -> None:
    of_kind(record, "ballot")["body"]["voter"] = "voter 9"
    resign(of_kind(record, "ballot"))


def sign_as_another(record: list[Any]) -> None:
    resign(of_kind(record, "ballot"), VOTERS["voter 3"])


def forget_a_share(record: list[Any]) -> None:
    record.remove(of_kind(record, "share"))


def leave_a_ballot_out(record: list[Any]) -> None:
    record.remove(of_kind(record, "ballot", 1))


def set_member(*path: Any, to: Any) -> Callable[[Any], None]:
    def apply(of: Any) -> None:
        for part in path[:-1]:
            of = of[part]
        of[path[-1]] = to

    return apply


def move_a_vote(of: Any) -> None:
    of["contests"][3][0] += 1
    of["contests"][3][1] -= 1


SPOILED: list[tuple[str, Change, str]] = [
    ("a proof", ballot(0, mark(0, 1, "proof", 150)), "ballots"),
    ("a challenge of a proof", ballot(0, mark(3, 0, "proof", 140)), "ballots"),
    ("a ciphertext", ballot(1, mark(4, 0, "ciphertext", 100)), "ballots"),
    ("a sum", ballot(2, flip_sum), "ballots"),
    ("another voter's ballot", copy_ballot, "ballots"),
    ("another's signature", sign_as_another, "signatures"),
    ("a ballot played again", play_again, "rules"),
    ("a challenged ballot cast", cast_challenged, "rules"),
    ("a ballot left out", leave_a_ballot_out, "rules"),
    ("another election", ballot(0, set_member("election", to="0" * 64)), "rules"),
    ("a stranger", body("voters", set_member("voters", 0, "id", to="nobody")), "rules"),
    ("a heavier voter", body("voters", set_member("voters", 0, "weight", to=2)), "rules"),
    ("a voter without weight", body("voters", set_member("voters", 0, "weight", to=0)), "rules"),
    ("an opening", body("challenge", set_member("openings", 4, 0, "value", to=1)), "challenges"),
    ("a count", body("tally", set_member("counted", to=10)), "rules"),
    ("a true count", body("tally", set_member("counted", to=True)), "chain"),
    ("a share", body("share", lambda of: of.update(shares=flip(of["shares"], 200))), "decryption"),
    ("another trustee's", body("share", set_member("trustee", to=2)), "decryption"),
    ("a trustee that there is not", body("share", set_member("trustee", to=6)), "rules"),
    ("two shares of one", body("share", set_member("trustee", to=3)), "rules"),
    ("a share missing", forget_a_share, "rules"),
    ("a result", body("result", move_a_vote), "result"),
    ("a member too many", body("open", set_member("x", to=1)), "chain"),
]


@pytest.mark.parametrize(("change", "step"), [case[1:] for case in SPOILED], ids=[case[0] for case in SPOILED])
def test_spoiled_records_are_refused(tmp_path: Path, change: Change, step: str) -> None:
    record = entries()
    change(record)
    good, steps = verdict(write(tmp_path / "record", record))
    assert not good
    assert step in steps


def opening(change: Callable[[list[Any]], None]) -> Change:
    """Changes what the one holder shows, contest by contest, and signs it."""

    def apply(record: list[Any]) -> None:
        entry = of_kind(record, "opening")
        change(entry["body"]["contests"])
        resign(entry, decode(ONE_HOLDER["organiser_secret"]))

    return apply


def negate(contests: list[Any]) -> None:
    """The other root of an even power is none of an odd one."""
    modulus = decode(json.loads(ONE_HOLDER["record"][0])["body"]["key"]["modulus"])
    n, r = int.from_bytes(modulus, "big"), int.from_bytes(decode(contests[0][0]["opening"]), "big")
    contests[0][0]["opening"] = encode((n - r).to_bytes(len(modulus), "big"))


def give_a_share(record: list[Any]) -> None:
    entry = of_kind(record, "opening")
    entry.update(kind="share", signature="")
    entry["body"] = {"election": entry["body"]["election"], "shares": "", "trustee": 1}


def play_the_opening_again(record: list[Any]) -> None:
    record.insert(-1, copy.deepcopy(of_kind(record, "opening")))


OPENED: list[tuple[str, Change, str]] = [
    ("openings of each other's totals", opening(lambda of: of[0].reverse()), "decryption"),
    ("an altered opening", opening(lambda of: of[1][0].update(opening=flip(of[1][0]["opening"], 40))), "decryption"),
    ("another number", opening(lambda of: of[0][0].update(plaintext=flip(of[0][0]["plaintext"], 63))), "decryption"),
    ("a negated opening", opening(negate), "decryption"),
    ("an opening of 0", opening(lambda of: of[0][0].update(opening=encode(bytes(64)))), "decryption"),
    ("a number above n", opening(lambda of: of[0][0].update(plaintext=encode(b"\xff" * 64))), "decryption"),
    ("a short opening", opening(lambda of: of[0][0].update(opening=encode(bytes(63)))), "rules"),
    ("a mark without", opening(lambda of: of[0].pop()), "rules"),
    ("no opening", lambda record: record.remove(of_kind(record, "opening")), "rules"),
    ("two openings", play_the_opening_again, "rules"),
    ("a share of a key that is not shared", give_a_share, "rules"),
]


def test_a_good_record_of_one_holder_holds(tmp_path: Path) -> None:
    folder = write_lines(tmp_path / "record", ONE_HOLDER["record"], ONE_HOLDER["heads"])
    run = verifier.Verifier(insecure=True)
    assert run.run(folder), run.faults
    assert run.result is not None
    assert run.result[1] == ONE_HOLDER["result"]
    assert verdict(folder) == (True, [])


@pytest.mark.parametrize(("change", "step"), [case[1:] for case in OPENED], ids=[case[0] for case in OPENED])
def test_spoiled_openings_are_refused(tmp_path: Path, change: Change, step: str) -> None:
    record = [json.loads(line) for line in ONE_HOLDER["record"]]
    change(record)
    good, steps = verdict(write(tmp_path / "record", record, decode(ONE_HOLDER["board_secret"])))
    assert not good
    assert steps[0] == step, steps


def test_a_modulus_with_a_small_factor_is_refused(tmp_path: Path) -> None:
    """Divisible by 3, and by the largest prime below 2^16; 1 modulo 4 and of the same length, as
    all else asks for.
    """
    for factor in (3, 65521):
        record = entries()[:1]
        key = record[0]["body"]["key"]
        n = int.from_bytes(decode(key["modulus"]), "big")
        n -= next(less for less in range(0, 4 * factor, 4) if (n - less) % factor == 0)
        key["modulus"] = encode(n.to_bytes(64, "big"))
        resign(record[0])
        folder = write(tmp_path / str(factor), record)
        assert verdict(folder)[0] is False
        run = verifier.Verifier(insecure=True)
        assert not run.run(folder)
        assert "small factor" in str(run.faults["election"]), run.faults


def rekey(record: list[Any], change: Callable[[verifier.Key, Any], None]) -> None:
    """Changes what shares are verified by; all that the first entry names is of another election
    then.
    """
    body = record[0]["body"]
    n, h = (int.from_bytes(decode(body["key"][part]), "big") for part in ("modulus", "generator"))
    change(verifier.Key(n, h), body["trustees"])
    resign(record[0])


def times_two(key: verifier.Key, trustees: Any) -> None:
    """Every share squared: d = 2 modulo n, and three votes become six."""
    for at, one in enumerate(trustees["keys"]):
        squared = pow(int.from_bytes(decode(one), "big"), 2, key.square)
        trustees["keys"][at] = encode(key.wide(squared))


def off_the_polynomial(key: verifier.Key, trustees: Any) -> None:
    last = int.from_bytes(decode(trustees["keys"][-1]), "big")
    trustees["keys"][-1] = encode(key.wide(last * (1 + key.n) % key.square))


def all_ones(key: verifier.Key, trustees: Any) -> None:
    trustees["keys"] = [encode(key.wide(1)) for _ in trustees["keys"]]


def base_of_one(key: verifier.Key, trustees: Any) -> None:
    trustees["base"] = encode(key.wide(1))
    all_ones(key, trustees)


def nth_power(key: verifier.Key, trustees: Any) -> None:
    """A base whose logarithms say nothing of the plaintext."""
    for place in [trustees["keys"], trustees]:
        for name in range(len(place)) if isinstance(place, list) else ["base"]:
            power = pow(int.from_bytes(decode(place[name]), "big"), key.n, key.square)
            place[name] = encode(key.wide(power))


DEALINGS = [
    (times_two, "v_1 to v_3"), (off_the_polynomial, "v_3 to v_5"), (all_ones, "v_1 to v_3"),
    (base_of_one, "hash of n"), (nth_power, "hash of n"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "text"), DEALINGS, ids=[one[0].__name__ for one in DEALINGS])
def test_a_dealer_cannot_choose_the_result(
    tmp_path: Path, change: Callable[[verifier.Key, Any], None], text: str
) -> None:
    record = entries()[:1]
    rekey(record, change)
    folder = write(tmp_path / "record", record)
    assert verdict(folder) == (False, ["election"])
    run = verifier.Verifier(insecure=True)
    run.run(folder)
    assert text in run.faults["election"][0]


@pytest.mark.parametrize("old", ["chosen_base", "unsigned_shares"])
def test_records_of_earlier_versions_are_refused_by_name(tmp_path: Path, old: str) -> None:
    record = json.loads((FOLDER / f"{old}.json").read_text())
    folder = write_lines(tmp_path / "record", record["record"], record["heads"])
    assert verdict(folder) == (False, ["election"])
    run = verifier.Verifier(insecure=True)
    run.run(folder)
    assert "set up by an earlier version" in run.faults["election"][0]


LINES: list[tuple[str, Callable[[list[str]], None]]] = [
    ("a line missing", lambda lines: lines.pop(5)),
    ("the last line missing", lambda lines: lines.pop()),
    ("lines in another order", lambda lines: lines.insert(5, lines.pop(6))),
    ("a space", lambda lines: lines.__setitem__(3, lines[3].replace(":3,", ": 3,"))),
    ("an escape", lambda lines: lines.__setitem__(2, lines[2].replace('"open"', '"\\u006fpen"'))),
    ("a member twice", lambda lines: lines.__setitem__(2, lines[2].replace('"index":2', '"index":2,"index":2'))),
    ("a fraction", lambda lines: lines.__setitem__(2, lines[2].replace('"index":2', '"index":2.0'))),
    ("padding", lambda lines: lines.__setitem__(2, lines[2].replace('"}', '="}'))),
    ("bits to spare", lambda lines: lines.__setitem__(2, lines[2][:-3] + "_" + lines[2][-2:])),
    ("no JSON", lambda lines: lines.__setitem__(2, "x")),
    ("nothing", lambda lines: lines.clear()),
]


@pytest.mark.parametrize("change", [case[1] for case in LINES], ids=[case[0] for case in LINES])
def test_altered_lines_are_refused(tmp_path: Path, change: Callable[[list[str]], None]) -> None:
    lines = list(VECTORS["record"])
    change(lines)
    good, _ = verdict(write_lines(tmp_path / "record", lines, VECTORS["heads"]))
    assert not good


def test_heads_are_needed_and_signed_by_the_board(tmp_path: Path) -> None:
    assert verdict(write_lines(tmp_path / "none", VECTORS["record"], [])) == (False, ["heads"])
    head = json.loads(VECTORS["heads"][0])
    for part, value in [("time", "2026-11-22T20:30:01Z"), ("root", "0" * 64), ("size", 20), ("time", "today")]:
        changed = verifier.canonical({**head, part: value})
        good, steps = verdict(write_lines(tmp_path / f"{part}-{value}", VECTORS["record"], [changed]))
        assert (good, steps) == (False, ["heads"]), part


def test_signatures_are_strict() -> None:
    secret = bytes(range(32))
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
    key = compress(verifier.times(scalar, verifier.BASE))
    good = sign(secret, "tag", "text")
    assert verifier.signature_holds(key, "tag", "text", good)
    assert not verifier.signature_holds(key, "tag", "other", good)
    s = int.from_bytes(good[32:], "little") + verifier.ORDER
    assert not verifier.signature_holds(key, "tag", "text", good[:32] + s.to_bytes(32, "little"))
    assert verifier.decompress((1).to_bytes(32, "little")) is None, "small order"
    assert verifier.decompress((2**255 - 18).to_bytes(32, "little")) is None, "not canonical"


def test_normal_forms_are_those_of_the_tables() -> None:
    """The digest of all normal forms, which the other verifiers' tests compare too."""
    allowed = [chr(code) for code in range(0x110000) if verifier.is_in(verifier.ALLOWED_BOUNDS, code)]
    assert len(allowed) > 140_000
    forms = "\n".join(verifier.unicodedata.normalize("NFKC", one) for one in allowed)
    assert hashlib.sha256(forms.encode()).hexdigest() == verifier.NFKC_DIGEST
