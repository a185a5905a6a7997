"""Oracles for each device, in pure Python, from its page in docs and docs/reference/registers.md.
They share nothing with the driver.
"""

import dataclasses
import itertools
import math
import random

import phe


def words_of(value, bits):
    """Returns a constant as the device reads it: 32-bit words, the least significant first."""
    return [value >> at & 0xFFFFFFFF for at in range(0, bits, 32)]


def is_prime(number):
    """Returns whether a number below 2^64 is prime (Miller-Rabin, with bases that are deterministic
    there).
    """
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1

    def passes(base):
        power = pow(base, odd, number)
        return power == 1 or any(pow(base, odd << k, number) == number - 1 for k in range(twos))

    return all(passes(base) for base in bases)


def key_primes(generator, bits):
    """Returns two primes whose product has `bits` bits and is coprime to (p - 1)(q - 1)."""
    while True:
        p, q = (generator.getrandbits(bits // 2) | 3 << bits // 2 - 2 | 1 for _ in range(2))
        if p != q and is_prime(p) and is_prime(q) and (p - 1) % q and (q - 1) % p:
            return p, q


def subgroup_prime(generator, bits, short_bits):
    """Returns a prime p of `bits` bits, the two highest set, and a prime of `short_bits` bits that
    divides (p - 1) / 2.
    """
    while True:
        order = generator.getrandbits(short_bits) | 1 << short_bits - 1 | 1
        if not is_prime(order):
            continue
        for _ in range(10 * bits):
            prime = generator.getrandbits(bits) | 3 << bits - 2
            prime -= (prime - 1) % (2 * order)
            if prime >> bits - 2 == 3 and is_prime(prime):
                return prime, order


def scaled(modulus, bits):
    """Returns `u` and `(u modulus + 1) / 2^bits`, for the u below 2^bits that makes it an
    integer.
    """
    u = pow(-modulus, -1, 2**bits)
    return u, (u * modulus + 1) >> bits


@dataclasses.dataclass
class Key:
    """A key and its encryptions, by python-paillier."""

    p: int
    q: int

    def __post_init__(self):
        """Creates python-paillier's public and private keys."""
        self.n = self.p * self.q
        self.public = phe.PaillierPublicKey(self.n)
        self.private = phe.PaillierPrivateKey(self.public, self.p, self.q)

    def merged(self, prime, other, exponent, bits):
        """Returns `t 2^bits mod n`: t is 0 modulo the other prime, and maps L(c^exponent) to the
        plaintext modulo this one.
        """
        # For g = n + 1: L(g^exponent mod prime^2) = exponent other mod prime.
        t = pow(exponent * other, -1, prime) * other * pow(other, -1, prime)
        return t * 2**bits % self.n


class Decryptor:
    """The common part of `mesa` and `mesa_dual`."""

    branches = 2

    def __init__(self, parameters, seed):
        """Reads the device's parameters 0 to 7."""
        self.n_bits, self.stages, shape, self.stream_bits, self.r_bits, self.x_bits, self.interval, _ = parameters
        self.w, self.d, _, _ = shape.to_bytes(4, "little")
        self.in_bits, self.out_bits = 2 * self.n_bits, self.n_bits
        self.generator = random.Random(seed)
        self.short_bits = self.n_bits // 6
        while True:
            primes, orders = zip(
                *(subgroup_prime(self.generator, self.n_bits // 2, self.short_bits) for _ in range(2)), strict=True
            )
            if orders[0] != orders[1] and (primes[0] - 1) % primes[1] and (primes[1] - 1) % primes[0]:
                break
        self.key = Key(*primes)
        #: The exponents for p and for q, and their maximum length: of the whole groups, or of
        #: subgroups.
        self.is_short = seed % 2 == 1
        pairs = list(zip(primes, orders, strict=True))
        self.exponents = [2 * order if self.is_short else prime - 1 for prime, order in pairs]
        self.exponent_bits = self.short_bits + 1 if self.is_short else self.n_bits // 2
        #: A number whose powers are randomisers of those orders.
        cofactors = [(prime - 1) // 2 // order for prime, order in pairs]
        unit = next(u for u in itertools.count(2) if math.gcd(u, self.key.n) == 1)
        self.base = pow(unit, cofactors[0] * cofactors[1] * self.key.n, self.key.n**2)
        self.corners = iter((0, 1, self.key.n - 1))
        self.turn = itertools.count()

    def item(self):
        """Returns a ciphertext and its plaintext, the corner cases first.

        Every fourth is of a foreign subgroup: modulo both primes, modulo p and modulo q, in turn.
        """
        n, p, q = self.key.n, self.key.p, self.key.q
        plaintext = next(self.corners, None)
        if plaintext is None:
            plaintext = self.generator.randrange(n)
        ciphertext = self.key.public.raw_encrypt(
            plaintext, r_value=self.generator.randrange(2, min(self.key.p, self.key.q))
        )
        assert self.key.private.raw_decrypt(ciphertext) == plaintext
        own = (1 + plaintext * n) * pow(self.base, self.generator.randrange(n), n**2) % n**2
        match next(self.turn) % 12:
            case 3:
                pass
            case 7:
                # The foreign one modulo p^2, the own one modulo q^2.
                ciphertext += p**2 * ((own - ciphertext) * pow(p, -2, q**2) % q**2)
            case 11:
                ciphertext = own + p**2 * ((ciphertext - own) * pow(p, -2, q**2) % q**2)
            case _:
                ciphertext = own
        ciphertext %= n**2
        powers = [pow(ciphertext, exponent, prime) for exponent, prime in zip(self.exponents, (p, q), strict=True)]
        return ciphertext, plaintext if powers == [1, 1] else 2**self.n_bits - 1

    def quiet(self, items):
        """Returns cycles within which `items` items are answered, at twice the pipeline's time."""
        return 4000 + 2 * self.interval * (items + 12)


class Mesa(Decryptor):
    """The pipelined decryptor."""

    identity = b"MESA"

    def constants(self):
        """Yields number, value and bits of each constant."""
        key, digits = self.key, -(-self.n_bits // self.w) * self.w
        yield 7, key.n, self.n_bits
        steps, places = self.segments()
        yield 15, steps, 32
        for first, p, q, exponent in ((0, key.p, key.q, self.exponents[0]), (8, key.q, key.p, self.exponents[1])):
            yield first, scaled(p * p, self.w * (self.d + 1))[1], digits
            yield first + 1, p * p, self.n_bits
            yield first + 2, 2 ** (self.r_bits + self.x_bits) % (p * p), self.n_bits
            yield first + 3, 2**self.r_bits % (p * p), self.n_bits
            yield first + 4, sum((exponent >> at & 1) << place for place, at in places), self.n_bits // 2
            yield first + 5, p, self.n_bits // 2
            yield first + 6, key.merged(p, q, exponent, self.x_bits), self.n_bits

    def segments(self):
        """Returns the word STEPS, and for each bit of an exponent its position in the constant.

        Every stage but the last has ceil((N/2 + 1) / Stages) positions, the last one the rest. A
        stage uses some of them, from the top. Below these the next stage's first bit is repeated.
        """
        half = self.n_bits // 2
        width = -(-(half + 1) // self.stages)
        widths = [width] * (self.stages - 1) + [half - (self.stages - 1) * width]
        taken = next(
            [bits] * (self.stages - 1) + [min(bits - 1, widths[-1])]
            for bits in range(2, width + 1)
            if bits * (self.stages - 1) + min(bits - 1, widths[-1]) >= self.exponent_bits
        )
        places, at, top = [], sum(taken), half
        for room, bits in zip(widths, taken, strict=True):
            places += [(top - 1 - k, at - 1 - k) for k in range(min(room, bits + 1)) if at - 1 - k >= 0]
            at, top = at - bits, top - room
        return taken[0] - 1 | taken[-1] << 16, places


class MesaDual(Decryptor):
    """The decryptor in dual numbers."""

    identity = b"DUAL"

    def constants(self):
        """Yields number, value and bits of each constant."""
        key, half = self.key, self.n_bits // 2
        yield 15, key.n, self.n_bits
        yield 14, -(-self.exponent_bits // 4) - 1, 32
        for first, p, q, exponent in ((0, key.p, key.q, self.exponents[0]), (16, key.q, key.p, self.exponents[1])):
            u, mt = scaled(p, self.w * (self.d + 1))
            yield first, mt, -(-half // self.w) * self.w
            yield first + 1, exponent, half
            yield first + 2, u, self.w * (self.d + 1)
            for number, power in ((3, half + self.r_bits), (5, 3 * self.r_bits), (7, 2 * self.r_bits)):
                # low + high u p, modulo p^2.
                value = 2**power % (p * p)
                low = value % p
                yield first + number, low, half
                yield first + number + 1, (value - low) // p * pow(u, -1, p) % p, half
            yield first + 9, key.merged(p, q, exponent, self.x_bits), self.n_bits


class ResidueBank:
    """Residues of long integers modulo some primes."""

    identity = b"RESB"
    branches = 1

    def __init__(self, parameters, seed):
        """Reads the device's parameters 0 to 7."""
        self.in_bits, self.count, _, self.stream_bits, self.interval, self.latency, _, _ = parameters
        self.out_bits = 32 * self.count
        self.primes = None
        self.generator = random.Random(seed)
        self.corners = iter((0, 1, 2**self.in_bits - 1))

    def constants(self):
        """Returns no constants: there is nothing to load."""
        return ()

    def item(self):
        """Returns an integer and its residues, 32 bits each."""
        value = next(self.corners, None)
        if value is None:
            value = self.generator.getrandbits(self.in_bits)
        return value, sum(value % prime << 32 * at for at, prime in enumerate(self.primes))

    def quiet(self, items):
        """Returns cycles within which `items` items are answered."""
        return 2000 + 2 * self.interval * items


class Coproc:
    """The co-processor: commands with both operands and their answers, from
    rtl/coproc/README.md.
    """

    identity = b"COPR"
    branches = 1
    #: The commands' codes.
    MULTIPLY, POWER, ENCRYPT, RERANDOMISE, COMB_ENCRYPT, COMB_RANDOM, ACCUMULATE, CONTINUE, TOTAL, SET_COMB, DECRYPT = (
        range(1, 12)
    )
    #: The multipliers.
    CIOS, DIGIT, DUAL = range(3)
    #: The error codes.
    UNKNOWN, OPERAND_X, OPERAND_Y, LENGTH, EVEN, SHORT, GROUP, MISSING = range(1, 9)

    def __init__(self, parameters, seed):
        """Reads the device's parameters 0 to 7."""
        self.n_bits, cores, shape, self.stream_bits, self.r_bits, self.leave_bits, memory, self.interval = parameters
        self.core, self.contexts = cores & 0xFF, cores >> 16 & 0xFF
        self.w, self.d = shape & 0xFFF, shape >> 12 & 0xF
        self.group_count, self.teeth = memory & 0xFFFF, memory >> 16
        self.in_bits, self.out_bits = 4 * self.n_bits + 64, 2 * self.n_bits + 64
        self.generator = random.Random(seed)
        self.key = Key(*key_primes(self.generator, self.n_bits))
        self.n, self.square = self.key.n, self.key.n**2
        self.turn = itertools.cycle((self.multiply, self.encrypt, self.power, self.rerandomise, self.decrypt))

    def constants(self):
        """Yields number, value and bits of each constant."""
        n, square, r = self.n, self.square, 2**self.r_bits
        yield 1, square, 2 * self.n_bits
        yield 2, n, self.n_bits
        yield 3, (self.key.p - 1) * (self.key.q - 1), self.n_bits
        leave = 2**self.leave_bits
        if self.core == self.DUAL:
            u, mt = scaled(n, self.w * (self.d + 1))
            yield 5, mt, -(-self.n_bits // self.w) * self.w
            yield 6, u, self.w * (self.d + 1)
            yield 7, n * leave % square, 2 * self.n_bits
            for number, value in ((8, r), (9, r**3), (13, 2**self.n_bits)):
                # low + high u n, modulo n^2.
                high, low = divmod(value % square, n)
                yield number, low | high * pow(u, -1, n) % n << self.n_bits, 2 * self.n_bits
            return
        if self.core == self.DIGIT:
            yield 4, pow(-square, -1, 2**self.w), self.w
        else:
            yield 0, scaled(square, self.w * (self.d + 1))[1], -(-2 * self.n_bits // self.w) * self.w
        for number, value in ((8, r), (9, r * r), (10, r * r * leave), (11, leave), (12, n * r * r)):
            yield number, value % square, 2 * self.n_bits

    def command(self, code, x=0, y=0, *, length=0, group=0, result=0, refusal=0):
        """Returns a command as an item, and its expected answer."""
        word = code | length << 16 | group << 48
        answer = refusal | code << 8 | group << 48
        return word | x << 64 | y << 64 + 2 * self.n_bits, answer | (0 if refusal else result) << 64

    def unit(self):
        """Returns a randomiser."""
        return self.generator.randrange(1, min(self.key.p, self.key.q))

    def ciphertext(self):
        """Returns a ciphertext by python-paillier and its plaintext."""
        plaintext = self.generator.randrange(self.n)
        return self.key.public.raw_encrypt(plaintext, r_value=self.unit()), plaintext

    def multiply(self):
        """Adds two encrypted numbers."""
        (x, a), (y, b) = self.ciphertext(), self.ciphertext()
        result = x * y % self.square
        assert self.key.private.raw_decrypt(result) == (a + b) % self.n
        return self.command(self.MULTIPLY, x, y, result=result)

    def power(self, length=24):
        """Multiplies an encrypted number by the low `length` bits of an integer."""
        (x, a), y = self.ciphertext(), self.generator.getrandbits(2 * self.n_bits)
        result = pow(x, y % 2**length, self.square)
        assert self.key.private.raw_decrypt(result) == a * (y % 2**length) % self.n
        return self.command(self.POWER, x, y, length=length, result=result)

    def encrypt(self):
        """Encrypts with a randomiser."""
        plaintext, r = self.generator.randrange(self.n), self.unit()
        return self.command(self.ENCRYPT, r, plaintext, result=self.key.public.raw_encrypt(plaintext, r_value=r))

    def rerandomise(self):
        """Re-randomises a ciphertext."""
        (y, plaintext), r = self.ciphertext(), self.unit()
        result = pow(r, self.n, self.square) * y % self.square
        assert self.key.private.raw_decrypt(result) == plaintext
        return self.command(self.RERANDOMISE, r, y, result=result)

    def decrypt(self):
        """Computes the power of a decryption: 1 + m f n, f the secret exponent."""
        x, plaintext = self.ciphertext()
        f = (self.key.p - 1) * (self.key.q - 1)
        return self.command(self.DECRYPT, x, result=(1 + plaintext * f * self.n) % self.square)

    def accumulate(self, group, x):
        """Adds a ciphertext to a group."""
        return self.command(self.ACCUMULATE, x, group=group)

    def item(self):
        """Returns a command and its answer: the stateless ones in rotation."""
        return next(self.turn)()

    def quiet(self, items):
        """Returns cycles within which `items` items are answered, at twice the time of sequential
        powers of n.
        """
        return 4000 + 2 * (items + 2) * (2 * self.n_bits + 40) * (self.interval + 40)


class Dghv:
    """The accelerator for encryption over the integers: its commands, from the header of
    rtl/dghv/dghv_control.sv, and their answers.
    """

    identity = b"DGHV"
    branches = 1
    in_bits, out_bits = 640, 576
    READ, WRITE, COMPUTE = range(3)
    MULTIPLY, REDUCE, CNT, CMNT, WIPE = range(5)
    DONE, BAD_SIZES, BAD_MODULUS, BAD_OPERAND, NEGATIVE = range(5)
    #: The number of words that items read and multiply, and the first word that they write.
    CONTENT, OUT = 64, 64

    def __init__(self, parameters, seed):
        """Reads the device's parameters 0 to 7."""
        self.block, self.points, self.memory_words, self.stream_bits, self.rounds, self.timeout, _, _ = parameters
        self.generator = random.Random(seed)
        self.seed = self.generator.randbytes(16)
        self.content = self.generator.randbytes(8 * self.CONTENT)
        self.turn = itertools.cycle((self.multiply, self.read, self.write, self.unknown))

    def constants(self):
        """Yields number, value and bits of the seed, its first byte at the low end."""
        yield 0, int.from_bytes(self.seed, "little"), 128

    def command(self, operation, *, address=0, data=b"", kind=0, ending=0, status=0, answer=b""):
        """Returns a command as an item, and its expected answer."""
        word = operation | kind << 8 | address << 64
        answer = status | ending << 8 | int.from_bytes(answer, "little") << 64
        return word | int.from_bytes(data, "little") << 128, answer

    def compute(self, kind, words, ending=0):
        """Returns a computation whose operands are 32-bit words, the first at the low end."""
        return self.command(
            self.COMPUTE, kind=kind, ending=ending, data=b"".join(word.to_bytes(4, "little") for word in words)
        )

    def multiply(self):
        """Multiplies some of the words."""
        x, y = self.generator.randrange(1, 9), self.generator.randrange(1, 9)
        return self.compute(self.MULTIPLY, (0, x, 16, y, self.OUT))

    def read(self, address=None):
        """Reads eight of the words."""
        address = self.generator.randrange(self.CONTENT - 7) if address is None else address
        return self.command(self.READ, address=address, answer=self.content[8 * address :][:64])

    def write(self):
        """Writes eight words elsewhere."""
        return self.command(
            self.WRITE, address=self.OUT + self.generator.randrange(100), data=self.generator.randbytes(64)
        )

    def unknown(self):
        """Returns an unknown command."""
        return self.command(self.generator.randrange(3, 16), data=self.generator.randbytes(64), status=1 << 4)

    def item(self):
        """Returns a command and its answer, each kind in turn.

        None changes the answers of others.
        """
        return next(self.turn)()

    def quiet(self, items):
        """Returns cycles within which `items` items are answered."""
        return 4000 + 4000 * items


SYSTEMS = {int.from_bytes(system.identity, "big"): system for system in (Mesa, MesaDual, ResidueBank, Coproc, Dghv)}


def crc_of(words):
    """Computes the checksum of words, defined in docs/reference/registers.md, bit by bit."""
    state = 0xFFFFFFFF
    for word, bit in itertools.product(words, range(32)):
        state = state >> 1 ^ (0xEDB88320 if (state ^ word >> bit) & 1 else 0)
    return state ^ 0xFFFFFFFF
