"""PostgreSQL's programs in a folder of ours, so that the extension stands beside them and the
system stays as it is.

Usage: installation.py FOLDER PACKAGE PLACE: links the PostgreSQL of FOLDER into PLACE with the
extension of PACKAGE, and prints the folder whose bin/ has its programs.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path


def configuration(folder, *options):
    """What pg_config says."""
    return [Path(line) for line in subprocess.check_output([f"{folder}/bin/pg_config", *options], text=True).split()]


class Installation:
    """PostgreSQL's programs in a folder that is ours, so that the extension can be put beside
    them.
    """

    def __init__(self, folder, built, place):
        """Links all files into a new folder at the same depth: the programs find theirs from where
        they stand.
        """
        parts = configuration(folder, "--bindir", "--pkglibdir", "--sharedir")
        # A PostgreSQL that is not the system's brings its libraries along, a wheel's beside itself.
        package = Path(folder).parent
        own = [Path(folder) / "lib", package.with_name(f"{package.name}.libs")]
        own = [] if str(folder).startswith("/usr/") else [part for part in own if part.exists()]
        for part in [*parts, *own]:
            copy = place / part.relative_to("/")
            shutil.copytree(part, copy, symlinks=True, copy_function=linked, dirs_exist_ok=True)
        self.bin, libraries, shared = (place / part.relative_to("/") for part in parts)
        built = Path(built)
        for file in [built / "hearith.so", *(built / "extension").iterdir()]:
            target = (libraries if file.suffix == ".so" else shared / "extension") / file.name
            # What an installed extension left there is a link to the system's file.
            target.unlink(missing_ok=True)
            shutil.copy(file, target)
        self.version = int(
            subprocess.check_output([self.bin / "postgres", "--version"], text=True).split()[2].split(".")[0]
        )
        self.place = place


def linked(source, target):
    """A hard link, or a copy where the folders lie on different devices."""
    if not Path(target).exists():
        try:
            os.link(source, target)
        except OSError:
            shutil.copy2(source, target)


if __name__ == "__main__":
    place = Path(sys.argv[3])
    shutil.rmtree(place, ignore_errors=True)
    print(Installation(sys.argv[1], sys.argv[2], place).bin.parent)
