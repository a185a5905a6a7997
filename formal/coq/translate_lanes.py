"""Translates loop bodies of vector code from Rust to Coq, in one lane.

A vector is a word of 64 bits in each lane, and the translated code never mixes lanes. Loads and
stores are the identity, and operations are those of one lane (lanes.v). The parameters of a Coq
function are listed here, not parsed. Only the innermost body of a loop is translated; the values
that it stores become the result, in order.
"""

import re

# Roots of a block's nodes, by number.
NODES = [(r"\bw\[(\d)\]", r"w\1")]
# The loop that multiplies by a leaf's root, and its two cases.
WRAPPED = [(r"\A.*(for \(y, from\) in wrapped.*?\n        \})\n.*\Z", r"\1"), (r", &m\)", ", m)")]
BY_LEAF = r"if leaf\.is_multiple_of\(2\) \{ (.*?) \} else \{ (.*?) \}"
# Patterns that select the parts of a function's text to translate.
SETTLED = r"\A\s*(let mask = .*?;).*?let mut carry = .*?;\s*for limb in [^{]*\{(.*?)\n        \}\n.*\Z"
RESTORED = r"\A\s*(let mask = .*?;).*?let negative = .*?for \(limb, [^{]*\{(.*?)\n        \}\s*\Z"
SUBTRACTED = r"\A\s*(let mask = .*?;).*?for \(limb, [^{]*\{(.*?)\n        \}\n.*\Z"
BLENDED = r"\A\s*(let mask = .*?;).*borrow = [^\n]*;\s*for \(limb, [^{]*\{(.*?)\n        \}\n.*\Z"
NO_HALVES = (r"\[half\]", "")
# A register of a number whose limbs span all lanes, and the first loop over registers.
REGISTER = [(r"\[v\]", "")]
FIRST = (r"\A.*?(for v in 0\.\.V \{.*?\n    \}).*\Z", r"\1")
# A stored vector, and the effect of a digit's products with a block on the columns.
SET = (r"set\((?:&mut )?(\w+), ([^\n]*)\);", r"\1 = \2;")
SLIDE = r"\A.*seq!\(I in 0\.\.6 \{\s*if I < \$size \{(.*?)\}\s*\}\);.*\Z"
ABSORB = r"\A.*seq!\(I in 1\.\.6 \{\s*if I < SIZE \{(.*?)\}\s*\}\);\s*\Z"
TRIANGLE = r"\A.*if I < SIZE &&[^{]*\{(.*?)\} else if [^{]*\{(.*?)\}\s*\}\);.*\Z"
# Files of the proofs that define Rust structures.
RECORDS = {"ntt": "ntt_words", "bfv": "bfv_words"}
# Coq file, Rust file, functions: Coq's name, Rust's name, Coq's parameters, and text to replace
# before the translation (patterns), because it does not concern a lane.
FUNCTIONS = {
    "ifma_digits": [
        ("arith/src/backend/ifma/blocks.rs", [("first_digit", "first_digit", "(column inverse : Z)", [])]),
    ],
    "across_lanes": [
        (
            "arith/src/backend/ifma/across.rs",
            [
                ("low_lane", "add_low", "(sum x digit : Z)", REGISTER),
                ("high_lane", "add_high", "(sum x digit : Z)", REGISTER),
                ("columns_lane", "add_columns", "(sum x : Z)", REGISTER),
                (
                    "digit_lane",
                    "digit",
                    "(column inverse : Z)",
                    [
                        (r"_mm512_broadcastq_epi64\(_mm512_castsi512_si128\(columns\[0\]\)\)", "column"),
                        (r"self\.inverse", "inverse"),
                    ],
                ),
                (
                    "double_lane",
                    "double",
                    "(ones x : Z)",
                    [*REGISTER, (r"::<\{ (RADIX - 1) \}>\(x\)", r"(x, \1)"), (r"spread\(MASK\)", "ones")],
                ),
                ("carry_lane", "carry_up", "(ones columns : Z)", [FIRST, *REGISTER]),
                (
                    "settle_lane",
                    "carry_up",
                    "(ones columns carried : Z)",
                    [
                        *REGISTER,
                        (
                            r"_mm512_mask_add_epi64\(columns, carried\.of\(v\), columns, spread\((\d)\)\)",
                            r"_mm512_add_epi64(columns, \1 * carried)",
                        ),
                    ],
                ),
            ],
        ),
    ],
    "avx2_lanes": [
        (
            "arith/src/backend/avx2/blocks.rs",
            [
                ("ones", "ones", "", [(r" as i64", "")]),
                ("add_product", "add_product", "(sum x y : Z)", []),
                (
                    "slide_lane",
                    "slide!",
                    "(sum limb digit : Z)",
                    [(SLIDE, r"\1"), (r"\$sums\[\$j \+ I\]", "sum"), (r"\$limbs\[I\]", "limb")],
                ),
                ("carry_once_lane", "carry_once", "(column carry : Z)", [SET]),
                (
                    "same_lane",
                    "triangle",
                    "(sum x : Z)",
                    [(TRIANGLE, r"\1"), (r"&x\[I\]", "x")],
                ),
                (
                    "other_lane",
                    "triangle",
                    "(sum x twice : Z)",
                    [(TRIANGLE, r"\2"), (r"&x\[I\]", "x"), (r"&twice\[COLUMN - I\]", "twice")],
                ),
                ("twice_lane", "square", "(limb : Z)", [(r"\A.*(set\(twice, [^\n]*)\n.*\Z", r"\1"), SET]),
                ("digit_lane", "digit_of", "(column neg_inverse : Z)", []),
                (
                    "absorb_carry",
                    "absorb",
                    "(sum next digit limb : Z)",
                    [
                        (r"seq!.*\Z", ""),
                        (r"sums\[j \+ 1\]", "next"),
                        (r"sums\[j\]", "sum"),
                        (r"&m\[0\]", "limb"),
                    ],
                ),
                (
                    "absorb_lane",
                    "absorb",
                    "(sum digit limb : Z)",
                    [(ABSORB, r"\1"), (r"sums\[j \+ I\]", "sum"), (r"&m\[I\]", "limb")],
                ),
                (
                    "complement_lane",
                    "reduce_block_pair",
                    "(column digit : Z)",
                    [(r"\A.*\n *u_sums\[J\] = (.*?);\n.*\Z", r"\1"), (r"u_sums\[J\]", "column")],
                ),
                ("normalise_lane", "normalise", "(column carry : Z)", [SET]),
                ("carry_lane", "carry", "(column carry : Z)", [SET]),
                ("subtract_lane", "subtract", "(limb b borrow : Z)", [SET]),
                (
                    "add_lane",
                    "add",
                    "(limb more carry : Z)",
                    [
                        SET,
                        (
                            r"let more = if i < b\.len\(\) \{ get\(&b\[i\]\) \} else \{ _mm256_setzero_si256\(\) \};",
                            "",
                        ),
                    ],
                ),
                (
                    "compare_lane",
                    "reduce_once",
                    "(limb m borrow : Z)",
                    [(r"\A.*?for \(limb, m\) in [^{]*\{(.*?)\n    \}\n.*\Z", r"\1")],
                ),
                (
                    "fits_lane",
                    "reduce_once",
                    "(borrow : Z)",
                    [(r"\A\s*(let one = .*?;).*?(let fits = .*?;)\s.*\Z", r"\1 \2 fits")],
                ),
                ("reduce_lane", "reduce_once", "(fits limb m borrow : Z)", [SET]),
                (
                    "subtracted_lane",
                    "reduce_once",
                    "(fits : Z)",
                    [(r"\A\s*(let one = .*?;).*set\(&mut subtracted, ([^\n]*)\);.*\Z", r"\1 \2")],
                ),
            ],
        ),
    ],
    "sums_lanes": [
        (
            "dghv/src/sums/ifma.rs",
            [
                (
                    "digit_step",
                    "accumulate",
                    "(lows highs window value : Z)",
                    [
                        (r"\A.*(for k in 0\.\.BLOCK \{\n +let position.*?\n +\}\n).*\Z", r"\1"),
                        (r"&window\[k\]", "window"),
                        (r"\[k\]", ""),
                    ],
                ),
            ],
        ),
        (
            "dghv/src/sums/blocks/transform.rs",
            [
                (
                    "term_step",
                    r"add(?=\(&mut self)",
                    "(low_half high_half values factor : Z)",
                    [(r"self\.(low|high)", r"\1_half")],
                ),
                (
                    "normalise_step",
                    "normalise",
                    "(mask low high : Z)",
                    [(r"store\((\w+), ([^\n]*)\);", r"\1 = \2;")],
                ),
            ],
        ),
    ],
    "fractions": [
        (
            "rns/src/convert/ifma.rs",
            [
                (
                    "fraction_step",
                    "fractions",
                    "(upper upper_carry lower lower_carry limb first second third : Z)",
                    [(r"let \[first.*?;", ""), (r"\[g\]", "")],
                ),
                (
                    "fraction_end",
                    "fractions",
                    "(upper upper_carry lower lower_carry : Z)",
                    [(r"\A.*from_fn\(\|g\| \{(.*)\}\)\s*\Z", r"\1"), (r"\[g\]", "")],
                ),
                ("scaled", "scaled", "(upper lower q0 q1 : Z)", [(r"let q = q\.map.*?;", ""), (r"q\[(\d)\]", r"q\1")]),
            ],
        ),
        (
            "rns/src/convert/ifma/forward.rs",
            [
                (
                    "residue",
                    "residue",
                    "(upper lower q cofactor0 cofactor1 : Z)",
                    [
                        (r"let cofactor = .*?;", ""),
                        (r"cofactor\[(\d)\]", r"cofactor\1"),
                        (r"factor\.q\[0\]", "q"),
                    ],
                ),
            ],
        ),
    ],
    "ifma_back": [
        (
            "rns/src/convert/ifma/back.rs",
            [
                ("narrow", "narrow", "(residue first second : Z)", []),
                (
                    "wide_limbs",
                    "wide",
                    "(residue : Z)",
                    [(r"\A.*store\(&mut limbs\[0\], (.*?)\);\s*store\(&mut limbs\[1\], (.*?)\);\n.*\Z", r"(\1, \2)")],
                ),
                (
                    "narrow_factor",
                    "scale",
                    "(fraction q : Z)",
                    [(r"\A.*push\(([^\n]*fraction[^\n]*)\);\n.*\Z", r"\1"), (r"scale\.q\[0\]", "q")],
                ),
                (
                    "wide_factors",
                    "scale",
                    "(y : Z)",
                    [(r"\A.*push\((y)\);\s*push\(([^\n]*y\))\);\n.*\Z", r"(\1, \2)")],
                ),
                (
                    "parts_start",
                    "scale",
                    "(count : Z)",
                    [(r"\A.*let mut parts = (.*?);\n.*\Z", r"\1"), (r"self\.scales\.len\(\) as u64", "count")],
                ),
                (
                    "parts_step",
                    "scale",
                    "(parts fraction : Z)",
                    [(r"\A.*(let unit = .*?;)\n.*\n *(parts = .*?;)\n.*\Z", r"\1 \2")],
                ),
                ("quotient", "scale", "(parts : Z)", [(r"\A.*push\(([^\n]*parts\))\);\n.*\Z", r"\1")]),
                (
                    "column_step",
                    "columns",
                    "(low high factor entry before : Z)",
                    [
                        (r"\n    for \(word.*\Z", ""),
                        (r"row\[j \+ 1\]", "entry"),
                        (r"row\[j\]", "before"),
                        (r"\[j\]", ""),
                    ],
                ),
                ("column_end", "columns", "(low high : Z)", [(r"\A.*store\(word, ([^\n]*)\);\n.*\Z", r"\1")]),
                ("settled", "settle", "(limb carry : Z)", [(SETTLED, r"\1\2")]),
                ("negative", "settle", "(top : Z)", [(r"\A.*let negative = (.*?);\n.*\Z", r"\1")]),
                ("restored", "settle", "(negative product limb carry : Z)", [(RESTORED, r"\1\2")]),
            ],
        ),
    ],
    "avx2_residues": [
        (
            "rns/src/convert/avx2.rs",
            [
                ("less", "less", "(x q : Z)", []),
                (
                    "step",
                    "reduce",
                    "(q neg_inverse x : Z)",
                    [(r"\A.*let step = \|x: __m256i\| \{(.*?)\};\n.*\Z", r"\1")],
                ),
                (
                    "reduce",
                    "reduce",
                    "(q neg_inverse sum : Z)",
                    [(r"\A.*\};\n", ""), (r"\bstep\(", "step(q, neg_inverse, ")],
                ),
                ("add", "add", "(a b q : Z)", [(r"modulus\.q", "q")]),
                (
                    "sum_step",
                    "sums",
                    "(sum x entry : Z)",
                    [
                        (r"\n *sums\[g\]\[1\] = [^\n]*", ""),
                        (r"entries\[g\] as i32", "entry"),
                        (r"sums\[g\]\[0\]", "sum"),
                        (r"x\[0\]", "x"),
                    ],
                ),
                (
                    "scaled_residue",
                    "scale",
                    "(residue q neg_inverse scale : Z)",
                    [
                        (r"\A.*\n *y\[half\] = (.*?);\n.*\Z", r"\1"),
                        (r"residues\[half\]", "residue"),
                        (r"modulus\.scale", "scale"),
                        (r"\breduce\((.*), modulus\)", r"reduce(q, neg_inverse, \1)"),
                    ],
                ),
                (
                    "part_step",
                    "scale",
                    "(quotient y part bits : Z)",
                    [
                        (r"\A.*(let fraction =\s.*?;\n *quotient\[half\] = .*?;)\n.*\Z", r"\1"),
                        (r"bits\.into\(\)", "bits"),
                        NO_HALVES,
                    ],
                ),
                (
                    "quotient_end",
                    "scale",
                    "(quotient : Z)",
                    [(r"\A.*\n *y\[self\.moduli\.len\(\)\]\[half\] = (.*?);\n.*\Z", r"\1"), NO_HALVES],
                ),
                (
                    "combine_step",
                    "combine",
                    "(x next sum : Z)",
                    [
                        (r"if first \+ g \+ 1 < x\.len\(\) \{(.*?)\}", r"\1"),
                        (r"x\[first \+ g \+ 1\]", "next"),
                        (r"x\[first \+ g\]", "x"),
                        NO_HALVES,
                    ],
                ),
                ("settled", "settle", "(limb q carry borrow : Z)", [(SUBTRACTED, r"\1\2"), NO_HALVES]),
                ("fits", "settle", "(borrow : Z)", [(r"\A.*let fits = (.*?);\n.*\Z", r"\1")]),
                ("subtracted", "settle", "(fits limb q borrow : Z)", [(BLENDED, r"\1\2"), NO_HALVES]),
            ],
        ),
    ],
    "ntt": [
        (
            "ntt/src/engine/loops.rs",
            [
                ("reduced", "reduced", "(self_ : moduli) (low high inverse : Z)", []),
                ("times", "times", "(self_ : factor) (x : Z) (m : moduli)", []),
                ("times_positive", "times_positive", "(self_ : factor) (x : Z) (m : moduli)", []),
                ("reduce", "reduce", "(x bound : Z)", []),
                ("forward2", "forward2", "(w : factor) (m : moduli) (x0 x1 : Z)", []),
                ("forward4", "forward4", "(w0 w1 w2 : factor) (m : moduli) (x0 x1 x2 x3 : Z)", NODES),
                ("inverse2", "inverse2", "(w : factor) (m : moduli) (u0 u1 : Z)", []),
                ("inverse4", "inverse4", "(w0 w1 w2 : factor) (m : moduli) (u0 u1 u2 u3 : Z)", NODES),
                (
                    "column_step",
                    "columns",
                    "(low high x y : Z)",
                    [(r"let inverse = .*\Z", ""), (r"&y\[g\]", "y"), (r"\[g\]", "")],
                ),
                ("put_set", "put", "(m : moduli) (sum : Z)", [(r"let sum = if add.*?;", "")]),
                ("put_add", "put", "(m : moduli) (sum out : Z)", [(r"if add \{(.*?)\} else \{ sum \}", r"\1")]),
                ("wrapped_even", "multiply", "(w : factor) (m : moduli) (from y : Z)", [*WRAPPED, (BY_LEAF, r"\1")]),
                ("wrapped_odd", "multiply", "(w : factor) (m : moduli) (from y : Z)", [*WRAPPED, (BY_LEAF, r"\2")]),
            ],
        ),
    ],
    "bfv": [
        (
            "bfv/src/kernel/loops.rs",
            [
                ("times", "times", "(self_ : modulus) (x : Z) '((w, quotient) : Z * Z)", []),
                ("once", "once", "(x b : Z)", []),
                ("reduced", "reduced", "(self_ : modulus) (x : Z)", []),
                ("butterfly", "butterfly", "(self_ : modulus) (x y : Z) (w : Z * Z)", []),
                ("back", "back", "(self_ : modulus) (x y : Z) (w : Z * Z)", []),
                ("multiply_add", "multiply_add", "(modulus : modulus) (zero inverse sum a b : Z)", []),
                ("scale", "scale", "(modulus : modulus) (a : Z) (c : Z * Z)", []),
                ("add_small", "add_small", "(q a small : Z)", []),
                ("subtract_residues", "subtract", "(q a b : Z)", []),
                ("add_residues", "add", "(q a b : Z)", []),
                (
                    "add_limbs",
                    "add_limbs",
                    "(modulus : modulus) (start a : Z) (c0 c1 c2 : Z * Z) (l0 l1 l2 : Z)",
                    [
                        (
                            r"\A.*W::splat\((\d \* )prime\.q\)\);.*?(for [^\n]*\n)",
                            r"\2let four_q = \1(modulus.q);\n",
                        ),
                    ],
                ),
            ],
        ),
    ],
}
# The files that define the constants of crates and of single files.
CONSTANTS = {
    "arith/src/backend/avx2/blocks.rs": "arith/src/backend/avx2.rs",
    "arith": "arith/src/backend/ifma.rs",
    "rns": "arith/src/backend/ifma.rs",
    "ntt": "ntt/src/primes.rs",
    "bfv": "bfv/src/kernel.rs",
    "dghv": "dghv/src/sums/ifma.rs",
}
# Operations of a lane: Rust's name and Coq's.
OPERATIONS = {
    "add": "add64",
    "sub": "sub64",
    "min": "Z.min",
    "and": "Z.land",
    "low": "add_low",
    "add_low": "add_low",
    "add_high": "add_high",
    "shift_right": "shr",
    "_mm512_add_epi64": "add64",
    "_mm512_madd52lo_epu64": "add_low",
    "_mm512_madd52hi_epu64": "add_high",
    "_mm512_srli_epi64": "shr",
    "_mm512_slli_epi64": "shl64",
    "_mm512_and_si512": "Z.land",
    "_mm512_setzero_si512": "0",
    "_mm512_test_epi64_mask": "test_mask",
    "_mm512_maskz_mov_epi64": "maskz",
    "_mm256_setzero_si256": "0",
    "_mm256_add_epi64": "add64",
    "_mm256_sub_epi64": "sub64",
    "_mm256_sub_epi32": "sub32s",
    "_mm256_min_epu32": "min32s",
    "_mm256_mul_epu32": "mul32",
    "_mm256_and_si256": "Z.land",
    "_mm256_andnot_si256": "andnot",
    "_mm256_srli_epi64": "shr",
    "_mm256_srl_epi64": "shr",
    "_mm256_blendv_epi8": "blend",
}
# Operations that are the identity in a lane.
SAME = {"get", "load", "broadcast", "splat", "W::load", "W::splat", "_mm_cvtsi64_si128", "_mm256_set1_epi32"}
SAME.add("_mm256_set1_epi64x")


