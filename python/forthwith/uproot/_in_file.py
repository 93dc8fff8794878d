"""What stands in a file and can be closed: files themselves, directories, tables, branches."""

from __future__ import annotations

from typing import Any, Self


class Closes:
    """Closed by ``with``."""

    def close(self) -> None:
        """Closes it."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class InFile(Closes):
    """Part of a file."""

    _file: Any

    @property
    def file(self) -> Any:
        """The file."""
        return self._file

    @property
    def file_path(self) -> str:
        """The path of the file."""
        return str(self._file.file_path)

    @property
    def closed(self) -> bool:
        """Whether the file was closed."""
        return bool(self._file.closed)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
