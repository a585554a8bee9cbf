/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim list: what there is to choose from. */
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/isolate.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "base/process/apart.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/cli/words.h"
#include "commands/platform/platform_text.h"
#include "job/scenario/plugin.h"
#include "job/scenario/schedule_option.h"
#include "schedules/schedule.h"
#include "simulator/collectives/algorithm.h"
#include "simulator/run/engine_table.h"
#include "simulator/tails/published.h"
#include "training/failure_rates.h"
#include "workloads/workload_table.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Something that can be chosen by its name. */
struct item {
    const char *name, *summary;
    const struct schedule *schedule; /* NULL: something else */
};

struct items {
    struct item *items;
    size_t count, capacity;
    bool plugins; /* what they say of themselves */
    struct arena *arena;
    bool incomplete; /* a file could not be read; that was said */
};

static void add(struct items *items, const char *name, const char *summary, const struct schedule *schedule)
{
    if (items->count == items->capacity) {
        struct item *larger = arena_array(items->arena, items->capacity = 2 * items->capacity + 16, sizeof *larger);
        if (items->count)
            memcpy(larger, items->items, items->count * sizeof *larger);
        items->items = larger;
    }
    items->items[items->count++] = (struct item){name, summary, schedule};
}

static void add_schedules(struct items *items)
{
    for (const struct schedule *const *schedule = schedule_table; *schedule; schedule++)
        add(items, (*schedule)->name, (*schedule)->summary, *schedule);
}

/* In a process of its own: one line for each plug-in, from items[first] on. */
struct asking {
    const struct items *items;
    size_t first;
};

static int ask(void *user, struct isolated *self)
{
    const struct asking *asking = user;
    signal(SIGALRM, SIG_DFL);
    for (size_t i = asking->first; i < asking->items->count; i++) {
        struct fault fault = {""};
        *self->stage = (int)(i - asking->first);
        alarm(APART_SECONDS);
        const struct stagesim_workload *workload =
            plugin_find(asking->items->items[i].name, ".", asking->items->arena, &fault);
        alarm(0);
        const char *text = workload ? workload->summary : fault.text;
        fprintf(self->results, "%.*s\n", (int)strcspn(text ? text : "", "\r\n"), text ? text : "");
        fflush(self->results);
    }
    return EXIT_DONE;
}

/* One process for all; after one that ends it, another for those behind. */
static void ask_plugins(struct items *items, size_t first)
{
    struct asking asking = {items, first};
    while (asking.first < items->count) {
        struct fault fault = {""};
        FILE *results;
        char line[1024];
        int stage = 0, code = isolate(ask, &asking, &results, &stage, &fault);
        while (results && asking.first < items->count && fgets(line, sizeof line, results)) {
            line[strcspn(line, "\n")] = '\0';
            items->items[asking.first++].summary = arena_copy(items->arena, line);
        }
        if (results)
            fclose(results);
        if (asking.first < items->count)
            items->items[asking.first++].summary =
                arena_print(items->arena, "cannot be loaded: %s", code < 0 ? fault.text : "it says nothing");
    }
}

static const char **installed_names(struct items *items, enum installed kind, const char *ending, size_t *count)
{
    struct fault fault = {""};
    const char **names = path_list_installed(kind, ending, count, items->arena, &fault);
    if (fault.text[0])
        diag_print(stderr, "stagesim list: %s\n", fault.text);
    items->incomplete |= fault.text[0] != '\0';
    return names;
}

static void add_workloads(struct items *items)
{
    for (const struct stagesim_workload *const *workload = workload_table; *workload; workload++)
        add(items, (*workload)->name, (*workload)->summary, NULL);
    size_t count, built_in = items->count;
    const char **names = installed_names(items, INSTALLED_PLUGINS, ".so", &count);
    for (size_t i = 0; i < count; i++) {
        const char *path = plugin_path(names[i], ".", items->arena);
        if (path)
            add(items, names[i], arena_print(items->arena, "the plug-in %s; --plugins asks it", path), NULL);
    }
    if (items->plugins)
        ask_plugins(items, built_in);
}

static void add_engines(struct items *items)
{
    for (const struct engine *const *engine = engine_table; *engine; engine++)
        add(items, (*engine)->name, (*engine)->summary, NULL);
}

static void add_collectives(struct items *items)
{
    add(items, "all-reduce", "every rank gets the sum of all ranks' buffers", NULL);
    add(items, "reduce-scatter", "every rank gets its part of the sum of all ranks' buffers", NULL);
    add(items, "all-gather", "every rank gets the parts of all ranks", NULL);
    add(items, "all-to-all", "every rank sends a part of its buffer to every other", NULL);
    add(items, "broadcast", "every rank gets one rank's buffer", NULL);
    add(items, "reduce", "one rank gets the sum of all ranks' buffers", NULL);
    add(items, "send-receive", "every rank sends to the next and receives from the one before", NULL);
}

