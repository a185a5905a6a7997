"""Writes random predicates over a table of every type, with the rows that they keep.

DuckDB determines these rows, from the same predicate with typed literals and explicit casts.
Without casts, DuckDB truncates a time of day that is compared with a date, and rounds a decimal
that is compared with a double. For the latter, the oracle is Python's `fractions`.

    duckdb_predicates.py FOLDER COUNT SEED

writes FOLDER/table.parquet and FOLDER/predicates.json.
"""

import datetime as dt
import json
import random
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 60
SIGNS = ["=", "<>", "<", "<=", ">", ">="]
EPOCH = dt.date(1970, 1, 1)
# Few values, so that equality is common. They include the extremes of every type.
DAYS = [-719162, -1, 0, 1, 18262, 18263, 2932896]
TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "a%b",
    "a_b",
    "it's",
    "lab",
    "Lab",
    "é",
    "日本",
    "\U0001f600",
]
DOUBLES = [
    0.0,
    -0.0,
    0.1,
    0.3,
    1.5,
    -1.5,
    1e300,
    -1e-300,
    5e-324,
    2.0**53,
    2.0**53 + 2,
    float("inf"),
    float("-inf"),
    float("nan"),
]
NUMBER_TEXTS = [
    "",
    "0",
    "-0",
    "7",
    "7.5",
    "7.50",
    "1e3",
    "-12345678901234567.891",
    " 3 ",
    "+4",
    ".5",
    "300",
]


def decimals(digits: int, scale: int, random: random.Random) -> list[Decimal]:
    """Returns small and large decimals of a type, not rounded by Python's context."""
    largest = 10**digits - 1
    units = [
        0,
        1,
        -1,
        150,
        1505,
        largest,
        -largest,
        largest - 1,
        random.randrange(-largest, largest),
    ]
    with localcontext() as context:
        context.prec = 80
        return [Decimal(unit).scaleb(-scale) for unit in units if abs(unit) <= largest]


class Kind:
    """A column's type: its values, and literals to compare with it in hearith and DuckDB."""

    def __init__(self, name, arrow, values, literals, duck=None, group=None):
        self.name, self.arrow, self.values, self.literals = (
            name,
            arrow,
            values,
            literals,
        )
        # DuckDB's expression of the column, for comparison with others of its group.
        self.duck = duck or '"{}"'
        self.group = group


