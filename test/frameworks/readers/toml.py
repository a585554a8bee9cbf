#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""toml PRINT_READERS: the reader of TOML against Python's tomllib: the same values, and the same files refused."""
import datetime
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import tomllib
except ImportError:  # before Python 3.11
    print("no tomllib to compare with")
    sys.exit(77)

PRINT = sys.argv[1]
FOLDER = pathlib.Path(tempfile.mkdtemp())
failures = 0

FILES = [
    '', 'a = 1', "a = 1 # c\n\nb = 'x'\n", 'a.b.c = 1\na.b.d = 2', '[a]\nb = 1\n[a.c]\nd = 2',
    '[a.b]\nc = 1\n[a]\nd = 2', '[a]\n[a]', 'a = 1\na = 2', '[a]\nb = 1\n[a.b]\nc = 2',
    '[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3', 'a = []\n[[a]]', '[a]\n[[a]]', 'a = {b = 1, c.d = 2}', 'a = {b = 1,}',
    'a = {\nb = 1}', 'a = {}\n[a.b]', 'a = [1, 2,\n 3, # c\n]', 'a = [1 2]', "a = [[1, 'x'], {b = 2}]",
    'a = "x\\ny\\u00e9\\U0001F600"', 'a = "\\q"', 'a = "x\ny"', 'a = """x\ny\\\n   z"""', 'a = """"x""""',
    "a = '''\nx'y''z'''", "a = '\\n'", 'a = ""', "a = ''''x'''", 'a = "\x01"', "a = '''''''x'''", 'a = """"""""',
    'a = +1_000', 'a = 1__0', 'a = _1', 'a = 01', 'a = 0x1F', 'a = 0xg', 'a = 0b102', 'a = 0o17', 'a = 1.', 'a = .5',
    'a = 1.5e-3', 'a = 1e5_0', 'a = inf\nb = -nan', 'a = 1.e3', 'a = True', 'a = true', 'a = 1 2', 'a', 'a =', '= 1',
    'a = 1979-05-27T07:32:00Z', 'a = 1979-05-27 07:32:00.5', 'a = 07:32:00', 'a = 1979-05-27',
    '"a b".c = 1\n\'d\' = 2', 'a b = 1', 'a-b_c = 1', 'é = 1', '"" = 1', 'a.1.b = 2', '[a', '[a]]', '[[a]', '[]',
    '[a] b = 1', "[a.'b.c']\nd=1", 'a = 1\r\nb = 2\r\n', 'a = 1\rb = 2', '# c\x01\n', 'a = [', 'a = {', 'a = "',
    'a.b = 1\n[a]\nc = 2', 'a = {b = 1}\na.c = 2', '[x.y.z.w]\n[x]\na=1', '[[x.y]]\n[x]\nb=2', '[x]\ny=1\n[x.y.z]',
    '\ufeffa = 1', 'a = 1 # é', "a='é'",
]


def read(node):
    """What is printed, as tomllib has it."""
    if isinstance(node, dict):
        return {key: read(value) for key, value in node.items()}
    if node[0] == "list":
        return [read(value) for value in node[1:]]
    if node[0] == "string":
        return node[1]
    return tomllib.loads("a = " + node[1])["a"]


def same(left, right):
    if isinstance(left, float) and isinstance(right, float) and math.isnan(left):
        return math.isnan(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


def expect(text):
    global failures
    path = FOLDER / "file.toml"
    path.write_bytes(text.encode())
    try:
        wanted = tomllib.loads(text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError:
        wanted = None
    result = subprocess.run([PRINT, "toml", str(path)], capture_output=True, timeout=20)
    found = read(json.loads(result.stdout)) if result.returncode == 0 else None
    if (wanted is None) != (found is None) or (wanted is not None and not same(found, wanted)):
        failures += 1
        print(f"{text!r}\nwanted: {wanted}\nfound: {found}\n{result.stderr.decode()}")


def some(generator):
    """A file of pieces, most of them right on their own."""
    pieces = ["[a]", "[a.b]", "[[c]]", "[c.d]", "x = 1", "y.z = 'q'", "y.w = [1, [2]]", "a.b = 3",
              "e = {f = 1.5, g.h = true}", "'k k' = \"v\\t\"", "b = '''m\nn'''", "# c", "c = 0x1f"]
    return "\n".join(generator.choice(pieces) for _ in range(generator.randint(1, 7)))


for text in FILES:
    expect(text)
for seed in range(150):
    expect(some(random.Random(seed)))
sys.exit(failures > 0)
