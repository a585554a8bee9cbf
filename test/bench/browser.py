#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""browser.py PAGE: how large the playground is, and how long it takes in Chromium: the first paint, the demo and the
530B model from a key to the new picture. serve.py beside it asks `stagesim serve`."""
import gzip
import json
import pathlib
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
    small = len(gzip.compress(wasm.read_bytes()))
    print(f"WebAssembly: {wasm.stat().st_size / 1e6:.2f} MB, compressed {small / 1e6:.2f} MB")
    print(f"page: {page.stat().st_size / 1e6:.2f} MB")
    with chromium.Browser(1280, 900) as browser:
        browser.open(page)
        paint = browser.run("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        print(f"first paint: {paint:.0f} ms")
        while not browser.run(RUNS):
            time.sleep(0.02)
        print(f"first result: {browser.run('performance.now()'):.0f} ms")
        jobs = {"demo": (ROOT / "scenarios/demo.yaml").read_text(),
                "530B": (ROOT / "scenarios/papers/megatron-lm.yaml").read_text()}
        for old, new in LARGE.items():
            assert old in jobs["530B"], old
            jobs["530B"] = jobs["530B"].replace(old, new)
        for name, text in jobs.items():
            found = times(browser, text)
            print(f"{name}: {statistics.median(found)} ms from the run to its picture, at least {min(found)}")


main()
