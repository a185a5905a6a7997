"""Stages the project's pages for MkDocs.

    python docs/site/stage.py TARGET

Copies every Markdown page that git tracks to TARGET under its own path, README.md at the top as
index.md, with the pictures that pages show. A link to another file or folder of the tree is
redirected to the repository; a broken link is an error.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: A Markdown link or picture: the text before its target, the target, the rest.
_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s]+)(\))")
PICTURES = {".svg", ".png"}
#: References that are built next to the pages.
REFERENCES = ("python/index.html", "rust/index.html")


def known_files() -> set[Path]:
    """Returns the files that git knows."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True, text=True).stdout
    return {Path(name) for name in listed.split("\0") if name}


def repository() -> str:
    """Returns the URL of the project's files."""
    package = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    return str(package["repository"])


class Stage:
    """The staged pages, their links, and the faults in these."""

    def __init__(self, target: Path) -> None:
        """Starts without pages."""
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
        """Returns the target of a page's link on the site."""
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
        """Returns the parts of a path from the root of the tree."""
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
    # Placeholders: other tools make the references at the end, and the navigation links to them.
    for reference in REFERENCES:
        (target / reference).parent.mkdir(parents=True)
        (target / reference).touch()
    # The repository site's own forms are not pages.
    for page in sorted(file for file in stage.files if file.suffix == ".md" and file.parts[0] != ".github"):
        stage.page(page)
    if stage.wrong:
        sys.exit("\n".join(stage.wrong))


if __name__ == "__main__":
    main()
