/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim collective: how long a collective takes by size, as nccl-tests measures it. */
#include "base/arena.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "commands/collective/collective_output.h"
#include "simulator/collectives/msccl/msccl.h"
#include "simulator/program/program.h"
#include "simulator/run/engine_table.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES_MAX = 1000, CHANGES_MAX = 100 };

/* What nccl-tests' -b, -e and -f do when nothing is said here. */
static const char default_sizes[] = "8:1GiB:2";
static const double size_most = 1e15;

enum format {
    FORMAT_TABLE,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_LATEX,
    FORMAT_MARKDOWN,
    FORMAT_SVG,
    FORMAT_PNG,
    FORMAT_PDF,
    FORMAT_MSCCL,
    FORMATS
};

static const char *const format_names[FORMATS] = {"table", "csv", "json", "latex", "markdown",
                                                  "svg",   "png", "pdf",  "msccl"};

struct arguments {
    struct collective_request request;
    const char *sizes, *output, *picture_width, *font_size, *program; /* program: a file; NULL: none */
    struct picture_form form;
    unsigned format; /* enum format; FORMATS: not given */
    double list[SIZES_MAX];
    struct what_if changes[CHANGES_MAX];
    const char *changed; /* what the platform's name gets */
    struct arena *arena;
};

/* ---- the command line ---- */

static int read_kind(const struct command *command, const char *text, enum stagesim_collective *kind)
{
    const char *names[STAGESIM_COLLECTIVES];
    size_t count = 0;
    for (int i = 0; i < STAGESIM_COLLECTIVES; i++) {
        *kind = (enum stagesim_collective)i;
        if (*kind == STAGESIM_BARRIER)
            continue;
        names[count++] = collective_name(*kind);
        if (strcmp(names[count - 1], text) == 0)
            return 0;
    }
    return words_unknown(command, "collective", text, names, count);
}

static bool is_program(const char *text)
{
    size_t length = strlen(text);
    return length > 4 && strcmp(&text[length - 4], ".xml") == 0;
}

static int read_algorithm(const struct command *command, const char *text, struct arguments *arguments)
{
    struct collective_request *request = &arguments->request;
    const char *names[32] = {"auto", "all"};
    size_t count = 2;
    if (is_program(text) && arguments->program)
        return command_usage(command, "%s and %s are two programs; one at a time", arguments->program, text);
    if (is_program(text)) {
        arguments->program = text;
        return 0;
    }
    request->all = strcmp(text, "all") == 0;
    request->algorithm = collective_algorithm_find(text);
    if (request->all || request->algorithm || strcmp(text, "auto") == 0)
        return 0;
    for (const struct collective_algorithm *const *each = collective_algorithms; *each; each++)
        names[count++] = (*each)->name;
    return words_unknown(command, "algorithm", text, names, count);
}

static int read_engine(const struct command *command, const char *text, struct collective_request *request)
{
    const char *names[8];
    size_t count = 0;
    for (const struct engine *const *each = engine_table; *each; each++) {
        names[count++] = (*each)->name;
        if (strcmp((*each)->name, text) == 0) {
            request->engine = *each;
            return 0;
        }
    }
    return words_unknown(command, "engine", text, names, count);
}

static int read_ranks(const struct command *command, const char *text, uint32_t *ranks)
{
    uint64_t count;
    if (!quantity_count(text, &count, &(struct quantity_reason){""}) || count < 2 || count > RANKS_MAX)
        return command_usage(command, "'%s' is no number of ranks; expected a whole number from 2 to %d", text,
                             RANKS_MAX);
    *ranks = (uint32_t)count;
    return 0;
}

/* "8", "64KiB". */
static bool read_bytes(const char *text, double *bytes)
{
    struct quantity_reason reason;
    uint64_t count;
    if (quantity_count(text, &count, &reason))
        *bytes = (double)count;
    else if (!quantity_parse(QUANTITY_BYTES, text, bytes, &reason))
        return false;
    return *bytes >= 1 && *bytes <= size_most;
}

