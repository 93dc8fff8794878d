"""Options of uproot's calls: those of stores, and those that say how files are read, which forthwith decides by itself.

Threads, windows of ranges and caches are forthwith's own. An option that would change what is read is not among these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from forthwith import _stores
from forthwith._errors import UnsupportedError

# How files are opened: uproot knows neither times in trees nor checks of text.
AS_STORED: dict[str, Any] = {"times_as_integers": True, "check_text": False}

# Options of `open`, `iterate`, `concatenate` and `dask` without effect.
NO_EFFECT = frozenset(
    (
        "array_cache",
        "begin_chunk_size",
        "coalesce_config",
        "custom_classes",
        "decompression_executor",
        "handler",
        "http_max_header_bytes",
        "interpretation_executor",
        "max_num_elements",
        "minimal_ttree_metadata",
        "num_fallback_workers",
        "num_workers",
        "object_cache",
        "use_threads",
        "backend",
        "interpreter",
    )
)

# Filters, which coffea gives `open` along with the calls that read.
FILTERS = frozenset(("filter_name", "filter_typename", "filter_branch", "filter_field"))

# Arguments of calls that read, which no store has.
READING = frozenset(
    (
        *FILTERS,
        *(
            "expressions",
            "cut",
            "library",
            "how",
            "aliases",
            "language",
            "report",
            "ak_add_doc",
            "virtual",
            "access_log",
        ),
        *("entry_start", "entry_stop", "step_size"),
        *(
            "steps_per_file",
            "open_files",
            "allow_missing",
            "full_paths",
            "recursive",
            "form_mapping",
            "known_base_form",
        ),
        "allow_read_errors_with_report",
    )
)

# fsspec's options of its file objects, buffers and instances, which the package's own stores do without.
_OF_FSSPEC = frozenset(
    (
        *("asynchronous", "auto_mkdir", "block_size", "cache_options", "cache_type", "default_block_size"),
        *(
            "default_cache_type",
            "default_fill_cache",
            "encoding",
            "errors",
            "expand",
            "fill_cache",
            "listings_expiry_time",
        ),
        *("loop", "max_paths", "mode", "newline", "skip_instance_cache", "use_listings_cache", "version_aware"),
    )
)


def refuse(call: str, options: Iterable[str], known: Iterable[str] = READING) -> None:
    """Refuses options that are, or nearly are, arguments that a call does not have or spells otherwise.

    All others are options of stores, which know by themselves what they take.

    Raises:
        TypeError: There is one.
    """
    from difflib import get_close_matches  # not at the top: nothing else needs it

    for name in options:
        if name in NO_EFFECT or name in _OF_FSSPEC:
            continue
        near = [one for one in known if one == name or one.startswith(f"{name}_")]
        near = near or get_close_matches(name, [*known, *NO_EFFECT], 1, 0.8)
        if near:
            said = "" if near[0] == name else f": did you mean {near[0]}?"
            raise TypeError(f"{call}() has no argument {name!r}{said}")


def store_options(path: Any, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Options of the store of a URL, given as arguments or in ``storage_options``; ``None`` of a path or a file object."""
    scheme = _stores.scheme(path) if isinstance(path, str) else None
    if scheme in (None, "file"):
        return None
    store = dict(options.get("storage_options") or {})
    store.update(
        (name, value) for name, value in options.items() if name not in NO_EFFECT and name != "storage_options"
    )
    if not _stores.is_foreign(path):
        # fsspec takes the options of a scheme by its name as well.
        store.update(store.pop(scheme, None) or {})
        store = {name: value for name, value in store.items() if name not in _OF_FSSPEC}
    return store or None


