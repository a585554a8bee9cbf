#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""installed_links.py DOC_DIR: run by `meson install`. Links of the installed pages to files that stay in the source,
such as tests, become the names of these files, so that every link that is left leads somewhere."""
import os
import pathlib
import re
import sys


def without_dead_links(page, root):
    def replacement(found):
        text, target = found.group(1), found.group(2)
        path = target.partition("#")[0]
        if "://" in target or not path or (page.parent / path).exists():
            return found.group(0)
        name = os.path.relpath(page.parent / path, root)
        return f"`{name}`" if os.path.basename(name) == text else f"{text} (`{name}` of the source)"

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)]+)\)", replacement, page.read_text(encoding="utf-8"))


def main():
    root = pathlib.Path(os.environ["MESON_INSTALL_DESTDIR_PREFIX"]) / sys.argv[1]
    for page in sorted(root.rglob("*.md")):
        page.write_text(without_dead_links(page, root), encoding="utf-8")


if __name__ == "__main__":
    main()
