#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""playground.py [--update]: which of the manual's console blocks open in the playground, and which do not and why, as
closed.txt lists them. It fails when a block is closed that is not listed, when a listed one opens or is gone, and when
doc/playground.md has other counts. test/tools/browser/blocks.py, which needs the WebAssembly, tries them all."""
import base64
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
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
                job = "platform:" in shown and re.search(r"^workload:", shown, re.M)  # of a kind that has an engine
                check.that(shown.startswith("$ ") or job, f"{page.name}: {shown[:80]}")
            else:
                first = next((command for command, _ in blocks.pieces(block) if "stagesim " in command),
                             blocks.pieces(block)[0][0])
                closed.append(f"{page.stem}: {blocks.absent(block, files)}: {first.strip()[:70].strip()}")
        made = build.alive(text)
        check.that(made.count(">Open in the playground</a>") == links, f"{page.name} has other links when it is built")
        opened += links
    return opened, closed


def as_a_page(opened):
    """In the manual as pages, where mkdocs makes it: each page leads to the playground, and each block that opens."""
    mkdocs = shutil.which("mkdocs")
    if not mkdocs or "material" not in subprocess.run([mkdocs, "build", "--help"], capture_output=True,
                                                      text=True, check=False).stdout:
        return
    with tempfile.TemporaryDirectory() as folder:
        page, site = pathlib.Path(folder) / "page.html", pathlib.Path(folder) / "html"
        page.write_text("the playground")
        subprocess.run([sys.executable, ROOT / "tools/html/build.py", "--playground", page, mkdocs, ROOT / "doc", site],
                       check=True)
        check.that((site / "try.html").read_text() == "the playground", "there is no try.html")
        texts = {path.name: path.read_text() for path in site.glob("*.html") if path.name != "try.html"}
        without = [name for name, text in texts.items() if 'href="try.html"' not in text]
        check.that(len(texts) > 50 and not without, f"no link to the playground in {without[:5]} of {len(texts)}")
        links = sum(text.count(">Open in the playground</a>") for text in texts.values())
        check.that(links == opened, f"{links} blocks have a link as pages, not {opened}")


def main():
    opened, closed = look()
    as_a_page(opened)
    kinds = "/^(" + "|".join(blocks.NO_ENGINE) + "):/m"
    check.that(kinds in (ROOT / "tools/browser/page/page.js").read_text(), f"page.js has other kinds than {kinds}")
    if "--update" in sys.argv:
        LISTED.write_text("".join(line + "\n" for line in closed))
    listed = LISTED.read_text().splitlines()
    check.that(closed == listed, f"closed beside the list: {sorted(set(closed) - set(listed))}; "
                                 f"listed, and open or gone: {sorted(set(listed) - set(closed))}")
    reasons = collections.Counter(line.split(": ")[1] for line in closed)
    told = (ROOT / "doc/playground.md").read_text()
    count = re.search(r"All but (\d+) of the manual's console blocks open there", told)
    check.that(count and int(count[1]) == len(closed) and opened > 2 * len(closed),
               f"doc/playground.md: {len(closed)} of {opened + len(closed)} blocks do not open")
    table = dict(re.findall(r"^\| ([^|]+?) \| (\d+) \|", told[count.end() if count else 0:], re.M))
    check.that(table == {reason: str(number) for reason, number in reasons.items()}, f"doc/playground.md: {reasons}")
    print(f"{opened} of {opened + len(closed)} console blocks open; {dict(reasons)}")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
