#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples.py STAGESIM PAGE|FOLDER... [--update]: what the pages show is what the program prints.

In a ```console block every line `$ COMMAND` is run, in a folder with the shipped scenarios and platforms, and its
output must be the lines that follow; blocks that show no output at all are left alone. `$ cat FILE` makes the file from
those lines. --update writes the output into the pages. Links between pages are followed as well. """
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/html"))
import blocks  # noqa: E402

PROGRESS = re.compile(r"stagesim: .*\d+ s so far")  # which long work prints on a slow machine


def run(command, shown, folder, environment):
    if command.startswith("cat "):
        (folder / command[4:]).write_text(shown)
        return shown
    result = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return "".join(line.rstrip() + "\n" for line in result.stdout.splitlines() if not PROGRESS.match(line))


def check_examples(page, folder, environment, update):
    text, faults = page.read_text(), 0
    for block in blocks.console_blocks(text):
        if not any(shown for _, shown in blocks.pieces(block)):
            continue
        made = ""
        for command, shown in blocks.pieces(block):
            output = run(command, shown, folder, environment)
            made += f"$ {command}\n{output}"
            if output != shown and not update:
                faults += 1
                print(f"{page.name}: `{command}` prints\n{output}instead of\n{shown}")
        if update:
            text = text.replace(block, made)
    if update:
        page.write_text(text)
    return faults


def check_links(page):
    faults = 0
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        if "://" not in target and not (page.parent / target).exists():
            print(f"{page.name}: no file {target}")
            faults += 1
    return faults


def main():
    update = "--update" in sys.argv
    binary, *pages = [os.path.abspath(argument) for argument in sys.argv[1:] if argument != "--update"]
    pages = [page for path in map(pathlib.Path, pages)
             for page in (sorted(path.glob("*.md")) if path.is_dir() else [path])]
    faults = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder, programs = pathlib.Path(temporary) / "work", pathlib.Path(temporary) / "bin"
        programs.mkdir()
        (programs / "stagesim").symlink_to(binary)
        environment = {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C"}
        for page in pages:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name in ("scenarios", "platforms"):
                shutil.copytree(ROOT / name, folder / name)
            faults += check_examples(page, folder, environment, update) + check_links(page)
    print(f"{len(pages)} pages, {faults} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
