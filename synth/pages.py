"""What the scripts have in common that write a page of what Yosys and nextpnr make of some modules:
their options, and how the page comes about.
"""

import argparse
import sys

import tools


def options(description):
    """The parser of a script's options, for more to be added."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names of all jobs, and run none")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="run the jobs whose name contains a word, and write nothing")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument("--kept", action="store_true", help="run no tool: what earlier runs have not left is 'not run'")
    return parser


def versions():
    """The tools with their versions."""
    return ", ".join(f"{name} {version}" for name, version in tools.TOOLS.items())


def write(page, jobs, arguments, text):
    """Runs the jobs that the arguments ask for, and writes the page that `text` gives, with the
    results that it is made of.
    """
    if arguments.list:
        print("\n".join(jobs))
        return
    tools.take_up(page)
    failures = 0 if arguments.kept else tools.run_jobs(jobs, arguments.only, arguments.jobs)
    if not arguments.only:
        # What failed is not tried again.
        tools.ONLY_KEPT = True
        tools.publish(page, text())
    if failures:
        sys.exit(f"{failures} of the jobs failed")
