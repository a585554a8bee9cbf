#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build.py [--playground PAGE] MKDOCS DOC_DIR OUTPUT [DEPFILE]: the manual as pages, by mkdocs with its theme material.
OUTPUT is replaced. With PAGE, which tools/browser/build makes, the manual has the playground, and blocks of commands
whose commands run there open there (blocks.py).

The sidebar follows doc/index.md: its headings, and below each the pages that no heading before it has. Links to files
that are no pages become the names of these files. The search works from a file, too, where no script may fetch its
index or start a worker: the index is written once more as a script, and file.js stands in for the worker. No page asks
another host for anything."""
import argparse
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import blocks  # noqa: E402

ADDED = ["page.css", "page.js", "file.js"]
PART = "part:"  # a part of a page in the sidebar, which mkdocs takes for another site's address
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").replace("*", "")
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def outside_blocks(text):
    """(line, whether it is outside of blocks of code) for each line."""
    fence = None
    for line in text.split("\n"):
        mark = re.match(r" *(```+)", line)
        if fence is None and mark:
            fence = mark.group(1)
            yield line, False
        elif fence is not None:
            fence = None if line.strip() == fence else fence
            yield line, False
        else:
            yield line, not line.startswith("    ")


def anchors(text):
    """The anchors of a page in order; of equal headings the second one has -1 at its end."""
    found, seen = [], {}
    for line, outside in outside_blocks(text):
        heading = re.match(r"(#+) +(.*)", line)
        if not outside or not heading:
            continue
        name = slug(heading.group(2))
        seen[name] = seen.get(name, -1) + 1
        found.append(name if not seen[name] else f"{name}-{seen[name]}")
    return found


def navigation(index):
    """The headings of the index with the pages that the tables below each name first, as mkdocs takes them."""
    result, taken = [{"Manual": "index.md"}], set()
    for part in re.split(r"^## ", index, flags=re.M)[1:]:
        title, *lines = part.split("\n")
        pages = []
        for name, target in (link for line in lines if line.startswith("|") for link in LINK.findall(line)):
            page, anchor = target.partition("#")[::2]
            if re.fullmatch(r"[\w-]+\.md", page) and target not in taken:
                taken.add(target)
                pages.append({name[:1].upper() + name[1:]: f"{PART}{page[:-3]}.html#{anchor}" if anchor else page})
        if pages:
            result.append({title.strip(): pages})
    return result, {target for target in taken if "#" not in target}


def alive(text):
    """A page with a link into the playground below each block that runs there."""
    files = {}

    def with_link(found):
        link = blocks.link_of(found.group(1), files)
        return found.group(0) + (f'\n<a href="try.html{link}">Open in the playground</a>' if link else "")

    return blocks.CONSOLE.sub(with_link, text)


def as_page(text, page):
    """A page with the anchors that GitHub gives it, and without links that lead out of the manual."""
    def replacement(found):
        name, target = found.groups()
        path = target.partition("#")[0]
        if "://" in target or not path or path.endswith(".md") and "/" not in path:
            return found.group(0)
        shown = os.path.normpath(os.path.join("doc", path))
        return f"`{shown}`" if os.path.basename(shown) in name else f"{name} (`{shown}` of the source)"

    names, parts = iter(anchors(text)), []
    for outside, lines in itertools.groupby(outside_blocks(text), key=lambda pair: pair[1]):
        part = "\n".join(f"{line} {{#{next(names)}}}" if outside and re.match(r"#+ ", line) else line
                         for line, _ in lines)
        parts.append(LINK.sub(replacement, part) if outside else part)  # the words of a link may go on in the next line
    if not any(re.search(r"^# ", part, re.M) for part in parts):
        sys.exit(f"{page}: there is no title")
    return "\n".join(parts)


def configuration(source, output, pages):
    toggle = {"light": ("default", "weather-night", "dark"), "dark": ("slate", "weather-sunny", "light")}
    return {
        "site_name": "stagesim", "docs_dir": str(source), "site_dir": str(output), "use_directory_urls": False,
        "site_description": "What happens when a deep-learning job trains on a GPU cluster, before anyone rents it",
        "strict": True, "nav": pages, "plugins": ["search"], "extra": {"generator": False},
        "extra_css": ["page.css"], "extra_javascript": ["page.js"],
        "theme": {"name": "material", "font": False, "language": "en",
                  "icon": {"logo": "material/chart-gantt"},
                  "features": ["navigation.top", "toc.follow", "content.code.copy", "search.highlight"],
                  "palette": [{"media": f"(prefers-color-scheme: {name})", "scheme": scheme, "primary": "indigo",
                               "accent": "indigo", "toggle": {"icon": f"material/{icon}", "name": f"Show it {other}"}}
                              for name, (scheme, icon, other) in toggle.items()]},
        "markdown_extensions": ["attr_list", "tables", {"toc": {"permalink": True, "toc_depth": 3}},
                                {"pymdownx.highlight": {"pygments_lang_class": True}}, "pymdownx.superfences"]}


def finish(site):
    """Makes the search work from a file, and leaves out what only a server needs."""
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    (site / "search" / "search_index.js").write_text(
        "var __index = " + json.dumps(index, ensure_ascii=False, separators=(",", ":")) + ";\n", encoding="utf-8")
    for page in site.rglob("*.html"):
        text, up = page.read_text(encoding="utf-8"), "../" * (len(page.relative_to(site).parts) - 1)
        page.write_text(text.replace("<head>", f'<head><script src="{up}file.js"></script>', 1)
                        .replace(f'href="{PART}', f'href="{up}'), encoding="utf-8")
    for name in ("sitemap.xml", "sitemap.xml.gz", "404.html"):
        (site / name).unlink(missing_ok=True)
    for path in site.rglob("*.map"):
        path.unlink()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--playground", type=pathlib.Path)
    parser.add_argument("mkdocs")
    parser.add_argument("documents", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("depfile", type=pathlib.Path, nargs="?")
    asked = parser.parse_args()
    mkdocs, documents, output = asked.mkdocs, asked.documents, asked.output
    sources = sorted(documents.glob("*.md"))
    with tempfile.TemporaryDirectory() as temporary:
        staged, site = pathlib.Path(temporary) / "doc", pathlib.Path(temporary) / "html"
        shutil.copytree(documents / "images", staged / "images")
        for name in ADDED:
            shutil.copy(HERE / name, staged / name)
        for page in sources:
            text = as_page(page.read_text(encoding="utf-8"), page)
            (staged / page.name).write_text(alive(text) if asked.playground else text, encoding="utf-8")
        pages, taken = navigation((documents / "index.md").read_text(encoding="utf-8"))
        if asked.playground:
            pages.insert(1, {"Playground": f"{PART}try.html"})
        missing = {page.name for page in sources} - taken - {"index.md"}
        if missing:
            sys.exit(f"doc/index.md has no link to {', '.join(sorted(missing))}")
        file = pathlib.Path(temporary) / "mkdocs.yml"
        file.write_text(json.dumps(configuration(staged, site, pages)), encoding="utf-8")  # JSON is YAML
        # Pages say when they were made: always the same, so that they are the same bytes.
        environment = dict(os.environ, SOURCE_DATE_EPOCH=os.environ.get("SOURCE_DATE_EPOCH", "0"))
        result = subprocess.run([mkdocs, "build", "--strict", "--quiet", "--config-file", file], env=environment)
        if result.returncode:
            sys.exit(result.returncode)
        finish(site)
        if asked.playground:
            shutil.copy(asked.playground, site / "try.html")
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(site, output)
    if asked.depfile:
        asked.depfile.write_text(
            f"{output.name}: {' '.join(str(path) for path in [*sources, *(documents / 'images').iterdir()])}\n")


if __name__ == "__main__":
    main()
