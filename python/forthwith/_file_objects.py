"""Reading from Python file objects in a thread that serves the requests of others.

Workers of the engine, and threads other than the main one, do not call a file object themselves: they could
not stop waiting for a call that never returns, and a thread that the interpreter ends at exit must have only
Python frames below the code of the object.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith


def size(file: Any) -> int:
    """Returns the current size in bytes."""
    end: int = file.seek(0, 2)
    return end


def read_at(file: Any, at: int, count: int) -> bytes:
    """Reads at most ``count`` bytes at a position; returns no bytes at the end."""
    file.seek(at)
    data = file.read(count)
    # bytes(data) would convert a number to zeros.
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def serve(file: Any, desk: _forthwith.Desk) -> None:
    """Serves requests to a file object until none has arrived for some time."""
    while (asked := desk.next()) is not None:
        try:
            answer = size(file) if asked[1] is None else read_at(file, asked[0], asked[1])
        except BaseException as error:
            desk.failed(error)
        else:
            desk.answered(answer)
