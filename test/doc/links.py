#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py: every link of the pages leads to a file that there is, and to a heading that the file has; doc/index.md
names every page in a table. Pages have lost no line: none stands twice in a row, numbers of lists follow each other,
and no line goes on in lower case behind a full stop."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "html"))
import build  # noqa: E402


def broken(page):
    """What is wrong with the links of a page."""
    for line, outside in build.outside_blocks(page.read_text(encoding="utf-8")):
        if not outside:
            continue
        for _, target in build.LINK.findall(line):
            path, _, anchor = target.partition("#")
            file = page.parent / path if path else page
            if "://" in target:
                continue
            if not file.exists():
                yield f"no file {path}"
            elif anchor and (file.suffix != ".md" or anchor not in build.anchors(file.read_text(encoding="utf-8"))):
                yield f"{path or page.name} has no heading #{anchor}"


def torn(text):
    """Where a page may have lost a line. A sentence may begin with a formula, or a name of a product or a framework."""
    names = r"stagesim|torchtitan|hwloc|veRL|vTrain|[a-z0-9]+[-_.][a-z0-9]|[a-z]+ ="
    before, number = "", 0
    for line, outside in build.outside_blocks(text):
        item = re.match(r"([0-9]+)\. ", line)
        if not outside:
            before = ""
            continue
        if line.strip() and line == before:
            yield f"twice in a row: {line}"
        if item and int(item[1]) not in (1, number + 1):
            yield f"{item[1]} follows {number}: {line}"
        number = int(item[1]) if item else number
        if before.endswith(".") and re.match(r"\s*[a-z]{2}", line) and not re.match(rf"\s*({names})", line):
            yield f"a sentence has no beginning: {line}"
        before = line


def check_torn():
    """What the pages had lost once."""
    assert list(torn("1. One\n1. One\n"))
    assert list(torn("1. One\n3. Three\n"))
    assert list(torn("As that.\n  rank has a copy.\n"))
    assert not list(torn("1. One.\n2. Two.\n   stagesim, gpt-7.5b\nand\nand more\n"))


def check_anchors():
    """GitHub's anchors, as it gives them to such headings."""
    text = "# A title\n## `search`: K-FAC, 2.5D\n```\n# no heading\n```\n### [Links](x.md) & more\n## Twice\n## Twice\n"
    assert build.anchors(text) == ["a-title", "search-k-fac-25d", "links--more", "twice", "twice-1"]


def main():
    check_anchors()
    check_torn()
    pages = [*sorted((ROOT / "doc").glob("*.md")), *sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("examples/**/*.md")),
             ROOT / "test" / "README.md"]
    wrong = [f"{page.relative_to(ROOT)}: {what}" for page in pages 
             for what in (*broken(page), *torn(page.read_text(encoding="utf-8")))]
    index = (ROOT / "doc" / "index.md").read_text(encoding="utf-8")
    _, named = build.navigation(index)
    wrong += [f"doc/index.md: no table names {page.name}" for page in (ROOT / "doc").glob("*.md")
              if page.name not in named | {"index.md"}]
    print("\n".join(wrong) or f"{len(pages)} pages: all links lead somewhere")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
