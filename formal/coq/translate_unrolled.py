"""Translates unrolled loops over columns in registers from Rust to Coq, in one lane.

In Coq an array is a function of the index, and changing an element gives another function
(unrolled.v). `seq!` is a loop. As in translate_lanes.py, the parameters are listed here, and text
that is not about values is replaced; each pattern must match.
"""

import re

BLOCKS = "arith/src/backend/ifma/blocks.rs"
# The loop over a factor's blocks.
CHUNKS = (
    r"for \(block, x\) in a\.chunks_exact\((\w+)\)\.enumerate\(\) \{",
    r"for block in 0..blocks { let x = part(a, block * \1);",
)
# Translated functions: Coq's name, Rust's name, Coq's parameters, replaced text, result.
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
        "row",
        "multiply_block",
        "(J : nat) (x y sums : nat -> Z) (nearest : Z)",
        [
            (r"\A.*seq!\(J in 0\.\.5 \{\s*(let digit .*?)row_ends!.*\Z", r"\1"),
            (r"get\(std::slice::from_ref\(nearest\), 0\)", "nearest"),
            (r"\bx~I\b", "get(x, I)"),
            (r"\bx(\d)\b", r"get(x, \1)"),
        ],
        "sums",
    ),
    (
        "multiply_block",
        "multiply_block",
        "(length valid : nat) (t x y : nat -> Z) (nearest : Z) (start : nat -> Z)",
        [
            (r"let t = &mut t\[\.\.y\.len\(\) \+ BLOCK\];\s*let x = &x\[\.\.BLOCK\];", ""),
            (r"y\.len\(\)", "length"),
            (r"\[_mm512_setzero_si512\(\); BLOCK \+ STEP\]", "filled(0)"),
            (r"seq!\(I in 0\.\.10 \{ let x~I = get\(x, I\); \}\);", ""),
            (r"let from = &from\[\.\.BLOCK\];", ""),
            (r"let digit .*?row_ends!\([^)]*\);", "sums = row(index(J), x, y, sums, nearest);"),
            (r"let t = &mut t\[([^\n]*)\.\.at \+ STEP\];(.*?)set\(t, J, sums\[J\]\);", r"\2set(t, \1 + J, sums[J]);"),
        ],
        "t",
    ),
    (
        "multiply",
        "multiply",
        "(k blocks : nat) (t a b start : nat -> Z)",
        [
            (r"let k = b\.len\(\);", ""),
            CHUNKS,
            (r"let filled = (.*?);", r"let filled = index( \1 );"),
            (
                r"multiply_block\(&mut t\[(.*?)\.\.\], x, b, &(.*?), filled, &start\[(.*?)\.\.\]\);",
                r"t = within(t, \1, multiply_block(index(k), index(filled), part(t, \1), x, b, \2, part(start, \3)));",
            ),
        ],
        "t",
    ),
    (
        "multiply_add",
        "multiply_add",
        "(k blocks columns : nat) (t a b : nat -> Z)",
        [
            (r"let columns = t\.len\(\);", ""),
            CHUNKS,
            (
                r"multiply_block\(&mut t\[(.*?)\.\.\], x, b, &(.*?), columns, &\[\]\);",
                r"t = within(t, \1, multiply_block(index(k), index(columns), part(t, \1), x, b, \2, filled(0)));",
            ),
        ],
        "t",
    ),
    (
        "multiply_from",
        "multiply_from",
        "(k blocks columns : nat) (t a b : nat -> Z) (from : nat)",
        [
            (r"let columns = t\.len\(\);", ""),
            CHUNKS,
            (
                r"let y = &b\[from\.saturating_sub\((.*?)\)([^\n]*)\.\.\];",
                r"let skipped = index((from - (\1))\2); let y = part(b, skipped);",
            ),
            (r"b\.len\(\) - y\.len\(\)", "k - (k - skipped)"),
            (
                r"multiply_block\(&mut t\[(.*?)\.\.\], x, y, &(.*?), columns, &\[\]\);",
                r"t = within(t, \1, multiply_block(index(k - skipped), index(columns), part(t, \1), x, y, \2, filled(0)));",
            ),
        ],
        "t",
    ),
    (
        "multiply_below",
        "multiply_below",
        "(k blocks columns : nat) (t a b : nat -> Z)",
        [
            (r"let columns = t\.len\(\);", ""),
            CHUNKS,
            (
                r"multiply_block\(&mut t\[(.*?)\.\.\], x, &b\[\.\.b\.len\(\) - (.*?)\], &(.*?), columns, &\[\]\);",
                r"t = within(t, \1, multiply_block(index(k - \2), index(columns), part(t, \1), x, b, \3, filled(0)));",
            ),
        ],
        "t",
    ),
    (
        "square",
        "square",
        "(turns k columns : nat) (t twice a start : nat -> Z)",
        [
            (r"let \(k, columns\) = \(a\.len\(\), t\.len\(\)\);", ""),
            (r"let mut above = k;", "let mut above = index(k);"),
            (r"Octet::default\(\)", "0"),
            (r"let mut nearest = \[a\[above\]\];\s*set\(&mut nearest, 0, ([^\n]*)\);", r"let nearest = \1;"),
            (r"&nearest\[0\]", "nearest"),
            (
                r"let \(x, t\) = \(block\(a, (.*?)\), &mut t\[(.*?)\.\.\]\);\s*"
                r"triangle\(t, block_mut\(twice, (.*?)\), x, below, &start\[(.*?)\.\.\]\);(.*?)"
                r"multiply_block\(&mut t\[(.*?)\.\.\], x, &twice\[(.*?)\.\.(.*?)\], nearest, columns, &\[\]\);",
                r"let x = part(a, \1); let (square, doubled) = triangle(part(t, \2), part(twice, \3), x, below, part(start, \4));"
                r"t = within(t, \2, square); twice = within(twice, \3, doubled);\5"
                r"t = within(t, \2 + \6, multiply_block(index(\8 - \7), index(columns), part(t, \2 + \6), x, part(twice, \7), "
                r"nearest, filled(0)));",
            ),
        ],
        "(t, twice)",
    ),
]
COMPARISONS = {"<": ("<?", False), "<=": ("<=?", False), ">": ("<?", True), ">=": ("<=?", True), "==": ("=?", False)}
OPERATIONS = {"low": "add_low", "high": "add_high", "_mm512_add_epi64": "add64"}


