#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""overwritten.py STAGESIM: no output replaces a file that the command reads, nor one that stagesim did not write. Every
command that writes is run again and again, each time with another of its files replaced by one of the user's. What is
refused leaves no file."""
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

MINE = "of the user's\n"
SEARCH = ["t.yaml", "--top", "0", "--set", "output.picture=[svg]"]

# Arguments of commands, to which "-o" and the place are added: a directory or a file.
COMMANDS = {
    "run": ["run", "s.yaml", "--trace", "csv,paje,chrome,chrome-gz,perfetto,chakra,goal", "--picture",
            "svg,png,pdf", "--report"],
    "compare": ["compare", "s.yaml", "--schedules", "1f1b,gpipe", "--picture", "svg", "--report"],
    "search": ["search", *SEARCH],
    "plan": ["plan", "t.yaml", "--clusters", "dgx-h100:1", "--tokens", "1e9", "--engine", "analytic", "--set",
             "transformer.price=2"],
    "sweep": ["sweep", "s.yaml", "--set", "batch.micro_batches=4,8"],
    "train": ["train", "s.yaml", "--set", "failures=llama3", "--set", "training.steps=1000"],
    "schedule": ["schedule", "1f1b", "--workers", "4", "--micro-batches", "8", "--format", "csv"],
    "collective": ["collective", "all-reduce", "--platform", "platform.xml", "--engine", "analytic"],
    "export": ["export", "t.yaml", "--to", "megatron"],
    "explain": ["explain", "s.yaml", "traced/operations.csv"],
    "import": ["import", "job.sh"],
    "month fit": ["month", "fit", "jobs.swf"],
    "month generate": ["month", "generate", "month.yml"],
    "platform generate": ["platform", "generate", "ring", "--nodes", "4"],
    "platform import": ["platform", "import", "node.xml"],
    "platform fit": ["platform", "fit", "measured.txt", "--platform", "platform.xml"],
    "platform show": ["platform", "show", "platform.xml", "--format", "svg"],
}
# What reads a file of the name that it is to write.
ITSELF = {
    "run": ["run", "scenario.yaml", "-o", "."],
    "run into a folder above": ["run", "deep/../scenario.yaml", "-o", "deep/.."],
    "run of an order": ["run", "o.yaml", "--trace", "csv", "-o", "."],
    "compare": ["compare", "s.yaml", "about.json", "-o", "."],
    "sweep": ["sweep", "scenario.yaml", "--set", "batch.micro_batches=4,8", "-o", "."],
    "search": ["search", "best.yaml", "-o", "."],
    "schedule": ["schedule", "operations.csv", "-o", "operations.csv"],
    "import": ["import", "job.sh", "-o", "job.sh"],
    "platform import": ["platform", "import", "node.xml", "-o", "node.xml"],
    "export": ["export", "t.yaml", "--to", "megatron", "-o", "t.yaml"],
    "platform fit": ["platform", "fit", "measured.txt", "--platform", "platform.xml", "-o", "platform.xml"],
}
SCRIPT = ("torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 "
          "--seq-length 1024 --micro-batch-size 1 --global-batch-size 8 --vocab-size 50304\n")


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def check_command(check, binary, folder, name, arguments):
    """Its own files are replaced, one by one another's is not, and all stays as it was."""
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.unlink(missing_ok=True) if out.is_file() else None
    for _ in range(2):
        tool.run(binary, *arguments, "-o", "out", cwd=folder)
    files = [out] if out.is_file() else sorted(path for path in out.rglob("*") if path.is_file())
    check.that(files, f"{name}: no files")
    for file in files:
        kept = file.read_bytes()
        file.write_text(MINE)
        before = content(folder)
        result = tool.run(binary, *arguments, "-o", "out", cwd=folder, expect=None)
        what = f"{name} over {file.relative_to(folder)}"
        check.that(result.returncode == 1, f"{what}: exit code {result.returncode}\n{result.stderr}")
        words = " ".join(result.stderr.split())
        check.that(f"{file.relative_to(folder)}: there is a file that stagesim did not write" in words,
                   f"{what}: {result.stderr}")
        check.that(content(folder) == before, f"{what}: files changed")
        file.unlink()
        tool.run(binary, *arguments, "-o", "out", cwd=folder)
        check.that(file.is_file() and (kept == MINE.encode() or file.read_bytes() != MINE.encode()), what)


