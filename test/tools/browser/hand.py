#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hand.py STAGESIM PAGE [FOLDER]: what is changed by hand in the playground (PAGE, which tools/browser/build made), in
a real Chromium at 1280 and 390 points, light and dark: boxes of the timeline are moved and their ends dragged with the
mouse and with keys. Orders and times are those of the native program for the same files; an order that cannot run is
explained; memory over time, idle time by cause and the bound are shown; links and the copied command hold the order.
Nothing is said on the console and nothing requested. Pictures go to FOLDER.

Left out (exit code 77) where there is no page or no Chromium."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import chromium  # noqa: E402
from page import ENDS, ITERATION, RUNS, edit, until  # noqa: E402
from tool import ROOT, Checker, summary  # noqa: E402

BOX = "document.querySelector('#board [data-worker=\"%d\"][data-at=\"%d\"]')"
check = Checker()


def changed(browser, act, what):
    """Does something that begins a run, and waits for its end."""
    before = browser.run(RUNS)
    act()
    return check.that(until(browser, f"{RUNS} > {before} && {ENDS} === {RUNS}"), f"{what}: no answer")


def place(browser, worker, at):
    """Left, right and middle height of a box in the window."""
    box = BOX % (worker, at)
    browser.run(f"{box}.scrollIntoView({{block: 'center'}})")
    browser.run(chromium.FRAMES)
    return browser.run(f"(() => {{ const box = {box}.getBoundingClientRect(); "
                       "return [box.left, box.right, (box.top + box.bottom) / 2]; })()")


def start(browser, page, first, link=""):
    browser.open(page)
    until(browser, f"{ENDS} && {ENDS} === {RUNS}")
    if link:
        changed(browser, lambda: browser.run(f"location.hash = {json.dumps(link)}"), "a link")
        return
    edit(browser, first)
    browser.run("document.querySelector('[data-view=see]:not(body)').click(); "
                "document.getElementById('hand').open = true")
    check.that(until(browser, "document.querySelectorAll('#board [data-worker]').length === 64"), "64 boxes")


def native(browser, binary, folder):
    """The iteration of the native program for the text and the order that the page has."""
    text, order = json.loads(browser.run("JSON.stringify([playground.state.a, playground.state.orders.a])"))
    (folder / "order.csv").write_text(order or "")
    (folder / "scenario.yaml").write_text(text)
    return summary(binary, folder / "scenario.yaml", folder / "native", "--engine", "analytic")["time"]["iteration_s"]


def same(browser, binary, folder, what):
    ours, theirs = browser.run(ITERATION), native(browser, binary, folder)
    check.that(ours == theirs, f"{what}: {ours}, natively {theirs}")


def slots(browser, worker):
    return browser.run(f"playground.hand.order().workers[{worker}].map(slot => slot.kind + slot.batch).join(' ')")


def by_keys(browser, binary, folder):
    """1F1B's worker 2 begins with F0 F1 B0."""
    browser.run("playground.hand.board.svg.focus()")
    browser.key("ArrowRight", 39)
    for key, code in (("ArrowDown", 40), ("ArrowDown", 40), ("Home", 36), ("ArrowRight", 39)):
        browser.key(key, code)
    said = browser.run("document.getElementById('slot').textContent")
    check.that(said.startswith("Worker 2, slot 2 of 16: forward of micro-batch 1, stage 2"), f"the chosen box: {said}")
    changed(browser, lambda: browser.key("ArrowRight", 39, shift=True), "Shift and an arrow")
    check.that("schedule: {file: order.csv}" in browser.run("playground.state.a"), "the schedule is no file")
    check.that(slots(browser, 2).startswith("F0 B0 F1"), f"moved: {slots(browser, 2)}")
    said = browser.run("document.getElementById('slot').textContent")
    check.that(said.startswith("Worker 2, slot 3 of 16: forward of micro-batch 1"), f"the moved box: {said}")
    same(browser, binary, folder, "an order by keys")
    changed(browser, lambda: browser.key("+", 187), "+")
    check.that("forward: 11ms" in browser.run("playground.state.a"), "+ makes a forward 10 % longer")
    for button in ("shorter", "longer", "undo", "undo", "undo"):
        changed(browser, lambda: browser.run(f"document.getElementById('{button}').click()"), button)
    check.that("forward: 10ms" in browser.run("playground.state.a"), "undone times")


