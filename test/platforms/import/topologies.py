#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""topologies.py STAGESIM [--update]: platforms from the matrices of nvidia-smi and rocm-smi and from Slurm's topology
files. Golden files: what is said of each file in topologies/ (NAME.told), with a digest of the platform that it is.
Matrices of eleven kinds of node are made here from how the node is wired: whether there are NVSwitches, and which GPU
uses which interface. Pasted forms give the same bytes; damaged ones their row and column; files of Slurm likewise."""
import hashlib
import itertools
import os
import pathlib
import re
import sys
import tempfile
import xml.etree.ElementTree as ET

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
import tool  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent / "topologies"
UPDATE = "--update" in sys.argv
GOLDEN = {"a100.txt": ["--gpu", "A100-SXM4-80GB", "--nodes", "2", "--nic", "ib-hdr"],
          "mi300x.txt": ["--gpu", "MI300X", "--nodes", "2", "--fabric", "dgx-h100"],
          "mi300x-pairs.txt": ["--gpu", "MI300X"], "fat-tree.conf": ["--node", "dgx-h100"],
          "tree.conf": ["--node", "dgx-h100"], "blocks.conf": ["--node", "gb200-nvl72"],
          "cluster.yaml": ["--node", "dgx-a100"]}
OTHERS = {"a100.txt": [[], ["--nodes", "2"]], "tree.conf": [[], ["--node", "gb200-nvl72"]],
          "cluster.yaml": [["--node", "dgx-a100", "--topology", name] for name in ("racks", "plain", "none")]}


def ask(binary, folder, *arguments):
    return tool.run(binary, "platform", "import", *arguments, cwd=folder, expect=None)


def check_golden(check, binary, folder):
    """One file for each input: exit codes, standard error and a digest of the platform."""
    for name, arguments in GOLDEN.items():
        lines = []
        for given in [arguments] + OTHERS.get(name, []):
            answer = ask(binary, HERE, name, *given)
            digest = hashlib.sha256(answer.stdout.encode()).hexdigest()[:16] if answer.stdout else "none"
            lines.append(f"$ {' '.join(given)}\nexit {answer.returncode}, platform {digest}\n{answer.stderr}")
        told = HERE / f"{name}.told"
        if UPDATE:
            told.write_text("\n".join(lines))
        check.that(told.exists() and told.read_text() == "\n".join(lines), f"{name} says\n" + "\n".join(lines))


# ---- matrices from how nodes are wired ----

class Node:
    """Devices in a tree of PCI Express, given as (name, way): "0/1/2" is socket 0, outer switch 1, inner switch 2."""

    def __init__(self, gpus, interfaces, links, cpus=None):
        self.gpus, self.interfaces, self.links, self.cpus = gpus, interfaces, links, cpus

    def names(self):
        return [f"GPU{i}" for i in range(len(self.gpus))] + [f"NIC{i}" for i in range(len(self.interfaces))]

    def cell(self, a, b):
        ways = self.gpus + self.interfaces
        if a == b:
            return " X "
        link = self.links(min(a, b), max(a, b)) if max(a, b) < len(self.gpus) else 0
        if link:
            return f"NV{link}"
        left, right = ways[a].split("/"), ways[b].split("/")
        same = len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], zip(left, right))))
        return ("SYS", "PHB" if left[0] != "n" else "NODE", "PXB", "PIX")[same]

    def text(self, rows_of_interfaces=True):
        names = self.names()
        lines = ["\t" + "\t".join(names) + "\tCPU Affinity\tNUMA Affinity"]
        for a, name in enumerate(names[:None if rows_of_interfaces else len(self.gpus)]):
            cpus = (self.cpus or [way.split("/")[0] for way in self.gpus])[a] if a < len(self.gpus) else ""
            lines.append("\t".join([name] + [self.cell(a, b) for b in range(len(names))] + [cpus, cpus]))
        return "\n".join(lines) + "\n\nLegend:\n\n  X    = Self\n"


def switched(links):
    return lambda a, b: links


def cube(a, b):
    """The hybrid cube mesh of eight V100."""
    double = {(0, 3), (0, 4), (1, 2), (1, 5), (2, 3), (4, 7), (5, 6), (6, 7)}
    single = {(0, 1), (0, 2), (1, 3), (2, 6), (3, 7), (4, 5), (4, 6), (5, 7)}
    return 2 if (a, b) in double else 1 if (a, b) in single else 0


# Name: node, whether NVSwitches are between, the interfaces that GPUs use (None: not checked), GPU model.
NODES = {
    "eight A100, interfaces in pairs": (
        Node([f"{i // 2}/0/{i}" for i in range(8)],
             ["0/0/a", "0/0/b", "1/0/a", "1/0/b", "4/0/a", "4/0/b", "2/0/a", "2/0/b", "3/0/a", "3/0/b", "5/0/a",
              "5/0/b"], switched(12)), True, [0, 1, 2, 3, 6, 7, 8, 9], "A100-SXM4-80GB"),
    "eight B200, sixteen interfaces": (
        Node([f"{i // 4}/{i}/g" for i in range(8)],
             ["0/s/s"] * 4 + ["0/0/n", "0/t/t", "0/t/t", "0/1/n", "0/2/n", "0/3/n", "1/4/n", "1/t/t", "1/t/t", "1/5/n",
                              "1/6/n", "1/7/n"], switched(18)), True, [4, 7, 8, 9, 10, 13, 14, 15], "B200-180GB"),
    "eight V100 in a cube": (
        Node([f"{i // 4}/{i // 2}/0" for i in range(8)], ["0/0/0", "1/2/0", "0/1/0", "1/3/0"], cube), False,
        [0, 0, 2, 2, 1, 1, 3, 3], "V100-SXM2-16GB"),
    "a tray of Grace and Blackwell": (
        Node(["g0", "g1", "g2", "g3"], [f"n{i}" for i in range(6)], switched(18), ["0-71", "0-71", "72-143", "72-143"]),
        True, None, "GB200-186GB"),
    "four H100, all pairs": (
        Node([f"{i}/0/0" for i in range(4)], [f"{i}/0/0" for i in range(4)], switched(6)), False, [0, 1, 2, 3],
        "H100-SXM5-80GB"),
    "four A100, only PCI Express was asked for": (
        Node([f"{i}/0/0" for i in range(4)], [f"{i}/0/0" for i in range(4)], switched(0)), False, [0, 1, 2, 3],
        "A100-SXM4-40GB"),
    "four V100 of a cloud": (
        Node(["0"] * 4, [], lambda a, b: 2 if (a, b) in {(0, 3), (1, 2), (2, 3)} else 1), False, None,
        "V100-SXM2-16GB"),
    "eight PCI Express cards below two switches": (
        Node([f"0/{i // 4}/0" for i in range(8)], [], switched(0)), False, None, "A100-PCIE-80GB"),
    "four A100, two interfaces": (
        Node(["0", "1", "2", "3"], ["3", "1"], switched(4)), False, None, "A100-SXM4-40GB"),
    "eight cards, none near another": (
        Node([str(i) for i in range(8)], ["6/0/0", "6/0/0"], switched(0)), False, None, "A100-PCIE-80GB"),
    "eight cards in pairs": (
        Node([f"{i // 4}/{i // 2}/0" for i in range(8)], [], switched(0)), False, None, "A100-PCIE-80GB"),
}


def interface_of(root, node, gpu):
    """The cable to the network that a GPU's messages take: a number among those of the node."""
    for route in root.iter("route"):
        if route.get("src") == f"gpu-{node}-{gpu}" and route.get("dst") == f"port-{node}":
            found = [link.get("id") for link in route.iter("link_ctn") if link.get("id").startswith("nic-")]
            return int(found[0].split("-")[2].split("_")[0]) if found else None
    return None


