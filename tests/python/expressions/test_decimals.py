"""Decimals in expressions: compared as they are, with numbers in the text and with each other, whatever they are kept as."""

import datetime
import decimal
import operator
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import forthwith

D = decimal.Decimal
OPERATIONS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def decimals(rng, precision, scale, rows, missing):
    most = 10**precision - 1
    near = [rng.randint(-most, most), rng.randint(-min(most, 50), min(most, 50))]
    values = [
        None if missing and rng.random() < 0.2 else rng.choice([rng.randint(-most, most), rng.choice(near)])
        for _ in range(rows)
    ]
    return [None if value is None else D(value).scaleb(-scale) for value in values]


@pytest.mark.parametrize("kept", ["bytes", "integers", "avro"])
def test_cuts_by_decimals_are_those_of_python(kept, tmp_path):
    rng = random.Random(kept)
    with decimal.localcontext(decimal.Context(prec=60)):
        for _ in range(40):
            precision = rng.randint(1, 18)
            scale = rng.randint(0, precision)
            x, y = (decimals(rng, precision, scale, 200, rng.random() < 0.5) for _ in range(2))
            kind = pa.decimal128(precision, scale)
            path = tmp_path / ("t.avro" if kept == "avro" else "t.parquet")
            if kept == "avro":
                logical = {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}
                fields = [{"name": name, "type": ["null", logical]} for name in "xy"]
                rows = [{"x": a, "y": b} for a, b in zip(x, y, strict=True)]
                forthwith.write_avro(path, rows, {"type": "record", "name": "R", "fields": fields})
            else:
                table = pa.table({"x": pa.array(x, kind), "y": pa.array(y, kind)})
                pq.write_table(table, path, store_decimal_as_integer=kept == "integers", row_group_size=50)
            with forthwith.open(path) as table:
                for spelled, asked in OPERATIONS.items():
                    known = [value for value in x if value is not None] or [D(0)]
                    number = rng.choice(
                        [rng.choice(known), rng.choice(known) + D("0.5").scaleb(-scale), D(3), D("0.1")]
                    )
                    text = f"{number:f}"
                    if "." in text and D(repr(float(text))) != number:
                        # Which no float has: there are no such numbers in a text.
                        text, number = str(int(number)), D(int(number))
                    wanted = [at for at, value in enumerate(x) if value is not None and asked(value, number)]
                    read = table.arrays(["x"], cut=f"x {spelled} {text}", library="arrow")
                    assert read["x"].to_pylist() == [x[at] for at in wanted], (spelled, text, precision, scale)
                    read = table.arrays(["x"], cut=f"{text} {spelled} x", library="arrow")
                    wanted = [value for value in x if value is not None and asked(number, value)]
                    assert read["x"].to_pylist() == wanted
                    read = table.arrays(["x"], cut=f"x {spelled} y", library="arrow")
                    pairs = zip(x, y, strict=True)
                    assert read["x"].to_pylist() == [a for a, b in pairs if None not in (a, b) and asked(a, b)]


def test_decimals_become_floats_where_that_is_asked_for(tmp_path):
    values = [D("1.25"), None, D("-12345678901234.56")]
    pq.write_table(pa.table({"x": pa.array(values, pa.decimal128(38, 2))}), tmp_path / "a.parquet")
    with forthwith.open(tmp_path / "a.parquet") as table:
        read = table.arrays(["float64(x) * 2", "is_none(x)"])
        assert read["float64(x) * 2"].to_list() == [2.5, None, -24691357802469.12]
        assert read["is_none(x)"].to_list() == [False, True, False]
        read = table.arrays(cut="x < inf", library="arrow")
        assert read["x"].to_pylist() == [D("1.25"), D("-12345678901234.56")]
        assert len(table.arrays(cut="x > 1e300")) == 0
        for text, message in [
            ("x + 1", r"float64\(…\) makes floats"),
            ("x > '1'", "meets something else"),
            ("x > True", "compared with"),
            ("int64(x)", r"float64\(…\) makes floats"),
            ("x", None),
        ]:
            if message is None:
                assert table.arrays([text], library="arrow")["x"].to_pylist() == values
                continue
            with pytest.raises(forthwith.RequestError, match=message):
                table.arrays([text])


def test_decimals_in_lists(tmp_path):
    kind = pa.list_(pa.decimal128(6, 2))
    pq.write_table(pa.table({"x": pa.array([[D("1.50"), None], [], [D("2.50")]], kind)}), tmp_path / "a.parquet")
    with forthwith.open(tmp_path / "a.parquet") as table:
        assert table.arrays(cut="any(x > 1.5)", library="arrow")["x"].to_pylist() == [[D("2.50")]]
        with pytest.raises(forthwith.RequestError, match=r"float64\(…\) makes floats"):
            table.arrays(["sum(x)"])
        assert table.arrays(["sum(float64(x))"])["sum(float64(x))"].to_list() == [1.5, 0, 2.5]
        assert table.arrays(["x >= 1.5"])["x >= 1.5"].to_list() == [[True, None], [], [True]]


def test_decimals_that_are_no_counts_of_64_bits_are_refused(tmp_path):
    values = [D(10) ** 30, D(1)]
    pq.write_table(pa.table({"x": pa.array(values, pa.decimal128(38, 0))}), tmp_path / "a.parquet")
    columns = {"x": pa.array([D("1.5")], pa.decimal128(5, 1)), "y": pa.array([D("1.50")], pa.decimal128(5, 2))}
    columns["day"] = pa.array([datetime.date(2020, 1, 1)])
    pq.write_table(pa.table(columns), tmp_path / "b.parquet")
    with forthwith.open(tmp_path / "a.parquet") as table, pytest.raises(forthwith.ForthwithError, match="18 digits"):
        table.arrays(cut="x > 1")
    with forthwith.open(tmp_path / "b.parquet") as table:
        with pytest.raises(forthwith.RequestError, match="1 digits behind the point meets one with 2"):
            table.arrays(cut="x > y")
        with pytest.raises(forthwith.RequestError, match="meets something else"):
            table.arrays(cut="x > day")
        assert len(table.arrays(cut="float64(x) == float64(y)")) == 1
