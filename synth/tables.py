"""Tables in Markdown."""


def row(*cells):
    """A line of a table; what is None was not run."""
    return "| " + " | ".join("not run" if cell is None else str(cell) for cell in cells) + " |"


def table(head, rows):
    """A table with a line of titles."""
    return "\n".join([row(*head), "|" + "---|" * len(head), *(row(*cells) for cells in rows)])