/* MIN:MAX:FACTOR into the list of sizes. */
static int read_sizes(const struct command *command, const char *text, struct arguments *arguments)
{
    char copy[128], *parts[4] = {NULL};
    size_t count = 0;
    double least, most, factor;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *rest = copy, *part; count < 4 && (part = strsep(&rest, ":"));)
        parts[count++] = part;
    if (count != 3 || strlen(text) >= sizeof copy)
        return command_usage(command, "'%s' are no sizes; expected MIN:MAX:FACTOR such as %s", text, default_sizes);
    for (int i = 0; i < 2; i++)
        if (!read_bytes(parts[i], i ? &most : &least))
            return command_usage(command, "'%s' is no size; expected 1 to 1e15 bytes such as 8 or 64KiB", parts[i]);
    if (!quantity_parse(QUANTITY_RATIO, parts[2], &factor, &(struct quantity_reason){""}) || factor < 1.001 ||
        factor > 1e6)
        return command_usage(command, "'%s' is no factor; expected a number from 1.001 such as 2", parts[2]);
    if (most < least)
        return command_usage(command, "sizes from %s to %s: the first is larger than the last", parts[0], parts[1]);
    struct collective_request *request = &arguments->request;
    for (double size = least; size <= most * (1 + 1e-12); size *= factor) {
        if (request->size_count == SIZES_MAX)
            return command_usage(command, "'%s' are more than %d sizes", text, SIZES_MAX);
        arguments->list[request->size_count++] = size;
    }
    request->sizes = arguments->list;
    return 0;
}

/* One change of the platform, as the scenario's key what_if takes it. */
static int add_change(const struct command *command, const char *text, struct arguments *arguments)
{
    struct collective_request *request = &arguments->request;
    struct fault fault = {""};
    if (request->change_count == CHANGES_MAX)
        return command_usage(command, "more than %d changes of the platform", CHANGES_MAX);
    if (!what_if_parse(text, &arguments->changes[request->change_count], arguments->arena, &fault))
        return command_usage(command, "--scale: %s", fault.text);
    request->changes = arguments->changes;
    arguments->changed = arena_print(arguments->arena, "%s%s%s", arguments->changed ? arguments->changed : "",
                                     request->change_count++ ? ", " : " with ", text);
    return 0;
}

static const struct option long_options[] = {
    {"platform", required_argument, NULL, 'p'},  {"ranks", required_argument, NULL, 'n'},
    {"algorithm", required_argument, NULL, 'a'}, {"sizes", required_argument, NULL, 's'},
    {"engine", required_argument, NULL, 'e'},    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},    {"stepwise", no_argument, NULL, 'w'},
    {"scale", required_argument, NULL, 'c'},     {"picture-width", required_argument, NULL, 'V'},
    {"font-size", required_argument, NULL, 'Z'}, {NULL, 0, NULL, 0},
};

/* One option. 0 when it was understood, else an exit code. */
static int read_option(const struct command *command, int option, struct arguments *arguments)
{
    switch (option) {
    case 'p':
        arguments->request.file = optarg;
        return 0;
    case 'n':
        return read_ranks(command, optarg, &arguments->request.ranks);
    case 'a':
        return read_algorithm(command, optarg, arguments);
    case 's':
        arguments->sizes = optarg;
        return 0;
    case 'e':
        return read_engine(command, optarg, &arguments->request);
    case 'f':
        return format_read(command, optarg, format_names, FORMATS, &arguments->format);
    case 'o':
        arguments->output = optarg;
        return 0;
    case 'c':
        return add_change(command, optarg, arguments);
    case 'V':
        arguments->picture_width = optarg;
        return 0;
    case 'Z':
        arguments->font_size = optarg;
        return 0;
    case 'w':
        arguments->request.stepwise = true;
        return 0;
    default: /* option_next lets no other one through */
        return 0;
    }
}

static int read_arguments(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
    int code = 0;
    for (int option; code == 0 && (option = option_next(command, argc, argv, "o:", long_options, &code)) != -1;)
        code = read_option(command, option, arguments);
    if (code)
        return code;
    if (optind + 1 != argc)
        return command_usage(command, optind == argc ? "which collective?" : "one collective at a time");
    if ((code = read_kind(command, argv[optind], &arguments->request.kind)) ||
        (code = read_sizes(command, arguments->sizes, arguments)))
        return code;
    if (!arguments->request.file)
        return command_usage(command, "--platform is missing");
    if (arguments->format == FORMAT_MSCCL && (arguments->request.all || arguments->program))
        return command_usage(command, "--format msccl writes one algorithm of `stagesim list algorithms`");
    if ((code = form_read(command, arguments->picture_width, arguments->font_size, &arguments->form)))
        return code;
    if (arguments->format != FORMATS)
        return 0;
    return format_of_file(command, arguments->output, format_names, FORMATS, &arguments->format);
}

