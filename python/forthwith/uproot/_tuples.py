"""Records of an ntuple whose fields are called ``_0``, ``_1`` and so on, which are tuples for uproot.

RNTuple has tuples of types that C++ has names for. Others are written as records with such names, by uproot as well.
"""

from __future__ import annotations

from typing import Any

from forthwith._packages import package


def _is_tuple(names: Any) -> bool:
    return names is not None and list(names) == [f"_{at}" for at in range(len(names))]


def form_of_tuples(form: Any) -> Any:
    """A Form, as JSON has it, with these records as tuples."""
    if isinstance(form, list):
        return [form_of_tuples(one) for one in form]
    if not isinstance(form, dict):
        return form
    inner = {name: form_of_tuples(form[name]) for name in ("content", "contents") if name in form}
    is_tuple = form.get("class") == "RecordArray" and _is_tuple(form.get("fields"))
    return {**form, **inner, **({"fields": None} if is_tuple else {})}


def with_tuples(layout: Any) -> Any:
    """An array of a layout, with these records as tuples."""
    ak = package("awkward")
    if not _has_tuple(layout.form):
        return ak.Array(layout)

    def action(node: Any, continuation: Any, **_: Any) -> Any:
        if not (node.is_record and not node.is_tuple and _is_tuple(node.fields)):
            return None
        contents = [with_tuples(content[: node.length]).layout for content in node.contents]
        return ak.contents.RecordArray(contents, None, length=node.length, parameters=node.parameters)

    return ak.Array(ak.transform(action, layout, highlevel=False, numpy_to_regular=False))


def _has_tuple(form: Any) -> bool:
    if form.is_record:
        return (not form.is_tuple and _is_tuple(form.fields)) or any(_has_tuple(one) for one in form.contents)
    contents = getattr(form, "contents", None)
    if contents is not None:
        return any(_has_tuple(one) for one in contents)
    content = getattr(form, "content", None)
    return content is not None and _has_tuple(content)
