#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rounded.py VALUES CASES: base/rounded against Python's decimal module, which computes exp, ln, log10 and powers in as
many digits as it is asked for. Every result has to be the double that is nearest to the exact value, and special
arguments give what C says. CASES of each function are drawn."""
import math
import random
import subprocess
import sys
from decimal import Context, Decimal

DIGITS = Context(prec=120, Emin=-99999, Emax=99999)  # 1 + 2^-150 has 45 in front of what counts
LN2 = DIGITS.ln(Decimal(2))
INF, NAN = math.inf, math.nan
random.seed(4)


def wide(function):
    return lambda *values: function(DIGITS, *map(Decimal, values))


EXACT = {
    "exp": wide(lambda c, x: c.exp(x)),
    "exp2": wide(lambda c, x: c.power(Decimal(2), x)),
    "expm1": wide(lambda c, x: c.subtract(c.exp(x), 1)),
    "log": wide(lambda c, x: c.ln(x)),
    "log2": wide(lambda c, x: c.divide(c.ln(x), LN2)),
    "log10": wide(lambda c, x: c.log10(x)),
    "log1p": wide(lambda c, x: c.ln(c.add(1, x))),
    "pow": wide(lambda c, x, y: c.power(x, y)),
}
SPECIAL = [
    ("exp", INF, INF), ("exp", -INF, 0.0), ("exp", NAN, NAN), ("exp", 710, INF), ("exp", -746, 0.0), ("exp", 0, 1),
    ("exp2", 1024, INF), ("exp2", -1075, 0.0), ("exp2", -1074, 5e-324), ("exp2", 1023, 2.0**1023), ("exp2", NAN, NAN),
    ("expm1", -INF, -1), ("expm1", INF, INF), ("expm1", 1e-300, 1e-300), ("expm1", NAN, NAN), ("expm1", 0.0, 0.0),
    ("log", 0, -INF), ("log", -1, NAN), ("log", INF, INF), ("log", 1, 0.0), ("log", NAN, NAN), ("log2", 0, -INF),
    ("log10", -2, NAN), ("log1p", -1, -INF), ("log1p", -2, NAN), ("log1p", INF, INF), ("log1p", 1e-300, 1e-300),
    ("pow", 0, 2, 0.0), ("pow", 0, -2, INF), ("pow", -2, 3, -8), ("pow", -2, 2, 4), ("pow", -2, 0.5, NAN),
    ("pow", NAN, 0, 1), ("pow", 1, NAN, 1), ("pow", NAN, 1, NAN), ("pow", 2, INF, INF), ("pow", 0.5, INF, 0.0),
    ("pow", 2, -INF, 0.0), ("pow", INF, 0.5, INF), ("pow", INF, -1, 0.0), ("pow", -INF, 3, -INF), ("pow", -1, INF, 1),
    ("pow", 10, 400.5, INF), ("pow", 10, -400.5, 0.0), ("pow", 2, 1024, INF), ("pow", 2, 63, 2.0**63),
    ("pow", 2, -1074, 5e-324), ("pow", 5, 22, 5.0**22), ("pow", 4, 0.5, 2), ("pow", 0.25, -1.5, 8),
    # the middle between two doubles, to the even one
    ("pow", 94906267.0, 2, 9007199515875288.0),
]
SPECIAL += [("log2", 2.0**n, n) for n in (-1074, -1022, -1, 0, 1, 52, 1023)]
SPECIAL += [("log10", float(10**n), n) for n in range(23)]


def drawn(cases):
    spread = random.uniform
    for _ in range(cases):
        small = math.ldexp(spread(-1, 1), random.randint(-50, 0))
        any_size = math.ldexp(spread(1, 2), random.randint(-1000, 1000))
        near_one = 1 + small / 2
        yield from (("exp", spread(-740, 709)), ("exp", small), ("exp2", spread(-1070, 1023)), ("exp2", small),
                    ("expm1", spread(-40, 40)), ("expm1", spread(-40, 709)), ("expm1", small))
        yield from ((name, value) for name in ("log", "log2", "log10") for value in (any_size, near_one))
        beside_one = math.ldexp(spread(1, 2), random.randint(-150, 1000))
        yield from (("log1p", beside_one), ("log1p", small), ("log1p", near_one))
        base = math.ldexp(spread(1, 2), random.randint(-20, 20))
        yield from (("pow", base, spread(-30, 30)), ("pow", base, random.randint(-30, 30)), ("pow", near_one, any_size
                    if any_size < 1000 else spread(0, 1000)), ("pow", float(random.randint(2, 10**6)), spread(-3, 3)))


def right(found, name, *values):
    try:
        return found == float(EXACT[name](*values))
    except OverflowError:
        return found == INF


def main():
    program, cases = sys.argv[1], int(sys.argv[2])
    asked = list(drawn(cases))
    lines = [(name, *values) for name, *values in asked] + [case[:-1] for case in SPECIAL]
    text = "".join(f"{name} {' '.join(float(value).hex() for value in values)}\n" for name, *values in lines)
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    found = [float.fromhex(line) for line in done.stdout.split()]
    assert len(found) == len(lines), f"{len(found)} results for {len(lines)} arguments"
    wrong = [(case, got) for case, got in zip(asked, found) if not right(got, *case)]
    for case, got in zip(SPECIAL, found[len(asked):]):
        if not (got == case[-1] or math.isnan(got) and math.isnan(case[-1])):
            wrong.append((case, got))
    for case, got in wrong[:20]:
        print(f"{case}: {got!r}")
    print(f"{len(found)} results, {len(wrong)} are not the nearest double")
    return bool(wrong)


sys.exit(main())
