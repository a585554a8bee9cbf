#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""refused.py STAGESIM: platforms that SimGrid would take, or end the process at, or never get past, are refused by
every command that loads one: with exit code 1, in the same words, at the right line, within seconds, and without a file
that appears or changes."""
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import tool

HOST, LINK, ROUTE = '<host id="gpu-0" speed="1Gf"/>', '<link id="l" bandwidth="1GBps" latency="1us"/>', \
    '<route src="gpu-0" dst="gpu-1"><link_ctn id="l"/></route>'
GOOD = tool.HEAD + f"""<zone id="z" routing="Full">
{HOST}
<host id="gpu-1" speed="1Gf"/>
{LINK}
{ROUTE}
</zone>
</platform>
"""
HOST_LINE, LINK_LINE, CONFIG_LINE, ZONE_LINE = 5, 7, 4, 4
COMMANDS = (("check", "s.yaml"), ("run", "s.yaml", "-o", "out"), ("run", "s.yaml", "-o", "out", "--engine", "analytic"),
            ("compare", "s.yaml", "--schedules", "gpipe", "-o", "out"), ("platform", "show", "p.xml"),
            ("platform", "show", "p.xml", "--between", "gpu-0", "gpu-1"),
            ("collective", "all-reduce", "--platform", "p.xml", "--ranks", "2", "--sizes", "1MB:2MB:2"),
            ("platform", "fit", "table.txt", "--platform", "p.xml", "-o", "fitted.xml"))

TABLE = """# all_reduce_perf: nThread 1 nGpus 2
#  Rank  0 on node-0 device  0 [0x00] A
#  Rank  1 on node-0 device  1 [0x01] A
#       size         count      type   redop    root     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1     50.0   20.97   20.97      0     50.0   20.97   20.97      0
     2097152        524288     float     sum      -1     90.0   23.30   23.30      0     90.0   23.30   23.30      0
