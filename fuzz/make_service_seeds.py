"""Writes the seeds of requests to the service: a letter for the operation, and a message of
protobuf, put together here from its wire format with ciphertexts of the key in fuzz/key. Run by
make_seeds.sh."""

import base64
import json
import pathlib

FUZZ = pathlib.Path(__file__).parent
HANDLE = b"0" * 64

text = json.loads((FUZZ / "key/public.json").read_text())["n"]
N = int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")
WIDTH = -(-N.bit_length() // 8)


def plaintexts(*numbers):
    return b"".join((number % N).to_bytes(WIDTH, "big") for number in numbers)


def ciphertexts(*numbers):
    """Textbook encryptions, each with a randomiser of its own."""
    rows = enumerate(numbers, start=2)
    return b"".join(
        ((1 + number * N) * pow(row, N, N * N) % (N * N)).to_bytes(2 * WIDTH, "big") for row, number in rows
    )


def field(number, content):
    """A field of bytes shorter than 2^14, or a small number."""
    if isinstance(content, int):
        return bytes([number << 3, content])
    return bytes([number << 3 | 2, len(content) & 0x7F | 0x80, len(content) >> 7]) + content


def message(letter, *contents):
    fields = (field(number, content) for number, content in enumerate((HANDLE, *contents), start=1))
    return letter.encode() + b"".join(fields)


SEEDS = {
    "encrypt": message("e", plaintexts(0, 1, -1)),
    "encrypt_beyond": message("e", b"\xff" * WIDTH),
    "rerandomise": message("r", ciphertexts(5, -7)),
    "rerandomise_zero": message("r", bytes(2 * WIDTH)),
    "add": message("a", ciphertexts(1, 2), ciphertexts(3, 4)),
    "add_uneven": message("a", ciphertexts(1, 2), ciphertexts(3)),
    "multiply": message("m", ciphertexts(1, 2), b"\x05\xfb", 3),
    "multiply_wide": message("m", ciphertexts(9), b"\x80" + bytes(15), 127, 1),
    "sum": message("s", ciphertexts(1, 2, 3), b"\x00\x01\x00", 2),
    "sum_empty_group": message("s", ciphertexts(1, 2), b"\x01\x01", 2),
    "decrypt": message("d", ciphertexts(11, -11)),
    "decrypt_factor": message("d", N.to_bytes(2 * WIDTH, "big")),
    "nothing": b"d",
}

folder = FUZZ / "seeds/service_request"
folder.mkdir(exist_ok=True)
for name, content in SEEDS.items():
    (folder / name).write_bytes(content)
