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

/* ---- what the parts share ---- */

bool platform_read_count(const char *text, uint32_t most, uint32_t *count)
{
    uint64_t value;
    if (!quantity_count(text, &value, &(struct quantity_reason){""}) || value < 1 || value > most)
        return false;
    *count = (uint32_t)value;
    return true;
}

bool platform_read_ratio(const char *text, double *ratio)
{
    return quantity_parse(QUANTITY_RATIO, text, ratio, &(struct quantity_reason){""}) && *ratio >= 1 && *ratio <= 1000;
}

const struct preset *platform_read_preset(const struct command *command, const char *name)
{
    const struct preset *preset = preset_find(name);
    if (preset)
        return preset;
    size_t count;
    const struct preset *table = preset_table(&count);
    const char *names[64];
    for (size_t i = 0; i < count && i < 64; i++)
        names[i] = table[i].name;
    const char *near = diag_nearest(name, names, count);
    if (near)
        command_usage(command, "'%s' is no preset; did you mean '%s'?", name, near);
    else
        command_usage(command, "'%s' is no preset; `stagesim list presets` shows what there is", name);
    return NULL;
}

int platform_write_result(const char *path, bool (*write)(FILE *out, void *user, struct fault *fault), void *user)
{
    return result_write("platform", path, write, user);
}

/* ---- generate ---- */

enum { PARTS_MAX = 64 };

struct generate_arguments {
    struct platform_request all; /* the options, which count for every part */
    struct platform_request parts[PARTS_MAX];
    uint32_t part_count;
    const char *join, *output;
};

static bool write_presets(FILE *out, void *user, struct fault *fault)
{
    const struct generate_arguments *arguments = user;
    if (arguments->part_count == 1)
        return platform_generate(&arguments->parts[0], out, fault);
    return platform_generate_joined(arguments->parts, arguments->part_count, arguments->join, out, fault);
}

static const struct option generate_options[] = {
    {"nodes", required_argument, NULL, 'n'},   {"gpus-per-node", required_argument, NULL, 'g'},
    {"pod", required_argument, NULL, 'p'},     {"oversubscription", required_argument, NULL, 'r'},
    {"rails", required_argument, NULL, 'R'},   {"one-process", no_argument, NULL, '1'},
    {"nic", required_argument, NULL, 'i'},     {"join", required_argument, NULL, 'j'},
    {"routing", required_argument, NULL, 'e'}, {"paths", required_argument, NULL, 'P'},
    {"flows", required_argument, NULL, 'f'},   {"seed", required_argument, NULL, 's'},
    {"output", required_argument, NULL, 'o'},  {NULL, 0, NULL, 0},
};

/* 0 for a word that `rails` takes, else an exit code. */
static int read_rails(const struct command *command, const char *word, enum fabric_rails *rails)
{
    if (strcmp(word, "spine") != 0 && strcmp(word, "nvlink") != 0)
        return command_usage(command, "--rails meet in the 'spine' or over 'nvlink', not in '%s'", word);
    *rails = strcmp(word, "spine") == 0 ? RAILS_SPINE : RAILS_NVLINK;
    return 0;
}

/* 0 for a word that `routing` takes, else an exit code. */
static int read_routing(const struct command *command, const char *word, bool *ecmp)
{
    if (strcmp(word, "ecmp") != 0 && strcmp(word, "adaptive") != 0)
        return command_usage(command, "--routing is 'adaptive' or 'ecmp', not '%s'", word);
    *ecmp = strcmp(word, "ecmp") == 0;
    return 0;
}

static int read_seed(const struct command *command, const char *word, uint64_t *seed)
{
    if (quantity_count(word, seed, &(struct quantity_reason){""}))
        return 0;
    return command_usage(command, "'%s' is no seed; seeds are whole numbers from 0", word);
}

/* One option. 0 when it was understood, else an exit code. */
static int generate_option(const struct command *command, int option, struct generate_arguments *arguments)
{
    struct platform_request *request = &arguments->all;
    uint32_t *counts[] = {['n'] = &request->nodes,
                          ['g'] = &request->per_node,
                          ['p'] = &request->pod,
                          ['P'] = &request->paths,
                          ['f'] = &request->flows};
    const char **texts[] = {['i'] = &request->nic, ['j'] = &arguments->join, ['o'] = &arguments->output};
    switch (option) {
    case 'n':
    case 'g':
    case 'p':
    case 'P':
    case 'f':
        if (platform_read_count(optarg, UINT32_MAX, counts[option]))
            return 0;
        return command_usage(command, "'%s' is no count; counts are whole numbers from 1", optarg);
    case 'r':
        if (platform_read_ratio(optarg, &request->oversubscription))
            return 0;
        return command_usage(command, "'%s' is no oversubscription; it is a number from 1 to 1000", optarg);
    case 'R':
        return read_rails(command, optarg, &request->rails);
    case 'e':
        return read_routing(command, optarg, &request->ecmp);
    case 's':
        return read_seed(command, optarg, &request->seed);
    case '1':
        request->one_process = true;
        return 0;
    case 'i':
    case 'j':
    case 'o':
        *texts[option] = optarg;
        return 0;
    default:
        return command_usage(command, "the command line is not understood");
    }
}

