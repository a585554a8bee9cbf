/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim platform import: see platform.c. */
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/paths.h"
#include "commands/cli/option_next.h"
#include "commands/cli/words.h"
#include "commands/platform/platform_command.h"
#include "commands/platform/platform_slurm.h"
#include "platforms/import/import.h"
#include "platforms/presets/interfaces.h"
#include "platforms/presets/product_write.h"

#include <getopt.h>
#include <string.h>

struct arguments {
    const char *file; /* NULL: this machine */
    uint32_t nodes, pod;
    double oversubscription;
    const struct preset *fabric, *node; /* node: what those of a Slurm topology are; NULL: not given */
    const char *topology, *nic;         /* NULL: not given */
    struct import_options options;
    const char *output;
    struct arena *arena;
};

/* "gen4x16" */
static bool read_pcie(const char *text, struct import_options *options)
{
    unsigned generation = 0, lanes = 0;
    int length = 0;
    if (sscanf(text, "gen%1ux%2u%n", &generation, &lanes, &length) != 2 || text[length])
        return false;
    options->pcie_generation = generation;
    options->pcie_lanes = lanes;
    return generation >= 1 && generation <= 6 && (lanes == 1 || lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16);
}

static const struct option long_options[] = {
    {"nodes", required_argument, NULL, 'n'},  {"fabric", required_argument, NULL, 'f'},
    {"pod", required_argument, NULL, 'p'},    {"oversubscription", required_argument, NULL, 'r'},
    {"pcie", required_argument, NULL, 'e'},   {"partitions", no_argument, NULL, 'P'},
    {"gpu", required_argument, NULL, 'g'},    {"nic", required_argument, NULL, 'i'},
    {"node", required_argument, NULL, 'N'},   {"topology", required_argument, NULL, 't'},
    {"output", required_argument, NULL, 'o'}, {NULL, 0, NULL, 0},
};

static int read_nic(const struct command *command, const char *name, struct arguments *arguments)
{
    size_t count;
    const struct interface *interface = interface_find(name);
    const char *const *names = interface_names(&count);
    if (!interface)
        return words_unknown(command, "network interface", name, names, count);
    arguments->options.network = &interface->wire;
    arguments->nic = interface->name;
    return 0;
}

/* One option. 0 when it was understood, else an exit code. */
static int read_option(const struct command *command, int option, struct arguments *arguments)
{
    switch (option) {
    case 'n':
    case 'p':
        if (platform_read_count(optarg, UINT32_MAX, option == 'n' ? &arguments->nodes : &arguments->pod))
            return 0;
        return command_usage(command, "'%s' is no count; counts are whole numbers from 1", optarg);
    case 'r':
        if (platform_read_ratio(optarg, &arguments->oversubscription))
            return 0;
        return command_usage(command, "'%s' is no oversubscription; it is a number from 1 to 1000", optarg);
    case 'f':
        return platform_read_preset(command, optarg, &arguments->fabric);
    case 'e':
        if (read_pcie(optarg, &arguments->options))
            return 0;
        return command_usage(command,
                             "'%s' is no PCI Express slot; expected genGxL, G from 1 to 6 and L lanes, such as gen4x16",
                             optarg);
    case 'g':
        arguments->options.model = device_find(optarg) ? device_find(optarg) : device_match(optarg, 0);
        if (arguments->options.model)
            return 0;
        return command_usage(
            command,
            "'%s' is no device that stagesim knows; `stagesim list presets` shows names, such as H100-SXM5-80GB",
            optarg);
    case 'i':
        return read_nic(command, optarg, arguments);
    case 'N':
        return platform_read_preset(command, optarg, &arguments->node);
    case 't':
        arguments->topology = optarg;
        return 0;
    case 'P':
        arguments->options.partitions = true;
        return 0;
    case 'o':
        arguments->output = optarg;
        return 0;
    default: /* option_next lets no other one through */
        return 0;
    }
}

/* The interface that the nodes of a preset have. */
static const struct wire *network_of(const struct preset *preset, struct arena *arena)
{
    const struct node_graph *node = preset_node(preset, preset->devices, arena);
    uint32_t port = node_port(node);
    for (uint32_t i = 0; i < node->cable_count; i++)
        if (node->cables[i].ends[1] == port)
            return node->cables[i].wire;
    return NULL;
}

/* The findings as lines of the comment on top of the platform. */
static const char *const *notes_of(const struct import *import)
{
    const char **notes = arena_array(import->arena, import->finding_count + 2, sizeof *notes);
    for (uint32_t i = 0; i < import->finding_count; i++)
        notes[i] = arena_print(import->arena, "%s: %s", import_origin_name(import->findings[i].origin),
                               import->findings[i].text);
    return notes;
}

static void tell(const struct import *import)
{
    for (uint32_t i = 0; i < import->finding_count; i++)
        diag_print(stderr, "%-9s %s\n", import_origin_name(import->findings[i].origin), import->findings[i].text);
}