def check_nodes(check, binary, folder):
    for name, (node, switches, uses, model) in NODES.items():
        (folder / "m.txt").write_text(node.text())
        nodes = "1" if uses is None else "2"
        answer = ask(binary, folder, "m.txt", "--gpu", model, "--nic", "ib-hdr", "--nodes", nodes)
        if not check.that(answer.returncode == 0, f"{name}: {answer.stderr}"):
            continue
        check.that(("to NVSwitches" in answer.stderr) == switches, f"{name}: NVSwitches? {answer.stderr}")
        unknown = ask(binary, folder, "m.txt")
        check.that(("to NVSwitches" in unknown.stderr) == switches, f"{name}, of no model: {unknown.stderr}")
        if uses is None:
            continue
        root = ET.fromstring(answer.stdout)
        found = [interface_of(root, 0, gpu) for gpu in range(len(node.gpus))]
        cables = sorted(set(found))  # interfaces of the file, in its order, those that are left out left out
        check.that([sorted(set(uses))[cables.index(nic)] for nic in found] == uses, f"{name}: GPUs use {found}, {uses}")
        check.that(answer.stderr.count("a nearer interface") == len(node.interfaces) - len(set(uses)),
                   f"{name}: left out {answer.stderr}")


def pasted(text):
    """Forms in which such a matrix is found, which all mean the same."""
    lines = text.split("\n")
    yield "blanks", re.sub(r"\t", "    ", text)
    yield "commented", "\n".join("# " + line for line in lines)
    yield "underlined", "\x1b[4m" + lines[0] + "\x1b[0m\n" + "\n".join(lines[1:])
    yield "without the first tab", text.lstrip("\t")
    yield "a tab lost", text.replace("PXB\tSYS", "PXBSYS", 1)
    yield "other lines around it", "$ nvidia-smi topo -m\n\n" + text + "\ntopo = read()\n"
    yield "carriage returns", text.replace("\n", "\r\n")
    yield "SOC", text.replace("SYS", "SOC")
    yield "indented", "\n".join("    " + line for line in lines)