/* The user's own algorithm, alone or beside all others. */
static int load_program(struct arguments *arguments)
{
    struct collective_request *request = &arguments->request;
    struct diag diag = {.out = stderr};
    struct fault fault = {""};
    if (!arguments->program)
        return 0;
    if (path_check_typed(arguments->program, &fault))
        request->own =
            msccl_load(arguments->program, (struct place){.file = arguments->program}, arguments->arena, &diag);
    else
        diag_fault(&diag, "stagesim collective", fault.text);
    if (request->own && !(request->own->kinds & KIND(request->kind)))
        diag_error(&diag, (struct place){.file = arguments->program}, "this is no program for %s",
                   collective_name(request->kind));
    diag_rest(&diag);
    if (!request->all)
        request->algorithm = request->own;
    return diag.errors ? EXIT_BAD_INPUT : 0;
}

/* ---- the result ---- */

/* How people read it. */
static enum table_format text_format(unsigned format)
{
    return format == FORMAT_LATEX ? TABLE_LATEX : format == FORMAT_MARKDOWN ? TABLE_MARKDOWN : TABLE_TEXT;
}

static bool write_result(FILE *out, void *user, struct fault *fault)
{
    struct arguments *arguments = user;
    struct collective_table table;
    enum canvas_format picture;
    bool typed = platform_source_typed(arguments->request.file, &arguments->request.source, arguments->arena, fault);
    if (typed && arguments->changed)
        arguments->request.file = arena_print(arguments->arena, "%s%s", arguments->request.file, arguments->changed);
    bool drawn = canvas_format_of(format_names[arguments->format], &picture), done = true;
    arguments->request.all |= drawn && !arguments->request.algorithm;
    if (!typed)
        return false;
    if (arguments->format == FORMAT_MSCCL)
        return collective_program_write(out, &arguments->request, fault);
    if (!collective_table_init(&table, &arguments->request, fault))
        return false;
    if (drawn)
        done = collective_picture_write(out, &arguments->request, &table, picture, &arguments->form, fault);
    else if (arguments->format == FORMAT_CSV)
        collective_csv_write(out, &arguments->request, &table);
    else if (arguments->format == FORMAT_JSON)
        collective_json_write(out, &arguments->request, &table);
    else
        collective_text_write(out, &arguments->request, &table, text_format(arguments->format));
    collective_table_finish(&table);
    return done;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct arguments *arguments = arena_alloc(arena, sizeof *arguments);
    arguments->arena = arena;
    arguments->request.engine = &engine_simgrid;
    arguments->sizes = default_sizes;
    arguments->format = FORMATS;
    int code = read_arguments(command, argc, argv, arguments);
    if (code == 0)
        code = load_program(arguments);
    if (code == 0) {
        arguments->request.file = path_platform(arguments->request.file, arena);
        code = result_write(command->name, arguments->output, write_result, arguments);
    }
    arena_destroy(arena);
    return code;
}

const struct command command_collective = {
    .name = "collective",
    .arguments = "KIND --platform PLATFORM [OPTION]...",
    .summary = "says how long a collective takes by size, as nccl-tests measures it; compares algorithms",
    .help =
        "KIND is one of all-reduce, reduce-scatter, all-gather, all-to-all, broadcast, reduce, send-receive.\n"
        "size, algbw and busbw have nccl-tests' meanings.\n"
        "\n"
        "  --platform PLATFORM      a SimGrid platform's file, or a preset with its nodes such as dgx-h100:4\n"
        "  --ranks N                only its first N GPUs\n"
        "  --algorithm NAME         one of `stagesim list algorithms`, auto (the fastest that a library would take), "
        "all,\n"
        "                           or FILE.xml, a program in MSCCL's format; may be given twice: all and a file\n"
        "  --sizes MIN:MAX:FACTOR   bytes, or with a unit (8:1GiB:2)\n"
        "  --scale CHANGE           a change of the platform such as nic=0.5, nic-0-1=down, routing=ecmp/7; "
        "repeatable\n"
        "  --engine ENGINE          simgrid, or analytic: the closed form on these links (simgrid)\n"
        "  --stepwise               simulate every round of transfers, in place of flows in steady state\n"
        "  --format FORMAT          table, csv, json, latex, markdown, svg, png or pdf (what FILE ends in; table);\n"
        "                           msccl: the algorithm as a program\n" FORM_HELP(
            "    ") "  -o, --output FILE        write there instead of to standard output\n\n"
                    "examples:\n  stagesim collective all-reduce --platform platforms/dgx-a100-2.xml --ranks 8\n"
                    "  stagesim collective all-reduce --platform platforms/dgx-a100-2.xml --algorithm all -o "
                    "all-reduce.svg\n"
                    "  stagesim collective all-reduce --platform dgx-h100:2 --algorithm ring --format msccl -o "
                    "ring.xml\n",
    .run = run,
};
