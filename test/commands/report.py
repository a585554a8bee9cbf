#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`stagesim report` on the output of a run writes the bytes that the run itself wrote: every picture and report.html,
for schedules, meshes and workloads that use all that the files hold. Damaged files are refused with their place, and
nothing is written.

usage: report_again.py STAGESIM """
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

DRAWN = ("*.svg", "*.png", "*.pdf", "report.html")
HOST = "gpu &quot;0&quot;, first"


def drawn(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for pattern in DRAWN for path in folder.rglob(pattern)}


def draw_again(check, binary, folder, what, *arguments):
    """Copies a directory without its pictures and reports, has them written again, and compares bytes."""
    copy = folder.with_name(folder.name + "-copy")
    shutil.copytree(folder, copy)
    expected = drawn(folder)
    for name in expected:
        (copy / name).unlink()
    tool.run(binary, "report", copy, "--quiet", *arguments)
    again = drawn(copy)
    check.that(sorted(again) == sorted(expected), f"{what}: {sorted(again)}, expected {sorted(expected)}")
    for name, content in expected.items():
        check.that(again.get(name) == content, f"{what}: {name} differs")


def write_named_platform(path):
    """A host whose name needs quotes in a table, and watts."""
    hosts = [HOST, "gpu-1", "gpu-2", "gpu-3"]
    lines = [tool.HEAD, '<zone id="mesh" routing="Full">']
    lines += [f'<host id="{name}" speed="1Tf"><prop id="memory" value="1GiB"/>'
              '<prop id="wattage_per_state" value="100.0:200.0:200.0"/></host>' for name in hosts]
    pairs = [(i, j) for i in range(4) for j in range(4) if i != j]
    lines += [f'<link id="l-{i}-{j}" bandwidth="10GBps" latency="1us"/>' for i, j in pairs]
    lines += [f'<route src="{hosts[i]}" dst="{hosts[j]}" symmetrical="NO"><link_ctn id="l-{i}-{j}"/></route>' for i,
              j in pairs]
    path.write_text("\n".join(lines + ["</zone></platform>\n"]))


STAGES = "forward: 1s, backward: 2s, message: 10MB, gradient: 100MB, activation: 40MB, " \
         "parameters: 10MB, optimizer: 100ms"


def runs(check, binary, folder):
    """Single runs: quoted names, energy, several iterations, folding, halves, moving stashes, a transformer layer by
    layer."""
    write_named_platform(folder / "named.xml")
    cases = {
        "named": ("1f1b", 4, 8, 1, ""),
        "iterations": ("1f1b", 4, 8, 1, "iterations: 3\n"),
        "asynchronous": ("pipedream", 4, 8, 1, ""),
        "moving": ("bpipe", 4, 8, 1, ""),
        "halves": ("{name: chimera, concatenation: halving}", 4, 8, 1, ""),
        "doubled": ("{name: chimera, concatenation: doubling-split}", 4, 8, 1, ""),
        "chunks": ("{name: interleaved, chunks: 2}", 2, 4, 2, ""),
        "strips": ("1f1b", 2, 600, 1, ""),
    }
    for name, (schedule, workers, batches, data, more) in cases.items():
        tool.write_scenario(folder / f"{name}.yaml", "named.xml", schedule, workers, batches, data, STAGES, more)
        tool.run(binary, "run", f"{name}.yaml", "-o", name, "--trace", "csv", "--picture", "svg,png,pdf", "--report",
                 "--quiet", cwd=folder)
        draw_again(check, binary, folder / name, name, "--picture", "svg,png,pdf")
    platforms = tool.ROOT / "platforms"
    tool.write_scenario(folder / "folded.yaml", platforms / "piz-daint-32.xml", "zb-h1", 4, 8, 8, STAGES)
    gpt = tool.ROOT / "scenarios/gpt-7.5b.yaml"
    more = {
        "folded": ("folded.yaml", []),
        "replicas": ("folded.yaml", ["--set", "output.replicas=all"]),
        "both": ("folded.yaml", ["--engine", "both"]),
        "layers": (gpt, ["--set", "transformer.granularity=layer"]),
        "demo": (tool.ROOT / "scenarios/demo.yaml", []),
        "servers": (tool.ROOT / "scenarios/parameter-server.yaml", []),
        "axes": (tool.ROOT / "scenarios/axonn.yaml", []),
    }
    for name, (scenario, arguments) in more.items():
        tool.run(binary, "run", scenario, "-o", name, "--trace", "csv", "--picture", "svg", "--report", "--quiet",
                 *arguments, cwd=folder)
        draw_again(check, binary, folder / name, name)


def comparisons(check, binary, folder):
    demo = tool.ROOT / "scenarios/demo.yaml"
    drawing = ["--trace", "csv", "--picture", "svg,png", "--report", "--quiet"]
    schedules = "gpipe,1f1b,chimera,gems,interleaved,dualpipe,dualpipe-v,zb-v,hanayo,pipedream-2bw"
    tool.run(binary, "compare", demo, "--schedules", schedules, "-o", "compared", *drawing, cwd=folder)
    draw_again(check, binary, folder / "compared", "compared", "--picture", "svg,png")
    tool.run(binary, "compare", demo, demo, "--engine", "both", "-o", "twice", *drawing, cwd=folder)
    draw_again(check, binary, folder / "twice", "twice", "--picture", "svg,png")


def several_jobs(check, binary, folder):
    """A comparison of jobs that share a platform with a job of its own: the bytes that it wrote itself."""
    first, again = folder / "shared", folder / "shared-again"
    scenarios = [tool.ROOT / "scenarios" / name for name in ("shared-fabric.yaml", "demo.yaml")]
    tool.run(binary, "compare", *scenarios, "-o", first, "--trace", "csv", "--report", "--picture", "svg")
    shutil.copytree(first, again)
    drawn = [path for path in again.glob("**/*") if path.suffix in (".svg", ".html")]
    check.that(len(drawn) == 6, f"a comparison of two with two pages and three pictures has {drawn}")
    for path in drawn:
        path.write_text("")
    tool.run(binary, "report", again)
    for path in drawn:
        check.that(path.read_bytes() == (first / path.relative_to(again)).read_bytes(), f"{path}: other bytes")


def formats(check, binary, folder):
    """Without --picture the formats that are there are written, and svg where there are none; several directories at
    once."""
    for name, picture in (("pdf", ["--picture", "pdf"]), ("none", [])):
        tool.run(binary, "run", tool.ROOT / "scenarios/demo.yaml", "-o", name, "--trace", "csv", "--quiet", *picture,
                 cwd=folder)
    listed = tool.run(binary, "report", "pdf", "none", cwd=folder).stdout
    check.that(listed == "pdf/timeline.pdf\npdf/report.html\nnone/timeline.svg\nnone/report.html\n",
               f"files listed: {listed!r}")
    check.that(sorted(drawn(folder / "pdf")) == ["report.html", "timeline.pdf"],
               f"formats: {sorted(drawn(folder / 'pdf'))}")
    check.that(sorted(drawn(folder / "none")) == ["report.html", "timeline.svg"],
               f"formats: {sorted(drawn(folder / 'none'))}")


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


def replace(path, old, new):
    text = path.read_text()
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1))


def damaged(check, binary, folder):
    """What is wrong with the files is said with its place; the exit code is 1 and no file is touched."""
    run = folder / "good"
    tool.write_scenario(folder / "good.yaml", "named.xml", "1f1b", 2, 4, 1, STAGES)
    tool.run(binary, "run", "good.yaml", "-o", run, "--trace", "csv", "--quiet", cwd=folder)
    operations = (run / "operations.csv").read_bytes()
    whole_lines = operations[:operations.rindex(b"\n", 0, len(operations) // 2) + 1]
    cases = [("operations.csv", lambda path: path.unlink(),
              "operations.csv: error: cannot be read: No such file or "
              "directory; `stagesim run SCENARIO -o DIR --trace csv` writes it"),
             ("memory.csv", lambda path: path.unlink(), "memory.csv: error: cannot be read: No such file"),
             ("summary.json", lambda path: path.unlink(), "there is neither a summary.json nor a comparison.json"),
             ("summary.json", lambda path: cut(path, 200), "error: this is not YAML"),
             ("summary.json", lambda path: replace(path, '"schema": 1', '"schema": 2'),
              'summary.json:2:13: error: expected "schema": 1'),
             ("summary.json", lambda path: replace(path, '"iteration_s": ', '"iteration_s": "a", "x": '),
              'error: iteration_s: expected a number that is not negative'),
             ("summary.json", lambda path: replace(path, '"position": 1', '"position": 3'),
              "workers are listed by position: expected 1, not 3"),
             ("summary.json", lambda path: replace(path, '"makespan_s"', '"makespan"'), "'time.makespan_s' is missing"),
             ("operations.csv", lambda path: cut(path, len(operations) - 3), "the file ends in the middle of a line"),
             ("operations.csv", lambda path: path.write_bytes(whole_lines), "rows are missing; expected a whole table"),
             ("operations.csv", lambda path: path.write_bytes(b""), "the file is empty"),
             ("operations.csv", lambda path: path.write_bytes(b"\0\xff\n"), "the first line names the columns"),
             ("operations.csv", lambda path: replace(path, ",compute,", ",computer,"),
              "operations.csv:2:24: error: stream is compute, send:P:KIND"),
             ("operations.csv", lambda path: replace(path, ",F,", ",G,"), "'G' is no kind"),
             ("operations.csv", lambda path: replace(path, "start_s", "begin_s"),
              "'begin_s' is no column of operations.csv"),
             ("critical-path.csv", lambda path: replace(path, ",compute,0,", ",compute,999,"),
              "has no operation 999 in operations.csv"),
             ("memory.csv", lambda path: replace(path, "\n1,1,", "\n1,7,"), "summary.json has 2 workers"),]
    for number, (name, damage, expected) in enumerate(cases):
        copy = folder / f"damaged-{number}"
        shutil.copytree(run, copy)
        damage(copy / name)
        before = {path.name: path.read_bytes() for path in copy.iterdir()}
        result = tool.run(binary, "report", copy, expect=1)
        check.that(expected in result.stderr, f"damaged {name}: {result.stderr!r}, expected {expected!r}")
        check.that({path.name: path.read_bytes() for path in copy.iterdir()} == before,
                   f"damaged {name}: something was written")
    result = tool.run(binary, "report", folder / "damaged-0", folder / "damaged-1", run, expect=1)
    check.that(result.stderr.count("error:") == 2, f"mistakes of all directories: {result.stderr!r}")
    check.that(not (run / "report.html").exists(), "nothing is written where another directory is wrong")


def damaged_comparison(check, binary, folder):
    for number, (text, expected) in enumerate([
            ("[]", "there is no run in this comparison"),
            ('[{"directory": "../good"}]', "expected a run with its \"directory\""),
            ('{"directory": "good"}', "expected the list of runs"),
            ('[{"directory": "absent"}]', "absent/summary.json"),
            ("[{", "this is not YAML")]):
        copy = folder / f"list-{number}"
        copy.mkdir()
        (copy / "comparison.json").write_text(text)
        result = tool.run(binary, "report", copy, expect=1)
        check.that(expected in result.stderr, f"comparison.json {text}: {result.stderr!r}")


def usage(check, binary, folder):
    for arguments, expected in (([], "expected at least one output directory"),
                                (["--picture", "bmp", "x"], "not 'bmp'"), (["--picture"], "needs a value"),
                                (["--pictures", "svg"], "unknown option"), (["--picture", ",", "x"], "not nothing")):
        result = tool.run(binary, "report", *arguments, expect=2, cwd=folder)
        check.that(expected in result.stderr, f"usage {arguments}: {result.stderr!r}")


def kinds(check, binary, folder):
    """What is no job says what draws it, and not what a job would lack."""
    (folder / "kind").mkdir()
    for text in ('{"kind": "queue"}', '{"scenario": {"kind": "rl"}}'):
        (folder / "kind/summary.json").write_text(text)
        said = tool.run(binary, "report", folder / "kind", expect=1).stderr
        check.that("of which nothing is kept to draw from" in said and "operations.csv" not in said, said)


def hidden(check, binary, folder):
    """Scenarios of one name are told apart by their folders, of which the one where one is has the name '.'."""
    (folder / "beside").mkdir()
    for path in ("same.yaml", "beside/same.yaml"):
        (folder / path).write_text("platform: dgx-a100:1\nworkload: stages\nparallel: {pipeline: 2}\nengine: analytic\n"
                                   "schedule: gpipe\nbatch: {micro_batches: 2}\n"
                                   "stages: {forward: 1ms, backward: 2ms}\n")
    tool.run(binary, "compare", "same.yaml", "beside/same.yaml", "-o", "seen", "--quiet", cwd=folder)
    check.that(sorted(path.name for path in (folder / "seen").iterdir() if path.is_dir()) ==
               ["beside-same-gpipe", "same-gpipe"], sorted(map(str, (folder / "seen").iterdir())))


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for part in (runs, comparisons, several_jobs, formats, damaged, damaged_comparison, usage, kinds, hidden):
            part(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
