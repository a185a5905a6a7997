"""Records README's first commands as a picture, docs/session.svg.

    python docs/site/session.py HEARITH

Runs the commands of README's quickstart with the program HEARITH on the table shown there, in a
scratch folder, and draws the terminal's output. Only times may differ from run to run.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs" / "session.svg"
#: Line height, character width and margin of the terminal in pixels, and its columns.
HEIGHT, WIDTH, MARGIN, COLUMNS = 20, 8.4, 16, 112
BACKGROUND, TEXT, PROMPT, REPORT = "#1b1f27", "#e6e6e6", "#7fd1b9", "#9aa4b2"


def blocks(language: str) -> list[str]:
    """Returns README's code blocks of a language."""
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def recorded(program: str) -> list[tuple[str, str]]:
    """Returns the terminal's lines with their colours."""
    lines: list[tuple[str, str]] = []
    commands = next(block for block in blocks("sh") if "hearith keygen" in block).splitlines()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "staff.csv").write_text(blocks("csv")[0])
        shown = subprocess.run(["cat", "staff.csv"], cwd=folder, capture_output=True, text=True, check=True)
        lines += [("$ cat staff.csv", PROMPT), *((line, TEXT) for line in shown.stdout.splitlines())]
        for command in commands:
            words = [program, *command.split()[1:]]
            run = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
            lines += [(f"$ {line}", PROMPT) for line in [command]]
            lines += [(line, TEXT) for line in run.stdout.splitlines()]
            lines += [(line, REPORT) for line in run.stderr.splitlines()]
    return lines


def drawn(lines: list[tuple[str, str]]) -> str:
    """Draws the lines as a picture."""
    wrapped = [(text[at : at + COLUMNS], colour) for text, colour in lines for at in range(0, len(text), COLUMNS)]
    wide, high = round(COLUMNS * WIDTH) + 2 * MARGIN, len(wrapped) * HEIGHT + 2 * MARGIN
    texts = [
        f'<text x="{MARGIN}" y="{MARGIN + (row + 0.75) * HEIGHT}" fill="{colour}">{html.escape(text)}</text>'
        for row, (text, colour) in enumerate(wrapped)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img"'
            ' aria-label="A terminal: a table is encrypted, summed and decrypted">',
            f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
            '<g font-family="monospace" font-size="14" xml:space="preserve">',
            *texts,
            "</g>",
            "</svg>",
            "",
        ]
    )


def main() -> None:
    """Records and draws."""
    PICTURE.write_text(drawn(recorded(str(Path(sys.argv[1]).resolve()))))


if __name__ == "__main__":
    main()
