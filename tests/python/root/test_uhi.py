"""Bins in brackets are what hist has there, and sums of histograms what numbers say."""

import pickle

import boost_histogram as bh
import hist
import numpy as np
import pandas as pd
import pytest
from conftest import data

import forthwith


@pytest.fixture(scope="module")
def file():
    with forthwith.open(data("histograms.root")) as file:
        yield file


ONE = ["h1c", "h1s", "h1i", "h1l", "h1f", "h1d", "weighted", "variable"]
INDEXES = [
    slice(None), slice(1, 3), slice(2, None), slice(None, -1), slice(-3, None), slice(0.1j, None), slice(bh.loc(-0.5), 1.1j),
    slice(None, None, sum), slice(1, None, sum), slice(None, 3, sum), slice(1, 3, sum), slice(0, len, sum),
    slice(None, None, 2j), slice(1, 4, bh.rebin(2)), slice(None, None, bh.rebin(3)), slice(bh.underflow, None),
    slice(bh.underflow, None, sum), slice(-1e9j, 0.1j, sum), slice(-1e9j, None, sum), slice(None, bh.overflow, sum),
]  # fmt: skip
BINS = [0, 1, -1, 0.1j, 0.1j + 1, bh.loc(-0.3), bh.underflow, bh.overflow, np.int64(2)]


def same(found, wanted):
    """Equal to what hist has: contents, variances, edges."""
    values, variances = wanted.values(flow=True), wanted.variances(flow=True)
    np.testing.assert_allclose(found.values(True), values)
    if variances is not None and found.kind == "COUNT":
        np.testing.assert_allclose(found.variances(True), variances)
    for mine, theirs in zip(found.axes, wanted.axes, strict=True):
        np.testing.assert_allclose(mine.edges(), theirs.edges, atol=1e-12)


def value(number):
    return getattr(number, "value", number)


@pytest.mark.parametrize("name", ONE)
def test_one_dimension(file, name):
    found, wanted = file[name], file[name].to_hist()
    for index in BINS:
        assert found[index] == value(wanted[index]), index
    for index in INDEXES:
        mine, theirs = found[index], wanted[index]
        if isinstance(theirs, bh.Histogram):
            same(mine, theirs)
        else:
            assert mine == pytest.approx(value(theirs)), index
    assert list(found) == found.values().tolist()
    assert np.array_equal(np.asarray(found), found.values())


@pytest.mark.parametrize("name", ["two", "three"])
def test_more_dimensions(file, name):
    found, wanted = file[name], file[name].to_hist()
    rest = (slice(None),) * (len(found.axes) - 2)
    for index in [
        (1, slice(None), *rest),
        (slice(None), bh.overflow, *rest),
        (slice(None, None, sum), slice(1, None), *rest),
        (slice(None), slice(None, None, sum), *rest),
        (slice(1, None), slice(None, None, bh.rebin(2)), *rest),
        (slice(0, len, sum), ...),
        {0: slice(1, 3)},
        {-1: slice(None, None, sum), 0: 1},
    ]:
        mine, theirs = found[index], wanted[index]
        if isinstance(theirs, bh.Histogram):
            same(mine, theirs)
            assert mine.classname == f"TH{len(mine.axes)}D"
        else:
            assert mine == pytest.approx(value(theirs))
    assert found[(0,) * len(found.axes)] == found.values().ravel()[0]
    assert found[(slice(None, None, sum),) * len(found.axes)] == pytest.approx(found.values(True).sum())
    with pytest.raises(TypeError, match="several axes"):
        list(found)


@pytest.mark.parametrize("name", ["profile", "profilew", "profile2", "profile3"])
def test_profiles(file, name):
    found, wanted = file[name], file[name].to_hist()
    rest = (slice(None),) * (len(found.axes) - 1)
    assert found[(0,) * len(found.axes)] == found.values().ravel()[0]
    for step in (None, bh.rebin(min(2, len(found.axes[0]) - 1))):
        mine, theirs = found[(slice(1, None, step), *rest)], wanted[(slice(1, None, step), *rest)]
        assert mine.classname == found.classname
        filled = mine.counts(True) > 0
        np.testing.assert_allclose(mine.values(True)[filled], theirs.values(flow=True)[filled], rtol=1e-6)
        np.testing.assert_allclose(mine.counts(True), theirs.counts(flow=True), rtol=1e-6)
    if rest:
        less = found[(slice(None, None, sum), *rest)]
        assert less.classname == ("TProfile" if len(rest) == 1 else "TProfile2D")
        assert less.values().shape == found.values().shape[1:]


