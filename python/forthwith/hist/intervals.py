"""Confidence intervals of efficiencies, as C++ ROOT's ``TEfficiency`` has them."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from forthwith._errors import RequestError

if TYPE_CHECKING:
    from forthwith.hist.axis import Numbers

# Statistic options. Of those that are none, ROOT takes the first.
_NORMAL, _WILSON, _AGRESTI_COULL = 1, 2, 3
_COUNTED = {4: "feldman-cousins", 8: "mid-p"}


def counted(option: int, total: Numbers, passed: Numbers, level: float) -> tuple[Numbers, Numbers]:
    """Both ends of the intervals of an option that knows no prior: of how many how many passed."""
    _check(level)
    if option not in (_NORMAL, _WILSON, _AGRESTI_COULL):
        return _one_by_one(_COUNTED.get(option, "clopper-pearson"), level, total, passed)
    kappa = NormalDist().inv_cdf(1 - (1 - level) / 2)
    with np.errstate(invalid="ignore", divide="ignore"):
        if option == _NORMAL:
            middle = passed / total
            reach = kappa * np.sqrt(middle * (1 - middle) / total)
        else:
            more = total + kappa**2
            middle = (passed + 0.5 * kappa**2) / more
            if option == _WILSON:
                share = passed / total
                reach = kappa / more * np.sqrt(total * share * (1 - share) + kappa**2 / 4)
            else:
                reach = kappa * np.sqrt(middle * (1 - middle) / more)
    # Nothing is known of none.
    low = np.where(total == 0, 0.0, np.where(middle - reach < 0, 0.0, middle - reach))
    return low, np.where(total == 0, 1.0, np.where(middle + reach > 1, 1.0, middle + reach))


def weighted(
    values: Numbers, total: Numbers, squares: tuple[Numbers, Numbers], level: float
) -> tuple[Numbers, Numbers]:
    """The errors, below and above, of efficiencies of weights, by the sums of their squares of all and of those that passed."""
    _check(level)
    of_all, of_passed = squares
    with np.errstate(invalid="ignore", divide="ignore"):
        variances = (of_passed * (1 - 2 * values) + of_all * values**2) / total**2
        reach = NormalDist().inv_cdf(1 - (1 - level) / 2) * np.sqrt(variances)
    return np.where(values - reach < 0, values, reach), np.where(values + reach > 1, 1 - values, reach)


def beta(a: Numbers, b: Numbers, level: float, shortest: bool) -> tuple[Numbers, Numbers]:
    """Both ends of the intervals of beta distributions."""
    _check(level)
    return _one_by_one("shortest" if shortest else "central", level, a, b)


def _one_by_one(how: str, level: float, first: Numbers, second: Numbers) -> tuple[Numbers, Numbers]:
    from forthwith._forthwith import efficiency_intervals

    # Many bins have the same numbers.
    pairs, places = np.unique(np.stack([first.ravel(), second.ravel()]), axis=1, return_inverse=True)
    ends = np.array(efficiency_intervals(how, level, pairs[0].tolist(), pairs[1].tolist())).reshape(-1, 2)
    low, high = ends[places.ravel()].T.reshape(2, *first.shape)
    return low, high


def _check(level: float) -> None:
    if not 0 < level < 1:
        raise RequestError(f"a confidence level must be between 0 and 1, not {level}")
