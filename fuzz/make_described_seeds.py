"""Writes the seeds of values that say what they are: texts and bytes of the form in
`hearith_paillier::described`, right ones and wrong ones. Run by make_seeds.sh.
"""

import base64
import pathlib
import struct

SEEDS = pathlib.Path(__file__).parent / "seeds/described"
KEY = bytes(range(16))


def value(bits, scale, limit, headroom, additions, fill=b"\x5a"):
    """Bytes and text of a value whose ciphertext is one byte over and over."""
    ciphertext = fill * (2 * -(-bits // 8))
    head = struct.pack(">BBH16s16sQQ", 1, scale, bits, KEY, limit.to_bytes(16, "big"), headroom, additions)
    text = base64.urlsafe_b64encode(ciphertext).rstrip(b"=").decode()
    return head + ciphertext, f"he1:{KEY.hex()}:{bits}:{scale}:{limit}:{headroom}:{additions}:{text}".encode()


SEEDS.mkdir(exist_ok=True)
cents, text = value(64, 2, 10**6, 1000, 3)
seeds = {
    "bytes": cents,
    "text": text,
    "long": value(256, 0, 2**127 - 1, 2**64 - 1, 2**64 - 1)[1],
    "places": value(256, 38, 1, 1, 1, b"\0")[0],
    "full": value(64, 0, 2**31, 2**20, 2**20, b"\xff")[0],
    "cut": cents[:-1],
    "version": b"\2" + cents[1:],
    "additions": text.replace(b":1000:3:", b":1000:1001:"),
    "zero": text.replace(b":2:", b":02:"),
    "padding": text + b"=",
}
for name, content in seeds.items():
    (SEEDS / name).write_bytes(content)