def test_labels_and_what_a_slice_is(file):
    labels = file["labels"]
    names = labels.axes[0].labels()
    assert labels[bh.loc(names[1])] == labels.values()[1]
    assert labels[1:].axes[0].labels() == names[1:]
    assert labels[::2j].axes[0].labels() is None
    some = file["h1d"][2:5]
    again = pickle.loads(pickle.dumps(some))
    assert np.array_equal(again.values(True), some.values(True))
    assert some.entries == pytest.approx(some.values(True).sum())
    assert some.axes[0].low < some.mean() < some.axes[0].high
    assert file["h1d"][::2j].mean() == file["h1d"].mean()
    assert isinstance(some.to_hist(), hist.Hist)
    assert some.tojson()["fXaxis"]["_typename"] == "TAxis"
    assert "<svg" in some._repr_html_()
    assert some[1:2][0] == file["h1d"][3]


def test_what_is_no_index(file):
    for name, wrong in [
        ("h1d", 10**9), ("h1d", -(10**9)), ("h1d", (0, 0)), ("h1d", slice(5, 2)), ("h1d", slice(None, None, bh.rebin(99))),
        ("two", 0), ("two", (0, 0, 0)), ("two", {5: 0}), ("labels", bh.loc("no such label")), ("efficiency", 10**6),
        ("dense", 0),
    ]:  # fmt: skip
        with pytest.raises(IndexError) as raised:
            file[name][wrong]
        assert not isinstance(raised.value, forthwith.DamagedFileError)
    for name, wrong in [
        ("h1d", 1.5), ("h1d", None), ("h1d", []), ("h1d", True), ("h1d", slice(None, None, 3)), ("h1d", slice(None, None, max)),
        ("h1d", 1.5 + 2j), ("h1d", object()), ("efficiency", slice(1, 2)), ("polygons", 10**6),
    ]:  # fmt: skip
        with pytest.raises(TypeError):
            file[name][wrong]
    with pytest.raises(KeyError, match="fEntries"):
        file["h1d"]["fEntrie"]
    with pytest.raises(forthwith.KeyInFileError) as raised:
        file["h1d"]["x"]
    assert "axis('x')" in raised.value.__notes__[0]


@pytest.mark.parametrize(
    "name", ["h1d", "two", "profile", "efficiency", "dense", "sparse", "polygons", "listed", "matrix"]
)
def test_no_index_is_an_error_of_python_or_numpy(file, name):
    """Whatever stands in brackets: a value, or an error of this package that says what is taken."""
    what = file[name]
    axes = len(getattr(what, "axes", "x"))
    many, mask = np.array([1, 2]), np.ones(3, dtype=bool)
    for wrong in (
        many, mask, np.array([1.5]), np.array("x"), pd.Series([1, 2]), [many], many.tolist(), slice(many, None),
        slice(None, many), slice(None, None, many), lambda axis: many, {0: many}, {"x": 1}, "x", b"x", set(), 2**70,
        float("nan"),
    ):  # fmt: skip
        for given in (wrong, (wrong,) * axes):
            try:
                what[given]
            except forthwith.ForthwithError as error:
                assert not isinstance(error, (forthwith.DamagedFileError, forthwith.InternalError)), error  # noqa: PT017
            else:
                assert name in ("matrix", "listed"), given


