#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""link_profiles.py STAGESIM: bandwidth_file and latency_file on every link that the preset's file declares between its
first GPU and its last one, for every preset: one message, whose end follows from the rates before and after the change.
state_file on such links is refused."""
import csv
import json
import math
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from tool import Checker, binary_argument, run

check = Checker()
# Links of SimGrid's own <cluster>, which names no files.
WITHOUT = {"piz-daint", "ring", "tpu-v3", "tpu-v4", "tpu-v5p"}
JOB = """platform: {file}
workload: stages
stages: {{forward: 1s, backward: 1s, message: {bytes:.0f}B}}
parallel: {{pipeline: 2}}
batch: {{micro_batches: 1}}
schedule: gpipe
"""
CHANGE, SECONDS = 2, 1.5  # when rates halve; what the message takes at the full rate


def generated(stagesim, folder, preset):
    """Two nodes in pods of their own, as far as the preset comes so."""
    for options in (["--nodes", 2, "--pod", 1], ["--nodes", 2], ["--nodes", 4], ["--nodes", 16], ["--nodes", 1]):
        done = run(stagesim, "platform", "generate", preset, *options, "-o", folder / "plain.xml", expect=None)
        if done.returncode == 0:
            return (folder / "plain.xml").read_text()
    check.that(False, f"{preset} comes in no shape")
    return ""


def between(stagesim, folder, hosts):
    text = run(stagesim, "platform", "show", "plain.xml", "--between", *hosts, "--format", "json", cwd=folder).stdout
    return json.loads(text)


def attach(folder, xml, links):
    """The file with profiles on these links: the latency is twice as long from the beginning."""
    for number, (name, link) in enumerate(links.items()):
        (folder / f"b{number}").write_text(f"{CHANGE} {link['bandwidth_bytes_per_s'] / 2!r}\n")
        (folder / f"l{number}").write_text(f"0 {link['latency_s'] * 2!r}\n")
        xml, count = re.subn(rf'<link id="{re.escape(name)}" ',
                             rf'<link id="{name}" bandwidth_file="b{number}" latency_file="l{number}" ', xml)
        check.that(count == 1, f"{name} is declared {count} times")
    return xml


def alone(xml, hosts):
    """All other hosts are no GPUs any more."""

    def change(match):
        kept = match.group(1) in hosts
        return match.group(0) if kept else match.group(0).replace('value="gpu"', 'value="spare"')

    return re.sub(r'<host id="([^"]*)".*?</host>', change, xml, flags=re.S)


def message_end(folder):
    with open(folder / "out" / "operations.csv", newline="", encoding="utf-8") as file:
        return max(float(row["end_s"]) for row in csv.DictReader(file) if row["kind"] == "activation")


def preset_profiles(stagesim, folder, preset):
    xml = generated(stagesim, folder, preset)
    names = re.findall(r'<host id="([^"]*)"', xml)
    if preset in WITHOUT:
        check.that("<cluster" in xml and not names, f"{preset} has links of its own")
        return
    check.that(len(names) > 1, f"{preset}: {len(names)} hosts")
    if len(names) < 2:
        return
    hosts = (names[0], names[-1])
    route = between(stagesim, folder, hosts)
    links = {re.sub("_(UP|DOWN)$", "", link["name"]): link for link in route["links"]}
    (folder / "profiles.xml").write_text(attach(folder, alone(xml, hosts), links))
    rate, latency = route["bandwidth_bytes_per_s"], 2 * route["latency_s"]
    size = math.floor(SECONDS * rate)
    (folder / "job.yaml").write_text(JOB.format(file="profiles.xml", bytes=size))
    done = run(stagesim, "run", "job.yaml", "--engine", "simgrid", "--trace", "csv", "-o", "out", cwd=folder,
               expect=None)
    if "and SimGrid 4.1," in done.stderr:
        check.that(done.returncode == 1, f"{preset}: refused with {done.returncode}")
        return
    check.that(done.returncode == 0, f"{preset}: {done.stderr}")
    expected = CHANGE + (size - rate * (CHANGE - 1 - latency)) / (rate / 2)
    check.near(message_end(folder), expected, f"{preset}: end of the message", 1e-6)


def states(stagesim, folder):
    """Two directions cannot fail; a link for each can."""
    xml = generated(stagesim, folder, "dgx-h100")
    (folder / "state").write_text("5 0\n")
    (folder / "job.yaml").write_text(JOB.format(file="state.xml", bytes=1000))
    (folder / "state.xml").write_text(xml.replace('<link id="nic-0-0" ', '<link id="nic-0-0" state_file="state" '))
    done = run(stagesim, "run", "job.yaml", "-o", "none", cwd=folder, expect=1)
    check.that("'nic-0-0': SimGrid 3.32 cannot let a link of two directions fail" in done.stderr, done.stderr)
    check.that(not (folder / "none").exists(), "something was written")


def main():
    stagesim = binary_argument()
    presets = [row["name"] for row in json.loads(run(stagesim, "list", "presets", "--format", "json").stdout)]
    check.that(WITHOUT <= set(presets), f"{sorted(WITHOUT - set(presets))}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for preset in presets:
            preset_profiles(stagesim, folder, preset)
        states(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
