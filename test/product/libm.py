#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libm.py BUILD: the objects of stagesim take no function of the C library whose last bit depends on the processor.
What is left of the mathematical functions has exact results: IEEE 754 says the square root to the bit, and the others
round to whole numbers, divide with a remainder or move the exponent. SimGrid's C++ side is looked at as well, and an
object that does take such a function has to be found."""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import circles  # noqa: E402

# Of C11 7.12 and 7.3, for doubles, and the names that they have where infinities and errors are left out.
INEXACT = ("acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 exp10 expm1 log log10 log1p "
           "log2 pow cbrt hypot erf erfc lgamma tgamma sincos pow10 j0 j1 y0 y1 cexp clog cpow cabs carg").split()
NAMES = re.compile(rf"(?:__)?(?:{'|'.join(INEXACT)})(?:f|l|_finite)?$")


def inexact(paths):
    """Of each object the functions that it takes and should not."""
    _, takes = circles.symbols(paths)
    return {path: sorted(filter(lambda name: NAMES.match(name.partition("@")[0]), names))
            for path, names in takes.items()}


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    sources = circles.objects(build)
    faults = [f"{sources[path]} takes {', '.join(names)} of the C library: see base/rounded/rounded.h"
              for path, names in sorted(inexact(sorted(sources)).items()) if names]
    if len(sources) < 300:
        faults.append(f"only {len(sources)} objects were seen")
    with tempfile.TemporaryDirectory() as scratch:
        source = pathlib.Path(scratch, "wrong.c")
        source.write_text("#include <math.h>\ndouble wrong(double x) { return sqrt(x) + pow(x, 0.3) + expf(x); }\n")
        subprocess.run(["cc", "-c", source, "-o", f"{scratch}/wrong.o"], check=True)
        found = inexact([f"{scratch}/wrong.o"])
    if list(found.values()) != [["expf", "pow"]]:
        faults.append(f"of pow, expf and sqrt, {found} were found")
    print("\n".join(faults) or f"{len(sources)} objects take none of {len(INEXACT)} functions")
    return bool(faults)


sys.exit(main())