def by_mouse(browser, binary, folder):
    """The first forward of worker 3 behind the first backward, its own: an order that dead-locks; and back."""
    before = browser.run("playground.state.a")
    left, right, y = place(browser, 1, 2)
    to = place(browser, 1, 3)[1] + 2
    changed(browser, lambda: browser.drag((left + right) / 2, y, to), "a box is dragged")
    check.that(slots(browser, 1).startswith("F0 F1 B0 F2"), f"dragged: {slots(browser, 1)}")
    same(browser, binary, folder, "an order by the mouse")
    left, right, y = place(browser, 3, 0)
    to = place(browser, 3, 1)[1] - 2
    changed(browser, lambda: browser.drag((left + right) / 2, y, to), "a dead-lock")
    said = browser.run("document.getElementById('mistakes').textContent")
    check.that("worker 3, slot 1 (backward of micro-batch 0, stage 3): this order can never finish: worker 3 waits for "
               "the forward of micro-batch 0 in stage 3" in said and "worker 3 waits for this" in said, said)
    check.that(browser.run("document.querySelectorAll('#board .bad').length") == 2, "slots that wait are not marked")
    browser.run("document.querySelector('#mistakes button').click()")
    check.that(browser.run("document.getElementById('slot').textContent").startswith("Worker 3, slot 1 of 16"),
               "a message does not lead to its slot")
    changed(browser, lambda: browser.run("document.getElementById('earlier').click(); "
                                         "document.getElementById('later').click()"), "moved back")
    check.that(slots(browser, 3).startswith("F0 B0"), "moved back")
    for _ in range(3):
        changed(browser, lambda: browser.run("document.getElementById('undo').click()"), "undo")
    check.that(browser.run("playground.state.a") == before, "what was before is not undone")


def by_times(browser, binary, folder):
    """The end of a box: times are drawn anew while it is dragged, and stand in the text when it is let go."""
    left, right, y = place(browser, 0, 0)
    whole = browser.run("document.getElementById('board').firstChild.getAttribute('aria-label')")
    browser.mouse("mousePressed", right - 2, y, "left", 1, clickCount=1)
    for step in range(1, 4):
        browser.mouse("mouseMoved", right - 2 + (right - left) * step / 3, y, "left", 1)
    label = "document.getElementById('board').firstChild.getAttribute('aria-label')"
    check.that(until(browser, f"{label} !== {json.dumps(whole)}"), "nothing is drawn while a box is dragged")
    check.that("forward: 10ms" in browser.run("playground.state.a"), "the text changes while a box is dragged")
    end = right - 2 + (right - left)
    changed(browser, lambda: browser.mouse("mouseReleased", end, y, "left", 0, clickCount=1), "an end is dragged")
    text = browser.run("playground.state.a")
    found = [float(line.split()[1].removesuffix("ms")) for line in text.splitlines()
             if line.strip().startswith("forward:")]
    check.that(found and 19 <= found[0] <= 21, f"a box twice as long: {text}")
    same(browser, binary, folder, "times by the mouse")
    browser.run("document.getElementById('alone').checked = true")
    browser.run("playground.hand.board.choose(3, 1)")
    changed(browser, lambda: browser.run("document.getElementById('longer').click()"), "one stage")
    check.that("backward: [20ms, 20ms, 20ms, 22ms]" in browser.run("playground.state.a"), "the time of one stage")
    same(browser, binary, folder, "times of one stage")
    text = browser.run("playground.state.a")
    edit(browser, text.replace("forward: ", "forward: [10.125ms, 10ms, 0.0100004s, 10ms] # "))
    check.that(until(browser, f"{ENDS} === {RUNS}"), "times of each stage")
    browser.run("playground.hand.board.choose(1, 0)")
    changed(browser, lambda: browser.run("document.getElementById('longer').click()"), "one stage of several")
    check.that("forward: [10.125ms, 11ms, 0.0100004s, 10ms]" in browser.run("playground.state.a"),
               f"the times of other stages change: {browser.run('playground.state.a')}")
    browser.run("document.getElementById('alone').checked = false")


