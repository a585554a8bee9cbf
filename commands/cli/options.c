/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/options.h"

#include "base/arena.h"
#include "base/quantity.h"
#include "commands/cli/words.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

enum {
    OPTION_ENGINE = 1000,
    OPTION_SET,
    OPTION_TRACE,
    OPTION_PICTURE,
    OPTION_REPORT,
    OPTION_QUIET,
    OPTION_SCHEDULES,
    OPTION_FORMAT,
    OPTION_METHOD,
    OPTION_GPUS,
    OPTION_TOP,
    OPTION_JOBS,
    OPTION_EXHAUSTIVE,
    OPTION_RESUME,
    OPTION_MERGE,
    OPTION_TIME_LIMIT,
    OPTION_SHARD,
    OPTION_SLURM,
    OPTION_PLUGINS
};

enum { TOP_MAX = 1000, JOBS_MAX = 256 };

static const struct option long_options[] = {
    {"engine", required_argument, NULL, OPTION_ENGINE},
    {"set", required_argument, NULL, OPTION_SET},
    {"trace", required_argument, NULL, OPTION_TRACE},
    {"picture", required_argument, NULL, OPTION_PICTURE},
    {"report", no_argument, NULL, OPTION_REPORT},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"plugins", no_argument, NULL, OPTION_PLUGINS},
    {"schedules", required_argument, NULL, OPTION_SCHEDULES},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"method", required_argument, NULL, OPTION_METHOD},
    {"gpus", required_argument, NULL, OPTION_GPUS},
    {"top", required_argument, NULL, OPTION_TOP},
    {"jobs", required_argument, NULL, OPTION_JOBS},
    {"exhaustive", no_argument, NULL, OPTION_EXHAUSTIVE},
    {"resume", no_argument, NULL, OPTION_RESUME},
    {"merge", no_argument, NULL, OPTION_MERGE},
    {"time-limit", required_argument, NULL, OPTION_TIME_LIMIT},
    {"shard", required_argument, NULL, OPTION_SHARD},
    {"slurm", optional_argument, NULL, OPTION_SLURM},
    {"output", required_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

/* Which letter of `accepted` an option needs; 0: none. */
static char needs(int option)
{
    switch (option) {
    case 'o':
    case OPTION_PICTURE:
        return 'o';
    case OPTION_TRACE:
    case OPTION_REPORT:
        return 't';
    case OPTION_METHOD:
        return 'l';
    case OPTION_TOP:
        return 'k';
    case OPTION_GPUS:
    case OPTION_JOBS:
        return 'g';
    case OPTION_EXHAUSTIVE:
    case OPTION_RESUME:
    case OPTION_MERGE:
    case OPTION_TIME_LIMIT:
    case OPTION_SHARD:
    case OPTION_SLURM:
        return 'x';
    case OPTION_SCHEDULES:
        return 's';
    case OPTION_FORMAT:
        return 'f';
    default:
        return 0;
    }
}

static void add_set(struct options *options, const char *option, const char *text)
{
    options->sets[options->set_count++] = (struct scenario_set){option, text};
}

static bool read_format(const struct command *command, const char *text, struct options *options)
{
    static const char *const names[] = {"table", "csv", "json"};
    unsigned format;
    if (format_read(command, text, names, sizeof names / sizeof *names, &format))
        return false;
    options->format = (enum comparison_format)format;
    return true;
}

static bool read_method(const struct command *command, const char *text, struct options *options)
{
    for (unsigned i = 0; layouts_method_names[i]; i++)
        if (!strcmp(text, layouts_method_names[i])) {
            options->method = (enum layouts_method)i;
            return true;
        }
    command_usage(command, "--method takes axonn or analytic, not '%s'", text);
    return false;
}

static bool read_count(const struct command *command, const char *option, const char *text, unsigned least,
                       unsigned most, unsigned *count)
{
    uint64_t value = 0;
    struct quantity_reason reason;
    if (!quantity_count(text, &value, &reason) || value < least || value > most) {
        command_usage(command, "%s takes a count from %u to %u, not '%s'", option, least, most, text);
        return false;
    }
    *count = (unsigned)value;
    return true;
}

static bool read_time_limit(const struct command *command, const char *text, double *seconds)
{
    struct quantity_reason reason;
    if (quantity_parse(QUANTITY_TIME, text, seconds, &reason) && *seconds > 0)
        return true;
    command_usage(command, "--time-limit takes a time such as 60s, not '%s'", text);
    return false;
}

/* Options of a search alone. */
static bool read_search_option(const struct command *command, int option, const char *value, struct options *options)
{
    switch (option) {
    case OPTION_EXHAUSTIVE:
        options->exhaustive = true;
        return true;
    case OPTION_RESUME:
        options->resume = true;
        return true;
    case OPTION_MERGE:
        options->merge = true;
        return true;
    case OPTION_TIME_LIMIT:
        return read_time_limit(command, value, &options->time_limit);
    case OPTION_SHARD:
        options->shard = value;
        return true;
    case OPTION_SLURM:
        options->slurm = value ? value : "";
        return true;
    default:
        return false;
    }
}

static bool read_option(const struct command *command, int option, const char *value, struct arena *arena,
                        struct options *options)
{
    switch (option) {
    case 'o':
        options->output = value;
        return true;
    case OPTION_SET:
        add_set(options, "--set", value);
        return true;
    case OPTION_ENGINE:
        add_set(options, "--engine", arena_print(arena, "engine=%s", value));
        return true;
    case OPTION_TRACE:
        add_set(options, "--trace", arena_print(arena, "output.trace=[%s]", value));
        return true;
    case OPTION_PICTURE:
        add_set(options, "--picture", arena_print(arena, "output.picture=[%s]", value));
        return true;
    case OPTION_REPORT:
        add_set(options, "--report", "output.report=true");
        return true;
    case OPTION_QUIET:
        options->quiet = true;
        return true;
    case OPTION_PLUGINS:
        options->plugins = true;
        return true;
    case OPTION_SCHEDULES:
        options->schedules = value;
        return true;
    case OPTION_FORMAT:
        return read_format(command, value, options);
    case OPTION_METHOD:
        return read_method(command, value, options);
    case OPTION_GPUS:
        add_set(options, "--gpus", arena_print(arena, "search.gpus=%s", value));
        return true;
    case OPTION_TOP:
        return read_count(command, "--top", value, 0, TOP_MAX, &options->top);
    case OPTION_JOBS:
        return read_count(command, "--jobs", value, 1, JOBS_MAX, &options->jobs);
    default:
        return read_search_option(command, option, value, options);
    }
}

bool options_read(const struct command *command, const char *accepted, int argc, char **argv, struct arena *arena,
                  struct options *options)
{
    *options =
        (struct options){.top = OPTIONS_NOT_GIVEN, .sets = arena_array(arena, (size_t)argc, sizeof *options->sets)};
    optind = 0; /* glibc: start over, argument lists differ between calls */
    opterr = 0;
    int option;
    while ((option = getopt_long(argc, argv, ":o:", long_options, NULL)) != -1) {
        const char *typed = argv[optind - 1];
        if (option == ':') {
            command_usage(command, "option '%s' needs a value", typed);
            return false;
        }
        if (option == '?' || (needs(option) && !strchr(accepted, needs(option)))) {
            command_usage(command, "unknown option '%s'",
                          option == '?' && optopt > 0 && optopt < 256 ? (char[]){'-', (char)optopt, 0} : typed);
            return false;
        }
        if (!read_option(command, option, optarg, arena, options))
            return false;
    }
    options->files = argv + optind;
    options->file_count = argc - optind;
    return true;
}