class Lane:
    """Translates one function."""

    def __init__(self, rust, body, own, translate):
        """Parses the text of its body; `own` lists the functions that it may call."""
        self.rust, self.own, self.unknown = rust, own, translate.Unknown
        self.constants = translate.constant
        self.statements, self.result = translate.Parser(body).block()

    def text(self, name, parameters):
        """Returns the Coq definition."""
        lines, stored = [], []
        for statement in self.statements:
            if statement[0] == "let":
                lines += self.bound(statement[1], statement[2])
            elif statement[0] == "assign":
                target = statement[1][1]
                lines.append(f"let {target} := {self.value(statement[2])} in")
                stored += [target] if target not in stored else []
            elif statement[0] == "call" and statement[1][0] == "method" and statement[1][2] == "store":
                stored.append(statement[1][3][0][1])
                lines.append(f"let {stored[-1]}_new := {self.value(statement[1][1])} in")
                stored[-1] += "_new"
            elif statement[0] == "call" and statement[1][:2] == ("path", "store"):
                target, value = statement[1][2]
                stored.append(f"{target[1]}_new")
                lines.append(f"let {stored[-1]} := {self.value(value)} in")
            else:
                raise self.unknown(f"statement {statement[0]} in a lane")
        result = self.value(self.result) if self.result else f"({', '.join(stored)})"
        body = "\n".join(f"  {line}" for line in [*lines, f"{result}."])
        return f"Definition {name} {parameters} :=\n{body}\n"

    def bound(self, pattern, value):
        """Translates a declaration of one name or of a tuple of names."""
        if pattern[0] == "name":
            return [f"let {pattern[1]} := {self.value(value)} in"]
        names = ", ".join(part[1] for part in pattern[1])
        return [f"let '({names}) := {self.value(value)} in"]

    def value(self, value):
        """Translates an expression."""
        kind, rest = value[0], value[1:]
        if kind == "number":
            return str(rest[0])
        if kind == "name":
            return str(self.constants(self.rust, rest[0])) if rest[0].isupper() else rest[0].replace("self", "self_")
        if kind in ("tuple", "array"):
            return f"({', '.join(self.value(part) for part in rest[0])})"
        if kind == "field":
            return f"({rest[1]} {self.value(rest[0])})"
        if kind == "method":
            return self.called(rest[1], [rest[0], *rest[2]])
        if kind == "path":
            return self.called(rest[0], rest[1])
        if kind == "binary" and rest[0] in ("*", "-"):
            return f"({self.value(rest[1])} {rest[0]} {self.value(rest[2])})"
        if kind == "binary" and rest[0] == "<<":
            return f"(shl64 {self.value(rest[1])} {self.value(rest[2])})"
        raise self.unknown(f"{kind} in a lane")

    def called(self, name, arguments):
        """Translates a call of an operation, or of another translated function."""
        coq = [self.value(argument) for argument in arguments]
        name = name.removeprefix("Self::").removeprefix("Modulus::")
        if name in SAME:
            return coq[-1]
        found = OPERATIONS.get(name) or (name if name in self.own else None)
        if found is None:
            raise self.unknown(f"{name} in a lane")
        return f"({' '.join([found, *coq])})" if coq else found


