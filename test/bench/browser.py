#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py PAGE: how large the playground is, and how long it takes in Chromium: the first paint, the demo, the 530B
model and a job of 10,000 operations from a key to the new picture, the programs' part of it (a run without a page),
pictures while a box is dragged, and a key that ends a long run. serve.py beside it asks `stagesim serve`."""
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
RUNS = "+(document.body.dataset.runs || 0)"
LARGE = {"megatron-1.7b": "megatron-529.6b", "{data: 32}": "{tensor: 8, pipeline: 35, data: 9}",
         "{global: 512, micro: 16}": "{global: 2520, micro: 1}", "nodes: 4": "nodes: 315",
         "{name: 1f1b, recompute: full}": "{name: interleaved, chunks: 3, recompute: full}"}


BIG = """platform: dgx-h100:2
workload: stages
stages: {forward: 10ms, backward: 20ms, message: 30MB, activation: 1GiB}
parallel: {pipeline: 16}
batch: {micro_batches: 109}
schedule: 1f1b
"""  # 10,028 operations
# A run of the program in the worker, without a page: what a scenario takes to be evaluated.
ALONE = """(async () => { const found = [];
    for (let i = 0; i < 9; i++) {
        const begin = performance.now();
        await playground.hand.drafts.run(['run', 'scenario.yaml', '--engine', 'analytic'],
                                         {files: {'scenario.yaml': %s}});
        found.push(performance.now() - begin); }
    return found.sort((a, b) => a - b); })()"""
# Boxes drawn anew while an end is dragged, one after the other.
DRAFTS = """(async () => { const {hand} = playground, found = [];
    document.getElementById('hand').open = true;
    hand.board.drag = {};
    for (let i = 0; i < 12; i++) {
        const begin = performance.now();
        hand.asked = {'scenario.yaml': playground.state.a};
        await hand.draft();
        found.push(performance.now() - begin); }
    hand.board.drag = null;
    return found.sort((a, b) => a - b); })()"""
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


def times(browser, text, count=7):
    """Milliseconds from a key to the new picture, as the page itself says."""
    found = []
    for number in range(count):
        before = browser.run(RUNS)
        browser.run("playground.view.dispatch({changes: {from: 0, to: playground.view.state.doc.length, insert: %s}})"
                    % json.dumps(text + f"# {number}\n"))
        while browser.run(RUNS) == before:
            time.sleep(0.02)
        found.append(int(browser.run("document.getElementById('status').textContent").split()[-2]))
    return found


def main():
    page = pathlib.Path(sys.argv[1]).resolve()
    wasm = page.parents[1] / "tools/browser/stagesim.wasm"
    small = sum(len(base64.b64decode(re.search(rf'id="{name}"[^>]*>([^<]*)<', page.read_text())[1]))
                for name in ("wasm", "unzstd"))
    print(f"WebAssembly: {wasm.stat().st_size / 1e6:.2f} MB, compressed {small / 1e6:.2f} MB with its decoder")
    print(f"page: {page.stat().st_size / 1e6:.2f} MB")
    with chromium.Browser(1280, 900) as browser:
        browser.open(page)
        paint = browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"first paint: {paint:.0f} ms")
        while not browser.run(RUNS):
            time.sleep(0.02)
        print(f"first result: {browser.run('performance.now()'):.0f} ms")
        jobs = {"demo": (ROOT / "scenarios/demo.yaml").read_text(),
                "10,000 operations": BIG, "530B": (ROOT / "scenarios/papers/megatron-lm.yaml").read_text()}
        for old, new in LARGE.items():
            assert old in jobs["530B"], old
            jobs["530B"] = jobs["530B"].replace(old, new)
        for name, text in jobs.items():
            found = times(browser, text)
            print(f"{name}: {statistics.median(found)} ms from the run to its picture, at least {min(found)}")
            alone = browser.run(ALONE % json.dumps(text))
            print(f"    without a page {alone[len(alone) // 2]:.0f} ms, at least {alone[0]:.0f}")
        times(browser, BIG, 1)
        drafts = browser.run(DRAFTS)
        print(f"a box dragged, 10,000 operations: {drafts[6]:.0f} ms from picture to picture, at least {drafts[0]:.0f}")
        key, whole = browser.run(ENDED % (json.dumps(BIG.replace("1f1b", "best")), json.dumps(jobs["demo"])))
        print(f"a long run is ended: the key takes {key:.0f} ms, the demo's picture is there after {whole:.0f} ms")


main()
