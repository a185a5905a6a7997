"""What pages show of times: how long a call takes, medians with their spread, digits in groups."""

import statistics
import time


def timed(function):
    """Seconds that a function takes, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def spread(values, digits=2):
    """Median, and least and greatest."""
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}..{most:.{digits}f})"


def thousands(value):
    """A number with its digits in groups."""
    return f"{value:,.0f}".replace(",", " ")