def kinds(random: random.Random) -> list[Kind]:
    """Returns the types of all columns."""
    found = []

    def integers(name, arrow, low, high):
        values = sorted(
            {low, low + 1, 0, 1, 7, high - 1, high} | ({-1} if low < 0 else set())
        )
        beyond = [low - 1, high + 1, 10 * high, 2 * low - 5]

        def literal():
            kind = random.randrange(4)
            if kind == 0:
                value = str(random.choice(beyond))
            elif kind == 1:
                value = f"{random.choice(values)}.5"
            else:
                value = str(random.choice(values))
            ours = f"'{value}'" if random.random() < 0.2 else value
            return ours, f"CAST('{value}' AS DECIMAL(38, 2))"

        found.append(
            Kind(name, arrow, values, literal, 'CAST("{}" AS DECIMAL(38, 2))', "exact")
        )

    for bits in [8, 16, 32, 64]:
        integers(
            f"i{bits}",
            getattr(pa, f"int{bits}")(),
            -(2 ** (bits - 1)),
            2 ** (bits - 1) - 1,
        )
        integers(f"u{bits}", getattr(pa, f"uint{bits}")(), 0, 2**bits - 1)

    for name, digits, scale in [("d9", 9, 2), ("d18", 18, 3), ("d38", 38, 6)]:
        values = decimals(digits, scale, random)

        def literal(values=values, digits=digits, scale=scale):
            with localcontext() as context:
                context.prec = 80
                value = random.choice(values)
                if random.random() < 0.5:
                    value += Decimal(random.choice([1, 5, -5])).scaleb(-scale - 1)
                text = format(value, "f")
            # One more digit than in the column fits DuckDB's widest decimal, except for the largest
            # values.
            if len(text.replace("-", "").replace(".", "")) > 38:
                return None
            return (
                text,
                f"CAST('{text}' AS DECIMAL(38, {scale + 1}))" if digits < 38 else None,
            )

        found.append(
            Kind(name, pa.decimal128(digits, scale), values, literal, '"{}"', None)
        )

    def double():
        value = random.choice(DOUBLES[:11])
        return repr(value), f"CAST('{value!r}' AS DOUBLE)"

    found.append(Kind("x", pa.float64(), DOUBLES, double, '"{}"', "double"))

    def single():
        text = random.choice(["0.1", "0.5", "-1.5", "16777216", "3.4e38"])
        return text, f"CAST('{text}' AS FLOAT)"

    found.append(
        Kind(
            "f",
            pa.float32(),
            [0.1, 0.5, -1.5, 16777216.0, 3.4e38, float("nan"), -0.0],
            single,
            '"{}"',
            "double",
        )
    )

    def text():
        value = random.choice(TEXTS).replace("'", "''")
        return f"'{value}'", f"'{value}'"

    found.append(Kind("s", pa.string(), TEXTS, text))
    found.append(Kind("ls", pa.large_string(), TEXTS, text))
    found.append(Kind("sv", pa.string_view(), TEXTS, text))
    found.append(Kind("ds", pa.dictionary(pa.int8(), pa.string()), TEXTS, text))

    def number():
        value = random.choice(
            [
                "0",
                "7",
                "7.5",
                "1e3",
                "300",
                "-12345678901234567.891",
                "-12345678901234567.8911",
                "3",
                "0.5",
            ]
        )
        return value, f"CAST('{value}' AS DECIMAL(38, 6))"

    found.append(
        Kind(
            "t",
            pa.string(),
            NUMBER_TEXTS,
            number,
            "CAST(NULLIF(\"{}\", '') AS DECIMAL(38, 6))",
        )
    )

    def day():
        value = EPOCH + dt.timedelta(days=random.choice(DAYS))
        if random.random() < 0.5:
            return f"'{value}'", f"DATE '{value}'"
        clock = random.choice(["00:00:00", "00:00:01", "23:59:59.999999"])
        ours = random.choice(
            ["'{} {}'", "timestamp '{} {}'", "cast('{}T{}' as timestamp)"]
        )
        return ours.format(value, clock), f"TIMESTAMP '{value} {clock}'"

    days = [EPOCH + dt.timedelta(days=day) for day in DAYS]
    found.append(
        Kind("day", pa.date32(), days, day, 'CAST("{}" AS TIMESTAMP)', "moment")
    )
    found.append(
        Kind("day64", pa.date64(), days, day, 'CAST("{}" AS TIMESTAMP)', "moment")
    )

    def moment(digits):
        def literal():
            value = EPOCH + dt.timedelta(days=random.choice([-1, 0, 1, 18262]))
            fraction = random.choice(
                ["0", "5", "001", "0005", "000001", "0000005"[:digits]]
            )
            return (
                f"'{value} 00:00:01.{fraction}'",
                f"CAST('{value} 00:00:01.{fraction}' AS TIMESTAMP_NS)",
            )

        return literal

    for unit, per_second in [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)]:
        ticks = [0, 1, -1, per_second, per_second + 1, 18262 * 86400 * per_second]
        column = 'CAST("{}" AS TIMESTAMP_NS)'
        found.append(
            Kind(f"ts_{unit}", pa.timestamp(unit), ticks, moment(7), column, "ns")
        )

    def zoned():
        value = random.choice(
            ["1970-01-01 00:00:00", "1970-01-01 01:00:00.000001", "2020-01-01 00:00:00"]
        )
        zone = random.choice(["+00:00", "+01:00", "-05:30", "Z"])
        return f"'{value}{zone}'", f"TIMESTAMPTZ '{value}{zone}'"

    instants = [0, 1, -1, 3600 * 10**6, 3600 * 10**6 + 1, 18262 * 86400 * 10**6]
    found.append(Kind("zoned", pa.timestamp("us", tz="Europe/Berlin"), instants, zoned))

    def clock():
        value = random.choice(
            ["00:00:00", "00:00:00.000001", "12:00:00", "23:59:59.999999"]
        )
        return f"'{value}'", f"TIME '{value}'"

    found.append(
        Kind("clock", pa.time64("us"), [0, 1, 43200 * 10**6, 86400 * 10**6 - 1], clock)
    )

    def boolean():
        value = random.choice(["true", "false"])
        return value, value

    found.append(Kind("yes", pa.bool_(), [True, False], boolean, '"{}"', "boolean"))
    return found


