"""Efficiencies: two histograms, and the one over the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from forthwith._guard import guarded
from forthwith._packages import package as _package
from forthwith.hist.drawing import Plotted
from forthwith.hist.histograms import over
from forthwith.hist.intervals import beta, counted, weighted

if TYPE_CHECKING:
    from forthwith.hist.axis import Axis, Numbers
    from forthwith.hist.histograms import Histogram

# Bits of fBits.
_BAYESIAN = 1 << 14
_POSTERIOR_MODE = 1 << 15
_SHORTEST = 1 << 16
_BIN_PRIORS = 1 << 17
_WEIGHTS = 1 << 18


@guarded
class Efficiency(Plotted):
    """A ``TEfficiency``: how many of those that fell into a bin passed."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """``"MEAN"``, of ones and zeros."""
        return "MEAN"

    @property
    def total(self) -> Histogram:
        """The histogram of all entries."""
        found: Histogram = self.member("fTotalHistogram")
        return found

    @property
    def passed(self) -> Histogram:
        """The histogram of the entries that passed."""
        found: Histogram = self.member("fPassedHistogram")
        return found

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes."""
        return self.total.axes

    def counts(self, flow: bool = False) -> Numbers:
        """The number of all entries in each bin, as an array in the shape of `values`."""
        return self.total.values(flow)

    def values(self, flow: bool = False) -> Numbers:
        """The efficiencies, as ``GetEfficiency`` gives them: an array of ``float64`` with a dimension for each axis."""
        total, passed = self._both(flow)
        bits = int(self.member("fBits"))
        if not bits & _BAYESIAN:
            return over(passed, total, total != 0)
        a, b, known = self._posterior(flow)
        if not bits & _POSTERIOR_MODE:
            return np.where(known, over(a, a + b, a + b > 0), np.nan)
        edge = np.where(a > b, 1.0, np.where(a == b, 0.5, 0.0))
        inside = (a > 1) & (b > 1)
        likely = np.where((a <= 0) | (b <= 0), 0.0, np.where(inside, over(a - 1, a + b - 2, inside), edge))
        return np.where(known, likely, np.nan)

    def _both(self, flow: bool) -> tuple[Numbers, Numbers]:
        return self.total.values(flow).astype(np.float64), self.passed.values(flow).astype(np.float64)

    def _posterior(self, flow: bool) -> tuple[Numbers, Numbers, Numbers]:
        """The parameters of the beta distribution of each efficiency, and where something is known of it."""
        total, passed = self._both(flow)
        known = np.ones(total.shape, dtype=bool)
        if int(self.member("fBits")) & _WEIGHTS:
            # As many entries as the weights are worth. Of no weights nothing is known.
            squares = self.total._squares(flow)
            known = squares > 0
            worth = over(total, squares, known)
            a, b = passed * worth, (total - passed) * worth
        else:
            a, b = passed, total - passed
        alpha, beta = self._prior(flow)
        return a + alpha, b + beta, known

    def _prior(self, flow: bool) -> tuple[Any, Any]:
        alpha, beta = self.member("fBeta_alpha"), self.member("fBeta_beta")
        if not int(self.member("fBits")) & _BIN_PRIORS:
            return alpha, beta
        # Of each bin its own, as far as there are any.
        bins = int(np.prod([len(axis) + 2 for axis in self.axes]))
        given = [tuple(pair) for pair in self.member("fBeta_bin_params", ())][:bins]
        pairs = np.array(given + [(alpha, beta)] * (bins - len(given)), dtype=np.float64).reshape(bins, 2)
        return self.total._shaped(pairs[:, 0], flow), self.total._shaped(pairs[:, 1], flow)

    def lower(self, flow: bool = False, level: float | None = None) -> Numbers:
        """How far the confidence interval reaches below the efficiency, as ``GetEfficiencyErrorLow`` gives it.

        The object's statistic option chooses the interval: that of Clopper and Pearson, the normal approximation, that of
        Wilson, Agresti and Coull, Feldman and Cousins, Bayesian with any prior, or mid-P.

        Args:
            flow: Whether to have underflow and overflow.
            level: The confidence level. Not given, as the object says.
        """
        return self._errors(flow, level)[0]

    def upper(self, flow: bool = False, level: float | None = None) -> Numbers:
        """How far the confidence interval reaches above the efficiency, as ``GetEfficiencyErrorUp`` has it. See `lower`."""
        return self._errors(flow, level)[1]

    def _errors(self, flow: bool, level: float | None) -> tuple[Numbers, Numbers]:
        values, bits = self.values(flow), int(self.member("fBits"))
        level = float(self.member("fConfLevel")) if level is None else level
        if not bits & _BAYESIAN and bits & _WEIGHTS:
            total = self.total.values(flow).astype(np.float64)
            return weighted(values, total, (self.total._squares(flow), self.passed._squares(flow)), level)
        if not bits & _BAYESIAN:
            low, high = counted(int(self.member("fStatisticOption")), *self._both(flow), level)
            return values - low, high - values
        a, b, known = self._posterior(flow)
        low, high = beta(a, b, level, bool(bits & _SHORTEST))
        return np.where(known, values - low, 0.0), np.where(known, high - values, 0.0)

    def _drawn_errors(self) -> Numbers | None:
        return (self.lower() + self.upper()) / 2

    def variances(self, flow: bool = False) -> Numbers:
        """The variances in the normal approximation. Confidence intervals do not use them: see `lower` and `upper`."""
        total, values = self.total.values(flow).astype(np.float64), self.values(flow)
        return over(values * (1 - values), total, total != 0)

    def to_boost(self) -> Any:
        """The efficiency as a ``boost_histogram.Histogram`` of means: of ones for entries that passed, and zeros for others."""
        bh = _package("boost_histogram")
        has_weights = self.total.weighted
        made, cut = self._made(bh.storage.WeightedMean() if has_weights else bh.storage.Mean())
        view = made.view(flow=True)
        counts, values = self.counts(True)[cut].astype(np.float64), self.values(True)[cut]
        view.value = values
        if has_weights:
            view.sum_of_weights, view.sum_of_weights_squared = counts, self.total.variances(True)[cut]
            view["_sum_of_weighted_deltas_squared"] = counts * values * (1 - values)
        else:
            view.count, view["_sum_of_deltas_squared"] = counts, counts * values * (1 - values)
        return made
