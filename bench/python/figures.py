"""Helpers for times on pages: measurement, medians with their spread, digit grouping."""

import statistics
import time


def timed(function):
    """Returns the seconds that a function takes, and its result."""
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def spread(values, digits=2):
    """Returns the median, minimum and maximum."""
    middle, least, most = statistics.median(values), min(values), max(values)
    return f"{middle:.{digits}f} ({least:.{digits}f}..{most:.{digits}f})"


def thousands(value):
    """Formats a number with its digits in groups."""
    return f"{value:,.0f}".replace(",", " ")
