"""Object stores and other remote files: storage options, and URLs opened by fsspec."""

from __future__ import annotations

import os
import re

from forthwith import _forthwith
from forthwith._errors import MissingFileError, RequestError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

# URL schemes that this package opens itself; fsspec opens all others.
_OWN = ("http", "https", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss")

_SECRET = re.compile(r"key|secret|token|password|credential|signature|authorization|cookie|sas", re.IGNORECASE)


def flat(options: Mapping[str, Any] | None) -> list[tuple[str, str]] | None:
    """Flattens ``storage_options`` to text: ``{"headers": {"X-Token": "a"}}`` is ``headers.X-Token``.

    Raises:
        RequestError: A value is not text, a number, a bool, or a mapping of these.
    """
    return None if options is None else list(_pairs("", options))


def _pairs(prefix: str, options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in options.items():
        if value is None:
            continue
        if isinstance(value, bool):
            yield prefix + name, "true" if value else "false"
        elif isinstance(value, (str, int, float)):
            yield prefix + name, str(value)
        elif hasattr(value, "items"):
            # fsspec passes these on to its client.
            inner = "" if name == "client_kwargs" else f"{prefix}{name}."
            yield from _pairs(inner, value)
        else:
            raise RequestError(f"storage_options[{name!r}] is a {type(value).__name__}, which no store takes")


def without_secrets(options: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Returns the options without credentials, for pickling; the other process uses its own environment."""
    if options is None:
        return None
    kept = {}
    for name, value in options.items():
        if hasattr(value, "items"):
            kept[name] = without_secrets(value)
        elif not _SECRET.search(name):
            kept[name] = value
    return kept


def without_password(name: str) -> str:
    """Removes the user and password from a URL, for pickling and display."""
    return re.sub(r"://[^/?#\s]*@", "://", name)


def scheme(name: str) -> str | None:
    """Returns the scheme of a URL, or the first one of a chained URL; ``None`` for a path."""
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]+)(://|::)", name)
    if found is None or os.path.exists(name):
        return None
    return found[1].lower()


def is_foreign(name: str) -> bool:
    """Whether a name is a URL that only fsspec can open."""
    found = scheme(name)
    return found is not None and (found not in (*_OWN, "file") or "::" in name.partition("://")[0])


def of_target(uri: str, options: Mapping[str, Any] | None) -> list[tuple[str, str]] | None:
    """Returns the flattened options of the store to which a file is written, as `flat` does.

    Raises:
        RequestError: Options are given, but ``uri`` is not a URL of a store.
    """
    if options is not None and scheme(uri) not in _OWN:
        raise RequestError(f"storage_options are for URLs of stores, and {uri!r} is none")
    return flat(options)


def exists(uri: str, options: Mapping[str, Any] | None) -> bool:
    """Whether a store has an object with this URL."""
    if scheme(uri) not in _OWN[2:]:
        return False
    try:
        return uri in _forthwith.expand_stored(re.sub(r"([*?[])", r"[\1]", uri), flat(options))
    except MissingFileError:
        return False


def is_pattern(url: str) -> bool:
    """Whether a URL is a pattern for a store that lists files. In HTTP URLs, ``?`` starts the query."""
    if scheme(url) is None:
        return False
    inner = url.rpartition("::")[2]
    if scheme(inner) in ("http", "https", "file"):
        return False
    return any(character in inner.partition("://")[2] for character in "*?[")


def expand(pattern: str, options: Mapping[str, Any] | None) -> list[str]:
    """Returns the sorted URLs of the files in a store that match a pattern.

    Raises:
        MissingFileError: No file matches.
        UnsupportedError: fsspec is not installed, or does not know the scheme.
    """
    if not is_foreign(pattern):
        return _forthwith.expand_stored(pattern, flat(options))
    try:
        from fsspec.core import url_to_fs  # not at the top: an optional package

        store, path = url_to_fs(pattern, **(options or {}))
        found = sorted(store.unstrip_protocol(one) for one in store.glob(path))
    except (ImportError, ValueError, NotImplementedError) as error:
        raise UnsupportedError(f"fsspec cannot list files: {error}", file=pattern) from error
    if not found:
        raise MissingFileError(f"no file matches {pattern!r}", file=pattern)
    return found


def open_foreign(url: str, options: Mapping[str, Any] | None) -> Any:
    """Opens a URL with fsspec, and returns a file object, which the caller must close.

    Raises:
        UnsupportedError: fsspec is not installed, or does not know the scheme.
        OSError: The file system of the scheme raises it.
    """
    try:
        from fsspec.core import open as opened  # not at the top: an optional package
    except ImportError:
        raise UnsupportedError(
            f"{url.partition('://')[0]}:// is not a scheme of forthwith, and fsspec, which may know it, is not installed",
            file=url,
        ) from None
    try:
        return opened(url, "rb", **(options or {})).open()
    except (ImportError, ValueError) as error:
        raise UnsupportedError(f"fsspec cannot open {url}: {error}", file=url) from error
