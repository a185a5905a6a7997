"""An independent reader for the files of FHE over the integers, written only from
crates/dghv/tests/vectors/README.md. It shares no code with the package.

All numbers are Python integers. AES is a textbook implementation that processes single bytes.
"""

import hashlib
import math
import struct
from dataclasses import dataclass, field, replace

# ---- AES-128 in counter mode ---------------------------------------------------------------------


def _times_two(byte):
    return (byte << 1) ^ (0x11B if byte & 0x80 else 0)


def _substitution():
    # Powers of 3 and their inverses, then the affine map of FIPS 197.
    powers, number = [], 1
    for _ in range(255):
        powers.append(number)
        number ^= _times_two(number)
    box = [0x63] + [0] * 255
    for place, power in enumerate(powers):
        inverse = powers[-place % 255]
        bits = inverse
        for turn in range(1, 5):
            bits ^= (inverse << turn | inverse >> (8 - turn)) & 0xFF
        box[power] = bits ^ 0x63
    return box


SBOX = _substitution()


def _round_keys(key):
    words = [list(key[at : at + 4]) for at in range(0, 16, 4)]
    constant = 1
    for place in range(4, 44):
        last = words[-1]
        if place % 4 == 0:
            last = [SBOX[byte] for byte in last[1:] + last[:1]]
            last[0] ^= constant
            constant = _times_two(constant)
        words.append([a ^ b for a, b in zip(words[-4], last, strict=True)])
    return [[byte for word in words[at : at + 4] for byte in word] for at in range(0, 44, 4)]


