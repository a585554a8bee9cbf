# SPDX-License-Identifier: Apache-2.0
"""PDF files that cairo wrote: since 1.18 also what is no page stands in packed streams."""
import re
import zlib


def streams(data):
    """The contents of the streams, unpacked; pictures of other kinds are left out."""
    found = b""
    for packed in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.S):
        try:
            found += zlib.decompressobj().decompress(packed)  # its last byte may look like the end of a line
        except zlib.error:
            pass
    return found


def objects(data):
    """The file with what its streams hold."""
    return data + streams(data)
