"""Translates loops over whole vectors from Rust to Coq.

A number has its limbs in the lanes of its vectors: a list of lanes in Coq. A call that is a
statement changes its first argument. vectors.v defines the operations on vectors, and
translate_lanes.py translates their effect on a lane. As there, the parameters of a Coq function are
listed here, and text that does not concern a lane is replaced; each pattern must match.
"""

import re

ACROSS = "arith/src/backend/ifma/across.rs"
ZERO = (r"\[_mm512_setzero_si512\(\); V\]", "zeros(limbs)")
READ = r"let \(a_low, mut a_high\) = \(read\(&a\[\.\.m\.k\]\), read\(&a\[m\.k\.\.2 \* m\.k\]\)\);"
MODULUS = r"let modulus = Modulus::<V>::new\(m\);"
DUAL = [(MODULUS, ""), (READ, ""), (r"&modulus\.limbs", "limbs"), ZERO, (r"carry_up\(&mut t\);.*\Z", "")]
# Coq's name, Rust's name, Coq's parameters, replaced text, result.
FUNCTIONS = [
    (
        "reduce",
        "reduce",
        "(limbs columns : list Z) (digit : Z) (pending : list Z)",
        [(r"&self\.limbs", "limbs"), (r"_mm512_maskz_srai_epi64::<RADIX>\(1, (\w+)\[0\]\)", r"sra_first(\1, RADIX)")],
        "columns",
    ),
    (
        "product",
        "product",
        "(limbs : list Z) (inverse : Z) (a b : list Z)",
        [
            (r"let \(modulus, a\) = \(Modulus::<V>::new\(m\), read\(&a\[\.\.m\.k\]\)\);", ""),
            ZERO,
            (r"carry_up\(&mut t\);.*\Z", ""),
        ],
        "t",
    ),
    (
        "dual_product",
        "dual_product",
        "(limbs : list Z) (inverse : Z) (a_low a_high b_low b_high : list Z)",
        [
            *DUAL,
            (r"if SQUARE \{\s*double\(&mut a_high\);\s*\}", ""),
            (r"if SQUARE \{ 0 \} else \{ (.*?) \}", r"\1"),
            (r"if !SQUARE \{(.*?)\}", r"\1"),
        ],
        "(t, u)",
    ),
    (
        "dual_square",
        "dual_product",
        "(limbs : list Z) (inverse : Z) (a_low a_high b_low : list Z)",
        [
            *DUAL,
            (r"if SQUARE \{(\s*double\(&mut a_high\);)\s*\}", r"\1"),
            (r"let second = .*?;", ""),
            (r"if !SQUARE \{.*?\}", ""),
        ],
        "(t, u)",
    ),
]
CHANGES = {"add_low", "add_high", "add_columns", "down", "double"}
CALLS = {"digits", "zeros", "sra_first"}


