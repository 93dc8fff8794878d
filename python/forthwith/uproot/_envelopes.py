"""The header, footer and page lists of ntuples in uproot's words."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from forthwith import _forthwith

_ROLES = ("plain", "collection", "record", "variant", "streamed")


class FieldRecord(NamedTuple):
    """A field. ``parent_field_id`` is its own number where it is at the top."""

    field_id: int
    field_name: str
    type_name: str
    type_alias: str
    field_desc: str
    parent_field_id: int
    struct_role: int
    type_ver: int
    repetition: int | None
    is_projected: bool


class ColumnRecord(NamedTuple):
    """A column. ``first_element_index`` is that of columns that were added later, otherwise 0."""

    idx: int
    type: int
    nbits: int
    field_id: int
    repr_idx: int
    first_element_index: int
    min_value: float | None
    max_value: float | None


class AliasColumn(NamedTuple):
    """The column of another field that a projected field shows."""

    physical_id: int
    field_id: int


class ClusterGroup(NamedTuple):
    """Clusters of one page list."""

    min_entry: int
    entry_span: int
    num_clusters: int


class ClusterSummary(NamedTuple):
    """The entries of a cluster."""

    num_first_entry: int
    num_entries: int


class Locator(NamedTuple):
    """The place of bytes in the file."""

    offset: int
    num_bytes: int


class PageDescription(NamedTuple):
    """A page."""

    num_elements: int
    locator: Locator
    checksum: bool


class PageLink:
    """The pages of a column in a cluster; ``suppressed`` where the cluster has another representation of it."""

    def __init__(self, found: dict[str, Any] | None) -> None:
        self.suppressed = found is None
        found = found or {"pages": [], "first": -1, "compression": 0}
        self.pages = [PageDescription(count, Locator(at, size), checked) for count, at, size, checked in found["pages"]]
        self.element_offset: int = found["first"]
        self.compression_settings: int = found["compression"]

    def __len__(self) -> int:
        return len(self.pages)

    def __getitem__(self, at: int) -> PageDescription:
        return self.pages[at]


class Chunk:
    """The bytes of an envelope, decompressed, with their checksum."""

    def __init__(self, raw_data: bytes) -> None:
        self.raw_data = raw_data


class Header:
    """What the header says: fields, columns, alias columns, description and writer."""

    def __init__(self, found: dict[str, Any], fields: list[FieldRecord], columns: list[ColumnRecord]) -> None:
        self.field_records, self.column_records = fields, columns
        self.alias_column_records = [AliasColumn(column, field) for field, column in found["aliases"]]
        self.ntuple_description: str = found["description"]
        self.writer_identifier: str = found["writer"]
        self.checksum: int = found["header_checksum"]


class Footer:
    """What the footer says: fields and columns that were added later, groups of clusters, and attribute sets."""

    def __init__(self, found: dict[str, Any], fields: list[FieldRecord], columns: list[ColumnRecord]) -> None:
        self.header_checksum: int = found["header_checksum"]
        self.checksum: int = found["footer_checksum"]
        self.extension_links = Header({**found, "aliases": []}, fields, columns)
        self.cluster_group_records = [
            ClusterGroup(group["first"], group["entries"], len(group["clusters"])) for group in found["groups"]
        ]
        self.linked_attribute_sets: list[str] = found["attribute_sets"]


class Envelopes:
    """All of them, read when one of them is asked for."""

    def __init__(self, table: Any) -> None:
        found = json.loads(_forthwith.ntuple_descriptor(table))
        fields = [
            FieldRecord(
                at,
                one["name"],
                one["type_name"],
                one["type_alias"],
                one["description"],
                at if one["parent"] is None else one["parent"],
                _ROLES.index(one["role"]) if one["role"] in _ROLES else int(one["role"]),
                one["version"],
                one["repeats"],
                one["projected"],
            )
            for at, one in enumerate(found["fields"])
        ]
        columns = [
            ColumnRecord(
                at,
                one["code"],
                one["bits"],
                one["field"],
                one["representation"],
                one["first"] or 0,
                *(one["range"] or (None, None)),
            )
            for at, one in enumerate(found["columns"])
        ]
        self.version: list[int] = found["version"]
        self.field_records, self.column_records = fields, columns
        self.descriptions = described(fields)
        first_fields, first_columns = found["header_fields"], found["header_columns"]
        self.header = Header(found, fields[:first_fields], columns[:first_columns])
        self.footer = Footer(found, fields[first_fields:], columns[first_columns:])
        clusters = [cluster for group in found["groups"] for cluster in group["clusters"]]
        self.cluster_summaries = [ClusterSummary(cluster["first"], cluster["entries"]) for cluster in clusters]
        self.page_link_list = [[PageLink(column) for column in cluster["columns"]] for cluster in clusters]


def described(fields: list[FieldRecord]) -> dict[tuple[str, ...], str]:
    """The descriptions of fields by their names and those of the fields around them, without the items of lists."""
    paths: list[tuple[str, ...]] = []
    found: dict[tuple[str, ...], str] = {}
    for at, one in enumerate(fields):
        around = paths[one.parent_field_id] if one.parent_field_id < at else ()
        is_item = around and one.field_name.startswith("_") and one.field_name[1:].isdigit()
        paths.append(around if is_item else (*around, one.field_name))
        found.setdefault(paths[-1], one.field_desc)
    return found