class Predicates:
    """Generates predicates as pairs: for hearith and for DuckDB."""

    def __init__(self, random: random.Random, kinds: list[Kind]):
        self.random, self.kinds = random, kinds

    def literal(self, kind: Kind):
        while True:
            found = kind.literals()
            if found and found[1]:
                return found

    def column(self, kind: Kind):
        return (
            f'"{kind.name}"' if self.random.random() < 0.2 else kind.name,
            kind.duck.format(kind.name),
        )

    def atom(self):
        random = self.random
        kind = random.choice([kind for kind in self.kinds if kind.name != "d38"])
        ours, duck = self.column(kind)
        choice = random.randrange(10)
        if choice == 0:
            word = random.choice(["is null", "is not null"])
            return f"{ours} {word}", f'"{kind.name}" {word}'
        if choice == 1:
            low, high = self.literal(kind), self.literal(kind)
            word = random.choice(["between", "not between"])
            return (
                f"{ours} {word} {low[0]} and {high[0]}",
                f"{duck} {word} {low[1]} and {high[1]}",
            )
        if choice == 2:
            items = [self.literal(kind) for _ in range(random.randrange(1, 5))]
            word = random.choice(["in", "not in"])
            both = [", ".join(item[side] for item in items) for side in (0, 1)]
            return f"{ours} {word} ({both[0]})", f"{duck} {word} ({both[1]})"
        if choice == 3 and kind.name in ("s", "ls", "sv", "ds"):
            pattern = random.choice(
                ["%", "a%", "%b", "_", "a_b", "%a%", "__%", "L%", "a!%%", "a!_b"]
            )
            word = random.choice(["like", "not like"])
            escape = " escape '!'" if "!" in pattern else ""
            return (
                f"{ours} {word} '{pattern}'{escape}",
                f"CAST({duck} AS VARCHAR) {word} '{pattern}'{escape}",
            )
        if choice <= 5 and kind.group:
            other = random.choice(
                [other for other in self.kinds if other.group == kind.group]
            )
            sign = random.choice(SIGNS)
            there = self.column(other)
            return f"{ours} {sign} {there[0]}", f"{duck} {sign} {there[1]}"
        if choice == 6 and kind.name in ("s", "ls", "sv", "ds"):
            other = random.choice(["s", "ls", "sv", "ds"])
            sign = random.choice(SIGNS)
            return (
                f"cast({ours} as text) {sign} {other}",
                f'CAST({duck} AS VARCHAR) {sign} CAST("{other}" AS VARCHAR)',
            )
        if choice == 7 and kind.name == "t":
            other = random.choice(
                [other for other in self.kinds if other.group == "exact"]
            )
            sign = random.choice(SIGNS)
            return (
                f"{ours}::decimal {sign} {other.name}",
                f"{duck} {sign} {other.duck.format(other.name)}",
            )
        if kind.name == "yes" and random.random() < 0.5:
            return ours, duck
        sign, value = random.choice(SIGNS), self.literal(kind)
        if random.random() < 0.3:
            return f"{value[0]} {sign} {ours}", f"{value[1]} {sign} {duck}"
        return f"{ours} {sign} {value[0]}", f"{duck} {sign} {value[1]}"

    def predicate(self, depth: int = 3):
        random = self.random
        choice = random.randrange(6) if depth else 5
        if choice >= 3:
            return self.atom()
        left = self.predicate(depth - 1)
        if choice == 2:
            word = random.choice(
                ["not ({})", "({}) is true", "({}) is not false", "({}) is null"]
            )
            return tuple(word.format(side) for side in left)
        right = self.predicate(depth - 1)
        word = ["and", "or"][choice]
        return tuple(f"({a}) {word} ({b})" for a, b in zip(left, right, strict=True))