class Vectors:
    """Translates one function."""

    def __init__(self, rust, body, translate):
        """Parses its body."""
        self.rust, self.unknown, self.constants = rust, translate.Unknown, translate.constant
        self.statements, _ = translate.Parser(body).block()

    def text(self, name, parameters, result):
        """Returns the Coq definition."""
        body = "\n".join(f"  {line}" for line in [*self.lines(self.statements)[0], f"{result}."])
        return f"Definition {name} {parameters} :=\n{body}\n"

    def lines(self, statements):
        """Returns the Coq lines of statements, and the names that they change but do not
        declare.
        """
        lines, declared, changed = [], set(), []
        for statement in statements:
            kind, rest = statement[0], statement[1:]
            if kind == "let":
                declared |= set(re.findall(r"\w+", binder(rest[0])))
                lines.append(f"let {quoted(rest[0])} := {self.value(rest[1])} in")
                continue
            if kind == "for":
                inner, names = self.lines(rest[2])
                state = ", ".join(names)
                state = state if len(names) == 1 else f"({state})"
                pattern = quoted(("name", state)) if len(names) == 1 else f"'{state}"
                step = " ".join([f"fun {pattern} {quoted(rest[0])} =>", *inner, state])
                lines.append(f"let {pattern} := fold_left ({step}) {self.value(rest[1])} {state} in")
            elif kind == "call":
                line, names = self.changed(rest[0])
                lines.append(line)
            elif kind == "assign":
                line, names = self.first(*rest)
                lines.append(line)
            else:
                raise self.unknown(f"statement {kind} of vectors")
            changed += [one for one in names if one not in changed and one not in declared]
        return lines, changed

    def changed(self, call):
        """Translates a call that changes its first argument."""
        if call[0] == "method" and call[2] == "reduce" and call[1] == ("name", "modulus"):
            target, *others = call[3]
            coq = ["reduce", "limbs", self.value(target), *map(self.value, others)]
        elif call[0] == "path" and call[1] in CHANGES:
            target = call[2][0]
            coq = [call[1], *map(self.value, call[2])]
        else:
            raise self.unknown(f"call {call} of vectors")
        if target[0] != "name":
            raise self.unknown(f"{target} changes")
        return f"let {target[1]} := {' '.join(coq)} in", [target[1]]

    def first(self, target, value):
        """Translates an operation on the lowest lane alone: a carry, zero in the others, or
        a mask.
        """
        name = target[1][1] if target[0] == "index" and target[2] == ("number", 0) else None
        same = ("index", ("name", name), ("number", 0))
        if value[0] == "path" and value[1] == "_mm512_add_epi64" and value[2] == [same, ("name", "carry")]:
            return f"let {name} := add_first {name} carry in", [name]
        if value[0] == "path" and value[1] == "_mm512_mask_sub_epi64" and value[2][:3] == [same, ("number", 1), same]:
            return f"let {name} := sub_first {name} {self.value(value[2][3])} in", [name]
        raise self.unknown(f"assignment {target} of vectors")

    def value(self, value):
        """Translates an expression."""
        kind, rest = value[0], value[1:]
        if kind == "number":
            return str(rest[0])
        if kind == "name":
            return str(self.constants(self.rust, rest[0])) if rest[0].isupper() else own(rest[0])
        if kind == "tuple":
            return f"({', '.join(self.value(part) for part in rest[0])})"
        if kind == "index":
            return f"(nth {self.value(rest[1])} {self.value(rest[0])} 0)"
        if kind == "slice" and rest[1] is None and rest[2] == ("field", ("name", "m"), "k"):
            return self.value(rest[0])
        if kind == "function" and rest[1] == "usize":
            return f"(fun {own(rest[0])} : nat => {self.value(rest[2])})"
        if kind == "binary" and rest[0] == "+":
            return f"({self.value(rest[1])} + {self.value(rest[2])})"
        if kind == "path" and rest[0] == "spread":
            return self.value(rest[1][0])
        if kind == "path" and rest[0] == "second":
            return f"(second {self.value(rest[1][0])}%nat)"
        if kind == "path" and rest[0] in CALLS:
            return f"({' '.join([rest[0], *map(self.value, rest[1])])})"
        if kind == "method" and rest[1] == "digit" and rest[0] == ("name", "modulus"):
            return f"(digit_of {self.value(rest[2][0])} inverse)"
        if kind == "method" and rest[1] == "enumerate":
            return f"(enumerate {self.value(rest[0])})"
        if kind == "method" and rest[1] == "unwrap_or" and rest[0][2] == "copied" and rest[0][1][2] == "get":
            of, at = rest[0][1][1], rest[0][1][3][0]
            return f"(nth {self.value(at)} {self.value(of)} {self.value(rest[2][0])})"
        raise self.unknown(f"{value} of vectors")


def own(name):
    """Returns a name that is not a keyword of Coq."""
    return "place" if name == "at" else name


def binder(pattern):
    """Returns a name or a tuple of names."""
    return own(pattern[1]) if pattern[0] == "name" else f"({', '.join(map(binder, pattern[1]))})"


def quoted(pattern):
    """Returns the same in a position where Coq expects a binder."""
    return own(pattern[1]) if pattern[0] == "name" else f"'{binder(pattern)}"


def translated(sources, translate):
    """Returns the text of the Coq file."""
    source = (sources / ACROSS).read_text()
    lines = ["From Arith Require Import words lanes vectors."]
    lines.append(f"(* Translated from {ACROSS}: see translate_vectors.py. *)")
    for name, function, parameters, replaced, result in FUNCTIONS:
        try:
            body = translate.rewritten(translate.function_text(source, function)[2], replaced)
            constants = source + (sources / "arith/src/backend/ifma.rs").read_text()
            lines.append(Vectors(constants, body, translate).text(name, parameters, result))
        except translate.Unknown as error:
            raise translate.Unknown(f"{ACROSS}: {function}: {error}") from None
    yield "across_steps", "\n".join(lines) + "\n"
