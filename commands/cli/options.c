/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/cli/options.h"
#include "commands/cli/option_next.h"
#include "commands/cli/option_table.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/quantity.h"
#include "base/words/aliases.h"
#include "commands/cli/words.h"
#include "job/scenario/scenario_tables.h"
#include "schedules/schedule.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TOP_MAX = 1000, JOBS_MAX = 256, RESTARTS_MAX = 1000, BUDGET_MAX = 1000000000 };

static void add_set(struct options *options, const char *option, const char *text)
{
    options->sets[options->set_count++] = (struct scenario_set){option, text};
}

/* All changes of the platform are one list, which takes the place of the scenario's. */
static void add_scale(struct options *options, const char *text, struct arena *arena)
{
    const char *change = words_yaml(text, arena);
    options->scales = options->scales ? arena_print(arena, "%s, %s", options->scales, change) : change;
}

static bool read_format(const struct command *command, const char *text, struct options *options)
{
    unsigned format;
    if (format_read(command, text, table_format_names, TABLE_FORMATS, &format))
        return false;
    options->format = (enum table_format)format;
    return true;
}

static bool read_sort(const struct command *command, const char *text, struct options *options)
{
    static const char *const names[] = {"time", "memory", "p95"};
    unsigned place;
    if (!words_find(names, sizeof names / sizeof *names, text, &place))
        return words_unknown(command, "order of rows", text, names, sizeof names / sizeof *names) == EXIT_DONE;
    options->sort = (enum options_sort)(place + 1);
    return true;
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

static bool read_large_count(const struct command *command, const char *option, const char *text, uint64_t most,
                             uint64_t *count)
{
    struct quantity_reason reason;
    if (quantity_count(text, count, &reason) && *count <= most)
        return true;
    command_usage(command, "%s takes a count up to %llu, not '%s'", option, (unsigned long long)most, text);
    return false;
}

static bool read_time(const struct command *command, const char *option, const char *text, double *seconds)
{
    struct quantity_reason reason;
    if (quantity_parse(QUANTITY_TIME, text, seconds, &reason) && *seconds > 0)
        return true;
    command_usage(command, "%s takes a time such as 60s, not '%s'", option, text);
    return false;
}

static bool read_links(const struct command *command, const char *text, struct options *options)
{
    static const char *const names[] = {"shared", "apart"};
    unsigned place;
    if (!words_find(names, 2, text, &place))
        return words_unknown(command, "way of links", text, names, 2) == EXIT_DONE;
    options->apart = place == 1;
    return true;
}

/* Options of a random search. */
static bool read_random_option(const struct command *command, int option, const char *value, struct options *options)
{
    switch (option) {
    case OPTION_BUDGET:
        return read_large_count(command, "--budget", value, BUDGET_MAX, &options->budget);
    case OPTION_SEED:
        return read_large_count(command, "--seed", value, UINT64_MAX, &options->seed);
    case OPTION_RESTARTS:
        return read_count(command, "--restarts", value, 0, RESTARTS_MAX, &options->restarts);
    case OPTION_TEMPERATURE:
        return read_time(command, "--temperature", value, &options->temperature);
    case OPTION_LINKS:
        return read_links(command, value, options);
    default:
        return false;
    }
}

/* Options of how pictures are drawn. */
static bool read_picture_option(int option, const char *value, struct arena *arena, struct options *options)
{
    switch (option) {
    case OPTION_PICTURE_WIDTH:
        options->picture_width = value;
        add_set(options, "--picture-width", arena_print(arena, "output.picture_width=%s", words_yaml(value, arena)));
        return true;
    case OPTION_FONT_SIZE:
        options->font_size = value;
        add_set(options, "--font-size", arena_print(arena, "output.font_size=%s", words_yaml(value, arena)));
        return true;
    case OPTION_ITERATIONS:
        add_set(options, "--iterations", arena_print(arena, "output.picture_iterations=%s", value));
        return true;
    default:
        return false;
    }
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
        return read_time(command, "--time-limit", value, &options->time_limit);
    case OPTION_SHARD:
        options->shard = value;
        return true;
    case OPTION_SLURM:
        options->slurm = value ? value : "";
        return true;
    default:
        return read_random_option(command, option, value, options);
    }
}

