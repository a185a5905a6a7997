"""Shared code of the scripts that write pages from results of Yosys and nextpnr: options and the
page.
"""

import argparse
import sys

import tools


def options(description):
    """Returns the parser of a script's options, to which more can be added."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print the names of all jobs and run none")
    parser.add_argument("--only", action="append", default=[], metavar="WORD", help="run the jobs whose names contain WORD, and write nothing")
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel jobs (1)")
    parser.add_argument("--kept", action="store_true", help="run no tool; results that earlier runs did not leave are 'not run'")
    return parser


def versions():
    """Returns the tools with their versions."""
    return ", ".join(f"{name} {version}" for name, version in tools.TOOLS.items())


def write(page, jobs, arguments, text):
    """Runs the jobs that the arguments select, and writes the page of `text` with the results that
    it uses.
    """
    if arguments.list:
        print("\n".join(jobs))
        return
    tools.take_up(page)
    failures = 0 if arguments.kept else tools.run_jobs(jobs, arguments.only, arguments.jobs)
    if not arguments.only:
        # A failed job is not retried.
        tools.ONLY_KEPT = True
        tools.publish(page, text())
    if failures:
        sys.exit(f"{failures} jobs failed")