def rational(value):
    """Returns a sort key: the number as a fraction, or beyond all numbers, with NaN as the
    largest.
    """
    if isinstance(value, float) and value != value:
        return (2, 0)
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return (1 if value > 0 else -1, 0)
    return (0, Fraction(value))


def holds(sign: str, a, b) -> bool:
    return {
        "=": a == b,
        "<>": a != b,
        "<": a < b,
        "<=": a <= b,
        ">": a > b,
        ">=": a >= b,
    }[sign]


def exact_comparisons(random: random.Random, count: int, table: pa.Table):
    """Compares numbers of all types with each other, as fractions."""
    columns = ["i64", "u64", "d9", "d18", "d38", "d60", "x", "f"]
    cells = {name: table.column(name).to_pylist() for name in columns}
    for _ in range(count):
        a, b = random.sample(columns, 2)
        sign = random.choice(SIGNS)
        rows = [
            row
            for row, (left, right) in enumerate(zip(cells[a], cells[b], strict=True))
            if left is not None
            and right is not None
            and holds(sign, rational(left), rational(right))
        ]
        yield {"where": f"{a} {sign} {b}", "rows": rows}
    # Literals of any length, compared with decimals of 60 digits.
    for _ in range(count):
        name = random.choice(["d38", "d60"])
        value = random.choice([cell for cell in cells[name] if cell is not None])
        with localcontext() as context:
            context.prec = 100
            value += Decimal(random.choice([0, 1, -1])).scaleb(-random.randrange(1, 30))
            text = format(value, "f")
        sign = random.choice(SIGNS)
        rows = [
            row
            for row, cell in enumerate(cells[name])
            if cell is not None and holds(sign, Fraction(cell), Fraction(value))
        ]
        yield {"where": f"{name} {sign} {text}", "rows": rows}


def main(folder: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)
    columns = kinds(rng)
    arrays, fields = [], []
    for kind in columns:
        cells = [
            None if rng.random() < 0.15 else rng.choice(kind.values)
            for _ in range(ROWS)
        ]
        if pa.types.is_dictionary(kind.arrow):
            arrays.append(pa.array(cells, pa.string()).dictionary_encode())
        else:
            arrays.append(pa.array(cells, kind.arrow))
        fields.append(kind.name)
    wide = decimals(60, 20, rng) + [Decimal("0.1"), Decimal("0.3"), Decimal(2**53)]
    arrays.append(
        pa.array([rng.choice(wide) for _ in range(ROWS)], pa.decimal256(60, 20))
    )
    fields.append("d60")
    table = pa.table(arrays, names=fields)
    pq.write_table(table, folder / "table.parquet", row_group_size=25)

    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.register(
        "cells", table.drop_columns(["d60"]).append_column("row", pa.array(range(ROWS)))
    )
    connection.execute("CREATE TABLE plain AS SELECT * FROM cells")
    makes = Predicates(rng, columns)
    predicates = []
    for _ in range(count):
        ours, duck = makes.predicate()
        rows = connection.execute(
            f"SELECT row FROM plain WHERE {duck} ORDER BY row"
        ).fetchall()
        predicates.append({"where": ours, "rows": [row for (row,) in rows]})
    predicates += exact_comparisons(rng, max(count // 10, 20), table)
    (folder / "predicates.json").write_text(json.dumps(predicates))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
