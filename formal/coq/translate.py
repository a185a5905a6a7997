#!/usr/bin/env python3
"""Translates functions of the arithmetic kernels from Rust to Coq.

Usage: translate.py SOURCES OUTPUT

`SOURCES` is the folder of all crates, `OUTPUT` the folder for one Coq file per Rust file.
Each function becomes a Coq function over lists of limbs. Mutable arguments are returned after the
result. Loops over slices recurse over lists, and `while` loops have as much fuel as there are
limbs. Words are numbers of Z and wrap as in a release build. Slices and indexes out of range, which
would panic in Rust, are excluded by the theorems' premises on lengths. The translation rejects
anything that it does not know.
"""

import contextlib
import re
import sys
from pathlib import Path

import translate_lanes
import translate_unrolled
import translate_vectors

# Rust file, translated functions and constants, required Coq files.
FILES = {
    "natural": ("arith/src/natural.rs", "adc sbb mac mask add_assign sub_assign less reduce_once mac_row", ""),
    "serial": (
        "arith/src/backend/serial.rs",
        "carry_row carry_rows mac_rows_from mac_rows reduce_row reduce_rows reduce mul_add product "
        "finish_high subtract_digits mul_body dual_mul_body add_chunk add",
        "natural",
    ),
    "bits": ("arith/src/natural.rs", "low_bits bits_at shift_in double", "natural"),
    "doubling": ("arith/src/doubling.rs", "reciprocal new double", "natural bits"),
    "squares": ("arith/src/backend/serial.rs", "square sqr_body dual_sqr_body", "natural serial"),
    "single": ("arith/src/single.rs", "wide add_row product_body", "natural"),
    "residues": ("rns/src/convert/serial.rs", "part_of reduce", ""),
    "across_limbs": ("arith/src/backend/ifma/across.rs", "add reduce_once canonical add_chunk", "natural"),
}
# Rewrites before the translation, and other files with the constants.
ITERATORS = {
    "single": [
        # Rows by `add_row`, without the instructions of `adx.rs`.
        (r"row::<ADX>\(", "add_row("),
        (r"let \(blocks, rest\) = t\.as_chunks_mut::<4>\(\);", "let (blocks, rest) = t.split_at_mut(t.len() / 4 * 4);"),
        (r"let \(factors, last\) = a\.as_chunks::<4>\(\);", "let (factors, last) = a.split_at(a.len() / 4 * 4);"),
        (r"in blocks\.iter_mut\(\)\.zip\(factors\)", "in blocks.chunks_exact_mut(4).zip(factors.chunks_exact(4))"),
        # The sum and its carry, as a bit.
        (r"([\w\[\]]+)\.carrying_add\((\w+), false\)", r"adc(\1, \2, 0)"),
        (r"([\w\[\]]+)\.carrying_add\((\w+), over\)", r"adc(\1, \2, over)"),
        (r"u64::from\(over\)", "over"),
    ],
    "across_limbs": [
        (r"impl Iterator<Item = u64>", "&[u64]"),
        (r"let (\w+) = \|(\w+): u64, (\([^()]*\)): \(&u64, &u64\)\| ([^;]*);(.*?)\b\1\)", r"\5|\2, \3| \4)"),
        (r"std::iter::once\((\w+)\)", r"[\1]"),
        (r"\((0\.\.\d+)\)\.for_each\(\|_\| _ = (.*?\))\);", r"for _ in \1 { \2; }"),
        (r"chunk\.iter\(\)\.copied\(\)", "chunk"),
    ],
}
OTHERS = {"across_limbs": "arith/src/backend/ifma.rs"}
CONSTANTS = {
    "rns_constants": [
        ("rns/src/convert/serial.rs", "LIMBS"),
        ("rns/src/convert/serial.rs", "FRACTION"),
        ("rns/src/basis.rs", "MOST_BITS"),
        ("rns/src/basis.rs", "MOST_MODULI"),
    ],
    "ifma_back_constants": [("rns/src/convert/ifma/back.rs", "FRACTION")],
    "avx2_residue_constants": [
        ("rns/src/convert/avx2.rs", "RADIX"),
        ("rns/src/convert/avx2.rs", "MODULUS_BITS"),
        ("rns/src/convert/avx2.rs", "TERMS"),
    ],
    "doubling_constants": [("arith/src/doubling.rs", "STEP")],
    "sums_constants": [
        ("dghv/src/sums/ifma.rs", "DIGIT"),
        ("dghv/src/sums/ifma.rs", "GROUP"),
        ("dghv/src/sums/karatsuba.rs", "LEVELS"),
        ("dghv/src/sums/blocks/transform.rs", "TERMS"),
        ("dghv/src/sums/blocks/primes.rs", "BITS"),
    ],
    "ifma_constants": [
        ("arith/src/backend/ifma.rs", "RADIX"),
        ("arith/src/backend/ifma/blocks.rs", "BLOCK"),
        ("arith/src/constants.rs", "MOST_BITS"),
    ],
    "avx2_constants": [
        ("arith/src/backend/avx2.rs", "RADIX"),
        ("arith/src/backend/avx2.rs", "SPARE"),
        ("arith/src/backend/avx2/blocks.rs", "BLOCK"),
        ("arith/src/backend/avx2/blocks.rs", "ROOM"),
    ],
}
# Further facts about the sources that the proofs need: a Coq definition to make from the matched
# text, a pattern, and the number of matches, all of which must capture the same text.
BLOCKS = "arith/src/backend/avx2/blocks.rs"
SUMS = "dghv/src/sums/ifma.rs"
ACROSS = "arith/src/backend/ifma/across.rs"
EXPRESSIONS = {
    "avx2_room": [
        (BLOCKS, "room_blocks (weight SIZE : Z)", r"fn add_blocks\(.*?self\.make_room\(0, (.*?)\);", 1),
        (BLOCKS, "room_square (SIZE : Z)", r"fn square\(.*?self\.make_room\(0, (.*?)\);", 1),
        (BLOCKS, "room_reduce (SIZE : Z)", r"[tu]\.make_room\(at, (.*?)\);", 3),
        (BLOCKS, "room_parts (SIZE : Z)", r"fn multiply_(?:from|below)\(.*?self\.make_room\(0, (.*?)\);", 2),
    ],
    "avx2_shapes": [
        (BLOCKS, "MIDDLE", r"\$k - \$at \{\s*BLOCK\.\. .*? (\d)\.\. => \{\s*const \$size: usize = \1;", 1),
        (BLOCKS, "LAST", r"_ => \{\s*const \$size: usize = (\d);", 1),
        (BLOCKS, "HELD", r"if self\.held \+ more > ROOM \{[^}]*self\.held = (\d);\s*\}\s*self\.held \+= more;", 1),
        (BLOCKS, "SQUARE", r"let columns = &mut self\.columns\[(\d) \* at\.\.\];", 1),
        (BLOCKS, "rest_square (SIZE : Z)", r"columns\[SIZE\.\.\], block\(a, at\), &twice\[at \+ (.*?)\.\.\]\);", 1),
        (BLOCKS, "rest_reduce (SIZE : Z)", r"\w+\[SIZE\.\.\], &\w+, &m\[(.*?)\.\.\]\);", 3),
        (BLOCKS, "same (I : Z)", r"if I < SIZE && (.*?) == COLUMN \{", 1),
        (BLOCKS, "lower (I : Z)", r"\} else if (.*?) < COLUMN && COLUMN - I < SIZE \{", 1),
        (BLOCKS, "other (COLUMN I : Z)", r"(?:2 \* I < COLUMN && |&twice\[)(COLUMN - I|COLUMN)(?: < SIZE|\])", 2),
        (BLOCKS, "beyond (at_ SIZE : Z)", r"let skipped = from\.saturating_sub\((.*?)\) / 2 \* 2;", 1),
        (
            BLOCKS,
            "place_from (at_ skipped : Z)",
            r"&mut self\.columns\[([^\n]*?)\.\.\], block\(a, at\), &b\[skipped\.\.\]\);",
            1,
        ),
        (BLOCKS, "kept (k at_ : Z)", r"&mut self\.columns\[at\.\.\], block\(a, at\), &b\[\.\.(.*?)\]\);", 1),
        (BLOCKS, "FIRST", r"fn start_high\(.*?start\[0\] = Quad\(\[(\d); 4\]\);", 1),
        (BLOCKS, "LESS", r"fn start_high\(.*?for_each\(\|limb\| \*limb -= (\d)\);", 1),
        (
            "arith/src/backend/avx2.rs",
            "upper_one (k : Z)",
            r"t\.(?:multiply\(a, b\)|square\(a, &mut twice\[\.\.m\.k\]\));\s*"
            r"reduce\(&mut t, &m\.m, m\.neg_inverse\);\s*normalise\(out, &\w+\[m\.(k)\.\.",
            2,
        ),
        (
            "arith/src/backend/avx2.rs",
            "upper_pair (k : Z)",
            r"(?:t\.multiply\(a_low, b_low\);\s*u\.multiply\(a_low, b_high\);\s*u\.multiply\(a_high, b_low\)|"
            r"t\.square\(a_low, twice\);\s*u\.multiply_twice\(a_high, twice\));\s*"
            r"reduce_pair\(&mut t, &mut u, &m\.m, m\.neg_inverse\);\s*"
            r"normalise\(out_low, &low\[m\.k\.\.\]\);\s*normalise\(out_high, &high\[m\.(k)\.\.\]\);",
            2,
        ),
        ("arith/src/backend/avx2.rs", "TIMES", r"\(0\.\.(\d)\)\.for_each\(\|_\| _ = blocks::reduce_once\(high", 1),
    ],
    "encodings": [
        (
            "paillier/src/encoding/slots.rs",
            "slot_bits (value_bits addition_bits : Z)",
            r"fn slot_bits\(&self\) -> u32 \{\n +self\.(value_bits \+ )self\.(addition_bits.*?)\n",
            1,
        ),
        ("paillier/src/encoding/slots.rs", "KEPT", r"key_bits\.saturating_sub\((\d+)\) / self\.slot_bits\(\)", 1),
    ],
    "schemes": [
        ("paillier/src/key/factors.rs", "LESS", r"\(difference\(&self\.p, &\[(\d+)\]\), difference\(", 1),
        (
            "paillier/src/key/subgroup.rs",
            "SHORT",
            r"let double = \|prime: &\[u64\]\| product_in\(prime, &\[(\d+)\],",
            1,
        ),
        ("threshold/src/combine.rs", "TWICE", r"\.map\(\|one\| (\d+) \* one\)", 1),
        ("threshold/src/combine.rs", "INVERTED", r"inverse\(key\.root\(\), (\d+) \* factorial\(", 1),
    ],
    "rns_parts": [
        ("rns/src/convert/serial.rs", "WIDTH", r"let shift = (\d+) \+ \(u64::BITS - modulus\.leading_zeros\(\)\);", 1)
    ],
    "fraction_bounds": [
        (
            "rns/src/convert/ifma.rs",
            "CORRECTION",
            r"let mut lower_carry = \[broadcast\((\d+) \* x\.len\(\) as u64\); G\];",
            1,
        ),
        ("rns/src/convert/ifma.rs", "NARROW_BITS", r"const NARROW: u64 = 1 << (\d+);", 1),
        (
            "rns/src/convert/ifma/forward.rs",
            "ROOM",
            r"let most = \(1 << \(2 \* RADIX\)\) / \((\d+) \* limbs as u128\);",
            1,
        ),
    ],
    "ifma_back_bounds": [
        ("rns/src/convert/ifma/back.rs", "SIGN", r"\(bit_length\(&system\.product\) \+ (\d+)\)\.div_ceil\(RADIX\)", 1),
        ("rns/src/convert/ifma/back.rs", "NARROW_DIGITS", r"let count = if q < NARROW \{ (\d+) \} else \{ \d+ \};", 1),
        ("rns/src/convert/ifma/back.rs", "WIDE_DIGITS", r"let count = if q < NARROW \{ \d+ \} else \{ (\d+) \};", 1),
    ],
    "avx2_residue_bounds": [
        ("rns/src/convert/avx2.rs", "WEIGHT", r"\(0\.\.RADIX \* limb \+ (\d+)\)\.fold\(1 % q,", 1),
        (
            "rns/src/convert/avx2.rs",
            "SCALE",
            r"let scale = \(\(u128::from\(inverse\) << (\d+)\) % u128::from\(q\)\)",
            1,
        ),
        ("rns/src/convert/avx2.rs", "PART", r"let part = \(\(1_u64 << \((\d+) \+ bits\)\) - 1\) / q;", 1),
        ("rns/src/convert/avx2.rs", "TWICE", r"\(bits\.div_ceil\(RADIX\), \(bits \+ (\d+)\)\.div_ceil\(RADIX\)\)", 1),
    ],
    "transform_bits": [
        (
            "ntt/src/primes.rs",
            "NTT_BITS",
            r"const fn prime\(c: u64\) -> u64 \{\n +\(1 << (\d+)\) - \(c << LOG_ORDER\) \+ 1",
            1,
        ),
        ("bfv/src/prime.rs", "BFV_BITS", r"const PRIME_BITS: u32 = (\d+);", 1),
        (
            "ntt/src/primes.rs",
            "EXPONENT (LOG_ORDER level : Z)",
            r"let step = Constant::of\(\|i\| pow\(root\(i\), 1 << \((LOG_ORDER - \d - level)\), i\)\);",
            1,
        ),
    ],
    "bfv_noise": [
        ("bfv/src/noise.rs", "MAX_ERROR", r"const MAX_ERROR: u64 = (\d+);", 1),
        ("bfv/src/noise.rs", "ROUNDED", r"const FRESH_PRIVATE: u128 = MAX_ERROR as u128 \+ (\d+);", 1),
        ("bfv/src/noise.rs", "PUBLIC_MORE", r"square\.isqrt\(\) \+ (\d+)\n", 1),
        ("bfv/src/noise.rs", "LESS", r"\(1_u128 << half\) - \(1 << \(half - (\d+)\)\)", 1),
        ("bfv/src/random.rs", "HALVES", r"const BITS: u64 = \(1 << \((\d) \* MAX_ERROR\)\) - 1;", 1),
    ],
    "lagrange_factors": [
        (
            "threshold/src/lagrange.rs",
            "UNDER (j i : Z)",
            r"let under: i128 = others\(i\)\.map\(\|j\| i128::from\((\w)\)( - )i128::from\((\w)\)\)\.product\(\);",
            1,
        ),
    ],
    "ifma_starts": [
        (
            "arith/src/backend/ifma/blocks.rs",
            "FIRST (MASK : Z)",
            r"fn start_high\(.*?start\[0\] = Octet\(\[(.*?); 8\]\);",
            1,
        ),
        (
            "arith/src/backend/ifma/blocks.rs",
            "OTHERS (MASK : Z)",
            r"fn start_high\(.*?let mut start = vec!\[Octet\(\[(.*?); 8\]\); m\.len\(\)\];",
            1,
        ),
    ],
    "across_shapes": [
        (ACROSS, "DOWN", r"fn down<.*?x\[v\] = _mm512_alignr_epi64::<(\d)>\(above, x\[v\]\);", 1),
        (ACROSS, "UP", r"fn up<.*?x\[v\] = _mm512_alignr_epi64::<(\d)>\(x\[v\], below\);", 1),
        (ACROSS, "FROM", r"number\.iter\(\)\.copied\(\)\.zip\(number\[(\d)\.\.\]\.iter\(\)", 1),
        (ACROSS, "LAST", r"\.iter\(\)\.copied\(\)\.chain\(\[(\d)\]\)\)", 1),
        (ACROSS, "HIGHER", r"self\.0\.overflowing_add\(over\.0 << (\d)\);", 1),
        (ACROSS, "MOST_REGISTERS", r"=> \$call, (?:\d+ )+(\d+)\)", 1),
        ("arith/src/backend/ifma.rs", "LESS", r"pub const MASK: u64 = \(1 << RADIX\) - (\d);", 1),
        ("arith/src/backend/ifma.rs", "CHUNK", r"fn chunk_bits\(.*?RADIX \* k as u32 - (\d)\n", 1),
    ],
    "sums_bounds": [
        (
            SUMS,
            "most (taps : Z)",
            r"length, most\) = \(shape\.history\(\) \+ shape\.columns, (\d+ / )shape\.(taps)\);",
            1,
        ),
        (SUMS, "held (since rows : Z)", r"if (since \+ rows) > most \{\n +self\.carry\(\);\n +since = 0;", 1),
        (SUMS, "SINCE", r"if since \+ rows > most \{\n +self\.carry\(\);\n +since = (\d);", 1),
        (SUMS, "UPPER", r"\(u128::from\(sums\[BLOCK \+ column\]\.0\[s\]\) << (\d+)\);", 1),
        (
            "dghv/src/sums/blocks.rs",
            "held_terms (since to from : Z)",
            r"if (since \+ to - from) > transform::TERMS \{\n +self\.normalise\(\);",
            1,
        ),
        ("dghv/src/sums/blocks.rs", "LEFT", r"self\.normalise\(\);\n +// [^\n]*\n +since = (\d);", 1),
        ("dghv/src/sums/blocks.rs", "ELEMENTS", r"const GROUP: usize = (\d+);", 1),
        ("dghv/src/sums/blocks.rs", "GROUPS", r"const GROUPS: usize = (\d+);", 1),
        ("dghv/src/sums/blocks/transform.rs", "MOST_TERMS", r"const MOST_TERMS: usize = 1 << (\d+);", 1),
        ("dghv/src/sums/blocks/transform.rs", "KEPT", r"fn normalise\(.*?splat\(\(1 << (\d+)\) - 1\);", 1),
    ],
    "barrett_digits": [("arith/src/barrett.rs", "HIGHEST", r"highest > (\d+) &&", 1)],
    "single_bits": [
        ("arith/src/single.rs", "HIGHEST", r"constants\.bits as usize > 64 \* \(d - 1\) \+ (\d+)\n", 1),
    ],
}
# Names in Coq's library.
RESERVED = {"left", "right", "fst", "snd"}
# Calls that only concern the compiler.
TRANSPARENT = {"black_box", "Zeroizing::new"}
TOKEN = re.compile(
    r"\s*(?:(?P<number>0x[0-9a-f_]+|\d[\d_]*)(?:u64|u128|i128|u32|usize)?|(?P<name>[A-Za-z_]\w*)|"
    r"(?P<op>\.\.=|<<=|>>=|::|\.\.|->|=>|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|[-+*/%&|^!<>=.,;:(){}\[\]#']))"
)
# Binding strengths of Rust's binary operators.
STRENGTH = {"*": 9, "/": 9, "%": 9, "+": 8, "-": 8, "<<": 7, ">>": 7, "&": 6, "^": 5, "|": 4}
STRENGTH |= dict.fromkeys(("==", "<", ">", "<=", ">="), 3)
# Suffixes of Coq's operations on words: those on u64 are add64, sub64 and so on.
SUFFIX = {"u32": "32", "u64": "64", "u128": "128", "i128": "i128"}


