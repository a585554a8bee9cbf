#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""page.py [--edits N] STAGESIM PAGE [FOLDER]: the playground (PAGE, which tools/browser/build made) in a real Chromium,
at 1280 and 390 points, light and dark: its figures are those of the native program; every control is used; each step of
the tour can be answered; links of today and of earlier versions open; mistakes are shown at their place; random edits
neither freeze nor crash it. Nothing is said on the console and nothing requested. Pictures go to FOLDER.

Left out (exit code 77) where there is no page or no Chromium."""
import argparse
import json
import pathlib
import random
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/html"))
import blocks  # noqa: E402
import chromium  # noqa: E402
from tool import ROOT, Checker, run, summary

RUNS = "+(document.body.dataset.runs || 0)"
ENDS = "+(document.body.dataset.ends || 0)"
ITERATION = "playground.results.a && playground.results.a.summary.time.iteration_s"
SET = "playground.view.dispatch({changes: {from: 0, to: playground.view.state.doc.length, insert: %s}})"
CONTRAST = chromium.contrast("h1,h2,p,label,button,footer,summary,.label", left_out="node.disabled")
check = Checker()


def until(browser, condition, seconds=40):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if browser.run(f"!!({condition})"):
            return True
        time.sleep(0.05)
    return False


def settled(browser):
    return until(browser, f"{ENDS} && {ENDS} === {RUNS}")


def edit(browser, text):
    before = browser.run(RUNS)
    browser.run(SET % json.dumps(text))
    return until(browser, f"{RUNS} > {before}")


def figures(browser, binary, folder):
    """Against the native program, over texts of other kinds."""
    for name in ("demo", "llama3-70b", "resnet-50"):
        text = (ROOT / f"scenarios/{name}.yaml").read_text()
        check.that(edit(browser, text), f"{name}: no answer")
        native = summary(binary, ROOT / f"scenarios/{name}.yaml", folder / name, "--engine", "analytic")
        shown = browser.run("playground.results.a ? JSON.stringify(playground.results.a.summary) : '{}'")
        for part in ("time", "bubble", "memory", "idle"):
            check.that(json.loads(shown).get(part) == native.get(part), f"{name}: {part} differs")
        if name != "resnet-50":  # which has no pipeline
            check.that(until(browser, "document.getElementById('bound-a').textContent"), f"{name}: no bound")
        verdict = browser.run("playground.pageOf('a').querySelector('.verdict').textContent")
        check.that("an iteration" in verdict, f"{name}: {verdict}")


def controls(browser, first):
    edit(browser, first)
    before = browser.run(ITERATION)
    for key, value in (("batch.micro_batches", 15), ("parallel.pipeline", 1), ("what_if", 0)):
        runs = browser.run(RUNS)
        browser.run(f"""(() => {{ const slider = document.querySelector('[data-key="{key}"]');
            slider.value = {value}; slider.dispatchEvent(new Event('input')); }})()""")
        check.that(until(browser, f"{RUNS} > {runs}"), f"slider {key}: no answer")
        after = browser.run(ITERATION)
        check.that(after and (after != before or key == "what_if"), f"slider {key}: {before} and {after}")
        before = after
    text = browser.run("playground.state.a")
    check.that("micro_batches: 16" in text and "pipeline: 2" in text and "what_if: [nic=0.1]" in text, text)
    runs = browser.run(RUNS)
    browser.run("(() => { const gpu = document.getElementById('gpu'); gpu.value = 'dgx-a100'; gpu.onchange(); })()")
    until(browser, f"{RUNS} > {runs}")
    check.that("platform: dgx-a100:1" in browser.run("playground.state.a"), "GPU")
    browser.run("document.getElementById('schedule').click()")
    check.that(until(browser, "document.querySelectorAll('#schedules svg').length >= 30", 90), "pictures of schedules")
    runs = browser.run(RUNS)
    browser.run("document.querySelector('#schedules [data-name=gpipe]').click()")
    until(browser, f"{RUNS} > {runs}")
    check.that("schedule: gpipe" in browser.run("playground.state.a"), "schedule")
    runs = browser.run(RUNS)
    browser.run("document.getElementById('tab-b').click()")
    until(browser, f"{RUNS} > {runs}")
    edit(browser, first.replace("20ms", "10ms"))
    browser.run("document.getElementById('both').click()")
    check.that(until(browser, "document.getElementById('versus').textContent.includes('less')"), "two variants")
    check.that(browser.run("[...document.querySelectorAll('article')].every(node => !node.hidden)"), "side by side")
    browser.run("document.getElementById('both').click(); document.getElementById('tab-a').click()")
    until(browser, "document.getElementById('status').className === 'good'")
    svg = browser.run("playground.picture()")
    check.that(svg.startswith("<svg") and svg.count("<path") > 3, "SVG")
    check.that(browser.run("playground.pngOf(playground.picture()).then(blob => blob.size)") > 2000, "PNG")
    for button in ("svg", "png"):
        browser.run(f"document.getElementById('{button}').click()")
    for button in ("copy-yaml", "copy-command", "copy-link"):
        browser.run(f"document.getElementById('{button}').click()")
        check.that(until(browser, "document.getElementById('status').textContent.includes('copied') || "
                                  "document.getElementById('copied').open"), button)
        browser.run("document.getElementById('copied').close(); document.getElementById('status').textContent = ''")


def rest(browser, page, first):
    """What controls() leaves: examples, sections that open, the two views of a phone, the tour's buttons."""
    for number in range(1, browser.run("document.getElementById('example').options.length")):
        runs = browser.run(RUNS)
        browser.run(f"(() => {{ const list = document.getElementById('example'); list.selectedIndex = {number}; "
                    "list.onchange(); })()")
        check.that(until(browser, f"{RUNS} > {runs}") and browser.run(ITERATION), f"example {number}")
    browser.run("document.querySelectorAll('summary').forEach(node => { node.click(); node.click(); })")
    for view, hidden in (("see", "left"), ("edit", "right")):
        browser.run(f"document.querySelector('button[data-view={view}]').click()")
        gone = browser.run(f"getComputedStyle(document.getElementById('{hidden}')).display === 'none'")
        check.that(gone == (browser.run("innerWidth") < 760), f"view {view}")
    browser.run("document.getElementById('take-tour').click()")
    for button in ("next", "back", "answer"):
        browser.run(f"document.getElementById('tour-{button}').click()")
    check.that(browser.run("document.getElementById('tour-said').textContent").startswith("With eight"), "answer")
    browser.run("document.getElementById('tour-close').click()")
    unnamed = browser.run("""[...document.querySelectorAll('button,input,select,textarea,summary,[tabindex="0"]')]
        .filter(node => !(node.labels?.length || node.getAttribute('aria-label') || node.textContent.trim() ||
                  node.getAttribute('title'))).map(node => node.outerHTML.slice(0, 80))""")
    check.that(not unnamed, f"without a name: {unnamed}")
    browser.open(page)
    until(browser, RUNS)
    edit(browser, first)


