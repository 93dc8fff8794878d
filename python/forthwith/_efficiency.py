"""Efficiencies: two histograms, and the one over the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._drawing import Drawn
from forthwith._errors import UnsupportedError
from forthwith._histograms import over
from forthwith._libraries import package as _package

if TYPE_CHECKING:
    from forthwith._axis import Axis, Numbers
    from forthwith._histograms import Histogram

# Bits of fBits.
_BAYESIAN = 1 << 14
_POSTERIOR_MODE = 1 << 15
_BIN_PRIORS = 1 << 17
_WEIGHTS = 1 << 18


class Efficiency(Drawn):
    """A ``TEfficiency``: how many of those that fell into a bin passed."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"MEAN"``: of ones and zeros."""
        return "MEAN"

    @property
    def total(self) -> Histogram:
        """All."""
        found: Histogram = self.member("fTotalHistogram")
        return found

    @property
    def passed(self) -> Histogram:
        """Those that passed."""
        found: Histogram = self.member("fPassedHistogram")
        return found

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return self.total.axes

    def counts(self, flow: bool = False) -> Numbers:
        """How many there were."""
        return self.total.values(flow)

    def values(self, flow: bool = False) -> Numbers:
        """The efficiencies, as ``GetEfficiency`` has them.

        Raises:
            UnsupportedError: They are Bayesian with a prior for each bin.
        """
        total = self.total.values(flow).astype(np.float64)
        passed = self.passed.values(flow).astype(np.float64)
        bits = int(self.member("fBits"))
        if not bits & _BAYESIAN:
            return over(passed, total, total != 0)
        if bits & _BIN_PRIORS:
            raise UnsupportedError(f"{self!r} has a prior for each bin")
        known = np.ones(total.shape, dtype=bool)
        if bits & _WEIGHTS:
            # As many entries as the weights are worth. Of no weights nothing is known.
            squares = self.total.variances(flow)
            known = squares > 0
            worth = over(total, squares, known)
            passed, total = passed * worth, total * worth
        a = passed + self.member("fBeta_alpha")
        b = total - passed + self.member("fBeta_beta")
        if not bits & _POSTERIOR_MODE:
            return np.where(known, over(a, a + b, a + b > 0), np.nan)
        edge = np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0))
        inside = (a > 1) & (b > 1)
        likely = np.where((a <= 0) | (b <= 0), 0.0, np.where(inside, over(a - 1, a + b - 2, inside), edge))
        return np.where(known, likely, np.nan)

    def variances(self, flow: bool = False) -> Numbers:
        """Those of the normal approximation. The intervals that ROOT draws are not made here."""
        total, values = self.total.values(flow).astype(np.float64), self.values(flow)
        return over(values * (1 - values), total, total != 0)

    def errors(self, flow: bool = False) -> Numbers:
        """The square roots of `variances`."""
        found: Numbers = np.sqrt(self.variances(flow))
        return found

    def to_numpy(self, flow: bool = False, dd: bool = False) -> tuple[Any, ...]:
        """Values and edges as ``numpy.histogram`` gives them; with ``dd``, as ``numpy.histogramdd``."""
        edges = tuple(axis.edges(flow) for axis in self.axes)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def to_boost(self) -> Any:
        """The efficiency as boost-histogram has it: the means of ones, for what passed, and zeros."""
        bh = _package("boost_histogram")
        weighted = self.total.weighted
        storage = bh.storage.WeightedMean() if weighted else bh.storage.Mean()
        made = bh.Histogram(*(axis.to_boost() for axis in self.axes), storage=storage)
        made.name, made.title = self.name, self.title
        cut, view = self.total._without_missing_flow(made), made.view(flow=True)
        counts, values = self.counts(True)[cut].astype(np.float64), self.values(True)[cut]
        view.value = values
        if weighted:
            view.sum_of_weights, view.sum_of_weights_squared = counts, self.total.variances(True)[cut]
            view["_sum_of_weighted_deltas_squared"] = counts * values * (1 - values)
        else:
            view.count, view["_sum_of_deltas_squared"] = counts, counts * values * (1 - values)
        return made

    def to_hist(self) -> Any:
        """The efficiency as hist has it."""
        return _package("hist").Hist(self.to_boost())

    def __repr__(self) -> str:
        return f"<{self.classname} {self.name!r} of {' × '.join(str(len(axis)) for axis in self.axes)} bins>"  # noqa: RUF001