class Unknown(Exception):
    """Rust code that the translation does not know."""


def rewritten(text, replaced):
    """Replaces each pattern in a text; each must match."""
    for pattern, new in replaced:
        if not re.search(pattern, text, re.DOTALL):
            raise Unknown(f"{pattern!r} is not there")
        text = re.sub(pattern, new, text, flags=re.DOTALL)
    return text


def tokens(text):
    """Returns the tokens of a text without comments."""
    text = re.sub(r"//[^\n]*", "", text)
    found, at = [], 0
    while text[at:].strip():
        match = TOKEN.match(text, at)
        if not match:
            raise Unknown(f"token at {text[at : at + 30]!r}")
        found.append(match.group(match.lastgroup))
        at = match.end()
    return found


def function_text(source, name):
    """Returns the parameters, result type and body of a function, as text."""
    match = re.search(rf"\bfn {name}(?:<[^>]*>)?\(", source)
    if not match:
        raise Unknown(f"there is no function {name}")
    brace = source.index("{", match.end())
    head, depth, end = source[match.end() : brace], 0, brace
    while True:
        depth += {"{": 1, "}": -1}.get(source[end], 0)
        end += 1
        if depth == 0:
            break
    depth, close = 1, 0
    while depth:
        depth += {"(": 1, ")": -1}.get(head[close], 0)
        close += 1
    return head[: close - 1], head[close:].replace("->", "").strip(), source[brace + 1 : end - 1]


