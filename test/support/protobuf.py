# SPDX-License-Identifier: Apache-2.0
"""Messages of protocol buffers, decoded by nothing of ours."""


def fields(data):
    """(number, value) of a message: integers, or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            if key & 7 not in (1, 2, 5):
                raise ValueError("wire type %d" % (key & 7))
            size = {1: 8, 5: 4}.get(key & 7) or varint()
            yield key >> 3, data[at:at + size]
            at += size
    assert at == len(data), "a message ends early"