def never(browser, page, first):
    """A box that is dragged and never let go leaves nothing; keys without a box, and drafts that fail, do no harm."""
    start(browser, page, first)
    check.that(until(browser, f"{ENDS} === {RUNS}"), "no end")
    left, right, y = place(browser, 0, 0)
    shown = ("[document.getElementById('board').firstChild.getAttribute('aria-label'), "
             "document.querySelector('#memory-a svg').getAttribute('aria-label'), "
             "document.querySelector('#memory-a svg').textContent, playground.state.a]")
    before = browser.run(shown)
    browser.mouse("mousePressed", right - 2, y, "left", 1, clickCount=1)
    browser.mouse("mouseMoved", right + 2 * (right - left), y, "left", 1)
    check.that(until(browser, f"({shown})[0] !== {json.dumps(before[0])} && ({shown})[2] !== {json.dumps(before[2])}"),
               "nothing is drawn while a box is dragged")
    browser.run("document.querySelector('#board svg').dispatchEvent(new PointerEvent('pointercancel'))")
    check.that(browser.run(shown) == before, f"what was never let go stays: {browser.run(shown)}, not {before}")
    check.that(until(browser, "!playground.hand.busy && !playground.hand.asked", 5), "a draft goes on")
    browser.mouse("mouseReleased", right, y, "left", 0, clickCount=1)
    check.that(browser.run(shown) == before, "the end of a drag that was given up")
    for key, code in (("+", 187), ("ArrowDown", 40), ("End", 35)):
        browser.run("playground.hand.board.svg.focus(); playground.hand.board.chosen = {worker: 2, at: 999}")
        runs = browser.run(RUNS)
        browser.key(key, code)
        check.that(until(browser, "playground.hand.board.slot()", 5), f"{key} chooses no box")
        if key == "+":  # the first one chose only
            browser.key(key, code)
            check.that(until(browser, f"{RUNS} > {runs} && {ENDS} === {RUNS}"), "+ makes no box longer")
    failed = browser.run("""(async () => { const {hand} = playground, {drafts} = hand;
        hand.drafts = {run: () => Promise.reject(new Error('out of memory'))};
        hand.asked = {};
        await hand.draft();
        hand.drafts = drafts;
        return [hand.busy, document.getElementById('status').textContent]; })()""")
    check.that(failed == [False, "out of memory"], f"a draft that fails: {failed}")


def variants(browser, page, first):
    """Each variant has its own steps to undo."""
    start(browser, page, first)
    browser.run("playground.hand.board.choose(0, 0)")
    changed(browser, lambda: browser.run("document.getElementById('longer').click()"), "a longer box")
    changed(browser, lambda: browser.run("document.getElementById('tab-b').click()"), "variant B")
    browser.run("document.getElementById('undo').click()")
    check.that("nothing to undo" in browser.run("document.getElementById('status').textContent"), "a step of A")
    changed(browser, lambda: browser.run("document.getElementById('tab-a').click()"), "variant A")
    check.that("forward: 11ms" in browser.run("playground.state.a"), "variant A has another text")
    changed(browser, lambda: browser.run("document.getElementById('undo').click()"), "a step that B has not taken away")
    check.that(browser.run("playground.state.a") == first, "the step is not undone")


def output_layer(browser, page, first):
    """The passes of vocab-1f1b have their names, and the reason why their ends cannot be dragged."""
    start(browser, page, first)
    edit(browser, first.replace("schedule: 1f1b", "schedule: vocab-1f1b"))
    check.that(until(browser, f"{ENDS} === {RUNS}"), "no end")
    kinds = browser.run("playground.hand.board.workers.flat().map(slot => slot.kind).join('')")
    check.that({letter: kinds.count(letter) for letter in "FBST"} == dict.fromkeys("FBST", 32) and len(kinds) == 128,
               f"slots of vocab-1f1b: {kinds}")
    browser.run("(() => { const {board} = playground.hand; "
                "board.choose(0, board.workers[0].findIndex(slot => slot.kind === 'S')); })()")
    said = browser.run("document.getElementById('slot').textContent")
    check.that("output layer (pass S) of micro-batch 0" in said, said)
    browser.run("document.getElementById('longer').click()")
    said = browser.run("document.getElementById('status').textContent")
    check.that("a share of what a forward takes" in said, f"the reason: {said}")


def seen(browser, first):
    """Memory over time, causes of idle time, the bound, and the certificate of best."""
    edit(browser, first)
    check.that(until(browser, f"{ENDS} === {RUNS}"), "no end")
    label = browser.run("document.querySelector('#memory-a svg').getAttribute('aria-label')")
    check.that("4 GiB on worker 0, 3 GiB on worker 1, 2 GiB on worker 2, 1 GiB on worker 3" in label, label)
    idle = browser.run("document.getElementById('idle-a').textContent")
    check.that("idle because of order of the schedule 27.2 %" in idle and "transfers 0.39 %" in idle, idle)
    for schedule, words in (("best", "with no limit of micro-batches in flight"),
                            ("{name: best, memory: 4, effort: 100, chunks: 1}",
                             "with at most 4 micro-batches in flight on a worker")):
        edit(browser, first.replace("schedule: 1f1b", f"schedule: {schedule}"))
        check.that(until(browser, f"{ENDS} === {RUNS}"), f"{schedule}: no end")
        said = browser.run("document.getElementById('bound-a').textContent")
        check.that(words in said and "proved" in said and "the gap is" in said, f"{schedule}: {said}")
    edit(browser, first.replace("10ms", "[10ms, 10ms, 11ms, *a]"))
    browser.run("playground.hand.board.show([[{kind: 'F', stage: 0, batch: 0}]]); "
                "playground.hand.board.choose(0, 0); document.getElementById('longer').click()")
    said = browser.run("document.getElementById('status').textContent")
    check.that("only plain times" in said, f"times that cannot be dragged: {said}")


