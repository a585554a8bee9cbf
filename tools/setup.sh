# SPDX-License-Identifier: Apache-2.0
# What ./demo, ./check and .ci/run share: which packages are needed, how they are installed, how the source is built.
# shellcheck shell=bash

# Debian's and Ubuntu's names.
packages_build=(gcc g++ meson ninja-build pkg-config libsimgrid-dev libhwloc-dev libyaml-dev libcairo2-dev
    libfontconfig-dev libexpat1-dev zlib1g-dev libsqlite3-dev libmimalloc-dev fonts-dejavu-core)
packages_check=("${packages_build[@]}" libcriterion-dev python3 pajeng libxml2-utils clang lld binutils make valgrind
    nodejs node-ajv node-js-yaml coinor-cbc)
packages_ci=("${packages_check[@]}" chromium clang-format clang-tidy codespell git ccache man-db
    munge slurmctld slurmd slurm-client parallel mkdocs mkdocs-material)
# The page in the browser, and its test; not for the command line.
packages_browser=(emscripten node-acorn meson ninja-build pkg-config dpkg-dev python3 nodejs zstd)

say() {
    printf '== %s\n' "$*"
}

# Prints those of the given packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
    done
}

# as_root COMMAND...
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "neither root nor sudo: run this as root: $*"
        return 1
    fi
}

# install_missing PACKAGE...: installs what is not there yet, with apt; does nothing where all is there.
install_missing() {
    local missing
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian or Ubuntu system, nothing is installed. Needed are, by their Debian names: $*"
        return 0
    fi
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -gt 0 ] || return 0
    say "installing with apt: ${missing[*]}"
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# clang's sanitizer and fuzzer libraries are a package that carries its version.
install_clang_runtime() {
    command -v dpkg-query >/dev/null || return 0
    install_missing "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

# configure DIRECTORY [MESON-OPTION]...: sets a build directory up, or its options anew.
configure() {
    local directory=$1 again=()
    shift
    [ ! -f "$directory/build.ninja" ] || again=(--reconfigure)
    mkdir -p "$directory"
    meson setup "${again[@]}" "$directory" "$@" >"$directory/setup.log" 2>&1 || {
        cat "$directory/setup.log"
        return 1
    }
}

# compile DIRECTORY [TARGET]...: shows ninja's progress on a terminal, else only what it complains about.
compile() {
    local quiet=(--quiet)
    [ ! -t 1 ] || quiet=()
    ninja "${quiet[@]}" -C "$@"
}
