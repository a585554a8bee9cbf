#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""chromium_pages.py STAGESIM [FOLDER]: the pages of a run, of a comparison of all schedules, of 64 workers with 512
micro-batches, of sweeps, of a search and of a queue in a real Chromium: light and dark, wide and on a phone, with and
without JavaScript, on paper; timelines are pointed at, zoomed, moved, followed, folded, tables sorted and panels
opened, by mouse and by keys. Nothing may be said on the console and nothing requested. Pictures of all this go to
FOLDER.

Left out (exit code 77) where there is no Chromium."""
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium  # noqa: E402
import tool  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGE = """platform: dgx-h100:8
workload: stages
stages: {forward: 20ms, backward: 40ms, message: 30MB, activation: 1GiB}
parallel: {pipeline: 64}
batch: {micro_batches: 512}
schedule: 1f1b
engine: analytic
"""
VIEW = "[stagesim.viewers[0].from, stagesim.viewers[0].to]"
PLACE = """(() => { const box = document.querySelector('%s').getBoundingClientRect();
             return [box.left, box.top, box.width, box.height]; })()"""
CONTRAST = chromium.contrast("h1,h2,p,td,th,dt,dd,summary,button,figcaption span")


def make_pages(stagesim, folder):
    def run(*arguments):
        subprocess.run([stagesim, *map(str, arguments), "--report", "--quiet"], check=True, capture_output=True)

    large = folder / "large.yaml"
    large.write_text(LARGE)
    run("run", ROOT / "scenarios/demo.yaml", "--engine", "both", "-o", folder / "run")
    run("compare", ROOT / "scenarios/demo.yaml", "--schedules", "all", "-o", folder / "comparison")
    run("run", large, "-o", folder / "large")
    pages = {name: folder / name / "report.html" for name in ("run", "comparison", "large")}
    for name, arguments in {"lines": ["--set", "batch.global=512:2048:x2", "--schedules", "gpipe,chimera"],
                            "field": ["--set", "parallel.data=1,2,4,8", "--set", "batch.micro=2,4,8,16"]}.items():
        subprocess.run([stagesim, "sweep", ROOT / "scenarios/demo.yaml", *arguments, "--engine", "analytic", "--quiet",
                        "-o", folder / name], check=True, capture_output=True)
        pages[name] = folder / name / "sweep.html"
    subprocess.run([stagesim, "search", ROOT / "scenarios/gpt-7.5b.yaml", "--set", "search.micro=[1,2]", "--top", "0",
                    "--quiet", "-o", folder / "search"], check=True, capture_output=True)
    pages["search"] = folder / "search" / "search.html"
    subprocess.run([stagesim, "plan", ROOT / "scenarios/plan.yaml", "--quiet", "--gpus", "[64, 256]", "--set",
                    "plan.what_if=nic=2", "-o", folder / "plan"], check=True, capture_output=True)
    pages["plan"] = folder / "plan" / "plan.html"
    (folder / "jobs.csv").write_text("submit,nodes,run\n0,2,600\n5,3,700\n9,4,500\n20,1,400\n")
    (folder / "queue.yaml").write_text("platform: dgx-h100:4\nqueue: {log: jobs.csv}\n")
    run("run", folder / "queue.yaml", "-o", folder / "queue")
    pages["queue"] = folder / "queue" / "report.html"
    return pages


UNNAMED = """[...document.querySelectorAll('button,input,select,canvas,svg')].filter(node =>
    !node.closest('[aria-hidden=true]') && !node.getAttribute('aria-label') && !node.textContent.trim() &&
    !node.closest('label')).length"""


def look(check, name, page, pictures):
    with chromium.Browser() as browser:
        for width in (1280, 390):
            for dark in (False, True):
                what = f"{name}-{width}-{'dark' if dark else 'light'}"
                browser.size(width, 900, width < 600)
                browser.scheme(dark)
                browser.open(page)
                browser.run(chromium.FRAMES)
                wide = browser.run("document.documentElement.scrollWidth")
                check.that(wide <= width, f"{what}: {wide} points wide")
                worst = browser.run(CONTRAST)
                check.that(worst >= 4.5, f"{what}: contrast of text is {worst:.2f}")
                unnamed = browser.run(UNNAMED)
                check.that(unnamed == 0, f"{what}: {unnamed} things without a name")
                if pictures:
                    browser.picture(pictures / f"{what}.png", True)
        browser.check_quiet(check, name, f"file://{page}")


def pixels(browser):
    return browser.run("document.querySelector('figure.tl canvas').toDataURL().length")


def use_timeline(check, page, pictures):
    with chromium.Browser(1280, 1000) as browser:
        browser.open(page)
        browser.run("document.querySelector('.timelines').scrollIntoView()")
        browser.run(chromium.FRAMES)
        left, top, wide, _ = browser.run(PLACE % "figure.tl canvas")
        before = pixels(browser)
        browser.mouse("mouseMoved", left + wide * 0.17, top + 32)
        browser.run(chromium.FRAMES)
        tip = browser.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText")
        check.that("worker 0" in tip and " ms" in tip, f"the tip says {tip!r}")
        if pictures:
            browser.picture(pictures / "hover.png")
        browser.wheel(left + wide / 2, top + 40, -300)
        browser.run(chromium.FRAMES)
        a, b = browser.run(VIEW)
        check.that(0 < a < 0.5 < b < 1, f"the wheel with Ctrl zooms to {a} .. {b}")
        browser.drag(left + wide * 0.6, top + 40, left + wide * 0.4)
        browser.run(chromium.FRAMES)
        check.that(browser.run(VIEW)[0] > a and pixels(browser) != before, "dragging moves")
        if pictures:
            browser.picture(pictures / "zoom.png")
        browser.run("stagesim.viewers[0].set(0, 1)")
        browser.drag(left + wide * 0.3, top + 40, left + wide * 0.5, shift=True)
        c, d = browser.run(VIEW)
        check.that(0.2 < c < 0.35 and 0.4 < d < 0.55, f"Shift and drag zoom to {c} .. {d}")
        x, y, strip, _ = browser.run(PLACE % "canvas.over")
        browser.drag(x + strip * (c + d) / 2, y + 15, x + strip * ((c + d) / 2 + 0.2))
        check.that(abs(browser.run(VIEW)[0] - c - 0.2) < 0.02, "the strip moves the view")
        follow(check, browser)
        browser.check_quiet(check, "a timeline in use", f"file://{page}")


def follow(check, browser):
    """Keys alone: to the end of the critical path and back along what each box waited for, to the first box."""
    browser.run("stagesim.viewers[0].set(0, 1); document.querySelector('figure.tl canvas').focus()")
    said, steps = [], 0
    for key in ("c", "c", "ArrowRight", "ArrowDown", "+", "]", "-", "0"):
        browser.key(key)
        said.append(browser.run("stagesim.viewers[0].say.textContent"))
    check.that("critical path" in said[0] and said[0] != said[1] != said[2] != said[3], f"keys: {said}")
    check.that(browser.run(VIEW) == [0, 1], "0 shows all")
    walked = browser.run("""(() => {
        const panel = stagesim.viewers[0].panels[0], run = panel.run;
        let last = 0, steps = 0;
        for (let i = 0; i < run.start.length; i++) if ((run.style[i] & 7) < 5 && run.end[i] > run.end[last]) last = i;
        panel.select(last);
        for (; steps < 1000; steps++) {
            const now = panel.selected;
            panel.before();
            if (panel.selected === now) break;
            if (run.end[panel.selected] > run.start[now] + 3) return [-1, steps];
        }
        return [run.start[panel.selected], steps];
    })()""")
    check.that(walked[0] == 0 and walked[1] > 5, f"what each box waited for leads to {walked}")


def use_comparison(check, page, pictures):
    with chromium.Browser(1280, 1000) as browser:
        seconds = browser.open(page)
        ready = browser.run("performance.now()") / 1000
        check.that(page.stat().st_size < 2e6, f"{page.stat().st_size} bytes")
        print(f"comparison: {page.stat().st_size} bytes, loaded in {seconds:.2f} s, ready {ready:.2f} s")
        order = "[...document.querySelector('table.sort').tBodies[0].rows].map(row => row.cells[0].innerText.trim())"
        first = browser.run(order)
        times = "[...document.querySelector('table.sort').tBodies[0].rows].map(row => +row.cells[1].dataset.v)"
        browser.run("document.querySelectorAll('table.sort .sorter')[1].click()")
        found = browser.run(times)
        check.that(found == sorted(found) and browser.run(order) != first, "a column sorts")
        browser.run("document.querySelectorAll('table.sort .sorter')[1].click()")
        check.that(browser.run(times) == sorted(found, reverse=True), "and the other way round")
        best = browser.run("document.querySelector('tr.best').innerText")
        check.that("best" in best, f"the best row: {best}")
        browser.run("""(() => { const box = document.querySelector('.filter'); box.value = 'zb';
                       box.dispatchEvent(new Event('input')); })()""")
        shown = "[...document.querySelector('table.sort').tBodies[0].rows].filter(row => !row.hidden).length"
        left = browser.run(shown)
        check.that(0 < left < len(first), f"the filter leaves {left} rows")
        boxes = "[...document.querySelectorAll('.tools details input[type=checkbox]')]"
        browser.run(boxes + "[0].click()")
        shown = browser.run("[...document.querySelectorAll('figure.tl')].filter(one => !one.hidden).length")
        check.that(shown == len(first) - 1, f"{shown} runs are shown after one was switched off")
        browser.run("""(() => { const by = document.querySelector('.tools select'); by.value = 'share';
                       by.dispatchEvent(new Event('change')); })()""")
        browser.run("document.querySelector('.timelines').scrollIntoView()")
        browser.run(chromium.FRAMES)
        ends = browser.run("stagesim.viewers[0].panels.filter(panel => !panel.figure.hidden)"
                           ".map(panel => { panel.layout(); return panel.x(2 ** 24); })")
        check.that(max(ends) - min(ends) < 1, "aligned by iterations all are as long")
        if pictures:
            browser.picture(pictures / "aligned.png")
        browser.check_quiet(check, "a comparison in use", f"file://{page}")


def use_large(check, page, pictures):
    with chromium.Browser(1280, 1000) as browser:
        browser.open(page)
        browser.run("document.querySelector('.timelines').scrollIntoView()")
        browser.run(chromium.FRAMES)
        spans = browser.run("""(() => { const panel = stagesim.viewers[0].panels[0], viewer = stagesim.viewers[0];
            return [[0, 1], [0.2, 0.7], [0.4, 0.45], [0.42, 0.423]].map(([a, b]) => {
                viewer.from = a; viewer.to = b;
                let best = 1e9;
                for (let i = 0; i < 3; i++) { const began = performance.now(); panel.draw(); best = Math.min(best,
                    performance.now() - began); }
                return Math.round(best * 10) / 10; }); })()""")
        print(f"64 x 512: {page.stat().st_size} bytes, milliseconds to draw {spans}")
        check.that(max(spans) < 1000, f"drawing takes {spans} ms")
        folded = browser.run("""(() => { const panel = stagesim.viewers[0].panels[0], before = panel.lines.length;
            panel.foldAll(true); panel.draw(); return [before, panel.lines.length]; })()""")
        check.that(folded == [64, 16], f"rows fold: {folded}")
        browser.run(chromium.FRAMES)
        if pictures:
            browser.picture(pictures / "folded.png")
        browser.check_quiet(check, "a large timeline", f"file://{page}")


def use_queue(check, page):
    """A click on a job of the picture, or Tab and Enter, opens its panel, and no other."""
    shown = "[...document.querySelectorAll('.panel')].filter(one => one.offsetHeight).map(one => one.id).join()"
    with chromium.Browser(1280, 1000, script=True) as browser:
        browser.open(page)
        check.that(browser.run(shown) == "", "no panel is open at first")
        left, top, wide, high = browser.run(PLACE % ".broad .links a[href=\\'#job-1\\'] rect")
        browser.click(left + wide / 2, top + high / 2)
        browser.run(chromium.FRAMES)
        check.that(browser.run(shown) == "job-1", f"a click opens {browser.run(shown)!r}")
        browser.run("document.querySelector('.broad .links a').focus()")
        browser.key("Tab", 9)
        name = browser.run("document.activeElement.getAttribute('href') || ''")
        browser.key("Enter", 13)
        browser.run(chromium.FRAMES)
        check.that(name == "#" + browser.run(shown) != "#job-0", f"Tab and Enter on {name}: {browser.run(shown)!r}")
        browser.check_quiet(check, "a queue in use", f"file://{page}")


def without_script(check, pages, pictures):
    with chromium.Browser(script=False) as browser:
        for name, page in pages.items():
            browser.open(page)
            time.sleep(0.1)
            if pictures:
                browser.picture(pictures / f"{name}-noscript.png", True)
            data = browser.call("Page.printToPDF")["data"]
            check.that(len(data) > 20000, f"{name}: nothing is printed")


def main(stagesim, pictures):
    if not chromium.find():
        print("there is no Chromium: pages were not looked at")
        return 77
    check = tool.Checker()
    with tempfile.TemporaryDirectory() as scratch:
        pages = make_pages(stagesim, pathlib.Path(scratch))
        for name, page in tool.sampled(pages.items()):
            look(check, name, page, pictures)
        use_timeline(check, pages["run"], pictures)
        use_comparison(check, pages["comparison"], pictures)
        use_large(check, pages["large"], pictures)
        use_queue(check, pages["queue"])
        without_script(check, pages, pictures)
    return check.done()


if __name__ == "__main__":
    PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
    sys.exit(main(str(pathlib.Path(sys.argv[1]).resolve()), PICTURES))