/* A file that ends in .yaml is to be a product, not a platform. */
static bool is_product(const char *output)
{
    size_t length = output ? strlen(output) : 0;
    return length > 5 && strcmp(output + length - 5, ".yaml") == 0;
}

static bool write_cluster(FILE *out, const struct arguments *arguments, const char *text, size_t size,
                          struct fault *fault)
{
    struct slurm_request request = {.file = arguments->file,
                                    .text = text,
                                    .size = size,
                                    .topology = arguments->topology,
                                    .node = arguments->node,
                                    .nic = arguments->nic,
                                    .pod = arguments->pod,
                                    .oversubscription = arguments->oversubscription};
    struct design design;
    struct import *findings;
    if (is_product(arguments->output))
        return fault_set(fault, "%s: a cluster is no product; write a platform, -o NAME.xml", arguments->file);
    if (!platform_slurm_design(&request, arguments->arena, &design, &findings, fault))
        return false;
    design.notes = notes_of(findings);
    if (!design_write(&design, out, fault))
        return false;
    tell(findings);
    return true;
}

static struct import *read_node(const struct arguments *arguments, const char *text, size_t size, struct fault *fault)
{
    return text ? import_text(arguments->file, text, size, &arguments->options, arguments->arena, fault)
                : import_this_machine(&arguments->options, arguments->arena, fault);
}

static bool write_import(FILE *out, void *user, struct fault *fault)
{
    struct arguments *arguments = user;
    size_t size = 0;
    const char *text = arguments->file ? import_load(arguments->file, &size, arguments->arena, fault) : NULL;
    if (arguments->file && !text)
        return false;
    if (text && slurm_recognise(text, size))
        return write_cluster(out, arguments, text, size, fault);
    struct fabric plain = {.name = "switched",
                           .hop = 0.1e-6,
                           .pod = 32,
                           .oversubscription = 1,
                           .source = "no --fabric: non-blocking switches, pods of 32 nodes",
                           .confidence = CONFIDENCE_L};
    struct import *import = read_node(arguments, text, size, fault);
    if (!import)
        return false;
    if (arguments->nodes > 1 && node_port(import->node) == NODE_NONE)
        return fault_set(
            fault, "%s: no usable network interface, so several nodes cannot be joined: --fabric PRESET assumes one",
            arguments->file ? arguments->file : "this machine");
    struct design design = {
        .prefix = "gpu", .node = import->node, .nodes = arguments->nodes, .fabric = plain, .notes = notes_of(import)};
    if (arguments->fabric)
        design.fabric = arguments->fabric->fabric;
    if (arguments->pod)
        design.fabric.pod = arguments->pod;
    if (arguments->oversubscription > 0)
        design.fabric.oversubscription = arguments->oversubscription;
    design.library = design.alone = library_of_node(import->node);
    design.network = arguments->fabric ? arguments->fabric->on_network : NULL;
    if (!is_product(arguments->output)) /* a product names both apart */
        library_add_network(&design, arguments->arena);
    design.title = arena_print(arguments->arena, "%s. %u node%s of %u devices, imported by stagesim from %s.",
                               import->product ? import->product : "A node", arguments->nodes,
                               arguments->nodes == 1 ? "" : "s", node_device_count(import->node), import->source);
    bool done = is_product(arguments->output)
                    ? product_write(&design, path_name(arguments->output, ".yaml", arguments->arena), out, fault)
                    : design_write(&design, out, fault);
    if (!done)
        return false;
    tell(import);
    return true;
}

int platform_import_run(const struct command *command, int argc, char **argv)
{
    struct arguments arguments = {.nodes = 1};
    int code = 0;
    for (int option; !code && (option = option_next(command, argc, argv, "o:", long_options, &code)) != -1;)
        code = read_option(command, option, &arguments);
    if (code)
        return code;
    if (optind + 1 < argc)
        return command_usage(command, "one topology file at a time");
    if (is_product(arguments.output) && arguments.nodes > 1)
        return command_usage(command, "--nodes is for platforms; a product's file gets it where it is used: %s:%u",
                             arguments.output, arguments.nodes);
    arguments.file = argv[optind]; /* NULL at the end of argv */
    if (arguments.fabric && arguments.fabric->fabric.kind != FABRIC_SWITCHED &&
        arguments.fabric->fabric.kind != FABRIC_RING)
        return command_usage(
            command, "the fabric of %s joins single devices, not nodes: take one that has switches, such as dgx-h100",
            arguments.fabric->name);
    arguments.arena = arena_create();
    if (arguments.fabric && !arguments.nic)
        arguments.options.network = network_of(arguments.fabric, arguments.arena);
    code = platform_write_result(arguments.output, write_import, &arguments);
    arena_destroy(arguments.arena);
    return code;
}