def mistakes(browser, first):
    edit(browser, first.replace("schedule: 1f1b", "schedule: 1f1bb"))
    said = browser.run("document.getElementById('mistakes').textContent")
    line = first[:first.index("schedule:")].count("\n") + 1
    check.that(f"line {line}: " in said and "did you mean '1f1b'" in said, f"a wrong word: {said}")
    check.that(until(browser, "document.querySelector('.cm-lintRange-error')"), "no mark in the text")
    edit(browser, first + "bach: {}\n")
    check.that("batch" in browser.run("document.getElementById('mistakes').textContent"), "a wrong key")
    edit(browser, "{[")
    check.that(browser.run("document.getElementById('status').className") == "bad", "no YAML")
    edit(browser, first)
    check.that(browser.run("document.getElementById('status').className") == "good", "mended")
    check.that(browser.run("document.querySelectorAll('#mistakes li').length") == 0, "mistakes stay")


def printed(browser):
    return browser.run("playground.pageOf('a').body.textContent")


def other_kinds(browser, binary):
    """Scenarios without an iteration show their report and what is printed; commands, too, also help on schedules."""
    for name in ("rl", "serving", "idle-nodes"):
        path = ROOT / f"scenarios/{name}.yaml"
        check.that(edit(browser, path.read_text()) and settled(browser), f"{name}: no answer")
        shown = browser.run("['status', 'printed'].map(id => document.getElementById(id))"
                            ".map(node => node.className + node.textContent).join('\\n')")
        native = run(binary, "run", path).stdout
        check.that(shown.startswith("good") and shown.splitlines()[2:] == native.splitlines()[1:],
                   f"{name} shows {shown[:200]}")  # the first line has the scenario's name
        check.that(len(printed(browser)) > 200, f"{name} has no report")
    for words, picture in (("schedule --help", 0), ("schedule 1f1b --workers 2 --micro-batches 4", 1)):
        check.that(edit(browser, f"$ stagesim {words}\n") and settled(browser), f"{words}: no answer")
        check.that(run(binary, *words.split()).stdout in printed(browser), f"{words}: {printed(browser)[:300]}")
        check.that(browser.run("playground.pageOf('a').querySelectorAll('svg').length") == picture, f"{words}: picture")


