"""Puts the project's pages in order for MkDocs.

    python docs/site/stage.py TARGET

Every page in Markdown that git knows lies in TARGET under its own path, README.md at the top as
index.md, with the pictures that pages show. A link to another file or folder of the tree leads to
the repository, a link to nothing is an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A link or picture of Markdown: what comes before its target, the target, the rest.
_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
PICTURES = {".svg", ".png"}
#: What is built beside the pages.
REFERENCES = ("python/index.html", "rust/index.html")


def known_files() -> set[Path]:
    """The files that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {Path(name) for name in listed.split("\0") if name}


def repository() -> str:
    """Where the project's files can be looked at."""
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    return str(package["repository"])


class Stage:
    """The pages, their links, and what is wrong with these."""

    def __init__(self, target: Path) -> None:
        """Starts with nothing staged."""
        self.target, self.files, self.wrong = target, known_files(), list[str]()
        self.folders = {folder for file in self.files for folder in file.parents}
        self.repository = repository()

    def page(self, page: Path) -> None:
        """Stages a page."""
        text = (ROOT / page).read_text()
        out = self.target / ("index.md" if page == Path("README.md") else page)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(_LINK.sub(lambda match: match[1] + self.link(page, match[2]) + match[3], text))

    def link(self, page: Path, link: str) -> str:
        """Where a page's link leads on the site."""
        if re.match(r"[a-z]+:|#", link):
            return link
        name, _, anchor = link.partition("#")
        file = Path(*self.within(page.parent, name)) if self.within(page.parent, name) else Path()
        if file == Path("README.md"):
            return "/".join([".."] * len(page.parent.parts) + ["index.md"])
        if file in self.files and (file.suffix == ".md" or file.suffix in PICTURES):
            if file.suffix in PICTURES:
                self.picture(file)
            return link
        if file in self.files or file in self.folders:
            kind = "blob" if file in self.files else "tree"
            return f"{self.repository}/{kind}/main/{file}{'#' + anchor if anchor else ''}"
        self.wrong.append(f"{page}: a link to {link}, which is not there")
        return link

    @staticmethod
    def within(folder: Path, name: str) -> list[str]:
        """The parts of a path from the top of the tree."""
        parts = list(folder.parts)
        for part in Path(name).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        return parts

    def picture(self, file: Path) -> None:
        """Stages a picture."""
        (self.target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / file, self.target / file)


def main() -> None:
    """Stages all pages."""
    target = Path(sys.argv[1])
    shutil.rmtree(target, ignore_errors=True)
    stage = Stage(target)
    # The references are made by other tools, in the end; the navigation leads to them.
    for reference in REFERENCES:
        (target / reference).parent.mkdir(parents=True)
        (target / reference).touch()
    # Forms of the repository's own site are no pages.
    for page in sorted(file for file in stage.files if file.suffix == ".md" and file.parts[0] != ".github"):
        stage.page(page)
    if stage.wrong:
        sys.exit("\n".join(stage.wrong))


if __name__ == "__main__":
    main()
