/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim platform generate: platforms of products. */
#include "commands/cli/option_next.h"
#include "commands/platform/platform_command.h"

#include "base/diagnostics.h"
#include "base/quantity.h"
#include "commands/cli/words.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

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
    {"nodes", required_argument, NULL, 'n'},
    {"gpus-per-node", required_argument, NULL, 'g'},
    {"pod", required_argument, NULL, 'p'},
    {"oversubscription", required_argument, NULL, 'r'},
    {"group", required_argument, NULL, 'G'},
    {"group-oversubscription", required_argument, NULL, 'O'},
    {"sites", required_argument, NULL, 'S'},
    {"site-rate", required_argument, NULL, 'B'},
    {"site-latency", required_argument, NULL, 'T'},
    {"torus", required_argument, NULL, 't'},
    {"group-links", required_argument, NULL, 'D'},
    {"flow-rate", required_argument, NULL, 'F'},
    {"flow-window", required_argument, NULL, 'W'},
    {"rails", required_argument, NULL, 'R'},
    {"one-process", no_argument, NULL, '1'},
    {"launch", required_argument, NULL, 'l'},
    {"library", required_argument, NULL, 'L'},
    {"nic", required_argument, NULL, 'i'},
    {"join", required_argument, NULL, 'j'},
    {"routing", required_argument, NULL, 'e'},
    {"paths", required_argument, NULL, 'P'},
    {"flows", required_argument, NULL, 'f'},
    {"seed", required_argument, NULL, 's'},
    {"output", required_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

/* 0 for a word that `rails` takes, else an exit code. */
static int read_rails(const struct command *command, const char *word, enum fabric_rails *rails)
{
    static const char *const words[] = {[RAILS_SPINE] = "spine", [RAILS_NVLINK] = "nvlink", [RAILS_PLANES] = "planes"};
    for (unsigned i = RAILS_SPINE; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *rails = (enum fabric_rails)i;
            return 0;
        }
    return command_usage(command, "--rails meet in the 'spine' or over 'nvlink', not in '%s'; or they are 'planes'",
                         word);
}

/* 0 for a word that `routing` takes, else an exit code. */
static int read_routing(const struct command *command, const char *word, bool *ecmp)
{
    if (strcmp(word, "ecmp") != 0 && strcmp(word, "adaptive") != 0)
        return command_usage(command, "--routing is 'adaptive' or 'ecmp', not '%s'", word);
    *ecmp = strcmp(word, "ecmp") == 0;
    return 0;
}

/* 0 for a word that `launch` takes, else an exit code. */
static int read_launch(const struct command *command, const char *word, enum launch_way *way)
{
    static const char *const words[] = {"processes", "one-process", "torch"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0) {
            *way = (enum launch_way)i;
            return 0;
        }
    return command_usage(command, "--launch is 'processes', 'one-process' or 'torch', not '%s'", word);
}

static int read_seed(const struct command *command, const char *word, uint64_t *seed)
{
    if (quantity_count(word, seed, &(struct quantity_reason){""}))
        return 0;
    return command_usage(command, "'%s' is no seed; seeds are whole numbers from 0", word);
}

/* A quantity above 0; 0 when it is one, else an exit code. */
static int read_quantity(const struct command *command, const char *word, enum quantity kind, const char *expected,
                         double *value)
{
    if (quantity_parse(kind, word, value, &(struct quantity_reason){""}) && *value > 0)
        return 0;
    return command_usage(command, "'%s' is no %s", word, expected);
}

/* 0 for a word that `group_links` takes, else an exit code. */
static int read_group_links(const struct command *command, const char *word, bool *direct)
{
    if (strcmp(word, "shared") != 0 && strcmp(word, "direct") != 0)
        return command_usage(command, "--group-links is 'shared' or 'direct', not '%s'", word);
    *direct = strcmp(word, "direct") == 0;
    return 0;
}

/* Of the level above the spines, and of single transfers; 0 when it was understood, else an exit code. */
static int level_option(const struct command *command, int option, struct platform_request *request)
{
    switch (option) {
    case 'O':
        if (platform_read_ratio(optarg, &request->group_oversubscription))
            return 0;
        return command_usage(command, "'%s' is no oversubscription; it is a number from 1 to 1000", optarg);
    case 'B':
        return read_quantity(command, optarg, QUANTITY_RATE, "rate, such as 400Gbps", &request->site_rate);
    case 'T':
        return read_quantity(command, optarg, QUANTITY_TIME, "latency, such as 30ms", &request->site_latency);
    case 'F':
        return read_quantity(command, optarg, QUANTITY_RATE, "rate, such as 10Gbps", &request->flow_rate);
    case 'W':
        return read_quantity(command, optarg, QUANTITY_BYTES, "size, such as 4MiB", &request->flow_window);
    case 'D':
        return read_group_links(command, optarg, &request->group_direct);
    default:
        request->torus = optarg;
        return 0;
    }
}

/* One option. 0 when it was understood, else an exit code. */
static int generate_option(const struct command *command, int option, struct generate_arguments *arguments)
{
    struct platform_request *request = &arguments->all;
    uint32_t *counts[] = {
        ['n'] = &request->nodes, ['g'] = &request->per_node, ['p'] = &request->pod,  ['G'] = &request->group,
        ['S'] = &request->sites, ['P'] = &request->paths,    ['f'] = &request->flows};
    const char **texts[] = {['i'] = &request->nic, ['j'] = &arguments->join, ['o'] = &arguments->output};
    switch (option) {
    case 'n':
    case 'g':
    case 'p':
    case 'G':
    case 'S':
    case 'P':
    case 'f':
        if (platform_read_count(optarg, UINT32_MAX, counts[option]))
            return 0;
        return command_usage(command, "'%s' is no count; counts are whole numbers from 1", optarg);
    case 'r':
        if (platform_read_ratio(optarg, &request->oversubscription))
            return 0;
        return command_usage(command, "'%s' is no oversubscription; it is a number from 1 to 1000", optarg);
    case 'O':
    case 'B':
    case 'T':
    case 't':
    case 'F':
    case 'W':
    case 'D':
        return level_option(command, option, request);
    case 'R':
        return read_rails(command, optarg, &request->rails);
    case 'e':
        return read_routing(command, optarg, &request->ecmp);
    case 's':
        return read_seed(command, optarg, &request->seed);
    case '1':
        request->launch = LAUNCH_ONE_PROCESS;
        return 0;
    case 'l':
        return read_launch(command, optarg, &request->launch);
    case 'L':
        request->library = optarg;
        return 0;
    case 'i':
    case 'j':
    case 'o':
        *texts[option] = optarg;
        return 0;
    default: /* option_next lets no other one through */
        return 0;
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
    const struct preset *preset;
    int code = platform_read_preset(command, text, &preset);
    if (code)
        return code;
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
    for (int option; !code && (option = option_next(command, argc, argv, "o:", generate_options, &code)) != -1;)
        code = generate_option(command, option, &arguments);
    if (!code)
        code = read_parts(command, argv + optind, (uint32_t)(argc - optind), &arguments);
    return code ? code : platform_write_result(arguments.output, write_presets, &arguments);
}
