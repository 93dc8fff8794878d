"""Tables without columns keep their number of rows."""

import io

import pytest

import forthwith

fastavro = pytest.importorskip("fastavro")
pa = pytest.importorskip("pyarrow")
NOTHING = {"type": "record", "name": "t", "fields": []}


@pytest.fixture
def table():
    data = io.BytesIO()
    schema = {**NOTHING, "fields": [{"name": "a", "type": "string"}]}
    fastavro.writer(data, schema, [{"a": "x"}, {"a": "y"}])
    data.seek(0)
    return forthwith.open(data, schema=NOTHING)


def test_rows_of_records_without_fields_are_kept(table):
    assert (table.num_entries, len(table.arrays())) == (2, 2)
    assert table.arrays(library="arrow").num_rows == 2
    assert len(table.arrays(library="pd")) == 2
    assert [part.num_rows for part in table.iterate(library="arrow", step_size=1)] == [1, 1]
    assert pa.RecordBatchReader.from_stream(table.select([])).read_all().num_rows == 2
    assert len(table.arrays(library="pl")) == 2
    assert table.arrays(library="arrow", entry_stop=0).num_rows == 0


def test_rows_of_records_without_fields_are_written(tmp_path):
    written = pa.table({"a": [1, 2, 3]}).select([])
    forthwith.write_avro(tmp_path / "x.avro", written)
    assert forthwith.open(tmp_path / "x.avro").arrays(library="arrow").num_rows == 3