def macro_text(source, name):
    """Returns the expansion of a macro with one rule, whose name includes the exclamation mark."""
    return re.search(rf"macro_rules! {name[:-1]} \{{\n.*? => \{{\n(.*?)\n    \}};\n\}}", source, re.DOTALL)[1]


def innermost(body):
    """Returns the body of the innermost loop, or the whole body if there is none."""
    at = body.rfind("for ")
    if at < 0:
        return body
    # The body begins at the last brace of the loop's head.
    start = re.compile(r"\{\n").search(body, at).end()
    depth, end = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(body[end], 0)
        end += 1
    return body[start : end - 1]


def shifted(body):
    """Makes the constant of a shift its last argument."""
    head = re.compile(r"(\w+)::<(?:\{ )?(\w+)(?: as i32 \})?>\(")
    while match := head.search(body):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(body[end], 0)
            end += 1
        inside = body[match.end() : end - 1].strip()
        body = f"{body[: match.start()]}{match[1]}({inside}, {match[2]}){body[end:]}"
    return body


def translated(sources, translate):
    """Returns the text of each Coq file."""
    for coq, files in FUNCTIONS.items():
        lines = [f"From Arith Require Import {' '.join(['words', 'lanes', *filter(None, [RECORDS.get(coq)])])}."]
        for rust, functions in files:
            source, own = (sources / rust).read_text(), {name for name, *_ in functions}
            lines.append(f"(* Translated from {rust}: see translate_lanes.py. *)")
            for name, function, parameters, replaced in functions:
                is_macro = function.endswith("!")
                body = macro_text(source, function) if is_macro else translate.function_text(source, function)[2]
                for pattern, new in replaced:
                    body = re.sub(pattern, new, body, flags=re.DOTALL)
                body = shifted(body)
                try:
                    constants = source + (sources / (CONSTANTS.get(rust) or CONSTANTS[rust.split("/")[0]])).read_text()
                    lines.append(Lane(constants, innermost(body), own, translate).text(name, parameters))
                except translate.Unknown as error:
                    raise translate.Unknown(f"{rust}: {function}: {error}") from None
        yield coq, "\n".join(lines) + "\n"