/* PRESET, or PRESET:NODES, or PRESET:NODES:NIC; cut up in place. 0, or an exit code. */
static int read_part(const struct command *command, char *text, const struct platform_request *all,
                     struct platform_request *part)
{
    char *nodes = strchr(text, ':'), *nic = nodes ? strchr(nodes + 1, ':') : NULL;
    *part = *all;
    if (nic)
        *nic++ = '\0';
    if (nodes)
        *nodes++ = '\0';
    if (nodes && !platform_read_count(nodes, UINT32_MAX, &part->nodes))
        return command_usage(command, "'%s' is no count of nodes; a part is PRESET:NODES or PRESET:NODES:NIC", nodes);
    part->preset = text;
    part->nic = nic ? nic : all->nic;
    if (!platform_read_preset(command, text))
        return EXIT_USAGE;
    return part->nodes ? 0 : command_usage(command, "--nodes is missing");
}

static int read_parts(const struct command *command, char **texts, uint32_t count, struct generate_arguments *arguments)
{
    if (count == 0)
        return command_usage(command, "which preset? `stagesim list presets` shows what there is");
    if (count > PARTS_MAX)
        return command_usage(command, "%u parts; a platform has at most %u", count, (unsigned)PARTS_MAX);
    for (; arguments->part_count < count; arguments->part_count++) {
        uint32_t i = arguments->part_count;
        int code = read_part(command, texts[i], &arguments->all, &arguments->parts[i]);
        if (code)
            return code;
    }
    if (count > 1 && !arguments->join)
        return command_usage(command, "%u clusters: --join says what joins them, such as --join ethernet-25", count);
    if (count > 1 && arguments->all.ecmp)
        return command_usage(command, "--routing ecmp is for one cluster, not for several that --join joins");
    if (count == 1 && arguments->join)
        return command_usage(command, "--join wants several clusters, such as dgx-a100:4 dgx-a100:4:roce-200");
    return 0;
}

int platform_generate_run(const struct command *command, int argc, char **argv)
{
    struct generate_arguments arguments = {0};
    int code = 0;
    for (int option; !code && (option = getopt_long(argc, argv, "o:", generate_options, NULL)) != -1;)
        code = generate_option(command, option, &arguments);
    if (!code)
        code = read_parts(command, argv + optind, (uint32_t)(argc - optind), &arguments);
    return code ? code : platform_write_result(arguments.output, write_presets, &arguments);
}

/* ---- the command ---- */

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
        "generate: a platform of a product that stagesim knows (`stagesim list presets`).\n\n"
        "  --nodes N               how many nodes\n"
        "  --gpus-per-node G       fewer devices in each node than the product has\n"
        "  --pod NODES             nodes around one leaf switch, or in one group of a dragonfly\n"
        "  --oversubscription R    injection of a pod over its capacity towards the other pods\n"
        "  --rails WAY             interface k of every node on leaf switch k; WAY to another rail: spine or nvlink\n"
        "  --routing WAY           adaptive, or ecmp: each flow takes one of several links to the spine, by a hash\n"
        "  --paths N               with ecmp: how many (each as fast as an interface)\n"
        "  --flows N               with ecmp: flows that a transfer is cut into (1)\n"
        "  --seed N                with ecmp: of the hash (0)\n"
        "  --one-process           one process drives all GPUs of a node (nccl-tests -g 8): launches take longer\n"
        "  --nic NIC               other network interfaces than the product's: ib-hdr, roce-200, ethernet-25, ...\n"
        "  --join NIC              for several clusters, each as PRESET:NODES or PRESET:NODES:NIC: what joins their "
        "nodes\n"
        "  -o, --output FILE       write there instead of to standard output\n\n"
        "import: a platform from what one of these wrote on a real node: `lstopo --of xml node.xml` (hwloc),\n"
        "NCCL_TOPO_DUMP_FILE (NCCL), `nvidia-smi topo -m`, `rocm-smi --showtopo`; or from Slurm's topology.conf or\n"
        "topology.yaml. Without a file, of the machine it runs on. What was measured, taken from tables or assumed "
        "goes "
        "to\n"
        "standard error.\n\n"
        "  --nodes N               copies of the node (1)\n"
        "  --fabric PRESET         join them as that product does\n"
        "  --pod, --oversubscription   as above\n"
        "  --gpu MODEL             what GPUs are that the file does not name, e.g. H100-SXM5-80GB\n"
        "  --nic NIC               what interfaces are where the file has no rates, e.g. ib-hdr\n"
        "  --node PRESET           what the nodes of a Slurm topology are\n"
        "  --topology NAME         of several in a topology.yaml that one; without, the cluster's default\n"
        "  --pcie genGxL           PCI Express where the file has no speeds, e.g. gen4x16\n"
        "  --partitions            a partitioned device is one host for each partition\n"
        "  -o, --output FILE       write there instead of to standard output\n\n"
        "show: what is in a platform: a file, any that SimGrid can load, or PRESET:NODES.\n\n"
        "  --between HOST HOST     only the route between two hosts: links, bandwidth, latency\n"
        "  --format FORMAT         text, json, csv, latex, markdown, svg, png or pdf (what FILE ends in; text)\n"
        "  -o, --output FILE       write there instead of to standard output\n\n"
        "fit: launch times and protocols of collectives from tables that nccl-tests measured; prints the errors before "
        "and after.\n\n"
        "  --platform PLATFORM     a file or PRESET:NODES, to start from\n"
        "  -o, --output FILE       the platform with what was found\n"
        "  --format FORMAT         of the errors: table, csv, json, latex or markdown (table)\n"
        "  --picture FILE          time over size, measured and fitted (.svg, .png or .pdf)\n" FORM_HELP(
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
