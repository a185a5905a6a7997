"""Encryption over the integers in pure Python: AES, elements, both schemes, a memory.

The formulas come from docs/explanation/dghv.md, rtl/dghv/README.md and
crates/dghv/tests/vectors/README.md.
"""

import dataclasses

ROUNDS = 10
LANES = 8
WORD = 64


def double(byte):
    """Multiplies by x in the field of AES."""
    return (byte << 1 ^ (0x11B if byte & 0x80 else 0)) & 0xFF


def times(a, b):
    """Multiplies in the field of AES."""
    product = 0
    while b:
        product ^= a if b & 1 else 0
        a, b = double(a), b >> 1
    return product


def substitution():
    """Returns the S-box from its definition: the inverse, then an affine map."""
    inverses = [next((b for b in range(256) if times(a, b) == 1), 0) for a in range(256)]

    def turned(byte, by):
        return (byte << by | byte >> 8 - by) & 0xFF

    return bytes(i ^ turned(i, 1) ^ turned(i, 2) ^ turned(i, 3) ^ turned(i, 4) ^ 0x63 for i in inverses)


BOX = substitution()


def round_keys(key):
    """Returns the round keys of AES-128."""
    words, constant = [key[at : at + 4] for at in range(0, 16, 4)], 1
    while len(words) < 4 * (ROUNDS + 1):
        last = words[-1]
        if len(words) % 4 == 0:
            last = bytes(BOX[byte] for byte in last[1:] + last[:1])
            last, constant = bytes([last[0] ^ constant]) + last[1:], double(constant)
        words.append(bytes(a ^ b for a, b in zip(words[-4], last, strict=True)))
    return [b"".join(words[at : at + 4]) for at in range(0, len(words), 4)]


def encrypt_block(keys, block):
    """Encrypts a block with AES-128."""
    state = bytes(a ^ b for a, b in zip(block, keys[0], strict=True))
    for number, key in enumerate(keys[1:], 1):
        # Byte 4 c + r comes from column c + r.
        state = bytes(BOX[state[(at + 4 * (at % 4)) % 16]] for at in range(16))
        if number < ROUNDS:
            mixed = bytearray()
            for column in (state[at : at + 4] for at in range(0, 16, 4)):
                for r in range(4):
                    a, b, c, d = column[r:] + column[:r]
                    mixed.append(double(a) ^ double(b) ^ b ^ c ^ d)
            state = bytes(mixed)
        state = bytes(a ^ b for a, b in zip(state, key, strict=True))
    return state


def element(seed, index, bits):
    """Returns the pseudorandom number of a compressed key's element: word 8 t + s of its stream is
    word t of segment s.
    """
    words = -(-bits // WORD)
    segment = -(-words // LANES)
    keys = round_keys(seed)
    blocks = (encrypt_block(keys, (index << 64 | at).to_bytes(16, "big")) for at in range(LANES * segment // 2))
    stream = b"".join(blocks)
    number = b"".join(stream[8 * (LANES * t + s) :][:8] for s in range(LANES) for t in range(segment))
    return int.from_bytes(number, "little") % 2**bits


@dataclasses.dataclass
class Encryption:
    """An encryption under its own random key, and its memory layout in words."""

    command: list
    memory: dict
    result: int
    number: int
    quotient: int
    scratch: tuple
    end: int


def encryption(generator, seed, *, quadratic, bits=700, elements=2, coefficient=40, correction=90, noise=50):
    """Returns a CNT or CMNT encryption of the noise's low bit: the number is m + 2 R + 2 sum of b A
    modulo A_0.
    """
    a_0 = generator.getrandbits(bits) | 1 << bits - 1 | 1
    count = 2 * elements if quadratic else elements
    deltas = [generator.getrandbits(correction) for _ in range(count)]
    key = [element(seed, index, bits) - delta for index, delta in enumerate(deltas)]
    rows = elements if quadratic else 1
    b = [[generator.getrandbits(coefficient) for _ in range(elements)] for _ in range(rows)]
    if quadratic:
        total = sum(b[i][j] * key[i] * key[elements + j] for i in range(elements) for j in range(elements))
    else:
        total = sum(b[0][i] * key[i] for i in range(elements))
    shift = 1 << noise + 1
    raised = generator.getrandbits(noise + 2)
    total = 2 * total + raised - shift
    # If the total is negative, as with all coefficients zero, the modulus is added first.
    quotient, number = divmod(total + (a_0 if total < 0 else 0), a_0)

    def length(bits):
        return -(-bits // WORD)

    excess = coefficient + 2 * elements.bit_length() + 1 + (bits if quadratic else 0)
    words, segment = length(bits), -(-length(bits) // LANES)
    above = bits % WORD if bits % WORD >= 3 else bits % WORD + WORD
    size = (excess + above) // WORD + 1
    reciprocal = 2 ** (bits + size * WORD - above) // a_0
    c, d, r = length(coefficient), length(correction), length(noise + 3)
    between = 1 + elements * (2 * words + c + 1) if quadratic else 0
    scratch = 18 * segment + max(c + d + 1 + between, 2 * size + words + 1)
    memory, next_word = {}, 0

    def room(size, numbers=(), each=0):
        nonlocal next_word
        at, next_word = next_word, next_word + size + 1
        memory.update({at + k * each: number.to_bytes(8 * each, "little") for k, number in enumerate(numbers)})
        return at

    modulus = room(words, [a_0], words)
    inverse = room(size, [reciprocal], size)
    x = room(c * elements * rows, [one for row in b for one in row], c)
    y = room(d * count, deltas, d)
    z = room(words + size)
    extra = room(2 * r, [raised, shift], r)
    between = room(scratch)
    command = [x, c, y, d, z, modulus, inverse, bits, excess, elements, extra, r, between, scratch]
    return Encryption(command, memory, z, number, quotient, (between, scratch), next_word)