class Parser:
    """Parses statements and expressions into nested tuples."""

    def __init__(self, text):
        """Starts at the first token."""
        self.tokens, self.at = tokens(text), 0

    def peek(self, ahead=0):
        """Returns an upcoming token, or nothing."""
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else None

    def take(self, *expected):
        """Consumes the next token, which must be one of those expected."""
        token = self.peek()
        if token is None or (expected and token not in expected):
            raise Unknown(
                f"{token!r} where {expected} was expected, after {self.tokens[max(0, self.at - 8) : self.at]}"
            )
        self.at += 1
        return token

    def found(self, token):
        """Consumes the token if it is next."""
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def block(self):
        """Parses statements up to a closing brace or the end, and the final expression."""
        statements = []
        while self.peek() not in (None, "}"):
            if self.found("let"):
                pattern, value = self.pattern(), None
                if self.found("="):
                    value = self.expression()
                self.take(";")
                statements.append(("let", pattern, value))
            elif self.found("for"):
                pattern = self.pattern()
                self.take("in")
                value = self.expression()
                value = ("range", value, self.expression()) if self.found("..") else value
                statements.append(("for", pattern, value, self.braces()))
            elif self.found("while"):
                condition = self.expression()
                statements.append(("while", condition, self.braces()))
            elif self.found("if"):
                value = self.conditional()
                if value[0] == "ifelse" and self.peek() in (None, "}"):
                    return statements, value
                statements.append(value)
            elif self.found("return"):
                statements.append(("return", self.expression()))
                self.take(";")
            elif self.peek() == "debug_assert_eq":
                while self.take() != ";":
                    pass
            else:
                value = self.expression()
                if self.peek() in (None, "}"):
                    return statements, value
                operator = self.take(";", "=", "+=", "<<=", ">>=")
                if operator == ";":
                    statements.append(("call", value))
                    continue
                new = self.expression()
                new = ("binary", operator[:-1], value, new) if operator != "=" else new
                statements.append(("assign", value, new))
                self.take(";")
        return statements, None

    def conditional(self):
        """Parses what follows `if`: a statement, two values, or an early return."""
        condition = self.expression()
        self.take("{")
        statements, value = self.block()
        self.take("}")
        if self.found("else"):
            self.take("{")
            others, other = self.block()
            self.take("}")
            if statements or others or value is None or other is None:
                raise Unknown("an alternative with statements")
            return ("ifelse", condition, value, other)
        if value is not None:
            raise Unknown("a block with a value")
        if statements and statements[0][0] == "return":
            return ("return_if", condition, statements[0][1])
        return ("if", condition, statements)

    def braces(self):
        """Parses a block in braces without a value."""
        self.take("{")
        statements, value = self.block()
        self.take("}")
        if value is not None:
            raise Unknown("a block with a value")
        return statements

    def pattern(self):
        """Parses a name, or a tuple of patterns."""
        if self.found("("):
            parts = [self.pattern()]
            while self.found(","):
                parts.append(self.pattern())
            self.take(")")
            return ("tuple", parts)
        while self.peek() in ("&", "mut"):
            self.at += 1
        return ("name", self.take())

    def expression(self, least=0):
        """Parses binary operators with a minimum binding strength, left-associative."""
        left = self.unary()
        while True:
            operator = self.peek()
            if operator == "as":
                self.at += 1
                left = ("as", left, self.take())
            elif STRENGTH.get(operator, -1) > least:
                self.at += 1
                left = ("binary", operator, left, self.expression(STRENGTH[operator]))
            else:
                return left

    def unary(self):
        """Parses references and dereferences, which the translation ignores."""
        if self.found("&"):
            self.found("mut")
            return self.unary()
        if self.found("*"):
            return self.unary()
        if self.found("!"):
            return ("not", self.unary())
        return self.postfix()

    def postfix(self):
        """Parses calls, methods, fields, indexes and slices."""
        value = self.primary()
        while True:
            if self.found("."):
                name = self.take()
                value = ("method", value, name, self.arguments()) if self.peek() == "(" else ("field", value, name)
            elif self.found("["):
                value = self.index(value)
            elif self.peek() == "as":
                self.at += 1
                value = ("as", value, self.take())
            else:
                return value

    def index(self, value):
        """Parses the content of brackets: an index, or the ends of a slice."""
        start = None if self.peek() in ("..", "..=") else self.expression()
        if self.found("..="):
            end = ("binary", "+", self.expression(), ("number", 1))
            self.take("]")
            return ("slice", value, start, end)
        if not self.found(".."):
            self.take("]")
            return ("index", value, start)
        end = None if self.peek() == "]" else self.expression()
        self.take("]")
        return ("slice", value, start, end)

    def arguments(self):
        """Parses arguments in parentheses; an argument may be a closure."""
        self.take("(")
        found = []
        while not self.found(")"):
            found.append(self.closure() if self.found("|") else self.expression())
            self.found(",")
        return found

    def closure(self):
        """Parses a closure with two arguments."""
        first = self.pattern()
        self.take(",")
        second = self.pattern()
        self.take("|")
        return ("closure", first, second, self.expression())

    def primary(self):
        """Parses numbers, names, calls, tuples and arrays."""
        token = self.take()
        if token[0].isdigit():
            return ("number", int(token.replace("_", ""), 0))
        if token == "(":
            parts = [self.expression()]
            if self.found(".."):
                parts = [("range", parts[0], self.expression())]
            while self.found(","):
                parts.append(self.expression())
            self.take(")")
            return parts[0] if len(parts) == 1 else ("tuple", parts)
        if token == "[":
            parts = [self.expression()]
            while self.found(","):
                parts.append(self.expression())
            self.take("]")
            return ("array", parts)
        if token == "|":
            name = self.take()
            self.take(":")
            kind = self.take()
            self.take("|")
            return ("function", name, kind, self.expression())
        if token == "if":
            return self.conditional()
        if re.match(r"[A-Z][a-z]", token) and self.found("{"):
            fields = []
            while not self.found("}"):
                name = self.take()
                fields.append(self.expression() if self.found(":") else ("name", name))
                self.found(",")
            return ("tuple", fields)
        if not re.match(r"[A-Za-z_]", token):
            raise Unknown(f"{token!r} begins an expression")
        while self.found("::"):
            token = f"{token}::{self.take()}"
        return ("path", token, self.arguments()) if self.peek() == "(" else ("name", token)


