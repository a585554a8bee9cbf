#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""links.py: every link of the pages leads to a file that there is, and to a heading that the file has; doc/index.md
names every page in a table."""
import pathlib
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


def check_anchors():
    """GitHub's anchors, as it gives them to such headings."""
    text = "# A title\n## `search`: K-FAC, 2.5D\n```\n# no heading\n```\n### [Links](x.md) & more\n## Twice\n## Twice\n"
    assert build.anchors(text) == ["a-title", "search-k-fac-25d", "links--more", "twice", "twice-1"]


def main():
    check_anchors()
    pages = [*sorted((ROOT / "doc").glob("*.md")), *sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("examples/**/*.md")),
             ROOT / "test" / "README.md"]
    wrong = [f"{page.relative_to(ROOT)}: {what}" for page in pages for what in broken(page)]
    index = (ROOT / "doc" / "index.md").read_text(encoding="utf-8")
    _, named = build.navigation(index)
    wrong += [f"doc/index.md: no table names {page.name}" for page in (ROOT / "doc").glob("*.md")
              if page.name not in named | {"index.md"}]
    print("\n".join(wrong) or f"{len(pages)} pages: all links lead somewhere")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