class Stream:
    """The 64-bit words of stream `index` under a seed: block `t` encrypts the big-endian counter
    `2^64 index + t`.
    """

    def __init__(self, seed):
        self.keys = _round_keys(seed)

    def block(self, counter):
        state = [byte ^ key for byte, key in zip(counter.to_bytes(16, "big"), self.keys[0], strict=True)]
        for turn, key in enumerate(self.keys[1:], 1):
            state = [SBOX[state[(place + 4 * (place % 4)) % 16]] for place in range(16)]
            if turn < 10:
                mixed = []
                for at in range(0, 16, 4):
                    column = state[at : at + 4]
                    every = column[0] ^ column[1] ^ column[2] ^ column[3]
                    for row in range(4):
                        mixed.append(column[row] ^ every ^ _times_two(column[row] ^ column[(row + 1) % 4]))
                state = mixed
            state = [byte ^ key for byte, key in zip(state, key, strict=True)]
        return bytes(state)

    def words(self, index, count):
        blocks = (self.block((index << 64) + place) for place in range((count + 1) // 2))
        return [word for block in blocks for word in struct.unpack("<2Q", block)][:count]


# ---- parameters ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parameters:
    """The lengths of a key, in bits except for `elements`, and its level in a ladder."""

    scheme: str
    security: int  # lambda
    key_noise: int  # rho
    secret: int  # eta
    modulus: int  # gamma
    elements: int  # beta or tau
    coefficient: int  # alpha
    encryption_noise: int  # rho'
    level: int = 0

    @property
    def limbs(self):
        return -(-self.modulus // 64)

    @property
    def correction(self):
        return self.secret + self.security + 1

    @property
    def key_elements(self):
        return 2 * self.elements if self.scheme == "cmnt" else self.elements

    @property
    def theta(self):
        for most, size in ((42, 150), (52, 555), (62, 2070)):
            if self.security <= most:
                return size
        return 7965

    @property
    def whole(self):
        """K of a switching key to these parameters."""
        return 64 * -(-(self.secret + 1) // 64)

    def below(self):
        """Returns the parameters of the next rung."""
        pieces = self.theta * self.whole // 16
        step = math.ceil(1 + self.key_noise + 16 + math.log2(pieces)) + 4
        return replace(
            self,
            secret=self.secret - step,
            coefficient=min(self.coefficient, self.security),
            encryption_noise=min(self.encryption_noise, 4 * self.security),
            level=self.level + 1,
        )


# ---- files ---------------------------------------------------------------------------------------


@dataclass
class Fractions:
    """A recryption or switching key: its first fraction, and the data that determine its
    elements.
    """

    seed: bytes
    first: int
    corrections: list[int]


@dataclass
class Key:
    """A public key, or a rung of its ladder with its switching key."""

    parameters: Parameters
    seed: bytes
    modulus: int
    corrections: list[int]
    recryption: Fractions | None = None
    switching: Fractions | None = None
    rungs: list["Key"] = field(default_factory=list)

    @property
    def id(self):
        p = self.parameters
        lengths = (p.security, p.key_noise, p.secret, p.modulus, p.elements, p.coefficient, p.encryption_noise)
        parts = [p.scheme.encode(), struct.pack("<7I", *lengths), bytes([p.level] if p.level else []), self.seed]
        parts.append(self.modulus.to_bytes(8 * p.limbs, "little"))
        each = 8 * -(-p.correction // 64)
        parts.extend(correction.to_bytes(each, "little") for correction in self.corrections)
        return hashlib.sha256(b"".join(parts)).digest()[:16]

    def element(self, index):
        """Returns A_i."""
        return chi(self.seed, index, self.parameters.modulus) - self.corrections[index]


def chi(seed, index, bits):
    """Returns the random part of an element.

    Its words form eight segments, which the stream fills in round-robin order.
    """
    words = -(-bits // 64)
    segment = -(-words // 8)
    stream = Stream(seed).words(index, 8 * segment)
    number = [stream[8 * (place % segment) + place // segment] for place in range(words)]
    return sum(word << 64 * place for place, word in enumerate(number)) & ((1 << bits) - 1)


def fraction(fractions, index, limbs):
    """Returns a number of a recryption or a switching key, whose highest word comes first in the
    stream.
    """
    if index == 0:
        return fractions.first
    number = 0
    for word in Stream(fractions.seed).words(index, limbs):
        number = number << 64 | word
    return number


class Reader:
    """Reads the fields of a file in order."""

    def __init__(self, data):
        assert hashlib.sha256(data[:-32]).digest() == data[-32:], "the checksum is that of the content"
        self.data, self.at = data[:-32], 0
        assert self.take(8) == b"HEARDGHV"
        version, self.kind, scheme = struct.unpack("<HBB", self.take(4))
        assert version in (1, 2)
        lengths = struct.unpack("<7I", self.take(28))
        self.id = self.take(16)
        self.version = version
        level = self.take(1)[0] if version == 2 else 0
        self.parameters = Parameters({1: "cmnt", 2: "cnt"}[scheme], *lengths, level)

    def take(self, count):
        assert self.at + count <= len(self.data), "the file has what it says"
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, bits):
        number = int.from_bytes(self.take(-(-bits // 8)), "little")
        assert number < 1 << bits
        return number

    def end(self):
        assert self.at == len(self.data), "nothing follows"

    def corrections(self, parameters, count):
        return [self.number(parameters.correction) for _ in range(count)]


def read_public(data):
    """Reads a public key."""
    reader = Reader(data)
    assert reader.kind == 1

    def key(parameters):
        seed, modulus = reader.take(16), reader.number(parameters.modulus)
        return Key(parameters, seed, modulus, reader.corrections(parameters, parameters.key_elements))

    p = reader.parameters
    found = key(p)
    if reader.take(1)[0]:
        seed, first = reader.take(16), reader.number(64 * (p.limbs + 1))
        found.recryption = Fractions(seed, first, reader.corrections(p, p.theta))
    for _ in range(reader.take(1)[0] if reader.version == 2 else 0):
        p = p.below()
        rung = key(p)
        seed, first = reader.take(16), reader.number(64 * (p.limbs + 1) + p.whole)
        rung.switching = Fractions(seed, first, reader.corrections(p, p.theta * p.whole // 16))
        found.rungs.append(rung)
    reader.end()
    assert found.id == reader.id
    return found


def read_private(data):
    """Returns the parameters, the id and the prime of a private key and of each rung."""
    reader = Reader(data)
    assert reader.kind == 2
    p = reader.parameters
    found = [(p, reader.id, reader.number(p.secret))]
    for _ in range(reader.take(1)[0] if reader.version == 2 else 0):
        p = p.below()
        found.append((p, reader.take(16), reader.number(p.secret)))
    reader.end()
    return found


def read_bits(data):
    """Returns the parameters and the key's id of encrypted bits, and the noise bound and the
    ciphertext of each bit.
    """
    reader = Reader(data)
    assert reader.kind == 3
    rows = []
    for _ in range(struct.unpack("<Q", reader.take(8))[0]):
        (noise,) = struct.unpack("<d", reader.take(8))
        rows.append((noise, reader.number(reader.parameters.modulus)))
    reader.end()
    return reader.parameters, reader.id, rows


def write_bits(parameters, key_id, rows):
    """Returns the file of encrypted bits, each given as a noise bound and a ciphertext."""
    p = parameters
    lengths = (p.security, p.key_noise, p.secret, p.modulus, p.elements, p.coefficient, p.encryption_noise)
    data = b"HEARDGHV" + struct.pack("<HBB", 2 if p.level else 1, 3, {"cmnt": 1, "cnt": 2}[p.scheme])
    data += struct.pack("<7I", *lengths) + key_id + bytes([p.level] if p.level else [])
    data += struct.pack("<Q", len(rows))
    for noise, number in rows:
        data += struct.pack("<d", noise) + number.to_bytes(-(-p.modulus // 8), "little")
    return data + hashlib.sha256(data).digest()


# ---- the scheme ----------------------------------------------------------------------------------


def centred(number, prime):
    """Returns the residue with the smallest magnitude."""
    residue = number % prime
    return residue - prime if 2 * residue > prime else residue


def decrypt(prime, number):
    """Returns the bit in a ciphertext."""
    return centred(number, prime) % 2
