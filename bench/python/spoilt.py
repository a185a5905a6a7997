"""Makes a record with one wrong proof, as a dishonest voter and a colluding board could: re-signed,
re-chained, with a new head.
"""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "verifier"))

import hearith_verify as verifier

#: A byte of a proof's first answer, after its commitments and challenges: of 2048 bits and two
#: numbers.
ANSWER_BYTE = 512 + 32 + 100


def decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def compress(point: verifier.Point) -> bytes:
    inverse = pow(point[2], -1, verifier.P)
    x, y = point[0] * inverse % verifier.P, point[1] * inverse % verifier.P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def sign(secret: bytes, tag: str, text: str) -> str:
    """RFC 8032, 5.1.6."""
    digest = hashlib.sha512(secret).digest()
    scalar = int.from_bytes(digest[:32], "little") & ((1 << 254) - 8) | 1 << 254
    public, message = compress(verifier.times(scalar, verifier.BASE)), f"{tag}\n{text}".encode()
    r = int.from_bytes(hashlib.sha512(digest[32:] + message).digest(), "little") % verifier.ORDER
    nonce = compress(verifier.times(r, verifier.BASE))
    h = int.from_bytes(hashlib.sha512(nonce + public + message).digest(), "little") % verifier.ORDER
    return encode(nonce + ((r + h * scalar) % verifier.ORDER).to_bytes(32, "little"))


def lines_of(record: Path) -> Iterator[str]:
    """Yields all lines of the board, without their newlines."""
    for file in sorted((record / "board").iterdir()):
        with file.open() as lines:
            yield from (line.rstrip("\n") for line in lines)


def spoil_ballot(line: str, credentials: Path) -> str:
    """Returns the entry with one bit flipped in its first proof's first answer, re-signed by its
    voter.
    """
    entry = json.loads(line)
    mark = entry["body"]["contests"][0]["marks"][0]
    proof = bytearray(decode(mark["proof"]))
    proof[ANSWER_BYTE] ^= 1
    mark["proof"] = encode(bytes(proof))
    voters = (json.loads(one) for one in credentials.open())
    secret = next(one["secret"] for one in voters if one["voter"] == entry["body"]["voter"])
    text = verifier.canonical({"body": entry["body"], "kind": entry["kind"]})
    entry["signature"] = sign(decode(secret), "hearith-election 1 entry", text)
    return str(verifier.canonical(entry))


def spoilt(folder: Path, record: Path, credentials: Path, board_key: Path) -> tuple[Path, int]:
    """Copies a record into a folder with a wrong proof in a ballot in the middle; returns the copy
    and that ballot's entry.
    """
    lines = sum(1 for _ in lines_of(record))
    middle = lines // 2
    (folder / "board").mkdir(parents=True)
    previous, tree, out = "", verifier.Tree(), None
    for index, line in enumerate(lines_of(record)):
        if index > middle:
            # Only the hash of the previous line changes; it follows the body.
            before, _, after = line.rpartition(',"previous":"')
            line = f'{before},"previous":"{previous}{after[64:]}'
        elif index == middle:
            line = spoil_ballot(line, credentials)
        if index % 1000 == 0:
            if out:
                out.close()
            out = (folder / "board" / f"{index:08}.jsonl").open("w")
        assert out
        out.write(line + "\n")
        previous = hashlib.sha256(line.encode()).hexdigest()
        tree.push(line)
    assert out
    out.close()
    head: dict[str, Any] = {"root": tree.root(), "size": tree.size, "time": "2026-11-22T20:30:00Z"}
    secret = decode(json.loads(board_key.read_text())["secret"])
    head["signature"] = sign(secret, "hearith-election 1 head", verifier.canonical(head))
    (folder / "heads.jsonl").write_text(verifier.canonical(head) + "\n")
    return folder, middle

