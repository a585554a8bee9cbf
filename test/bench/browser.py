#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py PAGE [RUNS]: how large the playground is, and how long it takes in Chromium: the first paint, the demo,
the 530B model and a job of 10,000 operations from the run to the new picture, and to the frame that shows it, the
program's part of it (a run without a page), pictures while a box is dragged, and a key that ends a long run. Each is
the median of RUNS (12), with the least, the quartiles and the most. serve.py beside it asks `stagesim serve`."""
import base64
import json
import pathlib
import re
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import chromium  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS, ENDS = "+(document.body.dataset.runs || 0)", "+(document.body.dataset.ends || 0)"
LARGE = {"megatron-1.7b": "megatron-529.6b", "{data: 32}": "{tensor: 8, pipeline: 35, data: 9}",
         "{global: 512, micro: 16}": "{global: 2520, micro: 1}", "nodes: 4": "nodes: 315",
         "{name: 1f1b, recompute: full}": "{name: interleaved, chunks: 3, recompute: full}"}


DEMO = (ROOT / "scenarios/demo.yaml").read_text()
BIG = """platform: dgx-h100:2
workload: stages
stages: {forward: 10ms, backward: 20ms, message: 30MB, activation: 1GiB}
parallel: {pipeline: 16}
batch: {micro_batches: 109}
schedule: 1f1b
"""  # 10,028 operations
# A run of the program in the worker, without a page: what a scenario takes to be evaluated.
ALONE = """(async () => { const found = [];
    for (let i = 0; i < %d; i++) {
        const begin = performance.now();
        await playground.hand.drafts.run(['run', 'scenario.yaml', '--engine', 'analytic'],
                                         {files: {'scenario.yaml': %s}});
        found.push(performance.now() - begin); }
    return found; })()"""
# A redraw: how long it took as the page says, and until the frame behind it. What follows it is left to the next key.
REDRAWN = """(async () => {
    const {view} = playground, {dataset} = document.body, before = dataset.runs, text = %s;
    let seen = null;
    const drawn = new Promise(done => new MutationObserver((_, watch) => {
        if (dataset.runs === before) return;
        watch.disconnect();
        seen = performance.now();
        done();
    }).observe(document.body, {attributes: true}));
    view.dispatch({changes: {from: 0, to: view.state.doc.length, insert: text}});
    await drawn;
    const took = +/(\\d+) ms/.exec(document.getElementById('status').textContent)[1];
    await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
    const frame = took + performance.now() - seen;
    return [took, frame]; })()"""
# Boxes drawn anew while an end is dragged, one after the other.
DRAFTS = """(async () => { const {hand} = playground, found = [];
    document.getElementById('hand').open = true;
    hand.board.drag = {};
    for (let i = 0; i < %d; i++) {
        const begin = performance.now();
        hand.asked = {'scenario.yaml': playground.state.a};
        await hand.draft();
        found.push(performance.now() - begin); }
    hand.board.drag = null;
    return found; })()"""
# A search that would take seconds, ended by the key behind it.
ENDED = """(async () => { const {view} = playground, whole = () => ({from: 0, to: view.state.doc.length});
    const [long, short] = [%s, %s];
    view.dispatch({changes: {...whole(), insert: long}});
    await new Promise(done => setTimeout(done, 400));
    const runs = document.body.dataset.runs, begin = performance.now();
    view.dispatch({changes: {...whole(), insert: short}});
    const key = performance.now() - begin;
    while (document.body.dataset.runs === runs) await new Promise(done => setTimeout(done, 2));
    return [key, performance.now() - begin]; })()"""


def spread(found):
    low, middle, high = statistics.quantiles(found, n=4)
    return f"{middle:.0f} ms ({min(found):.0f}, {low:.0f} to {high:.0f}, {max(found):.0f})"


def redraws(browser, text, count):
    """Milliseconds of each: to the new picture, and to its frame. Two runs before them warm the program up."""
    browser.run(REDRAWN % json.dumps(text + "# -1\n"))
    browser.run(REDRAWN % json.dumps(text + "# -2\n"))
    found = list(zip(*(browser.run(REDRAWN % json.dumps(text + f"# {number}\n")) for number in range(count))))
    browser.run(REDRAWN % json.dumps(DEMO))  # ends what follows the last one
    while browser.run(f"{ENDS} !== {RUNS}"):
        time.sleep(0.02)
    return found


def main():
    page, count = pathlib.Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 12
    wasm = page.parents[1] / "tools/browser/stagesim.wasm"
    small = sum(len(base64.b64decode(re.search(rf'id="{name}"[^>]*>([^<]*)<', page.read_text())[1]))
                for name in ("wasm", "unzstd"))
    print(f"WebAssembly: {wasm.stat().st_size / 1e6:.2f} MB, compressed {small / 1e6:.2f} MB with its decoder")
    print(f"page: {page.stat().st_size / 1e6:.2f} MB")
    with chromium.Browser(1280, 900) as browser:
        browser.open(page)
        while not (paint := browser.run("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")):
            time.sleep(0.02)
        print(f"first paint: {paint:.0f} ms")
        while not browser.run(RUNS):
            time.sleep(0.02)
        print(f"first result: {browser.run('performance.now()'):.0f} ms")
        while not browser.run(ENDS):
            time.sleep(0.02)
        jobs = {"demo": DEMO, "10,000 operations": BIG,
                "530B": (ROOT / "scenarios/papers/megatron-lm.yaml").read_text()}
        for old, new in LARGE.items():
            assert old in jobs["530B"], old
            jobs["530B"] = jobs["530B"].replace(old, new)
        for name, text in jobs.items():
            picture, frame = redraws(browser, text, count)
            print(f"{name}: from the run to its picture {spread(picture)}, to its frame {spread(frame)}")
            print(f"    without a page {spread(browser.run(ALONE % (count, json.dumps(text))))}")
        redraws(browser, BIG, 1)
        print(f"a box dragged, 10,000 operations: from picture to picture {spread(browser.run(DRAFTS % count))}")
        key, whole = browser.run(ENDED % (json.dumps(BIG.replace("1f1b", "best")), json.dumps(jobs["demo"])))
        print(f"a long run is ended: the key takes {key:.0f} ms, the demo's picture is there after {whole:.0f} ms")


main()
