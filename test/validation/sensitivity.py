#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sensitivity.py STAGESIM [--all]: the bands of the validation tests are narrow enough to be of use. All efficiency
tables are changed by a factor, and the tests of published times run on them: at least those named here must fail.
--all tries every one, and prints which notice."""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What is changed, by how much, and who has to notice.
CHANGES = {("dispatch", 1.2): ["vtrain"], ("flash", 0.8): ["llama_long"],
           ("matrix", 0.9): ["korthikanti", "llama_long"]}
PAPERS = ["korthikanti", "megatron", "zero_bubble", "nemo", "nemo_blackwell", "llama", "llama_long", "deepseek", "mpt",
          "dgxc", "chimera", "vtrain"]


def changed_table(text, what, factor):
    """The last cell of its lines times the factor."""
    return re.sub(rf"^({what},.*,)(.+)$", lambda line: f"{line[1]}{float(line[2]) * factor!r}", text, flags=re.M)


def changed_tree(binary, folder, what, factor):
    """The sources, with other tables; the binary finds them from where it lies."""
    for path in ROOT.iterdir():
        if path.name not in ("workloads", "build") and not path.name.startswith(("build-", ".git")):
            (folder / path.name).symlink_to(path)
    (folder / "workloads/efficiency").mkdir(parents=True)
    for path in (ROOT / "workloads").iterdir():
        if path.name != "efficiency":
            (folder / "workloads" / path.name).symlink_to(path)
    for path in (ROOT / "workloads/efficiency").iterdir():
        (folder / "workloads/efficiency" / path.name).write_text(changed_table(path.read_text(), what, factor))
    (folder / "build").mkdir()
    shutil.copy2(binary, folder / "build/stagesim")
    return folder / "build/stagesim"


def notices(binary, paper, folder):
    done = subprocess.run([sys.executable, folder / "test/validation/transformer.py", binary, paper],
                          capture_output=True, text=True)
    return done.returncode == 1 and "Traceback" not in done.stderr


def main():
    binary, everybody = os.path.abspath(sys.argv[1]), "--all" in sys.argv[2:]
    wrong = False
    for (what, factor), expected in CHANGES.items():
        with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
            folder = pathlib.Path(temporary)
            changed = changed_tree(binary, folder, what, factor)
            papers = PAPERS if everybody else expected
            noticed = [paper for paper, fails in zip(papers, pool.map(lambda paper: notices(changed, paper, folder),
                                                                      papers)) if fails]
        print(f"{what} x {factor}: noticed by {len(noticed)} of {len(papers)}: {' '.join(noticed)}")
        wrong |= not set(expected) <= set(noticed)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
