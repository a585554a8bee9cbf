#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""names.py STAGESIM: names of the user's that mean something to others: escape sequences to a terminal, formulas to a
spreadsheet, bytes that are no text to any reader. None of it gets through; what is read back is as it was. And
options that were misread."""
import csv
import io
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

EVIL = b"evil\x1b[31m\xff\x9b"
HOSTS = ["=1+1", "@SUM", "-2+3", "+cmd|x", "'quoted", "plain, with comma", "-5", "&quot;q"]
SIGNS = ("=", "+", "-", "@", "\t", "\r")


def run(binary, folder, *arguments, **environment):
    done = subprocess.run([binary, *arguments], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=60,
                          env=dict(os.environ, **environment))
    return done.returncode, done.stdout, done.stderr


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_table(check, text, name):
    try:
        rows = list(csv.reader(io.StringIO(text.decode())))
    except UnicodeDecodeError as error:
        check.that(False, f"{name} is no UTF-8: {error}")
        return
    check.that(len(rows) > 1 and len({len(row) for row in rows}) == 1, f"{name}: rows of different lengths")
    for row in rows:
        for cell in row:
            bad = cell.startswith(SIGNS) and not is_number(cell) and not cell[1:].isdigit()
            check.that(not bad, f"{name}: a spreadsheet takes {cell!r} for a formula")


def write_platform(path, hosts):
    lines = [tool.HEAD, '<zone id="mesh" routing="Full">', *(f'<host id="{host}" speed="1Tf"/>' for host in hosts)]
    pairs = [(i, j) for i in range(len(hosts)) for j in range(len(hosts)) if i != j]
    lines += [f'<link id="l-{i}-{j}" bandwidth="1GBps" latency="1us"/>' for i, j in pairs]
    lines += [f'<route src="{hosts[i]}" dst="{hosts[j]}" symmetrical="NO"><link_ctn id="l-{i}-{j}"/></route>' for i,
              j in pairs]
    path.write_text("\n".join(lines + ["</zone></platform>\n"]))


def terminal(check, binary, folder):
    """Every command that shows the name of a file, and every way to fail with one."""
    evil = os.fsdecode(EVIL)
    scenario = folder / f"{evil}.yaml"
    tool.write_scenario(scenario, "platform.xml", "1f1b", 8, 8, stages="forward: 1s, backward: 2s, message: 1MB")
    (folder / f"{evil}.xml").write_bytes((folder / "platform.xml").read_bytes())
    (folder / f"{evil}.csv").write_text("no table\n")
    commands = [["run", scenario.name], ["run", scenario.name, "-o", f"out-{evil}"], ["check", scenario.name],
                ["compare", scenario.name, "--schedules", "1f1b,gpipe"], ["compare", scenario.name, "--schedules",
                                                            "1f1b", "-o", "compared"],
                ["run", f"missing-{evil}"], [evil], ["run", f"--{evil}"], ["list", evil], ["schedule",
                                                            evil], ["schedule", f"{evil}.csv"],
                ["schedule", "1f1b", "--option", evil, "--workers", "2", "--micro-batches", "2"],
                ["run", scenario.name, "-o", f"{evil}.xml"], ["report", evil], ["report", f"out-{evil}"],
                ["run", scenario.name, "--set", f"{evil}=1"], ["run", scenario.name, "--set", f"schedule={evil}"],
                ["platform", "show", f"{evil}.xml"], ["platform", "show", f"missing-{evil}"], ["platform", "import",
                                                            f"{evil}.xml"],
                ["platform", "show", "platform.xml", "--between", evil, evil], ["platform", "generate", evil,
                                                            "--nodes", "2"],
                ["platform", "fit", f"{evil}.csv", "--platform", "platform.xml", "-o", "fitted.xml"], ["layouts",
                                                            scenario.name],
                ["collective", evil], ["collective", "all-reduce", "--platform", f"{evil}.xml", "--engine", "analytic"],
                ["collective", "all-reduce", "--platform", f"missing-{evil}"], ["search", scenario.name], ["compare",
                                                            evil, "-o", evil]]
    for arguments in commands:
        code, printed, errors = run(binary, folder, *arguments)
        shown = " ".join(arguments).encode("unicode_escape").decode()[:80]
        check.that(code in (0, 1, 2), f"{shown}: exit code {code}")
        check.that(b"\x1b" not in printed + errors,
                   f"{shown}: an escape sequence reaches the terminal: {(printed + errors)[:200]!r}")
        check.that(b"\xff" not in printed + errors, f"{shown}: bytes that are no text reach the terminal")
    for table in folder.rglob("*.csv"):
        if table.parent != folder:
            check_table(check, table.read_bytes(), table.name)


def formulas(check, binary, folder):
    write_platform(folder / "platform.xml", HOSTS)
    tool.write_scenario(folder / "=s.yaml", "platform.xml", "1f1b", 8, 8,
                        stages="forward: 1s, backward: 2s, message: 1MB")
    tool.run(binary, "run", "=s.yaml", "-o", "out", "--trace", "csv", "--report", cwd=folder)
    tool.run(binary, "compare", "=s.yaml", "--schedules", "1f1b,gpipe", "-o", "compared", "--trace", "csv", cwd=folder)
    for table in sorted(folder.rglob("*.csv")):
        check_table(check, table.read_bytes(), str(table.relative_to(folder)))
    with open(folder / "out/operations.csv", newline="") as file:
        hosts = sorted({row["host"] for row in csv.DictReader(file)})
    plain = [host.replace("&quot;", '"') for host in HOSTS]
    check.that(hosts == sorted("'" + host if host[0] in "=+-@'" else host for host in plain),
               f"hosts are written as {hosts}")
    before = (folder / "out/report.html").read_bytes()
    tool.run(binary, "report", "out", cwd=folder)
    check.that((folder / "out/report.html").read_bytes() == before, "the report of what is read back differs")


def saved(check, binary, folder):
    """Values that no run writes."""
    out = folder / "out"
    changes = [("operations.csv", "end_s", "1e308"), ("operations.csv", "bytes", "-1"), ("operations.csv", "flops",
                                                            "-1"),
               ("memory.csv", "bytes", "-8"), ("memory.csv", "in_flight", "-1"), ("memory.csv", "time_s", "1e300")]
    for name, column, value in changes:
        text = (out / name).read_text()
        rows = list(csv.reader(io.StringIO(text)))
        rows[-1][rows[0].index(column)] = value
        changed = io.StringIO()
        csv.writer(changed, lineterminator="\n").writerows(rows)
        (out / name).write_text(changed.getvalue())
        code, _, errors = run(binary, folder, "report", "out")
        check.that(code == 1 and column.encode() in errors,
                   f"{name} with {column} {value}: exit code {code} {errors[:300]!r}")
        (out / name).write_text(text)
    text = (out / "summary.json").read_text()
    (out / "summary.json").write_text(text.replace('"makespan_s": ', '"makespan_s": 1e308, "was": ', 1))
    code, _, errors = run(binary, folder, "report", "out")
    check.that(code == 1 and b"makespan_s" in errors, f"summary.json with makespan_s 1e308: exit code {code}")
    (out / "summary.json").write_text(text)
    check.that(run(binary, folder, "report", "out")[0] == 0, "the files as they were are read again")


def options(check, binary, folder):
    for ratio in ("0", "0.5", "-1", "nan", "1e9"):
        code, printed, _ = run(binary, folder, "platform", "generate", "dgx-h100", "--nodes", "4",
                               "--oversubscription", ratio)
        check.that(code == 2 and not printed, f"--oversubscription {ratio}: exit code {code}")
    plain = [run(binary, folder, *arguments, **more)
             for arguments in (["run", "=s.yaml", "--format", "json"], ["list", "engines", "--format", "json"],
                               ["platform", "show", "platform.xml", "--format", "json"],
                               ["schedule", "1f1b", "--workers", "2", "--micro-batches", "2"],
                               ["collective", "all-reduce", "--platform", "platform.xml", "--engine", "analytic"])
             for more in ({}, {"POSIXLY_CORRECT": "1"})]
    for i in range(0, len(plain), 2):
        check.that(plain[i] == plain[i + 1] and plain[i][0] == 0,
                   f"POSIXLY_CORRECT changes what happens: {plain[i + 1][2][:200]!r}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        formulas(check, binary, folder)
        saved(check, binary, folder)
        options(check, binary, folder)
        terminal(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
