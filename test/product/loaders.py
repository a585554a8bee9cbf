#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""loaders.py STAGESIM: whoever reads a platform, a run writes the same bytes: a preset by its name, the file that the
generator writes for it read by stagesim and by SimGrid, and shipped platforms; both engines, folded and not.
`collective`, `platform show` and `platform fit` take a preset by its name, too."""
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

SCENARIO = """platform: {platform}
workload: transformer
model: {{layers: 8, hidden: 4096, heads: 32, sequence: 1024, vocabulary: 51200, positions: 1024}}
parallel: {{tensor: {tensor}, pipeline: 2, data: {data}}}
batch: {{micro: 1, micro_batches: 4}}
schedule: {schedule}
compute: {{efficiency: 0.5}}
output: {{trace: [csv, paje]}}
"""

STAGES = """platform: {platform}
workload: stages
stages: {{forward: 1ms, backward: 2ms, message: 10MB, gradient: 50MB}}
parallel: {{pipeline: {tensor}, data: {data}}}
batch: {{micro_batches: 4}}
schedule: {schedule}
output: {{trace: [csv, paje]}}
"""

# preset, options of the generator, keys of the scenario, tensor, data
PRESETS = [("dgx-a100", ["--nodes", 4], "nodes: 4", 8, 2),
           ("dgx-h100", ["--nodes", 6, "--pod", 2, "--oversubscription", 3], "nodes: 6, pod: 2, oversubscription: 3", 4,
            6),
           ("dgx-h100", ["--nodes", 2, "--gpus-per-node", 4, "--nic", "roce-100"],
            "nodes: 2, gpus_per_node: 4, nic: roce-100", 2, 2),
           ("dgx-a100", ["--nodes", 4, "--pod", 2, "--rails", "nvlink"], "nodes: 4, pod: 2, rails: nvlink", 4, 4),
           ("tpu-v3", ["--nodes", 4], "nodes: 4", 2, 4), ("piz-daint", ["--nodes", 16], "nodes: 16", 2, 4),
           ("graphcore-pod64", ["--nodes", 4], "nodes: 4", 2, 4)]


def outputs(folder):
    """All files by name; of the summary without what is different every time and the platform's name; without those
    that say which platform and loader were asked for."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in ("summary.json", "about.json", "scenario.yaml"):
            files[str(path.relative_to(folder))] = path.read_bytes()
    summary = json.loads((folder / "summary.json").read_text())
    loader = summary.pop("simulation")["platform_loader"]
    summary["scenario"].pop("platform")
    files["summary.json"] = json.dumps(summary)
    return files, loader


def simulate(binary, folder, name, platform, loader, engine, fold, tensor, data, schedule, text=SCENARIO):
    scenario = folder / "job.yaml"
    scenario.write_text(text.format(platform=platform, tensor=tensor, data=data, schedule=schedule))
    out = folder / name
    done = tool.run(binary, "run", scenario, "--set", f"loader={loader}", "--set", f"fold={fold}", "--engine", engine,
                    "-o", out, expect=None)
    if loader == "simgrid" and "and SimGrid 4.1," in done.stderr:
        return None, "simgrid"
    if done.returncode:
        sys.exit(done.stderr)
    return outputs(out)


def check_equal(checker, first, second, text):
    """Of outputs of two runs; None: that release of SimGrid refuses the file."""
    if first is None or second is None:
        return
    checker.that(first.keys() == second.keys(), f"{text}: files {sorted(first.keys() ^ second.keys())}")
    for name in first.keys() & second.keys():
        checker.that(first[name] == second[name], f"{text}: {name} differs")


def check_presets(checker, binary, folder):
    known = {line["name"] for line in json.loads(tool.run(binary, "list", "presets", "--format", "json").stdout)}
    for number, (preset, options, keys, tensor, data) in enumerate(PRESETS):
        if not checker.that(preset in known, f"there is no preset {preset}"):
            continue
        path = folder / f"{preset}-{number}.xml"
        tool.run(binary, "platform", "generate", preset, *options, "-o", path)
        for engine, fold in (("simgrid", "off"), ("simgrid", "auto"), ("analytic", "auto")):
            job = (engine, fold, tensor, data, "1f1b")
            named, reader = simulate(binary, folder, "named", f"{{preset: {preset}, {keys}}}", "auto", *job)
            read, own = simulate(binary, folder, "read", path, "auto", *job)
            loaded, simgrid = simulate(binary, folder, "loaded", path, "simgrid", *job)
            checker.that((reader, own, simgrid) == ("stagesim", "stagesim", "simgrid"),
                         f"{preset}: read by {reader}, {own}, {simgrid}")
            check_equal(checker, named, loaded, f"{preset} {keys}, {engine}, fold {fold}: by name and by SimGrid")
            check_equal(checker, read, loaded, f"{preset} {keys}, {engine}, fold {fold}: by stagesim and by SimGrid")


def check_shipped(checker, binary, folder):
    for path in sorted((tool.ROOT / "platforms").glob("*.xml")):
        hosts = json.loads(tool.run(binary, "platform", "show", path, "--format", "json").stdout)["gpus"]
        if hosts < 4:
            continue
        job = ("simgrid", "off", 2, min(hosts // 2, 8), "gpipe", STAGES)
        read, own = simulate(binary, folder, "read", path, "auto", *job)
        loaded, _ = simulate(binary, folder, "loaded", path, "simgrid", *job)
        checker.that(own == "stagesim", f"{path.name} is read by {own}")
        check_equal(checker, read, loaded, path.name)


def check_commands(checker, binary, folder):
    path = folder / "cluster.xml"
    tool.run(binary, "platform", "generate", "dgx-h100", "--nodes", 4, "-o", path)
    for arguments in (["collective", "all-reduce", "--sizes", "1KiB:1MiB:32", "--format", "csv", "--platform"],
                      ["collective", "all-to-all", "--sizes", "1MiB:1MiB:2", "--engine", "analytic", "--format", "csv",
                       "--platform"], ["platform", "show"], ["platform", "show", "--format", "json"],
                      ["platform", "show", "--between", "gpu-0-0", "gpu-3-7"]):
        texts = [tool.run(binary, *arguments, where).stdout.replace(str(where), "it").replace("cluster.xml", "it")
                 for where in (path, "dgx-h100:4")]
        checker.that(texts[0] and texts[0] == texts[1],
                     f"{' '.join(arguments)}: by name {texts[1]!r}, by file {texts[0]!r}")
    table = folder / "measured.csv"
    table.write_text(
        tool.run(binary, "collective", "all-reduce", "--platform", path, "--ranks", 8, "--format", "csv").stdout)
    for where, name in ((path, "file.xml"), ("dgx-h100:4", "name.xml")):
        tool.run(binary, "platform", "fit", table, "--platform", where, "-o", folder / name)
    checker.that((folder / "file.xml").read_bytes() == (folder / "name.xml").read_bytes(),
                 "platform fit: by name and by file")
    tool.run(binary, "platform", "show", "dgx-h10:4", expect=1)
    tool.run(binary, "collective", "all-reduce", "--platform", "dgx-h100:0", expect=1)


def main():
    binary, checker = tool.binary_argument(), tool.Checker()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_presets(checker, binary, folder)
        check_shipped(checker, binary, folder)
        check_commands(checker, binary, folder)
    return checker.done()


if __name__ == "__main__":
    sys.exit(main())