def split_parameters(text):
    """Splits parameters into (name, type) pairs."""
    found, depth, part = [], 0, ""
    for character in text + ",":
        depth += {"(": 1, "[": 1, "<": 1, ")": -1, "]": -1, ">": -1}.get(character, 0)
        if character == "," and depth == 0:
            if part.strip():
                name, kind = part.split(":", 1)
                found.append((name.replace("mut ", "").strip(), kind.strip()))
            part = ""
        else:
            part += character
    return found


def kind_of(rust):
    """Returns the kind of a Rust type: a word, an index, numbers, or a pair of words."""
    kinds = {
        "u32": "u32",
        "u64": "u64",
        "u128": "u128",
        "usize": "usize",
        "[u64]": "list",
        "(u64, u64)": ("u64", "u64"),
        "(u64, u32)": ("u64", "u32"),
        "Self": "self",
    }
    plain = re.sub(r"&(?:'\w+ )?(?:mut )?|Zeroizing<(\w+)>", r"\1", rust).strip()
    if plain not in kinds:
        raise Unknown(f"type {rust}")
    return kinds[plain]


COQ = {
    "u32": "Z",
    "u64": "Z",
    "u128": "Z",
    "i128": "Z",
    "usize": "nat",
    "list": "list Z",
    ("u64", "u64"): "(Z * Z)",
    ("u64", "u32"): "(Z * Z)",
}


def fields_of(source, function):
    """Returns names and kinds of the fields that a method may use; it must not use fields of other
    kinds.
    """
    before = source[: re.search(rf"\bfn {function}\b", source).start()]
    struct = re.findall(r"^impl(?:<'\w+>)? (\w+)", before, re.MULTILINE)[-1]
    text = re.search(rf"struct {struct}(?:<'a>)? \{{(.*?)\n\}}", source, re.DOTALL).group(1)
    found = []
    for name, rust in re.findall(r"^ *(\w+): (.+),$", text, re.MULTILINE):
        with contextlib.suppress(Unknown):
            found.append((name, kind_of(rust)))
    return found


def parameters_of(text, source, name):
    """Returns names, kinds and mutability of parameters; the constants of the modulus and the
    fields of `self` become separate arguments.
    """
    found = []
    if text.startswith("&self,"):
        found += [(f"self_{field}", kind, False) for field, kind in fields_of(source, name)]
        text = text.removeprefix("&self,")
    for name, rust in split_parameters(text):
        if rust.startswith("&Lanes"):
            found += [(f"{name}_k", "usize", False), (f"{name}_m", "list", False)]
        else:
            found.append((name, kind_of(rust), rust.startswith("&mut")))
    return found