def replaced(browser, first):
    """A report takes the place of the last one in its frame: drawn at once, and what is in it can be touched."""
    edit(browser, first)
    settled(browser)
    browser.run("playground.before = playground.pageOf('a').defaultView.frameElement, 0")
    edit(browser, first.replace("10ms", "13ms"))
    shown = browser.run("""(() => {
        const page = playground.pageOf('a'), view = page.defaultView, {viewers} = view.stagesim;
        const canvas = page.querySelector('figure.tl canvas'), {width, height} = canvas;
        const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, width, height).data.buffer);
        page.querySelector('.tools button').click();
        return {same: view.frameElement === playground.before, colours: new Set(pixels).size > 3,
                viewers: viewers.length, wide: viewers[0].to - viewers[0].from,
                tips: page.querySelectorAll('#tip').length, drawings: page.querySelectorAll('canvas').length}; })()""")
    check.that(shown == {"same": True, "colours": True, "viewers": 1, "wide": 0.5, "tips": 1, "drawings": 2},
               f"a report in the place of another: {shown}")
    verdict = browser.run("playground.pageOf('a').querySelector('.verdict').textContent")
    wanted = browser.run("(playground.results.a.summary.time.iteration_s * 1e3).toPrecision(4)")
    check.that(f"{wanted} ms" in verdict, f"{wanted} ms: {verdict}")


# A frame that takes long to load: what comes next comes first.
SLOW = """(() => { const own = Object.getOwnPropertyDescriptor(HTMLElement.prototype, 'onload');
    Object.defineProperty(HTMLIFrameElement.prototype, 'onload', {configurable: true, set(act) {
        own.set.call(this, () => setTimeout(() => act.call(this), 400)); }}); })()"""
FAST = "delete HTMLIFrameElement.prototype.onload"


def newest(browser, first):
    """A text that comes while the result of the one before is still being drawn stays."""
    edit(browser, first)
    settled(browser)
    browser.run(SLOW)
    browser.run("playground.pageOf('a').defaultView.frameElement.remove()")  # reports are loaded once
    browser.run(SET % json.dumps(first.replace("10ms", "11ms")))
    check.that(until(browser, "document.querySelector('#result-a iframe:not(.seen)')"), "no frame")
    browser.run(SET % json.dumps(first.replace("10ms", "20ms")))
    check.that(settled(browser), "no end")
    browser.run(FAST)
    wanted = browser.run("(playground.results.a.summary.time.iteration_s * 1e3).toPrecision(4)")
    check.that("20ms" in browser.run("playground.results.a.read"), "the newest text has no result")
    verdict = browser.run("playground.pageOf('a').querySelector('.verdict').textContent")
    check.that(f"{wanted} ms" in verdict, f"the newest text takes {wanted} ms, drawn is {verdict}")


def two(browser, first):
    """Of two variants side by side each is drawn to its end, whatever else is asked for meanwhile; a link with two
    others shows both."""
    def whole(a, b, what):
        done = " && ".join(f"playground.whole.{variant}?.includes('{word}')" for variant, word in (("a", a), ("b", b)))
        check.that(until(browser, f"{done} && {ENDS}"), f"{what}: no end")
        for variant, word in (("a", a), ("b", b)):
            read, bound, chart = browser.run(
                f"[playground.results.{variant}?.read ?? '', document.getElementById('bound-{variant}').textContent, "
                f"document.querySelectorAll('#memory-{variant} svg').length && "
                f"getComputedStyle(document.getElementById('memory-{variant}')).visibility]")
            check.that(word in read and "takes less than" in bound and chart == "visible",
                       f"{what}: variant {variant} has {read[:80]!r}, {bound!r}, {chart!r}")
        check.that("B takes" in browser.run("document.getElementById('versus').textContent"), f"{what}: no comparison")

    edit(browser, first)
    settled(browser)
    browser.run("document.getElementById('tab-b').click()")
    settled(browser)
    edit(browser, first.replace("20ms", "31ms"))
    browser.run("document.getElementById('both').click()")
    whole("20ms", "31ms", "side by side")
    edit(browser, first.replace("20ms", "32ms"))  # its bound is not there yet
    browser.run("document.getElementById('both').click(); document.getElementById('both').click()")
    whole("20ms", "32ms", "side by side twice")
    state = {"a": first, "b": first.replace("20ms", "41ms"), "shown": "a", "both": True}
    browser.run(f"location.hash = {json.dumps('#1.' + blocks.pack(state))}")
    until(browser, "playground.state.b.includes('41ms')")
    whole("20ms", "41ms", "a link")
    browser.run("document.getElementById('both').click(); document.getElementById('tab-b').click()")
    settled(browser)
    state = {"a": first, "b": first.replace("20ms", "51ms"), "shown": "a", "both": False}
    browser.run(f"location.hash = {json.dumps('#1.' + blocks.pack(state))}")
    until(browser, "playground.state.b.includes('51ms')")
    settled(browser)
    check.that(browser.run("document.getElementById('versus').textContent") == "" and
               not browser.run("playground.pageOf('b')"), "what another link had for B is still there")


