#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packages.py BUILD_DIR [--build]: the tarball of `meson dist`, Debian's packages, the container and Spack's recipe.

All have the version and the libraries of the build, the tarball has every file of the repository, and what is in it can
be configured. With --build, which takes minutes and which ./check --long and ./check --on say, the tarball is built
and runs the demo, and becomes Debian's packages, which lintian must have nothing against; as root autopkgtest installs
and tries them, and buildah builds the container. What is missing for that is named."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool  # noqa: E402

# Names that differ: of Debian's packages for building, what is there in any case, and Spack's names.
ESSENTIAL = {"gcc", "g++", "ninja-build"}
SPACK = {"simgrid": "libsimgrid-dev", "hwloc": "libhwloc-dev", "libyaml": "libyaml-dev", "cairo": "libcairo2-dev",
         "fontconfig": "libfontconfig-dev", "expat": "libexpat1-dev", "zlib-api": "zlib1g-dev",
         "sqlite": "libsqlite3-dev", "mimalloc": "libmimalloc-dev"}
WORDS = 460  # that are read in two minutes
BASE = "localhost/debian:trixie-slim"


def text_of(*path):
    return tool.ROOT.joinpath(*path).read_text()


def call(*arguments, cwd, **environment):
    result = subprocess.run(list(map(str, arguments)), cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment})
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, arguments))}: exit code {result.returncode}\n{result.stdout[-4000:]}")
    return result.stdout


def check_versions(check, version):
    changes = re.search(rf"^## {re.escape(version)}$(.*?)^## ", text_of("CHANGELOG.md"), flags=re.M | re.S)
    if check.that(changes, f"CHANGELOG.md has no section {version}"):
        words = len(changes[1].split())
        check.that(words <= WORDS, f"CHANGELOG.md: the section {version} has {words} words, too many for two minutes")
    check.that(text_of("debian", "changelog").startswith(f"stagesim ({version}) "), "debian/changelog: another version")
    check.that(f'version("{version}")' in text_of("packaging", "spack", "stagesim", "package.py"), "Spack: another one")


def check_libraries(check):
    """What building needs is the same everywhere, by Debian's names."""
    build = set(re.search(r"packages_build=\((.*?)\)", text_of("tools", "setup.sh"), flags=re.S)[1].split())
    build = {name.replace("pkg-config", "pkgconf") for name in build - ESSENTIAL} | {"python3"}
    depends = re.search(r"^Build-Depends:\n(.*?)^\S", text_of("debian", "control"), flags=re.M | re.S)[1]
    debian = {line.strip(" ,").split()[0] for line in depends.splitlines()} - {"debhelper-compat",
                                                                              "dh-sequence-python3"}
    check.that(debian == build, f"debian/control and tools/setup.sh: {sorted(debian ^ build)}")
    first = re.search(r"apt-get install(.*?)^COPY", text_of("packaging", "container", "Containerfile"),
                      flags=re.M | re.S)[1]
    names = {word for word in first.split() if not word.startswith("-") and word != "\\"}
    container = names - {"build-essential", "debhelper", "dh-python"}
    check.that(container == build, f"Containerfile and tools/setup.sh: {sorted(container ^ build)}")
    recipe = re.findall(r'depends_on\("([a-z-]+)', text_of("packaging", "spack", "stagesim", "package.py"))
    libraries = {name for name in build if name.endswith("-dev")}
    found = {SPACK[name] for name in recipe if name in SPACK}
    check.that(found == libraries, f"Spack's recipe and tools/setup.sh: {sorted(found ^ libraries)}")
    compile(text_of("packaging", "spack", "stagesim", "package.py"), "package.py", "exec")


def make_tree(check, build, version, folder):
    """What is in the tarball; where the source is in no repository, the source itself."""
    tree = folder / f"stagesim-{version}"
    if not (tool.ROOT / ".git").exists():
        print("left out: meson dist needs the repository")
        built = {path.parent.name for path in tool.ROOT.glob("build*/build.ninja")}
        shutil.copytree(tool.ROOT, tree, ignore=lambda folder, _: built if folder == str(tool.ROOT) else set())
        return tree
    call("meson", "dist", "--no-tests", "--formats", "gztar", "--allow-dirty", cwd=build)
    with tarfile.open(build / "meson-dist" / f"stagesim-{version}.tar.gz") as tarball:
        names = {member.name for member in tarball if member.isfile() or member.issym()}
        tarball.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    files = call("git", "ls-tree", "-r", "--name-only", "-z", "HEAD", cwd=tool.ROOT).rstrip("\0").split("\0")
    wrong = names ^ {f"stagesim-{version}/{name}" for name in files}
    check.that(len(files) > 1000 and not wrong, f"meson dist and the repository: {sorted(wrong)[:5]}")
    return tree