def tuple_of(parts):
    """Returns a tuple in Coq."""
    return parts[0] if len(parts) == 1 else "(" + ", ".join(parts) + ")"


def binder(parts):
    """Returns the pattern that binds a tuple in a `let`."""
    return parts[0] if len(parts) == 1 else "'(" + ", ".join(parts) + ")"


class Translator:
    """Translates one function."""

    def __init__(self, name, source, known):
        """Parses the function."""
        parameters, result, body = function_text(source, name)
        self.name, self.known, self.loops, self.fresh = name, known, [], 0
        self.source, self.functions = source, {}
        self.parameters = parameters_of(parameters, source, name)
        self.result = kind_of(result) if result else None
        self.kinds = {p: kind for p, kind, _ in self.parameters}
        self.names = {p: p for p in self.kinds}
        self.views, self.lines, self.chunks = {}, [], {}
        self.body = Parser(body).block()

    # Output.

    def text(self):
        """Returns the Coq definitions, loops first."""
        statements, value = self.body
        self.statements(statements)
        outputs = []
        if value is not None:
            coq, kind = self.value(value)
            if self.result is not None:
                outputs.append(self.word(coq, kind))
        self.flush()
        outputs += [p for p, _, mutable in self.parameters if mutable]
        arguments = " ".join(f"({p} : {COQ[kind]})" for p, kind, _ in self.parameters)
        body = "\n".join(f"  {line}" for line in [*self.lines, f"{tuple_of(outputs)}."])
        return "\n".join([*self.loops, f"Definition {self.name} {arguments} :=\n{body}\n"])

    def word(self, coq, kind):
        """Treats a number of unspecified kind as a word."""
        return coq if kind != "literal" else f"{coq}%Z"

    def let(self, targets, coq):
        """Binds the result of an expression."""
        self.lines.append(f"let {binder(targets)} := {coq} in")

    def new(self, name, kind):
        """Makes a new variable, with another Coq name if the name is in use."""
        if name == "_":
            return name
        coq = f"{name}_" if name in RESERVED else name
        while coq in self.kinds:
            self.fresh += 1
            coq = f"{name}_{self.fresh}"
        self.names[name], self.kinds[coq] = coq, kind
        return coq

    # Views: named parts of a slice. They are spliced back when the whole is used again.

    def flush(self, of=None):
        """Splices the views of a variable, or all views, back into it."""
        for view in list(reversed(self.views)):
            if view not in self.views:
                continue
            parent, offset = self.views[view]
            if of is None or parent == of:
                self.flush(view)
                del self.views[view]
                self.let([parent], f"splice {parent} {offset} {view}")

    def variable(self, name):
        """Returns the up-to-date Coq variable of a name."""
        if name not in self.names:
            raise Unknown(f"variable {name}")
        coq = self.names[name]
        self.flush(coq)
        return coq

    # Statements.

    def statements(self, statements):
        """Translates each statement."""
        for statement in statements:
            getattr(self, f"do_{statement[0]}")(*statement[1:])

    def do_let(self, pattern, value):
        """Translates a declaration of a view or of values."""
        if value is None:
            self.new(pattern[1], "u64")
        elif value[0] == "function":
            self.functions[pattern[1]] = value[1:]
        elif value[0] == "method" and value[2] in ("split_at_mut", "split_at"):
            self.split(pattern[1], value)
        elif pattern[0] == "tuple" and value[0] == "tuple":
            for part, part_value in zip(pattern[1], value[1], strict=True):
                self.do_let(part, part_value)
        elif pattern[0] == "tuple":
            coq, kind = self.value(value)
            self.let([self.new(part[1], of) for part, of in zip(pattern[1], kind, strict=True)], coq)
        elif value[0] == "slice":
            parent, start, coq = self.part(value)
            view = self.new(pattern[1], "list")
            self.let([view], coq)
            if self.mutable(parent):
                self.views[view] = (parent, start)
        else:
            coq, kind = self.value(value)
            if kind == "literal":
                kind = "usize" if pattern[1] in ("i", "k") else "u64"
                coq = f"{coq}%{'nat' if kind == 'usize' else 'Z'}"
            self.let([self.new(pattern[1], kind)], coq)

    def mutable(self, coq):
        """Whether a slice may be changed through its name."""
        return coq in self.views or any(p == coq and mutable for p, _, mutable in self.parameters)

    def split(self, parts, value):
        """Makes two views of a slice."""
        of, at = value[1], self.value(value[3][0])[0]
        of = of if of[0] == "slice" else ("slice", of, None, None)
        parent, start, coq = self.part(of)
        first, second = (self.new(part[1], "list") for part in parts)
        self.let([first], f"firstn {at} ({coq})")
        self.let([second], f"skipn {at} ({coq})")
        if self.mutable(parent):
            self.views[first], self.views[second] = (parent, start), (parent, f"({start} + {at})%nat")

    def part(self, value):
        """Returns the variable that a slice belongs to, the slice's start, and the slice."""
        _, of, start, end = value
        if of[0] == "slice" and of[2] is None:
            parent, _, coq = self.part(of)
        else:
            coq, kind = self.value(of)
            parent = coq
            if kind != "list":
                raise Unknown("a slice of a word")
        begin = self.value(start)[0] if start else "0%nat"
        coq = f"skipn {begin} {wrap(coq)}" if start else coq
        if end:
            length = self.value(end)[0]
            coq = f"firstn ({length} - {begin}) ({coq})" if start else f"firstn {length} {wrap(coq)}"
        return parent, begin, coq

    def do_assign(self, target, value):
        """Translates an assignment to variables and limbs."""
        coq, _ = self.value(value)
        targets = target[1] if target[0] == "tuple" else [target]
        names, stores = [], []
        for part in targets:
            if part[0] == "name":
                name = part[1]
                names.append("_" if name == "_" else self.names[name])
            elif part[0] == "index":
                self.fresh += 1
                names.append(f"limb_{self.fresh}")
                stores.append((part, names[-1]))
            else:
                raise Unknown(f"assignment to {part[0]}")
        if len(targets) == 1 and coq.isdigit():
            coq = f"{coq}%{'nat' if self.kinds.get(names[0]) == 'usize' else 'Z'}"
        self.let(names, coq)
        for part, name in stores:
            self.store(part, f"[{name}]")

    def store(self, target, coq):
        """Stores new limbs in a place."""
        if target[0] == "name":
            self.let([self.names[target[1]]], coq)
        elif target[0] == "index":
            parent = self.value(target[1])[0]
            self.let([parent], f"splice {parent} {wrap(self.value(target[2])[0])} {coq}")
        else:
            parent, start, _ = self.part(target)
            self.let([parent], f"splice {parent} {wrap(start)} {wrap(coq)}")

    def do_call(self, value):
        """Translates a call with side effects."""
        if value[0] == "method" and value[2] == "fill":
            old = self.value(value[1])[0]
            self.store(value[1], f"(repeat {self.value(value[3][0])[0]}%Z (length {wrap(old)}))")
        elif value[0] == "method" and value[2] == "copy_from_slice":
            self.store(value[1], self.value(value[3][0])[0])
        elif value[0] == "path":
            self.value(value)
        else:
            raise Unknown(f"statement {value[:3]}")

    def assigned(self, statements, found=None):
        """Returns the names that statements change, in order."""
        found = [] if found is None else found
        declared = set()

        def note(target):
            while target[0] in ("index", "slice", "method"):
                target = target[1]
            if target[0] == "name" and target[1] not in declared and target[1] not in found and target[1] != "_":
                found.append(target[1])

        def calls(value):
            if not isinstance(value, tuple | list):
                return
            if isinstance(value, tuple) and value and value[0] == "path" and value[1] in self.known:
                for (_, _, mutable), argument in zip(self.known[value[1]][0], value[2], strict=True):
                    if mutable:
                        note(argument)
            for part in value:
                calls(part)

        for statement in statements:
            if statement[0] == "let":
                calls(statement[2])
                names = statement[1][1] if statement[1][0] == "tuple" else [statement[1]]
                declared.update(part[1] for part in names)
            elif statement[0] == "assign":
                calls(statement[2])
                for part in statement[1][1] if statement[1][0] == "tuple" else [statement[1]]:
                    note(part)
            elif statement[0] == "call":
                calls(statement[1])
                if statement[1][0] == "method":
                    note(statement[1][1])
            elif statement[0] == "for":
                for name in self.assigned(statement[3]):
                    note(("name", name))
            else:
                raise Unknown(f"{statement[0]} within a loop")
        return found

    def branch(self, statements, outputs):
        """Translates statements into an expression that returns what they change."""
        lines, names, views = self.lines, dict(self.names), dict(self.views)
        self.lines = []
        self.statements(statements)
        for view in [view for view in self.views if view not in views]:
            self.flush(self.views[view][0])
        inner = " ".join([*self.lines, tuple_of(outputs)])
        self.lines, self.names, self.views = lines, names, views
        return inner

    def do_if(self, condition, statements):
        """Translates an `if` without an alternative."""
        outputs = [self.variable(name) for name in self.assigned(statements)]
        test = self.value(condition)[0]
        self.let(outputs, f"if {test} then {self.branch(statements, outputs)} else {tuple_of(outputs)}")

    def do_return_if(self, condition, value):
        """Translates a conditional return; all code that follows becomes the alternative."""
        test, names, lines, self.lines = self.value(condition)[0], dict(self.names), self.lines, []
        coq, kind = self.value(value)
        outputs = [self.word(coq, kind), *(p for p, _, mutable in self.parameters if mutable)]
        inner = " ".join([*self.lines, tuple_of(outputs)])
        self.names, self.lines = names, [*lines, f"if {test} then {inner} else"]

    def do_while(self, condition, statements):
        """Translates a loop into a function with fuel: each pass consumes at least one limb."""
        outputs = [self.variable(name) for name in self.assigned(statements)]
        before = set(self.kinds)
        test = self.value(condition)[0]
        body = self.branch(statements, outputs)
        frees = [n for n in before if n not in outputs and re.search(rf"\b{n}\b", f"{body} {test}")]
        frees.sort()
        loop = f"{self.name}_loop{len(self.loops) + 1}"
        again = " ".join([loop, *frees, "fuel", *outputs])
        cut = body.rindex(" in ") + 4
        self.loops.append(
            f"Fixpoint {loop} {' '.join(f'({n} : {COQ[self.kinds[n]]})' for n in frees)} (fuel : nat) "
            f"{' '.join(f'({n} : {COQ[self.kinds[n]]})' for n in outputs)} :=\n  match fuel with\n"
            f"  | O => {tuple_of(outputs)}\n  | S fuel => if {test}\n    then {body[:cut]}\n      {again}\n"
            f"    else {tuple_of(outputs)}\n  end.\n"
        )
        self.let(outputs, " ".join([loop, *frees, "k", *outputs]))

    def do_for(self, pattern, value, statements):
        """Translates a loop into a recursion over parallel slices, or over the indexes of a range
        in descending order.
        """
        if value[0] == "method" and value[2] == "rev" and value[1][0] == "range":
            value = value[1]
        elif value[0] == "range" and pattern[1] != "_":
            raise Unknown("an index that grows")
        if value[0] == "range":
            self.downwards(pattern[1], *value[1:], statements)
            return
        if value[0] == "method" and value[2] in ("enumerate", "skip"):
            pattern, value, statements = self.counted(pattern, value, statements)
        self.side_by_side(pattern, value, self.assigned(statements), lambda outputs: self.branch(statements, outputs))

    def counted(self, pattern, value, statements):
        """Declares the index of a loop over enumerated limbs, and returns the loop that counts
        it.
        """
        first = ("number", 0)
        if value[2] == "skip":
            _, value, _, (first,) = value
        _, value, name, _ = value
        if name != "enumerate" or value[2] != "iter":
            raise Unknown(f"a loop over {name}")
        index, limb = pattern[1]
        self.let([self.new(index[1], "usize")], f"{self.value(first)[0]}%nat")
        more = ("assign", index, ("binary", "+", index, ("number", 1)))
        return limb, ("slice", value[1], first, None), [*statements, more]

    def downwards(self, name, start, end, statements):
        """Translates the loop over the indexes of a range, the highest first."""
        outputs = [self.variable(changed) for changed in self.assigned(statements)]
        (first, _), (last, kind) = (self.value(part) for part in (start, end))
        first, last, is_word = wrap(first), wrap(last), kind == "u32"
        names, before = dict(self.names), set(self.kinds)
        index = self.new(name, "u32" if is_word else "usize")
        place = f"{first} + Z.of_nat count" if is_word else f"({first} + count)%nat"
        body = self.branch(statements, outputs)
        self.names = names
        frees = sorted(n for n in before if n not in outputs and re.search(rf"\b{n}\b", f"{body} {first}"))
        loop = f"{self.name}_loop{len(self.loops) + 1}"
        cut = body.rindex(" in ") + 4
        self.loops.append(
            f"Fixpoint {loop} {' '.join(f'({n} : {COQ[self.kinds[n]]})' for n in frees)} (count : nat) "
            f"{' '.join(f'({n} : {COQ[self.kinds[n]]})' for n in outputs)} :=\n  match count with\n"
            f"  | O => {tuple_of(outputs)}\n  | S count => let {index} := {place} in {body[:cut]}\n"
            f"      {' '.join([loop, *frees, 'count', *outputs])}\n  end.\n"
        )
        count = f"(Z.to_nat ({last} - {first}))" if is_word else f"({last} - {first})"
        self.let(outputs, " ".join([loop, *frees, count, *outputs]))

    def side_by_side(self, pattern, value, changed, body_of):
        """Translates the loop over the limbs of parallel slices; the first slice may be changed."""
        sources, items = self.sources(pattern, value)
        lists = [self.value(source)[0] for source in sources]
        item_names, names, before = [], dict(self.names), set(self.kinds)
        mutable = items[0] in changed
        states = [self.variable(name) for name in changed if name not in items]
        for item in items:
            item_names.append(self.new(item, "list" if item in self.chunks else "u64"))
        body = body_of([*([item_names[0]] if mutable else []), *states])
        self.names = names
        frees = sorted(n for n in before if n not in states and re.search(rf"\b{n}\b", body))
        loop = f"{self.name}_loop{len(self.loops) + 1}"
        tails = [f"{item}s" for item in item_names]
        typed = " ".join([f"({n} : {COQ[self.kinds[n]]})" for n in frees] + [f"({t} : list Z)" for t in tails])
        typed = " ".join([typed, *(f"({n} : {COQ[self.kinds[n]]})" for n in states)])
        again = " ".join([loop, *frees, *tails, *states])
        # Each limb of a chunk has its own name.
        lengths = [self.chunks.pop(item, 0) for item in items]
        parts = {name: [f"{name}_{n}" for n in range(length)] for name, length in zip(item_names, lengths, strict=True)}
        heads = ", ".join(
            " :: ".join([*(parts[name] or [name]), tail]) for name, tail in zip(item_names, tails, strict=True)
        )
        body = " ".join([*(f"let {name} := [{'; '.join(part)}] in" for name, part in parts.items() if part), body])
        joined = f"{item_names[0]} ++ rest" if parts[item_names[0]] else f"{item_names[0]} :: rest"
        cut = body.rindex(f"{tuple_of([*([item_names[0]] if mutable else []), *states])}")
        if mutable:
            step = f"let '({', '.join(['rest', *states])}) := {again} in ({', '.join([joined, *states])})"
            step = step if states else joined.replace("rest", again)
            end = f"({', '.join([tails[0], *states])})" if states else tails[0]
        else:
            step, end = again, tuple_of(states)
        self.loops.append(
            f"Fixpoint {loop} {typed} {{struct {tails[0]}}} :=\n  match {', '.join(tails)} with\n"
            f"  | {heads} => {body[:cut]}\n    {step}\n"
            f"  | {', '.join('_' for _ in tails)} => {end}\n  end.\n"
        )
        call = " ".join([loop, *frees, *(wrap(coq) for coq in lists), *states])
        if not mutable:
            self.let(states, call)
        elif sources[0][0] == "name":
            self.let([lists[0], *states], call)
        else:
            self.fresh += 1
            self.let([f"part_{self.fresh}", *states], call)
            self.store(sources[0], f"part_{self.fresh}")

    def sources(self, pattern, value):
        """Returns the slices that a loop iterates over, and the names of their limbs."""
        if value[0] == "method" and value[2] == "zip":
            if pattern[0] != "tuple":
                raise Unknown("a name for limbs side by side")
            other = value[3][0]
            if other[0] == "method" and other[2] == "chain" and other[3][0][:2] == ("path", "std::iter::repeat"):
                # Padded to the length of the first slice.
                first = self.sources(pattern[1][0], value[1])
                return [*first[0], ("padded", other[1], other[3][0][2][0], first[0][0])], [*first[1], pattern[1][1][1]]
            first, second = self.sources(pattern[1][0], value[1]), self.sources(pattern[1][1], value[3][0])
            return first[0] + second[0], first[1] + second[1]
        if value[0] == "method" and value[2] in ("iter", "iter_mut") and not value[3]:
            value = value[1]
        if value[0] == "method" and value[2] in ("chunks_exact_mut", "chunks_exact"):
            self.chunks[pattern[1]] = value[3][0][1]
            value = value[1]
        if pattern[0] != "name" or value[0] not in ("name", "slice", "field"):
            raise Unknown("a loop over something else than slices")
        return [value], [pattern[1]]

    # Expressions return Coq text and kind.

    def value(self, value):
        """Translates an expression."""
        return getattr(self, f"value_{value[0]}")(*value[1:])

    def value_number(self, number):
        """Translates a literal, whose kind depends on its context."""
        return str(number), "literal"

    def value_name(self, name):
        """Translates a variable or a constant of the file."""
        if name == "u64::MAX":
            return "(2 ^ 64 - 1)", "u64"
        if name.isupper():
            return str(constant(self.source, name)), "literal"
        coq = self.variable(name)
        return coq, self.kinds[coq]

    def value_padded(self, of, fill, like):
        """Translates limbs followed by padding."""
        coq, more, first = (self.value(part)[0] for part in (of, fill, like))
        return f"({wrap(coq)} ++ repeat {more} (length {wrap(first)}))", "list"

    def value_array(self, parts):
        """Translates an array of limbs."""
        return "[" + "; ".join(self.value(part)[0] for part in parts) + "]", "list"

    def value_tuple(self, parts):
        """Translates a pair."""
        found = [self.value(part) for part in parts]
        return tuple_of([self.word(*part) for part in found]), tuple("u64" if k == "literal" else k for _, k in found)

    def value_not(self, value):
        """Inverts all bits of a word, or negates a condition."""
        coq, kind = self.value(value)
        return (f"(negb {coq})", "bool") if kind == "bool" else (f"(not64 {coq})", "u64")

    def value_as(self, value, rust):
        """Translates a conversion, which discards higher bits; bit widths and indexes keep their
        values.
        """
        coq, kind = self.value(value)
        names = {("u128", "u64"): "low64", ("i128", "u64"): "low64", ("u32", "usize"): "Z.to_nat"}
        if (kind, rust) not in names:
            raise Unknown(f"{kind} as {rust}")
        return f"({names[kind, rust]} {coq})", rust

    def value_ifelse(self, condition, value, other):
        """Translates a choice between two values."""
        test, (first, kind), (second, other_kind) = self.value(condition)[0], self.value(value), self.value(other)
        return f"(if {test} then {first} else {second})", kind if kind != "literal" else other_kind

    def value_binary(self, operator, left, right):
        """Translates an operator on words or indexes."""
        (a, first), (b, second) = self.value(left), self.value(right)
        kind = second if first == "literal" else first
        if operator in ("<<", ">>"):
            if first not in ("u64", "u128", "i128", "literal"):
                raise Unknown(f"a shift of {first}")
            first = "u64" if first == "literal" else first
            b = f"(Z.of_nat {b})" if second == "usize" else b
            return (f"(shr {a} {b})", first) if operator == ">>" else (f"(shl{SUFFIX[first]} {a} {b})", first)
        if second != "literal" and first != "literal" and first != second:
            raise Unknown(f"{first} {operator} {second}")
        if kind in ("usize", "literal"):
            if operator in ("<", "=="):
                return f"Nat.{'ltb' if operator == '<' else 'eqb'} {a} {b}", "bool"
            if operator not in "+-*/%":
                raise Unknown(f"index {operator}")
            return f"({a} {operator.replace('%', 'mod')} {b})%nat", kind
        if operator in ("<", "=="):
            return f"Z.{'ltb' if operator == '<' else 'eqb'} {a} {b}", "bool"
        names = {"+": "add", "-": "sub", "*": "mul", "&": "Z.land", "|": "Z.lor", "^": "Z.lxor"}
        if operator not in names:
            raise Unknown(f"word {operator}")
        name = names[operator] if operator in "&|^" else f"{names[operator]}{SUFFIX[kind]}"
        return f"({name} {a} {b})", kind

    def value_field(self, value, name):
        """Translates a part of a pair, a constant of the modulus, or a field."""
        if value == ("name", "self"):
            return self.value_name(f"self_{name}")
        if value == ("name", "m") and name in ("k", "m") and f"m_{name}" in self.kinds:
            return f"m_{name}", self.kinds[f"m_{name}"]
        coq, kind = self.value(value)
        return f"({('fst', 'snd')[int(name)]} {coq})", kind[int(name)]

    def value_index(self, of, index):
        """Translates access to a limb."""
        coq, at = self.value(of)[0], self.value(index)[0]
        at = f"{at}%nat" if at.isdigit() else at
        return f"(nth {at} {wrap(coq)} 0)", "u64"

    def value_slice(self, of, start, end):
        """Translates a slice of limbs."""
        return self.part(("slice", of, start, end))[2], "list"

    def value_method(self, value, name, arguments):
        """Translates methods of Rust's own types."""
        if name == "unwrap_or" and value[2] == "copied" and value[1][2] == "get":
            _, of, _, (index,) = value[1]
            return f"(nth {wrap(self.value(index)[0])} {wrap(self.value(of)[0])} {self.value(arguments[0])[0]})", "u64"
        if name == "fold" and value[0] == "method" and value[2] == "rev":
            first, second, body = arguments[1][1:]
            self.do_let(first, arguments[0])
            self.do_for(second, value, [("assign", first, body)])
            return self.value(first)
        if name == "fold":
            first, second, body = arguments[1][1:]
            state = self.new(first[1], "u64")
            start = self.value(arguments[0])[0]
            self.let([state], f"{start}%Z")
            self.side_by_side(second, value, [first[1]], lambda out: self.folded(out, body))
            return state, "u64"
        coq, kind = self.value(value)
        if name == "len":
            return f"(length {wrap(coq)})", "usize"
        if name == "is_empty":
            return f"(is_empty {coq})", "bool"
        if name.startswith("wrapping_") and kind in SUFFIX:
            others = " ".join(wrap(self.value(argument)[0]) for argument in arguments)
            return f"({name[9:]}{SUFFIX[kind]} {coq}{' ' + others if others else ''})", kind
        if name == "saturating_sub" and kind == "usize":
            # Differences of Coq's natural numbers are never negative.
            return f"({coq} - {wrap(self.value(arguments[0])[0])})%nat", kind
        if name == "min" and kind in SUFFIX:
            return f"(Z.min {coq} {wrap(self.value(arguments[0])[0])})", kind
        raise Unknown(f"method {name}")

    def folded(self, outputs, body):
        """Translates one step of a fold."""
        lines, self.lines = self.lines, []
        coq = self.value(body)[0]
        self.let(outputs, coq)
        text = " ".join([*self.lines, tuple_of(outputs)])
        self.lines = lines
        return text

    def value_path(self, path, arguments):
        """Translates a call; mutable arguments are returned after the result."""
        name = path.split("::")[-1]
        if path in ("u128::from", "i128::from"):
            return self.value(arguments[0])[0], path[:4]
        if name in TRANSPARENT or path in TRANSPARENT:
            return self.value(arguments[0])
        if name in self.functions:
            return self.applied(*self.functions[name], arguments[0])
        if name not in self.known:
            raise Unknown(f"function {path}")
        parameters, result = self.known[name]
        passed, targets, stores = [], [], []
        for (_, kind, mutable), argument in zip(parameters, arguments, strict=True):
            coq, found = self.value(argument)
            if found == "literal":
                coq = f"{coq}%{'nat' if kind == 'usize' else 'Z'}"
            passed.append(wrap(coq))
            if mutable and argument[0] == "name":
                targets.append(self.names[argument[1]])
            elif mutable:
                self.fresh += 1
                targets.append(f"part_{self.fresh}")
                stores.append((argument, targets[-1] if kind == "list" else f"[{targets[-1]}]"))
        call = f"{name} {' '.join(passed)}"
        if not targets:
            return f"({call})", result
        if result is not None:
            self.fresh += 1
            value = f"result_{self.fresh}"
            targets.insert(0, value)
        self.let(targets, call)
        for argument, coq in stores:
            self.store(argument, coq)
        return (value, result) if result is not None else ("tt", None)

    def applied(self, name, rust, body, argument):
        """Applies a function defined inside this function to its argument."""
        names = dict(self.names)
        coq, _ = self.value(argument)
        inner = self.new(name, kind_of(rust))
        text, kind = self.value(body)
        self.names = names
        return f"(let {inner} := {coq} in {text})", kind