/* Options of plans, which are keys. */
static bool read_plan_option(int option, const char *value, struct arena *arena, struct options *options)
{
    switch (option) {
    case OPTION_TOKENS:
        add_set(options, "--tokens", arena_print(arena, "transformer.tokens=%s", value));
        return true;
    case OPTION_BELOW:
        add_set(options, "--below", arena_print(arena, "plan.below=%s", words_yaml(value, arena)));
        return true;
    case OPTION_CARBON:
        add_set(options, "--carbon", arena_print(arena, "plan.carbon=%s", words_yaml(value, arena)));
        return true;
    case OPTION_PRICES:
        add_set(options, "--prices", arena_print(arena, "prices=%s", words_yaml(value, arena)));
        return true;
    case OPTION_CLUSTERS:
        add_set(options, "--clusters", arena_print(arena, "plan.platforms=[%s]", value));
        return true;
    default:
        return false;
    }
}

/* Options of what varies and of how it is shown. */
static bool read_variant_option(const struct command *command, int option, const char *value, struct arena *arena,
                                struct options *options)
{
    switch (option) {
    case OPTION_SCHEDULE:
        add_set(options, "--schedule", arena_print(arena, "schedule.name=%s", value));
        return true;
    case OPTION_CALIBRATE:
        options->calibrate = value;
        return true;
    case OPTION_SYMMETRIC:
        options->symmetric = true;
        return true;
    case OPTION_X:
        options->x = value;
        return true;
    case OPTION_Y:
        options->y = value;
        return true;
    case OPTION_BY:
        options->by = value;
        return true;
    case OPTION_SCALE:
        add_scale(options, value, arena);
        return true;
    case OPTION_WHAT_IF:
        options->what_ifs[options->what_if_count++] = value;
        return true;
    case OPTION_SORT:
        return read_sort(command, value, options);
    case OPTION_QUANTILES:
        options->quantiles = true;
        add_set(options, "--quantiles", "tails.quantiles=true");
        return true;
    default:
        return read_picture_option(option, value, arena, options) || read_plan_option(option, value, arena, options) ||
               read_search_option(command, option, value, options);
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
        options->method = value;
        return true;
    case OPTION_GPUS:
        add_set(options, "--gpus", arena_print(arena, "search.gpus=%s", value));
        return true;
    case OPTION_TOP:
        return read_count(command, "--top", value, 0, TOP_MAX, &options->top);
    case OPTION_JOBS:
        return read_count(command, "--jobs", value, 1, JOBS_MAX, &options->jobs);
    default:
        return read_variant_option(command, option, value, arena, options);
    }
}

/* Whether a command accepts an option, which is noted. */
static bool accept_option(const char *accepted, int option, int place, struct arena *arena, struct options *options)
{
    const char *letters = option_needs(option);
    const char *letter = *letters ? strpbrk(accepted, letters) : NULL;
    if (letter)
        options->given[*letter - 'a'] = place < 0 ? "-o" : arena_print(arena, "--%s", option_table[place].name);
    return letter || !*letters;
}

/* What to type in place of an option that this command does not have; NULL: that is not known. */
static const char *instead(int option)
{
    switch (option) {
    case OPTION_GPUS:
        return "the platform and `parallel` say how many GPUs there are: --set platform=dgx-h100:8";
    case OPTION_SCHEDULES:
        return "one schedule is --schedule NAME; compare and sweep take several";
    case OPTION_X:
    case OPTION_Y:
    case OPTION_BY:
        return "that is for sweep";
    case OPTION_TOP:
    case OPTION_EXHAUSTIVE:
        return "that is for search";
    case OPTION_TOKENS:
    case OPTION_BELOW:
    case OPTION_CARBON:
    case OPTION_PRICES:
    case OPTION_CLUSTERS:
        return "that is for plan";
    default:
        return NULL;
    }
}

