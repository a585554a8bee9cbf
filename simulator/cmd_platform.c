/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim platform: platforms from products, from topology files, and pictures of them. */
#include "simulator/diagnostics.h"
#include "simulator/platform_command.h"
#include "simulator/quantity.h"
#include "simulator/result.h"

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
    return quantity_parse(QUANTITY_RATIO, text, ratio, &(struct quantity_reason){""});
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

static bool write_preset(FILE *out, void *user, struct fault *fault)
{
    return platform_generate(user, out, fault);
}

static const struct option generate_options[] = {
    {"nodes", required_argument, NULL, 'n'},  {"gpus-per-node", required_argument, NULL, 'g'},
    {"pod", required_argument, NULL, 'p'},    {"oversubscription", required_argument, NULL, 'r'},
    {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0},
};

/* One option. 0 when it was understood, else an exit code. */
static int generate_option(const struct command *command, int option, struct platform_request *request, const char **output)
{
    uint32_t *counts[] = {['n'] = &request->nodes, ['g'] = &request->per_node, ['p'] = &request->pod};
    switch (option) {
    case 'n':
    case 'g':
    case 'p':
        if (platform_read_count(optarg, UINT32_MAX, counts[option]))
            return 0;
        return command_usage(command, "'%s' is no count; counts are whole numbers from 1", optarg);
    case 'r':
        if (platform_read_ratio(optarg, &request->oversubscription))
            return 0;
        return command_usage(command, "'%s' is no ratio; an oversubscription is a number from 1 such as 2", optarg);
    case 'o':
        *output = optarg;
        return 0;
    default:
        return command_usage(command, "the command line is not understood");
    }
}

int platform_generate_run(const struct command *command, int argc, char **argv)
{
    struct platform_request request = {0};
    const char *output = NULL;
    for (int option; (option = getopt_long(argc, argv, "o:", generate_options, NULL)) != -1;) {
        int code = generate_option(command, option, &request, &output);
        if (code)
            return code;
    }
    if (optind + 1 != argc)
        return command_usage(command,
                             optind == argc ? "which preset? `stagesim list presets` shows what there is" : "one preset at a time");
    request.preset = argv[optind];
    if (!platform_read_preset(command, request.preset))
        return EXIT_USAGE;
    if (!request.nodes)
        return command_usage(command, "--nodes is missing");
    return platform_write_result(output, write_preset, &request);
}

/* ---- the command ---- */

static int run(const struct command *command, int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(const struct command *command, int argc, char **argv);
    } parts[] = {
        {"generate", platform_generate_run}, {"import", platform_import_run}, {"show", platform_show_run}, {"fit", platform_fit_run}};
    if (argc < 2)
        return command_usage(command, "generate, import, show or fit?");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[1], parts[i].name) == 0)
            return parts[i].run(command, argc - 1, argv + 1);
    return command_usage(command, "'%s' is neither generate, import, show nor fit", argv[1]);
}

const struct command command_platform = {
    .name = "platform",
    .arguments = "generate PRESET --nodes N | import [TOPOLOGY.xml] | show PLATFORM.xml | fit TABLE... [OPTION]...",
    .summary = "writes SimGrid platforms from products or topology files, and shows them",
    .help = "generate: a platform of a product that stagesim knows (`stagesim list presets`).\n\n"
            "  --nodes N               how many nodes\n"
            "  --gpus-per-node G       fewer devices in each node than the product has\n"
            "  --pod NODES             nodes around one leaf switch, or in one group of a dragonfly\n"
            "  --oversubscription R    injection of a pod over its capacity towards the other pods\n"
            "  -o, --output FILE       write there instead of to standard output\n\n"
            "import: a platform from what `lstopo --of xml node.xml` (hwloc) or NCCL_TOPO_DUMP_FILE (NCCL) wrote on a real node;\n"
            "without a file, of the machine it runs on. What was measured, taken from tables or assumed goes to standard error.\n\n"
            "  --nodes N               copies of the node (1)\n"
            "  --fabric PRESET         join them as that product does\n"
            "  --pod, --oversubscription   as above\n"
            "  --gpu MODEL             what GPUs are that the file does not name, e.g. H100-SXM5-80GB\n"
            "  --pcie genGxL           PCI Express where the file has no speeds, e.g. gen4x16\n"
            "  --partitions            a partitioned device is one host for each partition\n"
            "  -o, --output FILE       write there instead of to standard output\n\n"
            "show: what is in a platform, any that SimGrid can load.\n\n"
            "  --between HOST HOST     only the route between two hosts: links, bandwidth, latency\n"
            "  --format FORMAT         text, json, svg or png (text)\n"
            "  -o, --output FILE       write there instead of to standard output\n\n"
            "fit: launch times and protocols of collectives from tables that nccl-tests measured; prints the errors before and after.\n\n"
            "  --platform FILE         the platform to start from\n"
            "  -o, --output FILE       the platform with what was found\n"
            "  --picture FILE          time over size, measured and fitted (.svg, .png or .pdf)\n\n"
            "examples:\n"
            "  stagesim platform generate dgx-h100 --nodes 4 -o cluster.xml\n"
            "  stagesim platform import node.xml --nodes 16 --fabric dgx-h100 -o cluster.xml\n"
            "  stagesim platform show cluster.xml --between gpu-0-0 gpu-3-7\n",
    .run = run,
};