def wrap(coq):
    """Adds parentheses if there are several words."""
    return coq if re.fullmatch(r"[\w.]+(%\w+)?|\(.*\)(%\w+)?|\[.*\]", coq) and balanced(coq) else f"({coq})"


def balanced(coq):
    """Whether the first parenthesis closes at the end."""
    depth = 0
    body = re.sub(r"%\w+$", "", coq)
    for at, character in enumerate(body):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0 and character == ")" and at < len(body) - 1:
            return False
    return True


def constant(source, name):
    """Returns the value of an integer constant: a literal or another constant of the file."""
    masked = re.search(rf"const {name}: u64 = \(1 << (\w+)\) - 1;", source)
    if masked:
        return (1 << constant(source, masked.group(1))) - 1
    match = re.search(rf"const {name}: u(?:32|64|size) = (\w+);", source)
    if not match:
        raise Unknown(f"there is no constant {name}")
    text = match.group(1).replace("_", "")
    return int(text) if text.isdigit() else constant(source, match.group(1))


def main(sources, output):
    """Writes a Coq file for each Rust file."""
    sources, output = Path(sources), Path(output)
    output.mkdir(parents=True, exist_ok=True)
    known = {}
    for coq, (rust, names, needs) in FILES.items():
        try:
            source = rewritten((sources / rust).read_text(), ITERATORS.get(coq, []))
        except Unknown as error:
            sys.exit(f"translate: {rust}: {error}")
        source += (sources / OTHERS[coq]).read_text() if coq in OTHERS else ""
        needed = "words signed" if coq in ("bits", "doubling") else "words"
        lines = [f"(* Translated from {rust}: see translate.py. *)", f"From Arith Require Import {needed}."]
        lines += [f"From Generated Require Import {need}." for need in needs.split()]
        lines.append("")
        for name in names.split():
            try:
                translator = Translator(name, source, known)
                lines.append(translator.text())
            except Unknown as error:
                sys.exit(f"translate: {rust}: {name}: {error}")
            if coq == "across_limbs" or (name not in ("add_chunk", "add", "new") and coq != "residues"):
                known[name] = (translator.parameters, translator.result)
        (output / f"{coq}.v").write_text("\n".join(lines))
    try:
        for translation in (translate_lanes, translate_vectors, translate_unrolled):
            for coq, text in translation.translated(sources, sys.modules[__name__]):
                (output / f"{coq}.v").write_text(text)
    except Unknown as error:
        sys.exit(f"translate: {error}")
    for coq, constants in CONSTANTS.items():
        lines = ["From Coq Require Import ZArith."]
        for rust, name in constants:
            value = constant((sources / rust).read_text(), name)
            lines.append(f"(* {rust} *)\nDefinition {name} : Z := {value}%Z.")
        (output / f"{coq}.v").write_text("\n".join(lines) + "\n")
    for coq, expressions in EXPRESSIONS.items():
        lines = ["From Coq Require Import ZArith."]
        for rust, head, pattern, times in expressions:
            found = re.findall(pattern, (sources / rust).read_text(), re.DOTALL)
            found = ["".join(parts) if isinstance(parts, tuple) else parts for parts in found]
            if len(found) != times or len(set(found)) != 1:
                sys.exit(f"translate: {rust}: {head}: {pattern!r} gives {found}")
            # `at` is a word of Coq's.
            text = re.sub(r"\bat\b", "at_", found[0])
            lines.append(f"(* {rust} *)\nDefinition {head} : Z := ({text})%Z.")
        (output / f"{coq}.v").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