def kept(browser, page, first, binary, folder):
    """The link and the copied command hold the order; the link also what can be undone, and the chosen box."""
    start(browser, page, first)
    changed(browser, lambda: browser.run("playground.hand.move(2, 1, 2, true)"), "an order")
    wanted = browser.run(ITERATION)
    browser.run("document.getElementById('copy-link').click()")
    check.that(until(browser, "location.hash.startsWith('#3.')"), "no link with a step")
    link = browser.run("location.hash")
    browser.run("document.getElementById('copy-command').click()")
    command = browser.run("document.getElementById('text').value") if browser.run(
        "document.getElementById('copied').open") else browser.run("navigator.clipboard.readText()")
    (folder / "bin").mkdir(exist_ok=True)
    (folder / "bin/stagesim").unlink(missing_ok=True)
    (folder / "bin/stagesim").symlink_to(binary)
    subprocess.run(["bash", "-ec", command], cwd=folder, check=True, capture_output=True,
                   env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"})
    done = json.loads((folder / "out/summary.json").read_text())["time"]["iteration_s"]
    check.that(done == wanted, f"the copied command takes {done}, the page said {wanted}")
    start(browser, page, first, link)
    check.that(browser.run(ITERATION) == wanted and browser.run("document.getElementById('hand').open") and
               slots(browser, 2).startswith("F0 B0 F1"), "a link with an order")
    check.that(browser.run("document.getElementById('schedule').textContent") == "by hand", "the schedule's name")
    check.that(until(browser, f"{ENDS} === {RUNS} && playground.hand.board.slot()"), "no box is chosen")
    check.that(browser.run("playground.hand.board.chosen") == {"worker": 2, "at": 2}, "another box is chosen")
    browser.run("playground.hand.board.svg.focus()")
    browser.key("ArrowLeft", 37)
    held = "playground.decode(location.hash).then(({chosen}) => chosen.worker === 2 && chosen.at === 1)"
    check.that(until(browser, held, 5), "the address does not follow the chosen box")
    changed(browser, lambda: browser.run("document.getElementById('undo').click()"), "a step that came with the link")
    check.that(browser.run("playground.state.a") == first and browser.run("playground.state.orders.a") is None,
               "the step of the link is not undone")
    browser.run("location.hash = '#1.q1ZKVLJSqrBSiDbWUbCIjckrTs5ITSnNSbVSMEwzTIrJU6oFAA'")
    until(browser, "playground.state.a !== " + json.dumps(first), 5)
    browser.run("document.getElementById('undo').click()")
    check.that("nothing to undo" in browser.run("document.getElementById('status').textContent"),
               "a step of the link before")


def main():
    binary, page = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    pictures = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
    if not page.exists() or not chromium.find():
        print("skipped: tools/browser/build has not been run (it needs emscripten and npm), or there is no Chromium")
        return 77
    first = (ROOT / "tools/browser/page/first.yaml").read_text()
    with tempfile.TemporaryDirectory() as scratch, chromium.Browser(1280, 900) as browser:
        folder = pathlib.Path(scratch)
        for width in (1280, 390):
            for dark in (False, True):
                browser.size(width, 900, width < 600)
                browser.scheme(dark)
                start(browser, page, first)
                by_keys(browser, binary, folder)
                by_mouse(browser, binary, folder)
                by_times(browser, binary, folder)
                wide = browser.run("document.documentElement.scrollWidth")
                check.that(wide <= width, f"{wide} points wide at {width}")
                if pictures:
                    browser.run("document.getElementById('hand').scrollIntoView()")
                    browser.run(chromium.FRAMES)
                    browser.picture(pictures / f"hand-{width}-{'dark' if dark else 'light'}.png")
        browser.size(1280, 900)
        start(browser, page, first)
        seen(browser, first)
        kept(browser, page, first, binary, folder)
        for each in (never, variants, output_layer):
            each(browser, page, first)
        browser.check_quiet(check, "the page", "file://" + str(page), "blob:", "data:")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
