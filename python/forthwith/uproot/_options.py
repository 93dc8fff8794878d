"""What uproot has for the way files are read, and forthwith decides by itself: accepted, with no effect.

Threads, windows of ranges and caches are forthwith's own. An option that would change what is read is not among these.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# Of `open`, `iterate` and `concatenate`.
NO_EFFECT = frozenset(
    (
        "array_cache",
        "begin_chunk_size",
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
        "storage_options",
        "timeout",
        "use_threads",
        "headers",
        "backend",
        "interpreter",
    )
)


def refuse(call: str, options: dict[str, Any]) -> None:
    """Refuses what is no option of uproot's.

    Raises:
        TypeError: There is one.
    """
    for name in options:
        if name not in NO_EFFECT:
            raise TypeError(f"{call}() has no argument {name!r}")


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
    """Python's expressions over whole arrays, the language that ``language=`` can name."""

    def __repr__(self) -> str:
        return "PythonLanguage()"


python_language = PythonLanguage()


def without_host(path: str) -> str:
    """A ``file:`` URL with a host as the path that is meant: ``"file:/" + "/tmp/x.root"`` looks as if ``tmp`` were one."""
    scheme, mark, rest = path.partition("://")
    if scheme.lower() != "file" or not mark or rest.startswith(("/", "localhost/")):
        return path
    return f"file:///{rest}"