@pytest.mark.parametrize("name", ["dense", "dense_int", "sparse", "sparse_weighted"])
def test_slices_of_any_number_of_dimensions_are_those_of_boost(file, name):
    """Sums and slices, with what lies outside, and their variances."""
    many = file[name]
    if len(many.axes) == 4:
        whole = many[:, :, :, ::sum]
        assert whole.values(True) == pytest.approx(many.values(True).sum(axis=3))
    else:
        whole = many
    boost = bh.Histogram(*(axis.to_boost() for axis in whole.axes), storage=bh.storage.Weight())
    boost.view(flow=True).value, boost.view(flow=True).variance = whole.values(True), whole.variances(True)
    for index in (
        np.s_[1:3, :, :], np.s_[:, ::sum, :], np.s_[::2j, :, 1:4], np.s_[1, :, ::sum], np.s_[0, 1, :], np.s_[::sum, ::sum, 2:4],
        np.s_[..., 2], {2: slice(1, 3)},
    ):  # fmt: skip
        spelled = tuple(
            slice(one.start, one.stop, bh.rebin(2)) if isinstance(one, slice) and one.step == 2j else one for one in index
        ) if isinstance(index, tuple) else index  # fmt: skip
        found, wanted = whole[index], boost[spelled]
        assert found.classname == "THnT<double>"
        assert found.values(True) == pytest.approx(wanted.view(flow=True).value)
        assert found.variances(True) == pytest.approx(wanted.view(flow=True).variance)
        total, squares = found.values(True).sum(), found.variances(True).sum()
        assert found.entries == pytest.approx(total**2 / squares if squares else 0)
        again = pickle.loads(pickle.dumps(found))
        assert np.array_equal(again.values(), found.values())
        assert "THnT" in repr(found)
        assert found.to_hist().axes.extent == tuple(len(axis) + 2 for axis in found.axes)
    assert whole[::sum, ::sum, ::sum] == pytest.approx(whole.values(True).sum())
    assert many[...].entries == many.entries


def test_arithmetic(file):
    one, float32, weighted = file["h1d"], file["h1f"], file["weighted"]
    assert sum([one, one, one]).integral() == pytest.approx(3 * one.integral())
    assert (one + one).entries == 2 * one.entries
    assert np.array_equal((2 * one).values(True), (one + one).values(True))
    assert np.allclose((one / 4).variances(True), one.variances(True) / 16)
    assert (-one).integral() == -one.integral()
    assert np.array_equal((one - one).values(True), np.zeros(len(one.axes[0]) + 2))
    assert (float32 + float32).values().dtype == np.float32
    assert (one + one).classname == one.classname
    assert (weighted * 3).mean() == pytest.approx(weighted.mean())
    assert pickle.loads(pickle.dumps(one + one)).entries == 2 * one.entries
    labels = file["labels"]
    assert (labels + labels).axes[0].labels() == labels.axes[0].labels()
    profile = file["profile"]
    assert np.allclose((profile + profile).values(), profile.values())
    assert np.allclose((profile * 2).values(), 2 * profile.values())
    assert one[2:5] + one[2:5] is not None
    assert np.array_equal((one[2:5] + one[2:5]).values(True), 2 * one[2:5].values(True))


def test_numbers_of_numpy_are_numbers(file):
    histogram = file["weighted"]
    wanted = histogram * 2
    for factor in (np.float64(2), np.float32(2), np.int64(2), np.array(2.0)):
        for found in (factor * histogram, histogram * factor, histogram / (1 / factor)):
            assert isinstance(found, type(histogram))
            np.testing.assert_allclose(found.values(True), wanted.values(True))
            np.testing.assert_allclose(found.variances(True), wanted.variances(True))
        for wrong in (lambda: factor + histogram, lambda: histogram - factor, lambda: factor / histogram):  # noqa: B023
            with pytest.raises(TypeError):
                wrong()
    np.testing.assert_allclose(np.sqrt(histogram), np.sqrt(histogram.values()))
    np.testing.assert_allclose(histogram * np.ones(len(histogram.axes[0])), histogram.values())
    for beyond in (lambda: histogram * 10**400, lambda: histogram / 5e-324, lambda: histogram / 10**400):
        with pytest.raises(forthwith.RequestError, match="largest float"):
            beyond()
    for nowhere in (complex(np.nan, 1), complex(np.inf, 1)):
        with pytest.raises(forthwith.ForthwithError):
            histogram[nowhere]


def test_what_cannot_be_added(file):
    one = file["h1d"]
    for other in (file["two"], file["variable"], file["profile"], file["labels"], one[1:], one[::2j]):
        with pytest.raises(forthwith.RequestError, match="cannot be added"):
            one + other
    for other in (1, "x", None, [1], file["efficiency"], file["dense"]):
        with pytest.raises(TypeError):
            one + other
    for factor in (one, "x", None, True, [2]):
        with pytest.raises(TypeError):
            one * factor
    with pytest.raises(forthwith.RequestError, match="divided by 0"):
        one / 0
    with forthwith.open(data("buffered.root")) as buffered:
        waits = next(
            found for found in buffered.values() if len(found.member("fBuffer", ())) and found.member("fBuffer")[0] > 0
        )
        with pytest.raises(forthwith.UnsupportedError, match="buffer"):
            waits * 2
