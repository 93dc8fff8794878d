"""Times of Parquet's old type INT96, also those that nanoseconds do not hold."""

import datetime
import io
import random

import pytest

import forthwith

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

DATES = [datetime.datetime(1000, 1, 1), datetime.datetime(2000, 1, 1, 12, 30), datetime.datetime(9999, 12, 31)]


def stored(column, kind, **options):
    file = io.BytesIO()
    table = pa.table({"at": pa.array(column, kind)})
    pq.write_table(table, file, use_deprecated_int96_timestamps=True, store_schema=False, **options)
    return file


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize(
    ("kind", "wrap"),
    [
        (pa.timestamp("us"), lambda date: date),
        (pa.list_(pa.timestamp("us")), lambda date: [date, date]),
        (pa.struct([("t", pa.timestamp("us"))]), lambda date: {"t": date}),
    ],
)
def test_times_out_of_range_are_an_error_or_microseconds(dictionary, kind, wrap):
    values = [wrap(DATES[1]), None, wrap(DATES[1]), wrap(DATES[2]), wrap(DATES[0])]
    file = stored(values, kind, use_dictionary=dictionary, row_group_size=2)
    with pytest.raises(forthwith.DamagedFileError, match=r'int96="us"') as caught:
        forthwith.open(file).arrays()
    assert caught.value.entry == 3
    assert forthwith.open(file).arrays(entry_stop=3, library="arrow")["at"].to_pylist() == values[:3]
    assert forthwith.open(file, int96="us").arrays(library="arrow")["at"].to_pylist() == values


def test_the_limits_of_nanoseconds(tmp_path):
    inside = [datetime.datetime(1677, 9, 21, 0, 12, 44), datetime.datetime(2262, 4, 11, 23, 47, 16), None]
    assert forthwith.open(stored(inside, pa.timestamp("us"))).arrays(library="arrow")["at"].to_pylist() == inside
    for outside in (datetime.datetime(1677, 9, 21, 0, 12, 43), datetime.datetime(2262, 4, 11, 23, 47, 17)):
        file = stored([*inside, outside], pa.timestamp("us"))
        with pytest.raises(forthwith.DamagedFileError) as caught:
            forthwith.open(file).arrays()
        assert caught.value.entry == 3
        found = forthwith.open(file, int96="us").arrays(library="np")["at"]
        assert found.tolist() == [*inside, outside]
        with pytest.raises(forthwith.DamagedFileError):
            forthwith.open(file).arrays(cut="is_none(at)")
    with pytest.raises(forthwith.RequestError, match='int96 is "ns" or "us", not "ms"'):
        forthwith.open(file, int96="ms")


def test_random_columns():
    for seed in range(40):
        chance = random.Random(seed)
        date = lambda: None if chance.random() < 0.3 else chance.choice(DATES)  # noqa: B023, E731
        values = [[date() for _ in range(chance.randrange(4))] for _ in range(chance.randint(1, 30))]
        bad = [entry for entry, dates in enumerate(values) if {DATES[0], DATES[2]} & set(dates)]
        options = {"use_dictionary": chance.random() < 0.5, "data_page_version": chance.choice(("1.0", "2.0"))}
        file = stored(values, pa.list_(pa.timestamp("us")), row_group_size=chance.randint(1, 9), **options)
        assert forthwith.open(file, int96="us")["at"].array(library="arrow").to_pylist() == values, seed
        if bad:
            with pytest.raises(forthwith.DamagedFileError) as caught:
                forthwith.open(file).arrays()
            assert caught.value.entry == bad[0], seed
            rest = forthwith.open(file).arrays(entry_stop=bad[0], library="arrow")["at"]
            assert rest.to_pylist() == values[: bad[0]], seed