def with_own_options(path: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A path as text, and options with those of a path that has ``storage_options``; given ones win."""
    own = getattr(path, "storage_options", None)
    if own is None or isinstance(path, (str, bytes)):
        return path, options
    return str(path), {**own, **options}


def apart(call: str, options: dict[str, Any], known: Iterable[str] = READING) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments among some that say what is read, and those that say how files are opened.

    Raises:
        TypeError: One of the latter is nearly one of the former, `known`.
    """
    reading = {name: value for name, value in options.items() if name in READING}
    opening = {name: value for name, value in options.items() if name not in reading}
    refuse(call, opening, known)
    return reading, opening


def without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that may be pickled."""
    own = {name: value for name, value in options.items() if name in NO_EFFECT}
    store = {name: value for name, value in options.items() if name not in NO_EFFECT}
    return {**own, **(_stores.without_secrets(store) or {})}


class _Unset:
    """The type of `unset`."""

    def __repr__(self) -> str:
        return "unset"


unset = _Unset()
"""An argument that was not given, where ``None`` would say something."""


def no_filter(x: Any) -> bool:
    """The filter that all pass."""
    return True


class Source:
    """How uproot would read bytes: a name to give as ``handler=``, with no effect here."""


class MemmapSource(Source):
    """A mapped file."""


class MultithreadedFileSource(Source):
    """A file read by threads."""


class FSSpecSource(Source):
    """A file of fsspec."""


class HTTPSource(Source):
    """A file behind HTTP."""


class MultithreadedHTTPSource(Source):
    """A file behind HTTP, read by threads."""


class XRootDSource(Source):
    """A file behind XRootD."""


class MultithreadedXRootDSource(Source):
    """A file behind XRootD, read by threads."""


class ObjectSource(Source):
    """A Python file object."""


def check_handler(path: Any, handler: Any) -> None:
    """Refuses what is not a way to read bytes, although it has no effect.

    Raises:
        TypeError: It is not a subclass of `Source`, or one that cannot read from a file object.
    """
    if handler is not None and not (isinstance(handler, type) and issubclass(handler, Source)):
        raise TypeError(f"'handler' is not a class object inheriting from Source: {handler!r}")
    if hasattr(path, "read") and handler not in (None, ObjectSource):
        raise TypeError(f"'handler' is not ObjectSource for a file-like object: {handler!r}")


class Cursor:
    """A position in a file."""

    def __init__(self, index: int) -> None:
        self.index = index


class Future:
    """The result of a call that was made."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def result(self, timeout: float | None = None) -> Any:
        """The result."""
        return self._value


class TrivialExecutor:
    """Makes each call at once. As an argument it has no effect: reading has threads of its own."""

    num_workers = 0

    def __init__(self, *args: object, **options: object) -> None:
        self.args = args

    def submit(self, task: Callable[..., Any], /, *args: Any, **options: Any) -> Future:
        """Makes a call."""
        return Future(task(*args, **options))

    def shutdown(self, wait: bool = True) -> None:
        """Ends nothing: there are no threads."""

    def __enter__(self) -> TrivialExecutor:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


class ThreadPoolExecutor(TrivialExecutor):
    """As `TrivialExecutor`: reading has threads of its own."""


class PythonLanguage:
    """Python's expressions over whole arrays, the language that ``language=`` can name.

    Args:
        functions: Functions of one's own by their names, which expressions here do not have.
        getter: The name of the function that gives columns whose names are not those of variables: ``"get"``.
    """

    def __init__(self, functions: Any = None, getter: str = "get") -> None:
        self.functions, self.getter = functions, getter

    def __repr__(self) -> str:
        return "PythonLanguage()"


python_language = PythonLanguage()


def check_language(language: Any) -> None:
    """Refuses what would give expressions another meaning.

    Raises:
        UnsupportedError: Functions of one's own, another getter, or a language of one's own.
    """
    if language is None or (
        isinstance(language, PythonLanguage) and language.functions is None and language.getter == "get"
    ):
        return
    if isinstance(language, PythonLanguage):
        what = "functions=" if language.functions is not None else f"getter={language.getter!r}"
        raise UnsupportedError(f"expressions with PythonLanguage({what}): compute with the arrays that were read")
    raise UnsupportedError(f"expressions in {language!r}: forthwith has one language of its own")


def without_host(path: str) -> str:
    """A ``file:`` URL with a host as the path that is meant: ``"file:/" + "/tmp/x.root"`` looks as if ``tmp`` were one."""
    scheme, mark, rest = path.partition("://")
    if scheme.lower() != "file" or not mark or rest.startswith(("/", "localhost/")):
        return path
    return f"file:///{rest}"