def configure(check, tree, version):
    log = call("meson", "setup", "build", "-Dtests=disabled", cwd=tree)
    check.that(f"Project version: {version}" in log, f"the tarball's version: {log}")


def build_tarball(check, tree):
    """Builds and installs what is in the tarball, and runs the demo from there."""
    call("ninja", "-C", "build", cwd=tree)
    call("meson", "install", "-C", "build", "--quiet", "--destdir", tree.parent / "root", cwd=tree)
    binary, = (tree.parent / "root").rglob("bin/stagesim")
    demo, = (tree.parent / "root").rglob("scenarios/demo.yaml")
    told = tool.run(str(binary), "compare", demo, "--schedules", "gpipe,1f1b,chimera", "-o", tree.parent / "demo",
                    "--report").stdout
    shown = re.search(r"^demo +chimera .*$", text_of("README.md"), flags=re.M)[0]
    check.that(shown in told, f"the demo's table: {told}")
    shutil.rmtree(tree / "build")


def lacks(*programs):
    """Those that are not here, with a word on each."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        print(f"left out: {', '.join(missing)} not found")
    return missing


def build_debian(check, tree):
    """The packages, by debhelper; what lintian has against them; with autopkgtest they are installed here and tried."""
    if lacks("dpkg-buildpackage", "dh", "dh_python3", "mkdocs"):
        return
    unmet = subprocess.run(["dpkg-checkbuilddeps"], cwd=tree, capture_output=True, text=True)
    if unmet.returncode:
        print(f"left out: {unmet.stderr.strip()}")
        return
    call("dpkg-buildpackage", "--unsigned-source", "--unsigned-changes", cwd=tree, DEB_BUILD_OPTIONS="parallel=2")
    packages = {path.name.split("_")[0] for path in tree.parent.glob("*.deb")}
    check.that({"stagesim", "stagesim-doc", "python3-stagesim"} <= packages, f"packages {packages}")
    page = call("dpkg", "--contents", next(tree.parent.glob("stagesim-doc_*.deb")), cwd=tree)
    check.that("/usr/share/doc/stagesim/html/index.html" in page, "stagesim-doc has no pages")
    changes, = tree.parent.glob("*.changes")
    if not lacks("lintian"):
        told = call("lintian", "--allow-root", "--fail-on", "error,warning", changes, cwd=tree)
        check.that(not told.strip(), f"lintian: {told}")
    if os.geteuid() != 0:
        print("left out: autopkgtest installs the packages, for which it has to be root")
    elif not lacks("autopkgtest"):
        log = call("autopkgtest", *tree.parent.glob("*.deb"), tree, "--", "null", cwd=tree.parent)
        passed = re.findall(r"^(\w+) +PASS", log, flags=re.M)
        check.that(set(passed) == {"demo", "plugin", "python"}, f"autopkgtest: {log[-2000:]}")
        call("dpkg", "--purge", "python3-stagesim", "stagesim-doc", "stagesim", cwd=tree)


def build_container(check, tree):
    """From an image of Debian that is here already: nothing is fetched but packages."""
    if lacks("buildah"):
        return
    if subprocess.run(["buildah", "inspect", "--type", "image", BASE], capture_output=True).returncode:
        print(f"left out: there is no image {BASE}")
        return
    limits = [f"--ulimit={name}={hard}:{hard}" for name, hard in
              ((name, call("bash", "-c", f"ulimit -H{letter}", cwd=tree).strip())
               for name, letter in (("nofile", "n"), ("nproc", "u"))) if hard.isdigit()]
    apart = "--isolation=chroot"  # which needs no other program to run what is in a container
    call("buildah", "build", apart, "--network=host", *limits, f"--build-arg=BASE={BASE}", "-f",
         "packaging/container/Containerfile", "-t", "stagesim-test", ".", cwd=tree)
    container = call("buildah", "from", apart, *limits, "stagesim-test", cwd=tree).strip().splitlines()[-1]
    told = call("buildah", "run", apart, container, "stagesim", "compare", "/usr/share/stagesim/scenarios/demo.yaml",
                "--schedules", "chimera", cwd=tree)
    call("buildah", "rm", container, cwd=tree)
    call("buildah", "rmi", "stagesim-test", cwd=tree)
    check.that(re.search(r"^demo +chimera +1\.630 s", told, flags=re.M), f"the container's demo: {told}")


def main():
    check, build = tool.Checker(), pathlib.Path(sys.argv[1]).resolve()
    version = re.search(r"version: '([0-9.]+)'", text_of("meson.build"))[1]
    check_versions(check, version)
    check_libraries(check)
    with tempfile.TemporaryDirectory() as temporary:
        tree = make_tree(check, build, version, pathlib.Path(temporary).resolve())
        configure(check, tree, version)
        if "--build" in sys.argv[2:]:
            build_tarball(check, tree)
            build_debian(check, tree)
            build_container(check, tree)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
