/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim platform: platforms from products, from topology files, and pictures of them. */
#include "base/diagnostics.h"
#include "base/quantity.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "commands/platform/platform_command.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static int run(const struct command *command, int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct command *command, int argc, char **argv);
    } parts[] = {{"generate", platform_generate_run},
                 {"import", platform_import_run},
                 {"show", platform_show_run},
                 {"fit", platform_fit_run}};
    if (argc < 2)
        return command_usage(command, "generate, import, show or fit?");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run(command, argc - 1, argv + 1);
    return command_usage(command, "'%s' is neither generate, import, show nor fit", argv[1]);
}

const struct command command_platform = {
    .name = "platform",
    .arguments = "generate PRESET --nodes N | generate PRESET:NODES[:NIC]... --join NIC | import [TOPOLOGY] | show "
                 "PLATFORM | fit "
                 "TABLE... [OPTION]...",
    .summary = "writes SimGrid platforms from products or topology files, and shows them",
    .help =
        "generate: a platform of a product that stagesim knows (`stagesim list presets`).\n"
        "\n"
        "  --nodes N               how many nodes\n"
        "  --gpus-per-node G       fewer devices in each node than the product has\n"
        "  --pod NODES             nodes around one leaf switch, or in one group of a dragonfly\n"
        "  --oversubscription R    what a pod's nodes can send, over what its links to other pods carry\n"
        "  --group NODES, --group-oversubscription R  a third level, above groups of pods\n"
        "  --group-links WAY       shared, or direct: a link for every two groups\n"
        "  --flow-rate RATE, --flow-window SIZE  most of one transfer between nodes\n"
        "  --sites N, --site-rate RATE, --site-latency TIME  places far apart\n"
        "  --torus AxBxC           how cubes of a torus are joined\n"
        "  --rails WAY             interface k on leaf switch k: spine, nvlink or planes\n"
        "  --routing WAY           adaptive, or ecmp: each flow takes a link to the spine by a hash\n"
        "  --paths N               with ecmp: how many (each as fast as an interface)\n"
        "  --flows N               with ecmp: flows that a transfer is cut into (1)\n"
        "  --seed N                with ecmp: seed of the hash (0)\n"
        "  --one-process           one process drives all GPUs of a node (nccl-tests -g 8)\n"
        "  --launch WAY            processes (one for each GPU), one-process, or torch (timed one by one)\n"
        "  --library NAME          another collective library, such as h100-nccl-2.23\n"
        "  --nic NIC               other network interfaces: ib-hdr, roce-200, ethernet-25, ...\n"
        "  --join NIC              the network that joins several clusters, each PRESET:NODES[:NIC]\n"
        "  -o, --output FILE       write there instead of to standard output\n"
        "\n"
        "import: a platform from what one of these wrote on a real node: `lstopo --of xml node.xml` (hwloc),\n"
        "NCCL_TOPO_DUMP_FILE (NCCL), `nvidia-smi topo -m`, `rocm-smi --showtopo`; or from Slurm's topology.conf or\n"
        "topology.yaml. Without a file, of the machine it runs on. What was measured, taken from tables or assumed "
        "goes to\n"
        "standard error.\n"
        "\n"
        "  --nodes N               copies of the node (1)\n"
        "  --fabric PRESET         join them as that product does\n"
        "  --pod, --oversubscription   as above\n"
        "  --gpu MODEL             the GPUs, if the file does not name them, such as H100-SXM5-80GB\n"
        "  --nic NIC               the network interfaces, if the file has no rates, such as ib-hdr\n"
        "  --node PRESET           the nodes of a Slurm topology\n"
        "  --topology NAME         which topology of a topology.yaml; without, the cluster's default\n"
        "  --pcie genGxL           PCI Express, if the file has no speeds, such as gen4x16\n"
        "  --partitions            a partitioned device is one host for each partition\n"
        "  -o, --output FILE       write there instead of to standard output\n"
        "\n"
        "show: what is in a platform: a file, any that SimGrid can load, or PRESET:NODES.\n"
        "\n"
        "  --between HOST HOST     only the route between two hosts: links, bandwidth, latency\n"
        "  --format FORMAT         text, json, csv, latex, markdown, svg, png or pdf (what FILE ends in; text)\n"
        "  -o, --output FILE       write there instead of to standard output\n"
        "\n"
        "fit: launch times and protocols of collectives from tables that nccl-tests measured; prints the errors before "
        "and after.\n"
        "\n"
        "  --platform PLATFORM     a file or PRESET:NODES, to start from\n"
        "  -o, --output FILE       write the platform with the fitted values\n"
        "  --format FORMAT         format of the errors: table, csv, json, latex or markdown (table)\n"
        "  --picture FILE          draw time over size, measured and fitted (.svg, .png or .pdf)\n" FORM_HELP(
            "   ") "\n"
                   "examples:\n"
                   "  stagesim platform generate dgx-h100 --nodes 4 -o cluster.xml\n"
                   "  stagesim platform generate dgx-a100:2:ib-hdr dgx-a100:2:roce-200 --join ethernet-25 -o "
                   "mixed.xml\n"
                   "  stagesim platform import node.xml --nodes 16 --fabric dgx-h100 -o cluster.xml\n"
                   "  stagesim platform import matrix.txt --gpu H100-SXM5-80GB --nic ib-ndr --nodes 8 -o cluster.xml\n"
                   "  stagesim platform import topology.conf --node dgx-h100 -o cluster.xml\n"
                   "  stagesim platform show cluster.xml --between gpu-0-0 gpu-3-7\n"
                   "  stagesim platform show dgx-h100:64\n",
    .run = run,
};