def changes(browser, page):
    """Links with changes, as the manual has them: keys at any depth, in blocks and in braces."""
    for text, change, expected in (
            ("a:\n  b:\n    c: 1\n", "a.b.d=2", "a:\n  b:\n    d: 2\n    c: 1\n"),
            ("a:\n  # b\n  b: 1\n", "a.c=2", "a:\n  # b\n  c: 2\n  b: 1\n"),
            ("a: {b: {c: 1}}\n", "a.b.d=2", "a: {b: {d: 2, c: 1}}\n"),
            ("a: 1\n", "b.c.d=2", "a: 1\nb: {c: {d: 2}}\n"),
            ("a: {b: 1}\n", "a.c.d=2", "a: {c: {d: 2}, b: 1}\n"), ("{a: 1}\n", "b=2", "{b: 2, a: 1}\n"),
            ("a:\n", "a.b=2", "a: {b: 2}\n"), ("a:\n  b: 1\n", "a.b=2", "a:\n  b: 2\n"),
            ("a: {b: 1}\n", "a=2", "a: 2\n")):
        link = "#1." + blocks.pack({"a": text, "set": [change]})
        browser.run(f"location.hash = {json.dumps(link)}")
        check.that(until(browser, f"playground.state.a === {json.dumps(expected)}", 10) and settled(browser),
                   f"{change} in {text!r}: {browser.run('playground.state.a')!r}, not {expected!r}")
    browser.open(page)
    until(browser, RUNS)


def links(browser, page, first):
    link = browser.run("playground.encode({a: 'x: 1\\n', b: 'y: é\\n', shown: 'b', both: true})")
    kept = browser.run(f"playground.decode({json.dumps(link)}).then(JSON.stringify)")
    check.that(json.loads(kept) == {"a": "x: 1\n", "b": "y: é\n", "shown": "b", "both": True}, f"{kept}")
    for stored, text in json.loads((pathlib.Path(__file__).parent / "links.json").read_text()).items():
        kept = browser.run(f"playground.decode({json.dumps(stored)}).then(JSON.stringify)")
        check.that(json.loads(kept) == text, f"a stored link: {kept}")
    beyond = ["#3." + blocks.pack({"a": "x: 1\n", "steps": steps}) for steps in (
        {"a": [{"text": [4, 4, ""], "order": None}]}, {"a": [{"text": [0, 0], "order": None}]}, {"a": 1})]
    for bad in ("#4.abc", "#3.abc", "#2.abc", "#1.abc", "#1.q1Y", *beyond):
        said = browser.run(f"playground.decode({json.dumps(bad)}).then(() => '', error => error.message)")
        check.that("link" in said, f"{bad}: {said!r}")
    edit(browser, first.replace("10ms", "11ms"))
    until(browser, "location.hash.length > 20")
    link = browser.run("playground.encode(playground.state)")
    browser.open(page)
    until(browser, RUNS)
    runs = browser.run(RUNS)
    browser.run(f"location.hash = {json.dumps(link)}")
    check.that(until(browser, f"{RUNS} > {runs}") and "11ms" in browser.run("playground.state.a"), "a link opens")


