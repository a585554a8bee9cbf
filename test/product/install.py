#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""install.py BUILD_DIR CC CXX: installs into a DESTDIR and uses what is there as somebody else would.

Builds the example plug-in against it, runs it by path and by name, holds its prediction to a formula, and has a plug-in
of another ABI refused. """
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

FORMULA = """platform: mesh.xml
communication: {all_reduce: ring}
workload: ./equal.so
equal: {layers: 5, forward: 1ms, backward: 2ms, gradient: 12MB, optimizer: 3ms}
parallel: {data: 4}
"""


def call(*arguments, cwd, **environment):
    result = subprocess.run(list(map(str, arguments)), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, env={**os.environ, **environment})
    if result.returncode:
        raise SystemExit(f"{arguments}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def find(root, name):
    found = [path for path in root.rglob(name) if path.is_file()]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} files {name} were installed")
    return found[0]


def build_plugin(check, root, folder):
    """The shipped folder, with nothing but pkg-config to find the header."""
    shutil.copytree(find(root, "equal.c").parent, folder)
    (folder / "equal.so").unlink(missing_ok=True)
    paths = {"PKG_CONFIG_PATH": str(find(root, "stagesim.pc").parent)}
    call("make", cwd=folder, CFLAGS="-Wall -Wextra -Wpedantic -Werror", PKG_CONFIG_SYSROOT_DIR=str(root), **paths)
    # the same place, whether pkg-config knows of root or not
    for environment in (paths, {**paths, "PKG_CONFIG_SYSROOT_DIR": str(root)}):
        call("make", "install", f"DESTDIR={root}", cwd=folder, **environment)
        find(root, "equal.so").unlink()
    call("make", "install", f"DESTDIR={root}", cwd=folder, **paths)
    check.that(len((folder / "equal.c").read_text().splitlines()) < 100, "the example plug-in has 100 lines or more")


def run_plugin(check, binary, folder):
    found = tool.summary(binary, "scenario.yaml", "out", "--plugins", cwd=folder)
    check.that(found["scenario"]["ranks"] == 8, "the example's scenario ran on other than 8 ranks")
    check.that("equal" in tool.run(binary, "list", "workloads").stdout, "the installed plug-in is not listed")
    (folder / "by-name.yaml").write_text((folder / "scenario.yaml").read_text().replace("./equal.so", "equal"))
    by_name = tool.summary(binary, "by-name.yaml", "by-name", cwd=folder)
    check.that(by_name["time"] == found["time"], "the plug-in's result depends on how it is named")


def compare_with_formula(check, binary, folder):
    """All layers, then what of the last all-reduce is left (a ring: 2 (r - 1) / r of the bytes), then the step."""
    tool.write_mesh(folder / "mesh.xml", 4, bandwidth="10GBps")
    (folder / "formula.yaml").write_text(FORMULA)
    for engine in ("simgrid", "analytic"):
        found = tool.summary(binary, "formula.yaml", "formula", "--engine", engine, "--plugins",
                             cwd=folder)
        check.near(found["time"]["iteration_s"], 5 * 3e-3 + 2 * 3 / 4 * 12e6 / 10e9 + 3e-3,
                   f"iteration of the plug-in, {engine}", 1e-6)


def refuse_other_abi(check, binary, root, folder, compiler):
    headers = folder / "other" / "stagesim"
    headers.mkdir(parents=True)
    text = find(root, "workload.h").read_text()
    number = int(re.search(r"#define STAGESIM_WORKLOAD_ABI (\d+)u", text).group(1))
    headers.joinpath("workload.h").write_text(
        text.replace(f"STAGESIM_WORKLOAD_ABI {number}u", f"STAGESIM_WORKLOAD_ABI {number + 1}u"))
    call(*compiler, "-fPIC", "-shared", "-I", folder / "other", "equal.c", "-o", "other.so", cwd=folder)
    (folder / "other.yaml").write_text((folder / "scenario.yaml").read_text().replace("equal.so", "other.so"))
    result = tool.run(binary, "run", "other.yaml", "-o", "refused", "--plugins", cwd=folder, expect=1)
    check.that(f"other.so was built for workload ABI {number + 1}, this stagesim has {number}" in result.stderr,
               f"the refusal of another ABI: {result.stderr}")
    check.that(result.stderr.startswith("other.yaml:3:11: error:"), f"the place of another ABI: {result.stderr}")
    check.that(not (folder / "refused").exists(), "a refused plug-in left output behind")


def exports_nothing(check, binary):
    """A plug-in must not be able to bind to stagesim's own functions by accident: it gets them as pointers."""
    lines = [line.split() for line in call("nm", "-D", "--defined-only", binary, cwd=".").splitlines()]
    own = [name for _, kind, name in lines if kind in "TDBR" and not name.startswith("_") and "@" not in name]
    check.that(not own, f"the program exports {own[:10]}")