static void add_algorithms(struct items *items)
{
    for (const struct collective_algorithm *const *algorithm = collective_algorithms; *algorithm; algorithm++)
        add(items, (*algorithm)->name, (*algorithm)->summary, NULL);
}

static void complain(struct items *items, const char *what, const char *name)
{
    diag_print(stderr, "stagesim list: the %s %s cannot be read: %s\n", what, name, strerror(errno));
    items->incomplete = true;
}

/* NULL: it cannot be read, which was said. */
static FILE *open_listed(struct items *items, enum installed kind, const char *ending, const char *what,
                         const char *name)
{
    const char *path = path_find_installed(kind, name, ending, items->arena);
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        complain(items, what, name);
    return file;
}

static void close_listed(struct items *items, FILE *file, const char *what, const char *name)
{
    if (ferror(file))
        complain(items, what, name);
    fclose(file);
}

/* The first line of a file, where it is a comment. */
static const char *file_summary(enum installed kind, const char *what, const char *name, struct items *items)
{
    FILE *file = open_listed(items, kind, ".yaml", what, name);
    char line[512] = "";
    if (!file)
        return "";
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    close_listed(items, file, what, name);
    line[strcspn(line, "\r\n")] = '\0';
    return arena_copy(items->arena, line[0] == '#' ? line + 1 + strspn(line + 1, " #") : "");
}

static void add_files(struct items *items, enum installed kind, const char *what)
{
    size_t count;
    const char **names = installed_names(items, kind, ".yaml", &count);
    for (size_t i = 0; i < count; i++)
        add(items, names[i], file_summary(kind, what, names[i], items), NULL);
}

static void add_models(struct items *items)
{
    add_files(items, INSTALLED_MODELS, "model");
}

static void add_frameworks(struct items *items)
{
    add_files(items, INSTALLED_FRAMEWORKS, "framework");
    add(items, "none", "no defaults but the scenario's own", NULL);
}

static void add_failures(struct items *items)
{
    for (const struct failure_rates *const *rates = failure_rates_table; *rates; rates++)
        add(items, (*rates)->name,
            arena_print(items->arena, "%.3g failures of a node of eight GPUs in 1,000 days; %s; %s",
                        1000 * failure_rates_per_node_day(*rates), (*rates)->what, (*rates)->source),
            NULL);
}

static void add_tails(struct items *items)
{
    for (const struct tails_published *const *published = tails_published_table; *published; published++)
        add(items, (*published)->name, arena_print(items->arena, "%s; %s", (*published)->what, (*published)->source),
            NULL);
}

static void add_scenarios(struct items *items)
{
    add_files(items, INSTALLED_SCENARIOS, "scenario");
}

/* The first line of the comment that describes a platform file. */
static const char *platform_summary(const char *name, struct items *items)
{
    FILE *file = open_listed(items, INSTALLED_PLATFORMS, ".xml", "platform", name);
    char line[512] = "";
    const char *comment = NULL;
    while (file && !comment && fgets(line, sizeof line, file))
        comment = strstr(line, "<!--");
    const char *text = comment ? comment + 4 + strspn(comment + 4, " \r\n") : "";
    if (comment && !*text) /* it stands on the next line */
        text = fgets(line, sizeof line, file) ? line + strspn(line, " ") : "";
    if (file)
        close_listed(items, file, "platform", name);
    const char *end = strstr(text, "-->");
    return arena_print(items->arena, "%.*s", (int)(end ? (size_t)(end - text) : strcspn(text, "\r\n")), text);
}

static void add_platforms(struct items *items)
{
    size_t count;
    const char **names = installed_names(items, INSTALLED_PLATFORMS, ".xml", &count);
    for (size_t i = 0; i < count; i++)
        add(items, names[i], platform_summary(names[i], items), NULL);
}

static void print_text(const struct items *items)
{
    int width = 0;
    for (size_t i = 0; i < items->count; i++)
        width = (int)strlen(items->items[i].name) > width ? (int)strlen(items->items[i].name) : width;
    for (size_t i = 0; i < items->count; i++) {
        const struct schedule *schedule = items->items[i].schedule;
        printf("%-*s  %s", width, items->items[i].name, items->items[i].summary);
        if (schedule && schedule->when)
            printf(" -- when: %s", schedule->when);
        putchar('\n');
    }
}

/* For papers and spreadsheets. */
static void print_table(const struct items *items, enum table_format format)
{
    bool schedules = items->count && items->items[0].schedule;
    struct table *table = table_create();
    table_columns(table, "<name", "<summary", NULL);
    if (schedules)
        table_columns(table, "<when", "<source", NULL);
    for (size_t i = 0; i < items->count; i++) {
        table_cell(table, "%s", items->items[i].name);
        table_cell(table, "%s", items->items[i].summary);
        if (schedules) {
            table_cell(table, "%s", items->items[i].schedule->when ? items->items[i].schedule->when : "");
            table_cell(table, "%s", items->items[i].schedule->source);
        }
    }
    table_finish(table, stdout, (struct table_style){format, 0});
}