/* "; expected --set platform=VALUE" where an option that there is not is a key of scenarios, or an axis; else "". */
static const char *key_hint(const char *typed, struct arena *arena)
{
    if (strncmp(typed, "--", 2) != 0)
        return "";
    const char *key = arena_print(arena, "%.*s", (int)strcspn(typed + 2, "="), typed + 2), *below = "";
    bool known = fields_known(&root_section, key), axis = fields_known(&parallel_section, alias_axis(key));
    for (const char *const *name = section_names; *name && !known; name++)
        if (!strcmp(*name, key)) {
            known = true;
            below = strcmp(key, "order") ? ".KEY" : "";
        }
    if (known)
        return arena_print(arena, "; keys of the scenario are set by --set %s%s=VALUE", key, below);
    return axis ? arena_print(arena, "; keys of the scenario are set by --set %s.%s=VALUE", parallel_section.name,
                              alias_axis(key))
                : "";
}

/* The same among the options of a command. */
static const char *accepted_near(const char *typed, const char *accepted, struct arena *arena)
{
    size_t count = 0;
    while (option_table[count].name)
        count++;
    struct option *options = arena_array(arena, count + 1, sizeof *options);
    count = 0;
    for (const struct option *option = option_table; option->name; option++) {
        const char *letters = option_needs(option->val);
        if (!*letters || strpbrk(accepted, letters))
            options[count++] = *option;
    }
    return option_near(typed, options, arena);
}

/* `typed` is what stands before the next argument: the option, or its value. */
static void refuse_option(const struct command *command, const char *accepted, int option, int place, const char *typed,
                          struct arena *arena)
{
    const char *hint = instead(option), *key = key_hint(typed, arena);
    if (option == '?' && optopt > 0 && optopt < 256)
        command_usage(command, "unknown option '%s'", (char[]){'-', (char)optopt, 0});
    else if (option == '?' || place < 0)
        command_usage(command, "unknown option '%s'%s", typed, *key ? key : accepted_near(typed, accepted, arena));
    else
        command_usage(command, "unknown option '--%s'%s%s", option_table[place].name, hint ? "; " : "",
                      hint ? hint : "");
}

/* `--schedules gpipe chimera` without a comma: names of schedules behind it are no scenarios. */
static void gather_schedules(struct options *options, char **files, struct arena *arena)
{
    int kept = 0;
    for (int i = 0; i < options->file_count; i++) {
        bool schedule = options->schedules && schedule_find(files[i]) && access(files[i], F_OK) != 0;
        if (schedule)
            options->schedules = arena_print(arena, "%s,%s", options->schedules, files[i]);
        else
            files[kept++] = files[i];
    }
    options->file_count = kept;
}

bool options_read(const struct command *command, const char *accepted, int argc, char **argv, struct arena *arena,
                  struct options *options)
{
    *options = (struct options){.top = OPTIONS_NOT_GIVEN,
                                .restarts = OPTIONS_NOT_GIVEN,
                                .sets = arena_array(arena, (size_t)argc + 1, sizeof *options->sets),
                                .what_ifs = arena_array(arena, (size_t)argc, sizeof *options->what_ifs)};
    optind = 0; /* glibc: start over, argument lists differ between calls */
    opterr = 0;
    int option, place = -1;
    while ((option = getopt_long(argc, argv, ":o:", option_table, &place)) != -1) {
        const char *typed = argv[optind - 1];
        if (option == ':') {
            command_usage(command, "option '%s' needs a value", typed);
            return false;
        }
        if (option == '?' || !accept_option(accepted, option, place, arena, options)) {
            refuse_option(command, accepted, option, place, typed, arena);
            return false;
        }
        if (!read_option(command, option, optarg, arena, options))
            return false;
        place = -1;
    }
    if (options->scales)
        add_set(options, "--scale", arena_print(arena, "what_if=[%s]", options->scales));
    options->files = argv + optind;
    options->file_count = argc - optind;
    gather_schedules(options, argv + optind, arena);
    return true;
}