def follow_links(check, root):
    """Every link of an installed page leads to an installed file; names of files that stay in the source are there as
    text."""
    pages = list(find(root, "LICENSE").parent.rglob("*.md"))
    check.that(len(pages) > 30, f"only {len(pages)} pages were installed")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
            check.that("://" in target or (page.parent / target).exists(),
                       f"installed {page.name} leads to {target}, which is not there")
        if page.name == "README.md" and page.parent == find(root, "LICENSE").parent:
            check.that("`test/analysis/figures/recompute.py`" in text and "](doc/schedules.md)" in text,
                       "links of the installed README.md")


def read_manual(check, root):
    """The paths that the manual page names exist, below the root."""
    manual = find(root, "stagesim.1").read_text()
    check.that(manual.startswith(".TH STAGESIM 1"), "the manual page has no title")
    named = [path.replace("\\-", "-")
             for path in
             re.findall(r"(/[^ " r"\n]*/(?:doc/index\.md|examples|scenarios|platforms|models|profile\\-layers))\b",
                        manual)]
    check.that(len(named) >= 7, f"the manual page names {named}")
    for path in named:
        check.that((root / path[1:]).exists(), f"the manual page names {path}, which was not installed")


def find_completions(check, root):
    """Where bash, zsh and fish look for them."""
    for path in ("share/bash-completion/completions/stagesim", "share/zsh/site-functions/_stagesim",
                 "share/fish/vendor_completions.d/stagesim.fish"):
        check.that("schedules" in find(root, path).read_text(), f"{path} is no completion")
    check.that(find(root, "stagesim-run.1").parent == find(root, "stagesim.1").parent,
               "pages of commands are elsewhere")


def compile_header(root, folder, c_compiler, cpp_compiler):
    """The installed header needs nothing before it, in C and in C++."""
    header = find(root, "workload.h")
    for compiler, language, standard in ((c_compiler, "c", "c11"), (cpp_compiler, "c++", "c++17")):
        call(*compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
             "-fsyntax-only", header, cwd=folder)


def go_without_simgrid(check, binary, root, folder):
    """SimGrid is a part of its own: what does not need it runs without, the rest says what is missing."""
    part = find(root, "simgrid.so")
    moved = part.rename(part.with_name("elsewhere"))
    linked = call("ldd", binary, cwd=folder)
    check.that("simgrid" not in linked, f"stagesim is linked with SimGrid:\n{linked}")
    demo = find(root, "scenarios/demo.yaml")
    analytic = tool.run(binary, "run", demo, "--engine", "analytic").stdout
    check.that("(analytic engine)" in analytic, "the analytic engine needs SimGrid's part")
    for arguments in (["run", demo], ["run", demo, "--set", "loader=simgrid", "--engine", "analytic"],
                      ["compare", demo, "--schedules", "gpipe,1f1b"]):
        failed = tool.run(binary, *arguments, expect=3)
        check.that("SimGrid's part of stagesim cannot be loaded" in failed.stderr, f"{arguments}: {failed.stderr}")
    moved.rename(part)
    tool.run(binary, "run", demo)
    moved = part.rename(part.with_name("elsewhere"))
    part.write_text("no library")
    check.that("cannot be loaded" in tool.run(binary, "run", demo, expect=3).stderr, "a text is loaded as a library")
    moved.rename(part)


def main():
    check, build = tool.Checker(), pathlib.Path(sys.argv[1]).resolve()
    c_compiler, cpp_compiler = sys.argv[2].split(), sys.argv[3].split()
    for name in ("STAGESIM_PLUGINS", "STAGESIM_PLATFORMS", "STAGESIM_MODELS", "DESTDIR", "MAKEFLAGS", "MAKELEVEL"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as temporary:
        root, folder = pathlib.Path(temporary).resolve() / "root", pathlib.Path(temporary).resolve() / "plugin"
        call("meson", "install", "--no-rebuild", "--quiet", "--destdir", root, cwd=build)
        binary = str(find(root, "bin/stagesim"))
        build_plugin(check, root, folder)
        run_plugin(check, binary, folder)
        compare_with_formula(check, binary, folder)
        refuse_other_abi(check, binary, root, folder, c_compiler)
        exports_nothing(check, binary)
        go_without_simgrid(check, binary, root, folder)
        compile_header(root, folder, c_compiler, cpp_compiler)
        # with the installed platforms, models and efficiency tables
        for scenario in ("demo.yaml", "gpt-7.5b.yaml", "heterogeneous.yaml"):
            tool.run(binary, "check", find(root, scenario), "--quiet")
        for scenario in sorted((tool.ROOT / "scenarios").rglob("*.*")):
            place = scenario.relative_to(tool.ROOT)
            check.that(any(root.rglob(str(place))), f"{place} was not installed")
        tool.run(binary, "run", find(root, "scenarios/papers/chimera-bert-48.yaml"), "--engine", "analytic", "--quiet")
        follow_links(check, root)
        read_manual(check, root)
        find_completions(check, root)
        check.that(len(list(root.rglob("platforms/*.xml"))) >= 4, "fewer than four platforms were installed")
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