def edits(browser, first, count):
    """Keys are pressed faster than runs end; what is left must be a page that answers."""
    chance = random.Random(38)
    texts = []
    for _ in range(count):
        at, end = sorted(chance.randrange(len(first)) for _ in range(2))
        texts.append([at, min(end, at + 8), "".join(chance.choice("0123456789 :[]{}\nabmsGB-,'\"#") for _ in range(
            chance.randrange(6)))])
    worst = 0
    for first_of in range(0, count, 200):
        worst = max(worst, browser.run(f"""(async () => {{ let worst = 0;
            for (const [from, to, insert] of {json.dumps(texts[first_of:first_of + 200])}) {{
                const length = playground.view.state.doc.length, begin = performance.now();
                const changes = {{from: Math.min(from, length), to: Math.min(to, length), insert}};
                playground.view.dispatch({{changes}});
                worst = Math.max(worst, performance.now() - begin);
                if (Math.random() < 0.05) await new Promise(done => setTimeout(done, 80));
                if (playground.view.state.doc.length > 2000) {SET % json.dumps(first)};
            }} return worst; }})()"""))
    check.that(worst < 2000, f"a key took {worst:.0f} ms")
    check.that(edit(browser, first) and until(browser, "document.getElementById('status').className === 'good'"),
               "the page does not answer after random edits")


# What answers each step of the tour: words of the scenario that change.
ANSWERS = [("micro_batches: 1", "micro_batches: 8"), ("gpipe", "1f1b"), ("1f1b", "interleaved"), ("zb-h1", "zb-h2"),
           ("gpipe", "chimera"), ("1f1b", "v-min"),
           ("tensor: 8, pipeline: 4, data: 1", "tensor: 4, pipeline: 4, data: 2"),
           ("tensor: 16, pipeline: 2", "tensor: 8, pipeline: 4"), ("global: 128", "global: 512"), ("zb-h1", "1f1b")]


def take_tour(browser):
    """No step is answered at its start, and each by what is written above."""
    check.that(browser.run("playground.STEPS.length") == len(ANSWERS) == 10, "ten steps")
    browser.run("document.getElementById('take-tour').click()")
    for number, (word, answer) in enumerate(ANSWERS):
        start = browser.run(f"playground.STEPS[{number}].start")
        check.that(word in start and edit(browser, start + "\n"), f"step {number + 1} has no result")
        said = browser.run("document.getElementById('tour-said').textContent")
        check.that(said == "", f"step {number + 1} is answered at its start: {said}")
        edit(browser, start.replace(word, answer))
        said = browser.run("document.getElementById('tour-said').textContent")
        status = browser.run("document.getElementById('status').textContent")
        check.that(said.startswith("Yes. "), f"step {number + 1} is not answered: {status}")
        browser.run("document.getElementById('tour-next').click()")
    browser.run("document.getElementById('tour-close').click()")
    check.that(browser.run("document.getElementById('tour').hidden"), "the tour stays")


def look(browser, page, pictures):
    for width in (1280, 390):
        for dark in (False, True):
            what = f"playground-{width}-{'dark' if dark else 'light'}"
            browser.size(width, 900, width < 600)
            browser.scheme(dark)
            browser.open(page)
            check.that(until(browser, ITERATION), f"{what}: no result")
            browser.run(chromium.FRAMES)
            wide = browser.run("document.documentElement.scrollWidth")
            check.that(wide <= width, f"{what}: {wide} points wide")
            worst = browser.run(CONTRAST)
            check.that(worst >= 4.5, f"{what}: contrast {worst:.2f}")
            if pictures:
                browser.picture(pictures / f"{what}.png")
                if width < 600:
                    browser.run("document.querySelector('[data-view=see]:not(body)').click()")
                    browser.run(chromium.FRAMES)
                    browser.picture(pictures / f"{what}-result.png")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("pictures", type=pathlib.Path, nargs="?")
    parser.add_argument("--edits", type=int, default=400)
    asked = parser.parse_args()
    binary, page, pictures = str(asked.binary.resolve()), asked.page.resolve(), asked.pictures
    if not page.exists() or not chromium.find():
        print("skipped: tools/browser/build has not been run (it needs emscripten and npm), or there is no Chromium")
        return 77
    first = (ROOT / "tools/browser/page/first.yaml").read_text()
    with tempfile.TemporaryDirectory() as scratch, chromium.Browser(1280, 900) as browser:
        look(browser, page, pictures)
        for width, dark in ((390, True), (390, False), (1280, True), (1280, False)):
            browser.size(width, 900, width < 600)
            browser.scheme(dark)
            browser.open(page)
            check.that(until(browser, RUNS), "no first result")
            controls(browser, first)
            rest(browser, page, first)
        figures(browser, binary, pathlib.Path(scratch))
        take_tour(browser)
        mistakes(browser, first)
        other_kinds(browser, binary)
        replaced(browser, first)
        newest(browser, first)
        two(browser, first)
        changes(browser, page)
        links(browser, page, first)
        edits(browser, first, asked.edits)
        browser.check_quiet(check, "the page", "file://" + str(page), "blob:", "data:")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
