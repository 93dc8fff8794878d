"""Names of the package and its objects, their reprs, and their completions."""

import io
import json
import pathlib
import pickle

import awkward as ak
import pyarrow as pa
import pytest
from conftest import data

import forthwith


def test_names_of_similar_libraries():
    for name, said in {
        "writing": "forthwith.recreate",
        "dask": "engines",
        "TTree": "forthwith.Tree",
        "read_parquet": "forthwith.open",
    }.items():
        with pytest.raises(AttributeError, match=f"has no attribute '{name}': .*{said}"):
            getattr(forthwith, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'$"):
        forthwith.nonsense  # noqa: B018


def test_completion_has_what_means_something(tree):
    assert "TYPE_CHECKING" not in dir(forthwith)
    assert set(forthwith.__all__) <= set(dir(forthwith))
    assert not {"damage", "row_groups", "chunks"} & set(dir(tree))
    avro = forthwith.open(data("avro/types.avro"))
    assert avro.damage == []
    assert not hasattr(avro, "row_groups")
    parquet = forthwith.open(data("parquet/plain.parquet"))
    assert parquet.row_groups
    assert not hasattr(parquet, "damage")


def test_exceptions_are_called_as_they_are_imported(tree):
    for name in forthwith.__all__:
        found = getattr(forthwith, name)
        if isinstance(found, type) and issubclass(found, Exception):
            assert found.__module__ == "forthwith", name
            assert pickle.loads(pickle.dumps(found("text"))).args[0] == "text" if name != "DataLossWarning" else True
    with pytest.raises(forthwith.KeyInFileError) as caught:
        tree["nothing"]
    assert f"{type(caught.value).__module__}.{type(caught.value).__qualname__}" == "forthwith.KeyInFileError"
    assert pickle.loads(pickle.dumps(caught.value)).key == "nothing"


def test_explanations_are_text_that_is_shown(tree):
    for text in (tree.explain(filter_name="run"), tree["run"].explain()):
        assert isinstance(text, str)
        assert repr(text) == str(text)
        assert "\n" in repr(text)
        assert text._repr_html_().startswith("<pre>run")


def test_a_file_shows_what_it_holds(file):
    shown = io.StringIO()
    file.show(stream=shown)
    assert "events;1" in shown.getvalue()
    assert "TTree" in shown.getvalue()
    filtered = io.StringIO()
    file.show(stream=filtered, filter_classname="TDirectory*")
    assert "events;1" not in filtered.getvalue()
    with pytest.raises(TypeError, match="has no argument 'filter_typename'"):
        file.keys(filter_typename="x")


def test_schemas_and_metadata(tree):
    avro = forthwith.open(data("avro/types.avro"))
    assert avro.schema == json.loads(avro.file.metadata["avro.schema"])
    assert avro.metadata["avro.codec"] == avro.file.metadata["avro.codec"]
    for other in (forthwith.open(data("parquet/plain.parquet")), tree):
        assert isinstance(other.schema, pa.Schema)
        assert other.schema.names == other.keys()
    assert repr(forthwith.open(data("parquet/plain.parquet"))).startswith("<Parquet 'plain.parquet' (")
    again = pickle.loads(pickle.dumps(avro))
    assert type(again) is type(avro)


def test_a_column_after_the_colon(path, tmp_path):
    forthwith.write_parquet(tmp_path / "one.parquet", {"who": ["a", "b"]})
    assert forthwith.open(f"{tmp_path}/one.parquet:who").array().tolist() == ["a", "b"]
    with pytest.raises(forthwith.KeyInFileError, match="whom"):
        forthwith.open(f"{tmp_path}/one.parquet:whom")
    with forthwith.open(data("trees.root")) as file:
        trees = file.keys(filter_classname="TTree")
    assert len(trees) > 1
    with pytest.raises(forthwith.KeyInFileError):
        forthwith.open(data("trees.root") + ":nothing_of_that_name")


def test_places_in_the_file(path):
    with forthwith.open(path) as file:
        tree = file["events"]
        assert file[tree.object_path] == tree
        assert file[tree["MET_pt"].object_path] == tree["MET_pt"]
        assert file["skim"].object_path == "/skim"
        assert file.object_path == "/"


def test_baskets_and_memory(tree):
    branch = tree["Muon_pt"]
    offsets = branch.entry_offsets
    assert offsets[0] == 0
    assert offsets[-1] == 3600
    assert offsets == sorted(offsets)
    assert len(offsets) == branch.num_baskets + 1
    assert [batch.entry_start for batch in branch.bulk()] == offsets[:-1]
    common = tree.common_entry_offsets()
    assert {0, 3600} <= set(common) <= set(offsets)
    assert tree.common_entry_offsets(["Muon_pt"]) == offsets
    few, many = tree.num_entries_for("10 kB"), tree.num_entries_for("100 kB")
    assert 0 < few < many
    assert 2000 < tree.num_entries_for("10 kB", ["run"]) <= 2500
    assert tree.num_entries_for(1, filter_name="Muon_*") == 1


def test_forms_of_groups(path):
    with forthwith.open(data("objects.root:split")) as split:
        for branch in split.values():
            try:
                array = branch.array(entry_stop=5)
            except forthwith.UnsupportedError:
                continue
            form = branch.form
            if branch.has_data:
                continue
            assert form.fields == array.fields
            assert form.type == array.layout.form.type, branch.path
            keys = list(form.expected_from_buffers())
            assert len(keys) == len(set(keys))
            assert isinstance(form, ak.forms.RecordForm)


def test_schemas_in_files(tmp_path):
    whole = forthwith.open(data("avro/types.avro"))
    name = whole.keys()[0]
    field = next(field for field in whole.schema["fields"] if field["name"] == name)
    wanted = {"type": "record", "name": whole.schema["name"], "fields": [field]}
    place = tmp_path / "wanted.avsc"
    place.write_text(json.dumps(wanted))
    assert forthwith.open(data("avro/types.avro"), schema=pathlib.Path(place)).keys() == [name]
    with pytest.raises(forthwith.RequestError, match=r"pathlib\.Path"):
        forthwith.open(data("avro/types.avro"), schema=str(place))


@pytest.mark.parametrize("write", [forthwith.write_avro, forthwith.write_parquet])
def test_compression_is_another_name_of_the_codec(write):
    files = []
    for options in ({"codec": "snappy"}, {"compression": "snappy"}, {"codec": "snappy", "compression": "snappy"}):
        file = io.BytesIO()
        write(file, {"x": [1.5] * 1000}, **options)
        files.append(len(file.getvalue()))
    assert len(set(files)) == 1
    with pytest.raises(TypeError, match="are the same argument"):
        write(io.BytesIO(), {"x": [1.5]}, codec="snappy", compression="zstd")
