"""Arrays from Python data: command by command, or all at once."""

from forthwith.builders.discover import ArrayBuilder
from forthwith.builders.iterables import from_iter
from forthwith.builders.typed import TypedArrayBuilder

__all__ = ["ArrayBuilder", "TypedArrayBuilder", "from_iter"]
