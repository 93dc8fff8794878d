"""Python file objects that are read: what they are asked, and a thread that asks them.

A worker of the engine, or a thread that is not the main one, does not call a file object itself. Should the call never return,
nothing could end the wait; and a thread that the interpreter ends at exit must have nothing but Python's own frames below the
object's code.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from forthwith import _forthwith


def size(file: Any) -> int:
    """The present size."""
    end: int = file.seek(0, 2)
    return end


def read_at(file: Any, at: int, count: int) -> bytes:
    """Some of the bytes from a position on, or none at the end."""
    file.seek(at)
    data = file.read(count)
    # Not bytes(data), which makes zeros of a number.
    return data if isinstance(data, bytes) else bytes(memoryview(data))


def serve(file: Any, desk: _forthwith.Desk) -> None:
    """Asks a file object what lies on the desk, until nothing has lain there for a while."""
    while (asked := desk.next()) is not None:
        try:
            answer = size(file) if asked[1] is None else read_at(file, asked[0], asked[1])
        except BaseException as error:
            desk.failed(error)
        else:
            desk.answered(answer)