"""

# What else SimGrid 3.32 can be told; a value that it takes.
OTHER_SETTINGS = {"bmf/max-iterations": "5", "bmf/precision": "1e-12", "cmonkey/host": "0", "cmonkey/link": "0",
                  "cmonkey/tell": "1", "cmonkey/time": "1", "contexts/guard-size": "0", "contexts/nthreads": "4",
                  "contexts/synchro": "futex", "cpu/maxmin-selective-update": "0", "cpu/model": "Cas01",
                  "cpu/solver": "maxmin", "debug/breakpoint": "0", "debug/clean-atexit": "no",
                  "debug/verbose-exit": "no", "disk/model": "S19", "exception/cutpath": "yes",
                  "host/model": "ptask_L07", "math/precision": "1e9", "model-check": "1", "model-check/replay": "1;2",
                  "network/maxmin-selective-update": "1", "path": "/", "plugin": "host_energy",
                  "precision/timing": "1e9", "precision/work-amount": "1e9", "seed": "1", "smpi/tmpdir": "/",
                  "tracing": "yes", "tracing/comment-file": "victim", "tracing/filename": "victim",
                  "tracing/smpi": "yes", "tracing/uncategorized": "yes", "no/such": "1"}


def config(text):
    return GOOD.replace("<zone", f"<config>{text}</config><zone", 1)


def prop(key, value):
    return f'<prop id="{key}" value="{value}"/>'


def host(attributes):
    return GOOD.replace(HOST, f'<host id="gpu-0" {attributes}/>')


def link(attributes):
    return GOOD.replace(LINK, f'<link id="l" {attributes}/>')


def routing(kind, routes=""):
    return GOOD.replace("Full", kind).replace(ROUTE, routes)


def cluster(attributes):
    cluster = f'<cluster id="c" prefix="g-" suffix="" speed="1Gf" bw="1GBps" lat="1us" {attributes}/>'
    return f"{tool.HEAD}{cluster}</platform>\n"


def settings():
    """(platform, line, what is said), for every setting that is not in the table, and for bounds and words of those
    that are."""
    for key, value in OTHER_SETTINGS.items():
        yield config(prop(key, value)), CONFIG_LINE, f"'{key}' is no setting"
    for key, value, said in (("surf/precision", "1e9", "out of range"), ("surf/precision", "nan", "surf/precision"),
                             ("network/model", "ns-3", "none of CM02"), ("contexts/stack-size", "1", "out of range"),
                             ("maxmin/concurrency-limit", "-1", "maxmin/concurrency-limit"),
                             ("network/TCP-gamma", "inf", "network/TCP-gamma")):
        yield config(prop(key, value)), CONFIG_LINE, said
    yield config(prop("surf/precision", "1e-9") + prop("tracing/filename", "victim") +
                 prop("tracing", "yes")), CONFIG_LINE, "'tracing/filename' is no"
    declared = GOOD.replace("simgrid.dtd\">", 'simgrid.dtd" [<!ATTLIST prop value CDATA "yes">]>')
    yield declared.replace("<zone", '<config><prop id="tracing"/></config><zone', 1), 2, "declarations of its own"


def numbers():
    for bandwidth in ("0Bps", "-1GBps", "nan", "inf", "1e-300Bps", "1e300Bps"):
        yield link(f'bandwidth="{bandwidth}" latency="1us"'), LINK_LINE, "link 'l': its bandwidth is "
        split = link(f'bandwidth="{bandwidth}" latency="1us" sharing_policy="SPLITDUPLEX"')
        split = split.replace('id="l"/></route', 'id="l" direction="UP"/></route')
        yield split, LINK_LINE, "its bandwidth is "
    for latency in ("-1s", "nan", "inf", "1e300s"):
        yield link(f'bandwidth="1GBps" latency="{latency}"'), LINK_LINE, "link 'l': its latency is "
    for speed in ("0f", "-1f", "1e-300f", "nan", "inf", "1e300f", "1Gf,0f", "1e309f"):
        yield host(f'speed="{speed}"'), HOST_LINE, "speed"
    for key in ("memory", "memory_bandwidth", "peak_bf16"):
        yield GOOD.replace(HOST, HOST.replace("/>", ">") + prop(key, "1e300") + "</host>"), HOST_LINE, key
    for watts, said in (("1:1e308", "power under load"), ("1e308:1e308", "idle power")):
        yield GOOD.replace(HOST,
                           HOST.replace("/>", ">") + prop("wattage_per_state", watts) + "</host>"), HOST_LINE, said
    yield cluster('radical="0-3"').replace("1GBps", "0Bps"), 0, "its bandwidth is 0"
    for core in ("-1", "1e30", "99999999999", "x"):
        yield host(f'speed="1Gf" core="{core}"'), HOST_LINE, "whole number"


def profiles():
    """Texts of profiles, and what is said of them; each in a file of a host, of a link, and within <trace>."""
    texts = (("0 -1", "line 1: -1 is out of range"), ("0 nan", "out of range"), ("0 inf", "out of range"),
             ("-1 1", "out of range"), ("0", "number is missing"),
             ("# a\n1 1\n\n0 1", "line 4: the date 0 comes after 1"), ("0 1 2", "'2' follows"), ("0 0x", "no number"),
             ("PERIODICITY -1\n0 1\n1 0.5", "PERIODICITY"), ("PERIODICITY nan\n0 1", "out of range"),
             ("PERIODICITY 1\n0 1\n2 1", "has an event at 2 s"), ("PERIODICITY 1", "has no event"),
             ("LOOPAFTER 0\n0 1", "repeats itself every 0 s"), ("LOOPAFTER -1\n0 1", "out of range"),
             ("LOOPAFTER 1e-8\n0 1\n0 0.5", "repeats itself every 1e-08"),
             ("PERIODICITY 3\nLOOPAFTER 1\n0 1", "neither"),
             ("STOCHASTIC LOOP\nDET 0 DET 1", "repeats itself every 0 s"),
             ("STOCHASTIC LOOP\nUNIF 0 0 UNIF 1 1", "repeats itself every 0 s"),
             ("STOCHASTIC LOOP\nEXP 1e9 DET 1", "repeats itself every 1e-09"),
             ("STOCHASTIC LOOP\nEXP 0 DET 1", "above 0"), ("STOCHASTIC LOOP\nNORM 0 1 DET 1", "negative"),
             ("STOCHASTIC\nUNIF 2 1 DET 1", "the least comes first"), ("STOCHASTIC\n0 1", "none of DET"),
             ("EXP 1 DET 1", "STOCHASTIC comes before"), ("0 1\nSTOCHASTIC", "before the first event"),
             ("STOCHASTIC LOOP\nDET nan DET 1", "out of range"),
             ("PERIODICITY 1\nSTOCHASTIC LOOP\nDET 1 DET 1", "neither"), ("hello", "no number"))
    for text, said in texts:
        yield host('speed="1Gf" speed_file="profile"'), HOST_LINE, said, text
        yield link('bandwidth="1GBps" latency="1us" bandwidth_file="profile"'), LINK_LINE, said, text
        traced = GOOD.replace("</zone>",
                              f'<trace id="t" periodicity="-1">{text}</trace><trace_connect kind="SPEED" '
                              f'trace="t" element="gpu-0"/></zone>')
        yield traced, None, said, ""
    for name in ("/dev/zero", "/dev/stdin", "fifo", "nothing", "."):
        yield host(f'speed="1Gf" state_file="{name}"'), HOST_LINE, "profile '", ""
    yield host('speed="1Gf" speed_file="profile"'), HOST_LINE, "no text", "0 1\0"
    for kind in ("LINK_AVAIL", "BANDWIDTH", "LATENCY"):
        yield GOOD.replace("</zone>",
                           f'<trace id="t" periodicity="-1">1 1</trace><trace_connect kind="{kind}" '
                           f'trace="t" element="l"/></zone>'), None, kind, ""
    yield GOOD.replace("</zone>", '<trace id="t" periodicity="x">1 1</trace></zone>'), None, "periodicity", ""


def structures():
    yield "", 1, "not well-formed XML"
    yield GOOD[:-4], None, "not well-formed XML"
    yield tool.HEAD + "</platform>\n", 1, "no zone"
    yield tool.HEAD + "<config>" + prop("surf/precision", "1e-9") + "</config></platform>\n", 1, "no zone"
    for version in ("4.1e3081", "four", "-4.1", "4.1 "):
        yield GOOD.replace('version="4.1"', f'version="{version}"'), 3, "no version of platform files"
    yield routing("Dijkstra"), ZONE_LINE, "'gpu-0' is in no route"
    yield routing("DijkstraCache"), ZONE_LINE, "'gpu-0' is in no route"
    yield routing("Dijkstra", ROUTE).replace(LINK, HOST.replace("0", "2") + LINK), ZONE_LINE, "'gpu-2' is in no route"
    one_way = ROUTE.replace('"gpu-1"', '"gpu-1" symmetrical="NO"')
    circle, host = one_way.replace("gpu-1", "gpu-0"), HOST.replace("0", "2")
    many = "".join(HOST.replace("gpu-0", f"gpu-{i}") for i in range(2, 4001))
    routes = "".join(ROUTE.replace("gpu-0", f"gpu-{i}") for i in range(2, 4001))
    routes += one_way.replace("gpu-1", "gpu-2")  # a circle
    yield routing("Dijkstra", ROUTE + routes).replace(LINK, many + LINK), ZONE_LINE, "more than 4000 points"
    for kind in ("Dijkstra", "DijkstraCache"):
        yield routing(kind, ROUTE.replace("gpu-1", "gpu-0") + ROUTE), LINK_LINE + 1, "'gpu-0' to itself"
        for last in (circle.replace("gpu-0", "gpu-2"), one_way.replace("gpu-0", "gpu-2")):
            apart = routing(kind, circle + ROUTE + last).replace(LINK, host + LINK)
            yield apart, ZONE_LINE, "'gpu-0' has a route to itself"
    yield routing("None"), ZONE_LINE, "None"
    yield routing("Vivaldi"), HOST_LINE, "coordinates"
    for policy in ("SPLITDUPLEX", "FULLDUPLEX"):
        failing = link(f'bandwidth="1GBps" latency="1us" state_file="profile" sharing_policy="{policy}"')
        yield failing, LINK_LINE, "two directions"
    for kind in ("WIFI", "Wifi"):
        yield routing(kind), ZONE_LINE, "wireless"
    yield link('bandwidth="54Mbps,36Mbps" latency="0" sharing_policy="WIFI"'), LINK_LINE, "wireless"
    for topology, numbers in (("FAT_TREE", "2;10,1;2000000000,2000000000;1,1"), ("DRAGONFLY", "99999,1;99999,1;9,1;9"),
                              ("TORUS", "99999999999999999999,1")):
        yield cluster(
            f'radical="0-9" topology="{topology}" topo_parameters="{numbers}"'), CONFIG_LINE, "product of all numbers"
    for radical in ("0-100000000", "0-2000000000", "0-99999999999999999999", "0-", "-1", "x", "1-2-3", ",", ""):
        yield cluster(f'radical="{radical}"'), CONFIG_LINE, "hosts" if radical[:4] in ("0-10", "0-20") else "radical"


def refused(check, binary, folder, commands, text, line, said, profile=""):
    (folder / "p.xml").write_text(text)
    (folder / "profile").write_text(profile)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    words = set()
    for arguments in commands:
        result = tool.run(binary, *arguments, cwd=folder, expect=None)
        what = f"{' '.join(arguments)}: {text[len(tool.HEAD):]!r} {profile!r}: " \
               f"exit code {result.returncode}, {result.stdout[:200]!r}{result.stderr!r}"
        check.that(result.returncode == 1 and not result.stdout and said in result.stderr,
                   what + f", expected {said!r}")
        check.that(line is None or f"p.xml:{line}:" in result.stderr or (line == 0 and "p.xml: " in result.stderr),
                   what + f", expected line {line}")
        words.add(
            result.stderr.split("\n")[0].replace("stagesim platform: p.xml: ",
                                                 "p.xml: error: ").replace("stagesim collective: p.xml: ",
                                                                           "p.xml: error: "))
    check.that(len(words) == 1, f"{text!r}: {words}")
    after = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    check.that(after == before, f"{text!r}: {set(after.items()) ^ set(before.items())} appeared or changed")


def accepted(check, binary, folder):
    """What is refused above is not refused for something else; and <config> is obeyed, unless the scenario says
    otherwise."""
    def seconds(text, *arguments):
        (folder / "p.xml").write_text(text)
        result = tool.run(binary, "compare", "s.yaml", "--schedules", "gpipe", "--format", "csv", *arguments,
                          cwd=folder, expect=None)
        check.that(result.returncode == 0, f"{text!r}: {result.stderr}")
        return float(result.stdout.splitlines()[1].split(",")[3]) if result.returncode == 0 else 0

    plain = seconds(GOOD)
    half = seconds(config(prop("network/bandwidth-factor", "0.5")))
    check.that(half > plain * 1.1, f"half the bandwidth by <config>: {half} s, {plain} s without")
    check.near(
        seconds(config(prop("network/bandwidth-factor", "0.5")), "--set", "simgrid={network/bandwidth-factor: 1}"),
        plain, "the scenario overrides <config>")
    far = seconds(config(prop("network/model", "LV08")))
    check.near(far, seconds(GOOD, "--set", "simgrid={network/model: LV08}"), "<config> and simgrid: mean the same")
    check.that(abs(far / plain - 1) > 1e-3, f"another model of networks by <config> changes nothing: {far} s")
    for text in ("0 1\n", "# a\n\n0 1 # b\n10 0.5\r\n", "PERIODICITY 10\n0 1\n5 0.5\n", "LOOPAFTER 10\n0 1\n",
                 "STOCHASTIC\nUNIF 1 2 DET 1\n",
                 "STOCHASTIC LOOP\nLOOPAFTER 1\nEXP 1 UNIFORM 0.5 1\nNORMAL 10 1 GAUSS 1 0.1\n", ""):
        (folder / "profile").write_text(text)
        seconds(host('speed="1Gf" speed_file="profile"'))
    seconds(routing("Dijkstra", ROUTE))
    seconds(routing("Dijkstra", ROUTE + ROUTE.replace('"gpu-1"', '"gpu-0" symmetrical="NO"')))
    seconds(routing("Floyd", ROUTE))
    seconds(cluster('radical="0-3,7,9-10"'))


def main():
    check, binary = tool.Checker(), tool.binary_argument()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tool.write_scenario(folder / "s.yaml", "p.xml", "1f1b", 2, 2,
                            stages="forward: 1ms, backward: 2ms, message: 10MB")
        (folder / "table.txt").write_text(TABLE)
        (folder / "victim").write_text("precious\n")
        os.mkfifo(folder / "fifo")
        for cases in (settings(), numbers(), profiles(), structures()):
            for number, case in tool.sampled(list(enumerate(cases))):
                refused(check, binary, folder, COMMANDS if number % 12 == 0 else (COMMANDS[number % 2 * 4],), *case)
        accepted(check, binary, folder)
    return check.done()


if __name__ == "__main__":
    sys.exit(main())
