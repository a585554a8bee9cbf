#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""papers.py STAGESIM: pictures for papers. SVG, PDF and PNG of every command that draws have the width that was asked
for. In PDF every text has the size that was asked for (numbers in boxes three quarters of it at least) and every font
is embedded, read from the file itself. Iterations are as many as asked, and wrong lengths are refused with what was
expected."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from pdf import objects, streams
from tool import Checker, binary_argument, run

JOB = """platform: dgx-a100:1
workload: stages
stages: {forward: 10ms, backward: 20ms, message: 1MiB, activation: 1MiB}
parallel: {pipeline: 4}
batch: {global: 8, micro: 1}
schedule: 1f1b
engine: analytic
"""
GPT = """platform: dgx-a100:1
workload: transformer
model: megatron-1.7b
parallel: {tensor: 4, pipeline: 2}
batch: {micro: 1, global: 8}
schedule: 1f1b
search: {micro: [1, 2]}
engine: analytic
"""
check = Checker()


def check_pdf(path, width, size):
    data = path.read_bytes()
    text = objects(data)
    box = [float(number) for number in re.search(rb"/MediaBox \[([^\]]*)\]", text)[1].split()]
    check.near(box[2], width, f"{path.name}: width of the page", 1e-5)
    sizes = [abs(float(matrix.split()[0])) for matrix in re.findall(rb"([-\d. ]+) Tm", streams(data))]
    check.that(sizes and all(0.7499 * size <= each <= size * 1.0001 for each in sizes), f"{path}: text of {set(sizes)}")
    check.that(sum(abs(each - size) < 1e-4 * size for each in sizes) >= 3, f"{path}: hardly any text of {size}")
    fonts, files = len(re.findall(rb"/Type /Font\b", text)), len(re.findall(rb"/FontFile", text))
    check.that(fonts and fonts == files, f"{path}: {files} of {fonts} fonts are embedded")


def check_svg(path, millimetres, size):
    head = path.read_text()[:1000]
    width, height = (float(number) for number in re.search(r'width="([\d.]+)mm" height="([\d.]+)mm"', head).groups())
    view = [float(number) for number in re.search(r'viewBox="([^"]*)"', head)[1].split()]
    check.near(width, millimetres, f"{path.name}: width", 1e-5)
    check.near(width / view[2], size / 9.5 / 72 * 25.4, f"{path.name}: scale", 1e-5)  # laid out with text of 9.5
    check.near(width / height, view[2] / view[3], f"{path.name}: shape", 1e-4)


def check_png(path, millimetres):
    data = path.read_bytes()
    pixels, = struct.unpack(">I", data[16:20])
    at = data.index(b"pHYs")
    x, y, unit = struct.unpack(">IIB", data[at + 4:at + 13])
    check.that(unit == 1 and x == y and zlib.crc32(data[at:at + 13]) == struct.unpack(">I", data[at + 13:at + 17])[0],
               "pHYs is wrong")
    check.that(abs(pixels / x * 1000 - millimetres) < 0.1, f"{path}: {pixels} pixels of {x} a metre")


def sizes(stagesim, folder):
    def drawn(*arguments):
        run(stagesim, *arguments, cwd=folder)

    paper = ["--picture-width", "84mm", "--font-size", "7"]
    width = 84 / 25.4 * 72
    drawn("run", "job.yaml", "--quiet", "-o", "run", "--picture", "svg,pdf,png", "--trace", "csv", *paper)
    drawn("compare", "job.yaml", "--schedules", "gpipe,chimera,zb-v", "--quiet", "-o", "compare", "--picture",
          "svg,pdf", *paper)
    drawn("sweep", "job.yaml", "--set", "batch.global=8:32:x2", "--schedules", "gpipe,1f1b", "--y", "bubble", "--quiet",
          "-o", "lines", "--picture", "svg,pdf", *paper)
    drawn("sweep", "job.yaml", "--set", "batch.global=8:64:x2", "--set", "stages.forward=5ms,10ms,15ms,20ms,25ms",
          "--quiet", "-o", "field", "--picture", "svg,pdf", *paper)
    drawn("search", "gpt.yaml", "--quiet", "--top", "0", "-o", "search", "--picture", "svg,pdf", *paper)
    for name, arguments in {"schedule": ["schedule", "dualpipe", "--workers", "4", "--micro-batches", "16"],
                            "collective": ["collective", "all-reduce", "--platform", "dgx-a100:1", "--algorithm", "all",
                                           "--engine", "analytic"]}.items():
        for ending in ("svg", "pdf"):
            drawn(*arguments, *paper, "-o", f"{name}.{ending}")
    for name in ("run/timeline", "compare/comparison", "compare/job-zb-v/timeline", "lines/sweep", "field/sweep",
                 "search/search", "schedule", "collective"):
        check_svg(folder / f"{name}.svg", 84, 7)
        check_pdf(folder / f"{name}.pdf", width, 7)
    check_png(folder / "run/timeline.png", 84)
    same = (folder / "run/timeline.svg").read_bytes()
    drawn("report", "run", "--quiet", "--picture", "svg", *paper)
    check.that((folder / "run/timeline.svg").read_bytes() == same, "report draws another picture")
    for text, points in {"6.5in": 468, "20cm": 20 / 2.54 * 72, "300pt": 300, "800px": 600}.items():
        drawn("report", "run", "--quiet", "--picture", "pdf", "--picture-width", text, "--font-size", "9pt")
        check_pdf(folder / "run/timeline.pdf", points, 9)


