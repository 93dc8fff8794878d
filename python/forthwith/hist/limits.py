"""The range of an axis that is to be found, as C++ ROOT's ``THLimitsFinder`` finds it: to the last bit."""

from __future__ import annotations

import math

# The largest number of single precision: no width of bins.
_WIDEST = 3.4028234663852886e38


def limits(bins: int, low: float, high: float, integer: bool, labelled: bool) -> tuple[int, float, float]:
    """The number of bins and the ends of an axis of so many, for entries between these two.

    Args:
        bins: How many there were to be.
        low: The least entry.
        high: The greatest.
        integer: Whether bins are to be as wide as whole numbers.
        labelled: Whether bins have labels.
    """
    if low >= high:
        low, high = (0.0, float(bins)) if labelled else (low - 1, high + 1)
    more = 5 * (high - low) / bins if integer else 0.1 * (high - low)
    least, most = low - more, high + more
    if least < 0 and low >= 0:
        least = 0.0
    if most > 0 and high <= 0:
        most = 0.0
    first, last, width = _rounded(least, most, bins)
    if width <= 0 or width > 1e39:
        low, high = -1.0, 1.0
    else:
        delta = 0.01 * (high - low)
        low, high = min(first, low - delta), max(last, high + delta)
    return _whole(bins, low, high, least, most) if integer else (bins, low, high)


# The share of the bins that ROOT leaves free on each side of a range of powers of two, unless a .rootrc says otherwise.
_FREE = 0.05


def powers_of_two(found: tuple[int, float, float], low: float, high: float) -> tuple[int, float, float]:
    """The same of a histogram that shall have bins as wide as a power of two (``TH1::kAutoBinPTwo``).

    Args:
        found: What `limits` gives.
        low: The least entry.
        high: The greatest.
    """
    bins, least, most = found
    if abs(most) > abs(least):
        most = _power(most, up=True)
        least = most - _power(most - least, up=True)
    else:
        least = _power(least, up=False)
        most = least + _power(most - least, up=True)
    wanted = (most - least) / (high - low) * bins
    if not wanted < 1 << 30:
        return 1 << 30, least, most
    bins = int(wanted)
    fraction, power = math.frexp(bins)
    if abs(fraction - 0.5) > 0.001:
        bins = 1 << power
    width, free = (most - least) / bins, int(bins * _FREE)
    # Bins are left out, or more are made, until enough are free.
    above = int((most - high) / width)
    above += above % 2
    most -= width * (above - free)
    bins -= above - free
    below = int((low - least) / width)
    below += below % 2
    least += width * (below - free)
    bins -= below - free
    return bins, least, most


def _power(number: float, up: bool) -> float:
    """A power of two, or minus one, above or below."""
    fraction, power = math.frexp(number)
    beyond = number > 0 if up else number <= 0
    return math.ldexp(math.copysign(1.0, fraction), power if beyond else power - 1)


def _whole(bins: int, low: float, high: float, least: float, most: float) -> tuple[int, float, float]:
    """The next whole numbers, and as many bins of a whole number as there is room for."""
    down, up = float(int(low)), float(int(high))
    low = down - 1 if low < 0 and low != down else down
    if high == 0:
        high = 1.0
    elif high < 0 or high == up:
        high = up
    else:
        high = up + 1
    if low >= high:
        high = low + 1
    width = max(1, int((high - low) / bins))
    bins = int((high - low) / width)
    if low + bins * width < most:
        bins += 1
        high = low + bins * width
    if low > least:
        bins += 1
        low = high - bins * width
    return bins, low, high


def _rounded(least: float, most: float, bins: int) -> tuple[float, float, float]:
    """Both ends and the width of about ``bins`` bins whose width is 1, 2 or 5 times a power of ten."""
    if least == most:
        most = least + 1
    parts = max(bins, 2)
    while True:
        share = (most - least) / parts
        if not 0 < share < _WIDEST:
            return 0.0, 0.0, 0.0
        power = int(math.log10(share))
        if abs(power) > 200:
            return 0.0, 1.0, 0.01
        if share <= 1:
            power -= 1
        leading = share * 10.0**-power - 1e-10
        rounded = next((number for number in (1, 2, 5) if leading <= number), None)
        if rounded is None:
            rounded, power = 1, power + 1
        width = rounded * 10.0**power
        if abs(least / width) > 1e9:
            return least, most, width
        begin, end = least / width, most / width + 1.00001
        first, last = int(begin) - (begin < 0), int(end) - (end < 0)
        found = last - first
        if bins > 5 and 2 * found == bins:
            parts += 1
            continue
        low, high = width * first, width * last
        if bins == 1 and found != 1:
            width, found = width * 2, 1
        break
    # Bins that nothing needs are left out, unless that leaves none.
    near = width * 0.0001
    begin = low + width if least - low >= near else low
    end = high - width if high - most >= near else high
    return (low, high, width) if begin >= end else (begin, end, width)
