"""Every rule of the wire format: what Google's parser takes, with its values, and what it refuses."""

import importlib.util

import pytest

needs_google = pytest.mark.skipif(importlib.util.find_spec("google.protobuf") is None, reason="needs protobuf")


@needs_google
@pytest.mark.parametrize("syntax", ["proto2", "proto3", "editions"])
def test_messages_are_taken_and_refused_as_google_does(syntax):
    import protobuf_wire_cases

    tally = protobuf_wire_cases.compare(syntax, every=11)
    assert tally["taken"] > 3000
    assert tally["refused"] > 280
    # Keys and lengths of more than five bytes, integers of more than 64 bits, and text that is replaced.
    assert tally["known to differ"] < 50
