"""Tables in Markdown."""


def row(*cells):
    """Returns a row of a table; None means that a cell was not run."""
    return "| " + " | ".join("not run" if cell is None else str(cell) for cell in cells) + " |"


def table(head, rows):
    """Returns a table with a header row."""
    return "\n".join([row(*head), "|" + "---|" * len(head), *(row(*cells) for cells in rows)])
