# SPDX-License-Identifier: Apache-2.0
"""stagesim for Spack, from the tarball that `meson dist` makes, in the folder where spack is called:

    spack repo create stagesim-repo && cp -r packaging/spack/stagesim stagesim-repo/packages/
    spack repo add stagesim-repo && spack install --no-checksum stagesim

Nobody has run it with Spack yet. A test compares its version and its libraries with those of the build."""
import os

from spack.package import *


class Stagesim(MesonPackage):
    """Simulator of how deep-learning jobs train on GPU clusters: iteration times, pipeline bubbles and their causes,
    memory, under every pipeline schedule of the literature."""

    manual_download = True
    license("Apache-2.0")

    version("1.0.0")

    variant("mimalloc", default=True, description="link mimalloc: large simulations run up to 1.7 times faster")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("meson@1.0.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type=("build", "run"))
    depends_on("simgrid@3.32:")
    depends_on("hwloc@2.9:")
    depends_on("libyaml")
    depends_on("cairo+fc+pdf+png+svg")
    depends_on("fontconfig")
    depends_on("expat")
    depends_on("zlib-api")
    depends_on("sqlite")
    depends_on("mimalloc", when="+mimalloc")

    def url_for_version(self, version):
        return f"file://{os.getcwd()}/stagesim-{version}.tar.gz"

    def meson_args(self):
        return ["-Dtests=disabled", "-Dmimalloc=" + ("enabled" if self.spec.satisfies("+mimalloc") else "disabled")]

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", join_path(self.prefix, "share", "stagesim", "python"))
