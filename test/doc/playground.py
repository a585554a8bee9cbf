#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""playground.py [--update]: which of the manual's console blocks open in the playground, and which do not and why, as
closed.txt lists them. It fails when a block is closed that is not listed, when a listed one opens or is gone, and when
doc/playground.md has other counts. tools/browser/blocks.py, which needs the WebAssembly, tries them all."""
import base64
import collections
import json
import pathlib
import re
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test/support"))
sys.path.insert(0, str(ROOT / "tools/html"))
import blocks  # noqa: E402
import build  # noqa: E402
from tool import Checker  # noqa: E402

LISTED = pathlib.Path(__file__).with_name("closed.txt")
check = Checker()


def state_of(link):
    """What is packed in a link."""
    text = link.removeprefix("#1.")
    return json.loads(zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), -15))


def look():
    """(blocks that open, lines about those that do not)"""
    opened, closed = 0, []
    for page in sorted((ROOT / "doc").glob("*.md")):
        files, text = {}, page.read_text(encoding="utf-8")
        found = blocks.console_blocks(text)
        links = 0
        for block in found:
            link = blocks.link_of(block, files)
            links += bool(link)
            if link:
                shown = state_of(link)["a"]
                check.that(link.startswith("#1.") and len(link) < 20000, f"{page.name}: a link of {len(link)} letters")
                check.that(shown.startswith("$ ") or "platform:" in shown, f"{page.name}: {shown[:80]}")
            else:
                first = next((command for command, _ in blocks.pieces(block) if "stagesim " in command),
                             blocks.pieces(block)[0][0])
                closed.append(f"{page.stem}: {blocks.absent(block, files)}: {first.strip()[:70].strip()}")
        made = build.alive(text)
        check.that(made.count(">Open in the playground</a>") == links, f"{page.name} has other links when it is built")
        opened += links
    return opened, closed


def main():
    opened, closed = look()
    if "--update" in sys.argv:
        LISTED.write_text("".join(line + "\n" for line in closed))
    listed = LISTED.read_text().splitlines()
    check.that(closed == listed, f"closed beside the list: {sorted(set(closed) - set(listed))}; "
                                 f"listed, and open or gone: {sorted(set(listed) - set(closed))}")
    reasons = collections.Counter(line.split(": ")[1] for line in closed)
    told = (ROOT / "doc/playground.md").read_text()
    count = re.search(r"Of the manual's (\d+) console blocks (\d+) open there", told)
    check.that(count and (int(count[1]), int(count[2])) == (opened + len(closed), opened),
               f"doc/playground.md: {opened} of {opened + len(closed)} blocks open")
    table = dict(re.findall(r"^\| ([^|]+?) \| (\d+) \|", told[count.end() if count else 0:], re.M))
    check.that(table == {reason: str(number) for reason, number in reasons.items()}, f"doc/playground.md: {reasons}")
    print(f"{opened} of {opened + len(closed)} console blocks open; {dict(reasons)}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