class Unrolled:
    """Translates one function."""

    def __init__(self, source, body, own, translate):
        """Parses its body, with macros rewritten as loops; `own` are functions that it may call."""
        self.unknown, self.own = translate.Unknown, own
        self.constant = lambda name: translate.constant(source, name)
        body = re.sub(r"seq!\((\w+) in (\w+)\.\.(\w+) \{", r"for \1 in \2..\3 {", body)
        self.statements, _ = translate.Parser(re.sub(r"\}\);", "}", body)).block()

    def text(self, name, parameters, result):
        """Returns the Coq definition."""
        return f"Definition {name} {parameters} :=\n{self.lines(self.statements, 2)[0]}  {result}.\n"

    def lines(self, statements, depth):
        """Returns the Coq lines of statements, and the names that they change but do not
        declare.
        """
        lines, declared, changed = [], set(), []
        for kind, *rest in statements:
            if kind == "let":
                names = [part[1] for part in rest[0][1]] if rest[0][0] == "tuple" else [rest[0][1]]
                declared.update(names)
                lines.append(f"let {bound(names)} := {self.value(rest[1])} in")
                continue
            if kind in ("for", "if", "while"):
                inner, names = self.lines(rest[-1], depth + 2)
                state = bound(names).removeprefix("'")
                inner = f"\n{inner}{' ' * (depth + 2)}{state}"
                if kind == "for":
                    step = f"fold_left (fun {bound(names)} {place_name(rest[0][1])} =>{inner})"
                    lines.append(f"let {bound(names)} := {step} {self.indexes(rest[1])} {state} in")
                elif kind == "while":
                    more = f"(fun {bound(names)} => {self.condition(rest[0])})"
                    lines.append(
                        f"let {bound(names)} := repeated turns {more} (fun {bound(names)} =>{inner}) {state} in"
                    )
                else:
                    lines.append(f"let {bound(names)} := if {self.condition(rest[0])} then{inner} else {state} in")
            elif kind == "assign" and rest[0][0] == "index" and rest[0][1][0] == "name":
                names = [rest[0][1][1]]
                lines.append(f"let {names[0]} := put {names[0]} {self.place(rest[0][2])} {self.value(rest[1])} in")
            elif kind == "assign" and rest[0][0] == "name":
                names = [rest[0][1]]
                lines.append(f"let {names[0]} := {self.value(rest[1])} in")
            elif kind == "call" and rest[0][:2] == ("path", "set"):
                (_, target), place, value = rest[0][2]
                names = [target]
                lines.append(f"let {target} := put {target} {self.place(place)} {self.value(value)} in")
            else:
                raise self.unknown(f"statement {kind} of columns")
            changed += [one for one in names if one not in changed and one not in declared]
        return "".join(f"{' ' * depth}{line}\n" for line in lines), changed

    def indexes(self, value):
        """The indexes that a loop goes through."""
        if value[0] == "range":
            first, last = map(self.place, value[1:])
            return f"(seq {first} ({last} - {first}))"
        if value[0] == "method" and value[2] == "step_by" and value[1][:2] == ("range", ("number", 0)):
            return f"(steps {self.place(value[1][2])} {self.place(value[3][0])})"
        raise self.unknown(f"loop over {value}")

    def place(self, value):
        """Translates an index."""
        kind, *rest = value
        if kind == "name" and rest[0].isupper() and len(rest[0]) > 1:
            return str(self.constant(rest[0]))
        if kind in ("number", "name"):
            return place_name(str(rest[0]))
        if kind == "binary" and rest[0] in "+*-/":
            return f"({self.place(rest[1])} {rest[0]} {self.place(rest[2])})%nat"
        if kind == "ifelse":
            return f"(if {self.condition(rest[0])} then {self.place(rest[1])} else {self.place(rest[2])})%nat"
        raise self.unknown(f"index {value}")

    def index(self, value):
        """Translates an index as an argument."""
        place = self.place(value)
        return f"{place}%nat" if place.isdigit() else place

    def condition(self, value):
        """Translates a comparison of indexes."""
        kind, *rest = value
        if kind != "binary" or rest[0] not in COMPARISONS:
            raise self.unknown(f"condition {value}")
        operation, turned = COMPARISONS[rest[0]]
        left, right = rest[2:0:-1] if turned else rest[1:]
        return f"({self.place(left)} {operation} {self.place(right)})%nat"

    def value(self, value):
        """Translates an expression."""
        kind, *rest = value
        if kind in ("number", "name"):
            return str(rest[0])
        if kind == "index":
            return f"({rest[0][1]} {self.index(rest[1])})"
        if kind == "slice":
            return f"(part {rest[0][1]} {self.index(rest[1])})"
        if kind == "binary":
            return self.place(value)
        if kind == "ifelse":
            return f"(if {self.condition(rest[0])} then {self.value(rest[1])} else {self.value(rest[2])})"
        if kind == "path":
            return self.called(*rest)
        raise self.unknown(f"{value} of columns")

    def called(self, name, arguments):
        """A call of an operation, of what a replacement has put there, or of another function."""
        if name == "get":
            return f"({arguments[0][1]} {self.index(arguments[1])})"
        if name == "filled":
            return f"(fun _ : nat => {self.value(arguments[0])})"
        if name == "_mm512_set1_epi64":
            return self.value(arguments[0])
        if name == "index":
            return self.index(arguments[0])
        if name == "part":
            return f"(part {self.value(arguments[0])} {self.index(arguments[1])})"
        if name == "within":
            return f"(within {self.value(arguments[0])} {self.index(arguments[1])} {self.value(arguments[2])})"
        if name in OPERATIONS or name in self.own:
            return f"({' '.join([OPERATIONS.get(name, name), *map(self.value, arguments)])})"
        raise self.unknown(f"{name} of columns")


def bound(names):
    """Names that are bound together."""
    return names[0] if len(names) == 1 else f"'({', '.join(names)})"


def place_name(name):
    """An index's name: `at` is a word of Coq's."""
    return "at_" if name == "at" else name


def translated(sources, translate):
    """Returns the text of the Coq file."""
    source = (sources / BLOCKS).read_text()
    lines = ["From Arith Require Import words lanes unrolled."]
    lines.append(f"(* Translated from {BLOCKS}: see translate_unrolled.py. *)")
    for name, function, parameters, replaced, result in FUNCTIONS:
        try:
            body = translate.rewritten(translate.function_text(source, function)[2], replaced)
            own = {one for one, *_ in FUNCTIONS}
            lines.append(Unrolled(source, body, own, translate).text(name, parameters, result))
        except translate.Unknown as error:
            raise translate.Unknown(f"{BLOCKS}: {function}: {error}") from None
    yield "square_blocks", "\n".join(lines) + "\n"
