"""Arrays from Python data, by commands or at once."""

from forthwith.builders.discover import ArrayBuilder
from forthwith.builders.iterables import from_iter
from forthwith.builders.typed import TypedArrayBuilder

__all__ = ["ArrayBuilder", "TypedArrayBuilder", "from_iter"]