def boxes(path):
    """Numbers that stand in boxes, as glyphs."""
    return path.read_text().count("<use ")


def iterations(stagesim, folder):
    """A picture of more iterations has more numbers, at least 50 of the 64 of one; zb-v is simulated four times."""
    counts = []
    for count in (1, 2, 3):
        run(stagesim, "run", "job.yaml", "--quiet", "-o", "some", "--picture", "svg", "--iterations", count, "--trace",
            "csv", cwd=folder)
        counts.append(boxes(folder / "some/timeline.svg"))
    check.that(counts[2] - counts[1] >= 50 and counts[1] - counts[0] >= 50, f"glyphs of 1, 2, 3 iterations: {counts}")
    done = run(stagesim, "report", "some", "--iterations", 4, cwd=folder, expect=1)
    check.that("only 3 were simulated" in done.stderr, done.stderr)
    run(stagesim, "run", "job.yaml", "--schedule", "zb-v", "--quiet", "-o", "zb", "--picture", "svg", cwd=folder)
    four = boxes(folder / "zb/timeline.svg")
    run(stagesim, "run", "job.yaml", "--schedule", "zb-v", "--quiet", "-o", "zb", "--picture", "svg", "--iterations",
        1, cwd=folder)
    one = boxes(folder / "zb/timeline.svg")
    check.that(four - one > 3 * 90, f"glyphs of one iteration of zb-v and of four: {one}, {four}")


def mistakes(stagesim, folder):
    cases = [(["--picture-width", "84"], "has no unit; expected a length such as 84mm"),
             (["--picture-width", "84MM"], "did you mean '84mm'"),
             (["--picture-width", "84s"], "is a time; expected a length"),
             (["--picture-width", "3mm"], "from 20mm to 2000mm"),
             (["--picture-width", "3000mm"], "from 20mm to 2000mm"),
             (["--picture-width", "84mm", "--font-size", "3"], "expected 4 to 72 points"),
             (["--picture-width", "84mm", "--font-size", "small"], "or points as a plain number such as 7"),
             (["--picture-width", "84mm", "--font-size", "20"], "for text of 20 points; expected at least 142mm"),
             (["--font-size", "7"], "give the width, too")]
    for arguments, expected in cases:
        done = run(stagesim, "schedule", "gpipe", "--workers", 2, "--micro-batches", 2, "-o", "no.svg", *arguments,
                   cwd=folder, expect=2)
        check.that(expected in done.stderr, f"{arguments}: {done.stderr}")
        done = run(stagesim, "run", "job.yaml", "-o", "no", *arguments, cwd=folder, expect=1)
        check.that(expected in done.stderr and any(option in done.stderr for option in arguments[::2]),
                   f"{arguments}: {done.stderr}")
    check.that(not (folder / "no.svg").exists() and not (folder / "no").exists(), "something was written")
    run(stagesim, "run", "job.yaml", "--iterations", 0, cwd=folder, expect=1)
    run(stagesim, "report", "run", "--iterations", "x", cwd=folder, expect=2)
    run(stagesim, "search", "gpt.yaml", "--iterations", 2, cwd=folder, expect=2)


def with_pdffonts(folder):
    """The same from a program that is not ours, where there is one."""
    try:
        text = subprocess.run(["pdffonts", str(folder / "run/timeline.pdf")], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return
    fonts = [line.split() for line in text.splitlines()[2:]]
    check.that(fonts and all(font[-5] == "yes" for font in fonts), f"pdffonts: {text}")


def main():
    stagesim = binary_argument()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "job.yaml").write_text(JOB)
        (folder / "gpt.yaml").write_text(GPT)
        sizes(stagesim, folder)
        with_pdffonts(folder)
        iterations(stagesim, folder)
        mistakes(stagesim, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