static void write_option(struct json_writer *json, const struct schedule_option *option)
{
    json_object_begin(json, NULL, false);
    json_text(json, "name", option->key);
    json_text(json, "summary", option->doc);
    schedule_option_json(json, "default", option, option->initial, NULL);
    if (option->names) {
        json_array_begin(json, "words", false);
        for (const char *const *word = option->names; *word; word++)
            json_text(json, NULL, *word);
        json_array_end(json);
    }
    json_object_end(json);
}

static void print_json(const struct items *items)
{
    struct json_writer json = json_writer_init(stdout);
    json_array_begin(&json, NULL, true);
    for (size_t i = 0; i < items->count; i++) {
        const struct schedule *schedule = items->items[i].schedule;
        json_object_begin(&json, NULL, false);
        json_text(&json, "name", items->items[i].name);
        json_text(&json, "summary", items->items[i].summary);
        if (schedule) {
            if (schedule->when)
                json_text(&json, "when", schedule->when);
            json_text(&json, "source", schedule->source);
            json_flag(&json, "asynchronous", schedule->asynchronous);
            json_flag(&json, "split_backward", schedule->split_backward);
            json_array_begin(&json, "options", false);
            for (const struct schedule_option *option = schedule->options; option && option->key; option++)
                write_option(&json, option);
            json_array_end(&json);
        }
        json_object_end(&json);
    }
    json_array_end(&json);
    fputc('\n', stdout);
}

static const struct list {
    const char *name;
    void (*add)(struct items *items); /* NULL: a list with columns of its own */
    void (*text)(FILE *out), (*json)(FILE *out), (*table)(FILE *out, enum table_format format);
} lists[] = {
    {.name = "schedules", .add = add_schedules},
    {.name = "workloads", .add = add_workloads},
    {.name = "collectives", .add = add_collectives},
    {.name = "algorithms", .add = add_algorithms},
    {.name = "presets", .text = preset_list_text, .json = preset_list_json, .table = preset_list_table},
    {.name = "platforms", .add = add_platforms},
    {.name = "models", .add = add_models},
    {.name = "frameworks", .add = add_frameworks},
    {.name = "scenarios", .add = add_scenarios},
    {.name = "engines", .add = add_engines},
    {.name = "failures", .add = add_failures},
    {.name = "tails", .add = add_tails},
};

static int print_list(const struct list *list, enum table_format format, bool plugins)
{
    struct items items = {.plugins = plugins, .arena = arena_create()};
    if (list->add)
        list->add(&items);
    if (list->add && (format == TABLE_TEXT || format == TABLE_JSON))
        (format == TABLE_JSON ? print_json : print_text)(&items);
    else if (list->add)
        print_table(&items, format);
    else if (format == TABLE_TEXT || format == TABLE_JSON)
        (format == TABLE_JSON ? list->json : list->text)(stdout);
    else
        list->table(stdout, format);
    arena_destroy(items.arena);
    return items.incomplete ? EXIT_FAILED : EXIT_DONE;
}

static int unknown_list(const struct command *command, const char *word)
{
    const char *names[sizeof lists / sizeof *lists];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        names[i] = lists[i].name;
    const char *nearest = diag_nearest(word, names, sizeof lists / sizeof *lists);
    if (nearest)
        return command_usage(command, "there is no list of '%s'; did you mean '%s'?", word, nearest);
    return command_usage(command, "there is no list of '%s'", word);
}

static int run(const struct command *command, int argc, char **argv)
{
    static const struct option options[] = {
        {"format", required_argument, NULL, 'f'}, {"plugins", no_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
    static const char *const formats[] = {"text", "csv", "json", "latex", "markdown"}; /* as enum table_format */
    unsigned format = TABLE_TEXT;
    bool plugins = false;
    int code = 0;
    for (int option; (option = option_next(command, argc, argv, "", options, &code)) != -1;) {
        plugins |= option == 'p';
        if (option == 'f' && format_read(command, optarg, formats, TABLE_FORMATS, &format))
            return EXIT_USAGE;
    }
    if (code)
        return code;
    if (optind + 1 != argc)
        return command_usage(command, optind == argc ? "a list of what?" : "one list at a time");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!strcmp(lists[i].name, argv[optind]))
            return print_list(&lists[i], (enum table_format)format, plugins);
    return unknown_list(command, argv[optind]);
}

const struct command command_list = {
    .name = "list",
    .arguments = "schedules|workloads|collectives|algorithms|presets|platforms|models|frameworks|scenarios|engines|"
                 "failures|tails "
                 "[OPTION]...",
    .summary = "lists what a scenario can name, each with a line of explanation",
    .help = "  --format FORMAT   text, csv, json, latex or markdown (text); json gives the schedules' options, too\n"
            "  --plugins         ask installed plug-ins for their descriptions; their code runs with your rights\n\n"
            "example:\n  stagesim list schedules\n",
    .run = run,
};