def check_pasted(check, binary, folder):
    node = NODES["eight A100, interfaces in pairs"][0]
    (folder / "m.txt").write_text(node.text())
    arguments = ("m.txt", "--gpu", "A100-SXM4-80GB", "--nodes", "2", "--nic", "ib-hdr")
    plain = ask(binary, folder, *arguments)
    for form, text in pasted(node.text()):
        (folder / "m.txt").write_bytes(text.encode())
        again = ask(binary, folder, *arguments)
        check.that(again.stdout == plain.stdout and plain.stdout, f"{form}: {again.stderr}")
    (folder / "m.txt").write_text(node.text(rows_of_interfaces=False))
    rows = ask(binary, folder, *arguments)
    check.that(rows.returncode == 0, f"without rows of interfaces: {rows.stderr}")


def check_mistakes(check, binary, folder):
    text = Node(["0/0/0", "0/0/0", "1/0/0"], ["1/0/0"], switched(0)).text()
    rocm = (HERE / "mi300x.txt").read_text()
    conf, yaml = (HERE / "tree.conf").read_text(), (HERE / "cluster.yaml").read_text()
    cases = [
        (text.replace("PIX", "PIY", 1), "m.txt:2:10: error: row GPU0, column GPU1: 'PIY'; expected X, NV and a number"),
        (text.replace("GPU1\tPIX", "GPU1\tSYS"), "m.txt:3:6: error: row GPU1, column GPU0 differs from row GPU0"),
        (text.replace("GPU2\t", "GPU1\t").replace("\tGPU1\tGPU1", "\tGPU1\tGPU2"),
         "m.txt:4:1: error: a second row GPU1"),
        (text.replace("\nGPU2", "\nelse"), "m.txt:1:12: error: GPU2 has no row"),
        (text.replace(" X ", "PIX", 1), "m.txt:2:6: error: row GPU0, column GPU0: expected X"),
        (text.replace("GPU1\tPIX\t X \tSYS\tSYS\t0\t0", "GPU1\tPIX\t X "), "m.txt:3:12: error: row GPU1 ends after 2"),
        (text.replace("PIX", "X", 1), "m.txt:2:10: error: GPU0 and GPU1 are not the same device"),
        (text.replace("GPU2", "GPU1"), "m.txt:1:12: error: a second column GPU1"),
        (rocm.replace("XGMI", "WIFI", 1), "error: row GPU0, column GPU1: 'WIFI'; expected XGMI or PCIE"),
        (rocm.replace("XGMI", "PCIE", 1), "error: row GPU1, column GPU0 differs from row GPU0, column GPU1"),
        (rocm.replace("Link Type", "Link"), "m.txt: no matrix 'Link Type between two GPUs'"),
        (rocm.replace("GPU3   XGMI", "else   XGMI"), "GPU3 has no row"),
        (conf.replace("LinkSpeed", "Speed"), "m.txt:3:42: error: 'Speed=400'; expected Nodes=, Switches="),
        (conf.replace("05", "04"), "m.txt:3:1: error: leaf2: node gpu04 is in leaf1, line 2, as well"),
        (conf.replace("leaf[1-2]", "leaf[1-3]"), "m.txt:4:1: error: spine: there is no switch leaf3 below it in this"),
        (conf.replace("leaf[1-2]", "leaf[1-2],leaf1"), "m.txt:4:1: error: spine: switch leaf1 stands twice below it"),
        (conf + "SwitchName=top Switches=spine,leaf1\nSwitchName=all Switches=top,all\n", "all: it is below itself"),
        (text.replace("GPU2\t", "GPU2", 1), "has more cells than the"),
        (conf.replace("leaf[1-2]", "leaf[1-2],spine"), "m.txt:4:1: error: spine: it is below itself"),
        (conf.replace("leaf2", "leaf1"), "m.txt:3:1: error: leaf1: a second record of that name"),
        (conf.replace("[01-04]", "[01-"), "m.txt:2:1: error: leaf1: '[' without ']' at '[01-'"),
        (conf.replace("[01-04]", "[04-01]"), "m.txt:2:1: error: leaf1: the range 4-1 counts down"),
        (conf.replace("[01-04]", "[01-04-06]"), "m.txt:2:1: error: leaf1: expected ',' or ']' at '-06]'"),
        (conf.replace("[01-04]", "[a]"), "m.txt:2:1: error: leaf1: expected a number of at most 9 digits in brackets"),
        (conf.replace("[01-04]", "[]"), "m.txt:2:1: error: leaf1: empty brackets at '[]'"),
        (conf.replace("[01-04]", ",,"), "m.txt:2:1: error: leaf1: an empty name in a list"),
        (conf.replace("Nodes=gpu[01-04]", ""), "m.txt:2:1: error: leaf1: neither nodes nor switches"),
        (conf.replace("01-04", "01-03"), "m.txt:3:1: error: leaf2: 4 nodes, where leaf1 has 3"),
        (conf + "BlockName=b Nodes=x\n", "m.txt:5:1: error: switches and blocks in one file"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", "m.txt:1:1: error: a: it is below itself"),
        (yaml.replace("switch: leaf1", "leaf: leaf1"), "m.txt:16:9: error: expected a map with a name"),
        (yaml.replace("tree:", "trees:"), "m.txt:10:3: error: expected tree: {switches: [...]} or block"),
        (yaml.replace("- topology: plain", "- name: plain"), "m.txt:20:3: error: expected a map that begins with"),
        (yaml.replace("flat: true", "flat: [true"), "m.txt:"),
        ("- topology: t\n  torus3d: {toruses: []}\n", "m.txt:1:3: error: a torus or ring of nodes is not imported"),
    ]
    for bad, error in cases:
        (folder / "m.txt").write_text(bad)
        answer = ask(binary, folder, "m.txt", "--node", "dgx-h100", "-o", "none.xml")
        check.that(answer.returncode == 1 and error in answer.stderr and not (folder / "none.xml").exists(),
                   f"expected {error!r}: {answer.returncode} {answer.stderr}")
    for arguments, error in ((("--nic", "ib-hrd"), "ib-hdr"), (("--node", "toaster"), "toaster")):
        answer = ask(binary, folder, "m.txt", *arguments)
        check.that(answer.returncode == 2 and error in answer.stderr, f"{arguments}: {answer.stderr}")


def check_slurm(check, binary, folder):
    """Pods are leaves; a million names take no more than their number says."""
    leaves = "".join(f"SwitchName=leaf{i} Nodes=gpu[{8 * i:03}-{8 * i + 7:03}]\n" for i in range(4))
    (folder / "t.conf").write_text(leaves + "SwitchName=agg0 Switches=leaf[0-1]\nSwitchName=agg1 Switches=leaf[2-3]\n"
                                   "SwitchName=spine Switches=agg[0-1]\n")
    tool.run(binary, "platform", "generate", "dgx-h100", "--nodes", 32, "--pod", 8, "-o", "own.xml", cwd=folder)
    made = ask(binary, folder, "t.conf", "--node", "dgx-h100")
    bare = [re.sub(r"<!--.*?-->", "", text, flags=re.S) for text in (made.stdout, (folder / "own.xml").read_text())]
    check.that(made.returncode == 0 and bare[0] == bare[1], "leaves of eight are not pods of eight")
    check.that("3 levels of switches" in made.stderr, made.stderr)
    (folder / "t.conf").write_text("SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n[4-9]\n")
    cut = ask(binary, folder, "t.conf", "--node", "dgx-h100", "--pod", "3")
    check.that(cut.returncode == 0 and "2 switches without one above" in cut.stderr, cut.stderr)
    spent = []  # processor time of children, which os.times counts in hundredths of a second
    for nodes in (100000, 1000000):
        (folder / "t.conf").write_text(f"SwitchName=a Nodes=n[000001-{nodes * 4 // 10:06}],"
                                       f"m[0-9][0-9]x[000000-{nodes * 6 // 1000 - 1:06}]\n")
        before = sum(os.times()[2:4])
        many = ask(binary, folder, "t.conf", "--node", "dgx-h100")
        spent.append(sum(os.times()[2:4]) - before)
        check.that(many.returncode == 1 and f"{nodes} nodes" in many.stderr, many.stderr)
    check.that(spent[1] < 30 * (spent[0] + 0.01), f"{spent} s for a hundred thousand and for a million names")


SHARED = {"dgx-a100": True, "b200-16nic": True, "gb200-tray": True, "dgx1v": False, "h100x4-nv6": False,
          "juwels-booster-mp": False, "p3.8xlarge": False, "pcie8-pix-node": False, "polaris": False,
          "rtx4090x8-sys": False, "titanv8-pcie": False}


def check_shared(check, binary, folder):
    """Files of real nodes lie outside of the source tree; where they are, the same must hold for them."""
    shared = tool.ROOT.parent / "shared" / "jobs"
    for name, switches in SHARED.items():
        path = shared / "topo" / f"{name}.txt"
        if path.exists():
            answer = ask(binary, folder, path)
            check.that(answer.returncode == 0 and ("to NVSwitches" in answer.stderr) == switches,
                       f"{name}: {answer.stderr}")
    for path in sorted((shared / "slurm").glob("*")) if (shared / "slurm").exists() else []:
        answer = ask(binary, folder, path, "--node", "dgx-h100")
        check.that(answer.returncode == 0, f"{path}: {answer.stderr}")


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for part in (check_golden, check_nodes, check_pasted, check_mistakes, check_slurm, check_shared):
            part(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
