"""Translates unrolled loops over columns in registers from Rust to Coq, in one lane.

An array is a function of the index in Coq, and changing a place of it gives another function
(unrolled.v). `seq!` is a loop. As in translate_lanes.py, the parameters are given here, and text
that is not about values is replaced: each pattern must be there.
"""

import re

BLOCKS = "arith/src/backend/ifma/blocks.rs"
# What is translated: Coq's name, Rust's name, Coq's parameters, replaced text, result.
FUNCTIONS = [
    (
        "triangle",
        "triangle",
        "(t twice x : nat -> Z) (below : Z) (start : nat -> Z)",
        [
            (r"let \(t, start\) = [^;]*;", ""),
            (r"\[_mm512_setzero_si512\(\); 2 \* BLOCK\]", "filled(0)"),
            (r"\[get\(&\[below\], 0\); BLOCK \+ 1\]", "filled(below)"),
        ],
        "(t, twice)",
    ),
    (
        "rows",
        "multiply_block",
        "(at_ : nat) (x y sums : nat -> Z) (nearest : Z)",
        [
            (r"\A.*?(let nearest = [^;]*;).*?(seq!\(J in 0\.\.5 \{\s*let digit.*?\n        \}\);).*\Z", r"\1\n\2"),
            (r"at == 0", "at_ == 0"),
            (r"get\(std::slice::from_ref\(nearest\), 0\)", "nearest"),
            (r"\bx~I\b", "get(x, I)"),
            (r"\bx(\d)\b", r"get(x, \1)"),
            (r"row_ends!\([^)]*\);", ""),
            (r"set\(t, J, sums\[J\]\);", ""),
        ],
        "sums",
    ),
]
OPERATIONS = {"low": "add_low", "high": "add_high", "_mm512_add_epi64": "add64"}


class Unrolled:
    """One function."""

    def __init__(self, body, translate):
        """Parses its body, loops written as such."""
        self.unknown = translate.Unknown
        body = re.sub(r"seq!\((\w+) in (\w+)\.\.(\w+) \{", r"for \1 in \2..\3 {", body)
        self.statements, _ = translate.Parser(re.sub(r"\}\);", "}", body)).block()

    def text(self, name, parameters, result):
        """The Coq definition."""
        return f"Definition {name} {parameters} :=\n{self.lines(self.statements, 2)[0]}  {result}.\n"

    def lines(self, statements, depth):
        """The Coq lines of statements, and the names that they change and do not declare."""
        lines, declared, changed = [], set(), []
        for kind, *rest in statements:
            if kind == "let":
                declared.add(rest[0][1])
                lines.append(f"let {rest[0][1]} := {self.value(rest[1])} in")
                continue
            if kind in ("for", "if"):
                inner, names = self.lines(rest[-1], depth + 2)
                state = names[0] if len(names) == 1 else f"({', '.join(names)})"
                bound = state if len(names) == 1 else f"'{state}"
                inner = f"\n{inner}{' ' * (depth + 2)}{state}"
                if kind == "for":
                    first, last = (self.place(part) for part in rest[1][1:])
                    step = f"fold_left (fun {bound} {rest[0][1]} =>{inner})"
                    lines.append(f"let {bound} := {step} (seq {first} ({last} - {first})) {state} in")
                else:
                    lines.append(f"let {bound} := if {self.condition(rest[0])} then{inner} else {state} in")
            elif kind == "assign" and rest[0][0] == "index" and rest[0][1][0] == "name":
                names = [rest[0][1][1]]
                lines.append(f"let {names[0]} := put {names[0]} {self.place(rest[0][2])} {self.value(rest[1])} in")
            elif kind == "call" and rest[0][:2] == ("path", "set"):
                (_, target), place, value = rest[0][2]
                names = [target]
                lines.append(f"let {target} := put {target} {self.place(place)} {self.value(value)} in")
            else:
                raise self.unknown(f"statement {kind} of columns")
            changed += [one for one in names if one not in changed and one not in declared]
        return "".join(f"{' ' * depth}{line}\n" for line in lines), changed

    def place(self, value):
        """An index."""
        kind, *rest = value
        if kind in ("number", "name"):
            return str(rest[0])
        if kind == "binary" and rest[0] in "+*-":
            return f"({self.place(rest[1])} {rest[0]} {self.place(rest[2])})%nat"
        raise self.unknown(f"index {value}")

    def index(self, value):
        """An index as an argument."""
        place = self.place(value)
        return f"{place}%nat" if place.isdigit() else place

    def condition(self, value):
        """A comparison of indexes."""
        kind, *rest = value
        if kind != "binary" or rest[0] not in ("<", "=="):
            raise self.unknown(f"condition {value}")
        return f"({self.place(rest[1])} {'<?' if rest[0] == '<' else '=?'} {self.place(rest[2])})%nat"

    def value(self, value):
        """An expression."""
        kind, *rest = value
        if kind in ("number", "name"):
            return str(rest[0])
        if kind == "index":
            return f"({rest[0][1]} {self.index(rest[1])})"
        if kind == "ifelse":
            return f"(if {self.condition(rest[0])} then {self.value(rest[1])} else {self.value(rest[2])})"
        if kind == "path" and rest[0] == "get":
            return f"({rest[1][0][1]} {self.index(rest[1][1])})"
        if kind == "path" and rest[0] == "filled":
            return f"(fun _ : nat => {self.value(rest[1][0])})"
        if kind == "path" and rest[0] == "_mm512_set1_epi64":
            return self.value(rest[1][0])
        if kind == "path" and rest[0] in OPERATIONS:
            return f"({' '.join([OPERATIONS[rest[0]], *map(self.value, rest[1])])})"
        raise self.unknown(f"{value} of columns")


def translated(sources, translate):
    """The text of the Coq file."""
    source = (sources / BLOCKS).read_text()
    lines = ["From Arith Require Import words lanes unrolled."]
    lines.append(f"(* Translated from {BLOCKS}: see translate_unrolled.py. *)")
    for name, function, parameters, replaced, result in FUNCTIONS:
        try:
            body = translate.rewritten(translate.function_text(source, function)[2], replaced)
            lines.append(Unrolled(body, translate).text(name, parameters, result))
        except translate.Unknown as error:
            raise translate.Unknown(f"{BLOCKS}: {function}: {error}") from None
    yield "square_blocks", "\n".join(lines) + "\n"
