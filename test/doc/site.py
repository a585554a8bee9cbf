#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""site.py MKDOCS [DIRECTORY]: the manual as pages is made without a warning, each of its links leads somewhere, and no
page asks another host for anything. Where there is a Chromium: pages have the width of a window and of a phone, text
can be read in light and in dark, the search finds pages without a server, and every console block has a
copy button, which gives its commands. DIRECTORY: leaves pictures there."""
import html.parser
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "support"))
import chromium  # noqa: E402
import tool  # noqa: E402

SEARCH = """new Promise(done => { const from = Date.now(); (function look() {
    const found = [...document.querySelectorAll('.md-search-result__item a')].map(link => link.getAttribute('href'));
    found.length || Date.now() - from > 20000 ? done(found) : setTimeout(look, 50); })(); })"""
COPY = """(() => { const block = document.querySelectorAll('.language-console')[0];
    block.querySelector('button').click();
    return block.querySelector('button').getAttribute('data-clipboard-text'); })()"""
# The theme adds a button when its block is seen first: how many console blocks there are, and how many have none then.
BUTTONS = """(async () => { const blocks = [...document.querySelectorAll('.language-console')];
    let bare = 0;
    for (const block of blocks) {
        block.scrollIntoView();
        const from = Date.now();
        while (!block.querySelector('button') && Date.now() - from < 10000)
            await new Promise(done => setTimeout(done, 20));
        bare += !block.querySelector('button');
    }
    return [blocks.length, bare]; })()"""

CONTRAST = chromium.contrast("article h1,article h2,article a,p,td,th,dt,dd,summary,button,figcaption span")


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and what the browser loads for it."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loads = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors.update(found[name] for name in ("id", "name") if found.get(name))
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        if found.get("src"):
            self.loads.append(found["src"])
        if tag == "link" and found.get("rel") in ("stylesheet", "icon", "preload", "preconnect", "prefetch"):
            self.loads.append(found["href"])


def check_links(check, site):
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    check.that(len(pages) > 50, f"there are {len(pages)} pages")
    for path, page in pages.items():
        for target in page.links + page.loads:
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            if "://" in target or target.startswith("mailto:"):
                check.that(target not in page.loads, f"{path.name} loads {target}")
            elif not file.exists():
                check.that(False, f"{path.name}: no file {target}")
            elif anchor and not anchor.startswith("__"):
                check.that(anchor in pages[file].anchors, f"{path.name}: no anchor {target}")
    for style in site.rglob("*.css"):
        check.that("url(http" not in style.read_text(encoding="utf-8"), f"{style.name} loads from a host")


def look(check, site, pictures):
    for name in tool.sampled(("index", "compare", "schedules")):
        page = site / f"{name}.html"
        with chromium.Browser() as browser:
            for width in (1280, 390):
                for dark in (False, True):
                    what = f"{name}-{width}-{'dark' if dark else 'light'}"
                    browser.size(width, 900, width < 600)
                    browser.scheme(dark)
                    browser.open(page)
                    browser.run("localStorage.clear()")  # which keeps the colours of the first visit
                    browser.open(page)
                    browser.run(chromium.FRAMES)
                    ground = browser.run("getComputedStyle(document.body).backgroundColor")
                    check.that((ground == "rgb(255, 255, 255)") != dark, f"{what}: the ground is {ground}")
                    wide = browser.run("document.documentElement.scrollWidth")
                    check.that(wide <= width, f"{what}: {wide} points wide")
                    worst = browser.run(CONTRAST)
                    check.that(worst >= 4.5, f"{what}: contrast of text is {worst:.2f}")
                    if pictures:
                        browser.picture(pictures / f"{what}.png", False)
            browser.check_quiet(check, name, f"file://{site}", "data:")


def use(check, site):
    with chromium.Browser() as browser:
        browser.call("Page.navigate", url=f"file://{site}/run.html?q=bubble")
        found = browser.run(SEARCH)
        check.that(any("definitions.html" in link for link in found), f"the search finds {found[:5]}")
        check.that(not browser.messages, f"the search: the console says {browser.messages[:3]}")
        browser.open(site / "compare.html")
        browser.run(chromium.FRAMES)
        copied = browser.run(COPY)
        check.that(copied == "stagesim compare scenarios/demo.yaml --schedules gpipe,1f1b,chimera\n",
                   f"copied is {copied!r}")
        browser.open(site / "tutorials.html")
        browser.run(chromium.FRAMES)
        copied = browser.run(COPY)
        check.that(copied and copied.splitlines()[0].startswith("stagesim schedule ") and len(copied.splitlines()) == 3,
                   f"copied is {copied!r}")
        texts = {page: page.read_text(encoding="utf-8") for page in sorted(site.glob("*.html"))}
        shown = {page: text.count('class="language-console') for page, text in texts.items()}
        check.that(sum(shown.values()) > 80, f"{sum(shown.values())} console blocks")
        for page in tool.sampled(page for page, count in shown.items() if count):
            browser.open(page)
            browser.run(chromium.FRAMES)
            blocks, bare = browser.run(BUTTONS)
            check.that(blocks == shown[page] and not bare,
                       f"{page.name}: {bare} of {blocks} console blocks have no copy button, expected {shown[page]}")


def main(mkdocs, pictures):
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as scratch:
        site = pathlib.Path(scratch).resolve() / "html"
        made = subprocess.run([sys.executable, str(ROOT / "tools" / "html" / "build.py"), mkdocs, str(ROOT / "doc"),
                               str(site)], capture_output=True, text=True)
        check.that(made.returncode == 0 and not made.stdout + made.stderr, f"mkdocs says {made.stdout}{made.stderr}")
        check_links(check, site)
        if chromium.find():
            look(check, site, pictures)
            use(check, site)
        else:
            print("there is no Chromium: pages were not looked at")
    return check.done()


if __name__ == "__main__":
    PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
    sys.exit(main(sys.argv[1], PICTURES))