def check_itself(check, binary, folder, name, arguments):
    before = content(folder)
    result = tool.run(binary, *arguments, cwd=folder, expect=None)
    check.that(result.returncode == 1, f"{name} over what it reads: exit code {result.returncode}\n{result.stderr}")
    check.that(any(words in " ".join(result.stderr.split()) for words in ("this file was read", "did not write")),
               f"{name} over what it reads: {result.stderr}")
    check.that(content(folder) == before, f"{name} over what it reads: files changed")


def check_own_read(check, binary, folder):
    """Also a file of stagesim's is not replaced by the command that reads it."""
    tool.run(binary, "schedule", "1f1b", "--workers", "4", "--micro-batches", "8", "--format", "csv", "-o", "own.csv",
             cwd=folder)
    tool.run(binary, "run", "s.yaml", "-o", "again", cwd=folder)
    for arguments in (["schedule", "own.csv", "-o", "own.csv"], ["run", "again/scenario.yaml", "-o", "again"]):
        before = content(folder)
        result = tool.run(binary, *arguments, cwd=folder, expect=1)
        check.that("this file was read" in " ".join(result.stderr.split()), result.stderr)
        check.that(content(folder) == before, f"{arguments}: files changed")


def check_report(check, binary, folder):
    """Pictures beside what they are drawn from are drawn again, also in a copy of the directory."""
    tool.run(binary, "run", "s.yaml", "-o", "drawn", "--trace", "csv", cwd=folder)
    for _ in range(2):
        tool.run(binary, "report", "drawn", "--picture", "svg", cwd=folder)
    shutil.copytree(folder / "drawn", folder / "copied", copy_function=shutil.copyfile)
    tool.run(binary, "report", "copied", "--picture", "svg", cwd=folder)
    for name in ("report.html", "timeline.svg"):
        (folder / "drawn" / name).write_text(MINE)
        before = content(folder)
        tool.run(binary, "report", "drawn", "--picture", "svg", cwd=folder, expect=1)
        check.that(content(folder) == before, f"report over {name}: files changed")
        (folder / "drawn" / name).unlink()


def check_journal(check, binary, folder):
    """A search writes its journal beside its directory."""
    (folder / "found.journal").write_text(MINE)
    result = tool.run(binary, *COMMANDS["search"], "-o", "found", cwd=folder, expect=None)
    check.that(result.returncode and "found.journal: there is a file that is no journal" in result.stderr,
               f"exit code {result.returncode}: {result.stderr}")
    check.that((folder / "found.journal").read_text() == MINE and not (folder / "found").exists(), "the journal")


def check_refused(check, binary, folder):
    """What is refused leaves nothing behind: no directory, and no journal beside it, which an earlier run has to
    have made."""
    for name in ("run", "compare", "search", "plan", "sweep", "train"):
        for more in ([], ["--resume"]) if name in ("search", "plan", "sweep", "train") else ([], ):
            before = content(folder)
            result = tool.run(binary, *COMMANDS[name], "--set", "batch.micro=0", *more, "-o", "refused", cwd=folder,
                              expect=None)
            what = f"{name} of a job that is refused {more}"
            check.that(result.returncode == 1 and "micro" in result.stderr,
                       f"{what}: exit code {result.returncode}\n{result.stderr}")
            check.that(content(folder) == before and not (folder / "refused").exists(), f"{what}: files appeared")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_inputs(folder)
        (folder / "job.sh").write_text(SCRIPT)
        tool.run(binary, "run", "s.yaml", "-o", "traced", "--trace", "csv", cwd=folder)
        for name, arguments in COMMANDS.items():
            check_command(check, binary, folder, name, arguments)
        shutil.rmtree(folder / "out", ignore_errors=True)
        tool.run(binary, "schedule", "1f1b", "--workers", "4", "--micro-batches", "8", "--format", "csv", "-o",
                 "order.csv", cwd=folder)
        (folder / "deep").mkdir()
        (folder / "o.yaml").write_text(
            (folder / "s.yaml").read_text().replace("schedule: 1f1b", "schedule: {file: operations.csv}"))
        for name, source in (("operations.csv", "order.csv"), ("scenario.yaml", "s.yaml"), ("best.yaml", "t.yaml"),
                             ("about.json", "s.yaml")):
            (folder / name).write_bytes((folder / source).read_bytes())
        for name, arguments in ITSELF.items():
            check_itself(check, binary, folder, name, arguments)
        check_own_read(check, binary, folder)
        check_refused(check, binary, folder)
        check_report(check, binary, folder)
        check_journal(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
