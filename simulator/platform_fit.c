/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim platform fit: a platform's collective library from measured tables. */
#include "analysis/table.h"
#include "platforms/library.h"
#include "simulator/arena.h"
#include "simulator/collectives/fit.h"
#include "simulator/isolate.h"
#include "simulator/paths.h"
#include "simulator/platform_command.h"
#include "simulator/program.h"
#include "simulator/result.h"
#include "simulator/simgrid_bridge.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MAX = 64, FILE_MAX = 1 << 30 };

struct arguments {
    const char *file, *output;
    struct measured tables[TABLES_MAX];
    size_t count;
};

/* What comes back from the process that loads the platform. */
struct fitted {
    struct platform_library library;
    struct fit_error before[TABLES_MAX], after[TABLES_MAX];
};

/* ---- in that process ---- */

static int fit_isolated(void *user, struct isolated *self)
{
    const struct arguments *arguments = user;
    struct fault fault = {""};
    struct arena *arena = arena_create();
    struct platform *platform = bridge_configure(NULL, 0, &fault) ? bridge_load(arguments->file, arena, &fault) : NULL;
    struct fitted fitted;
    memset(&fitted, 0, sizeof fitted);
    for (size_t i = 0; platform && i < arguments->count && arguments->tables[i].ranks <= platform->host_count; i++)
        fitted.before[i] = fit_error_of(platform, &arguments->tables[i], arena);
    bool done = platform && fit_library(platform, arguments->tables, arguments->count, &fault);
    for (size_t i = 0; done && i < arguments->count; i++)
        fitted.after[i] = fit_error_of(platform, &arguments->tables[i], arena);
    if (done) {
        fitted.library = platform->library; /* names of protocols are constant data: at the same place in the parent */
        fwrite(&fitted, sizeof fitted, 1, self->results);
    } else {
        fputs(fault.text, self->results);
    }
    arena_destroy(arena);
    return done ? EXIT_DONE : EXIT_BAD_INPUT;
}

static bool fit(const struct arguments *arguments, struct fitted *fitted, struct fault *fault)
{
    FILE *results = NULL;
    int stage = 0;
    struct fault inner = {""};
    if (!path_check_readable(arguments->file, fault))
        return false;
    int code = isolate(fit_isolated, (void *)arguments, &results, &stage, &inner);
    bool done = code == EXIT_DONE && fread(fitted, sizeof *fitted, 1, results) == 1;
    if (code < 0)
        fault_set(fault, "%s: %s", arguments->file, inner.text);
    else if (!done) {
        char text[sizeof fault->text] = "";
        text[fread(text, 1, sizeof text - 1, results)] = '\0';
        fault_set(fault, "%s", text);
    }
    if (results)
        fclose(results);
    return done;
}

/* ---- the new platform ---- */

static char *read_file(const char *path, struct arena *arena, struct fault *fault)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0, length = 0, got = 1;
    while (in && got && length < FILE_MAX) {
        text = array_grow(text, &capacity, length + 65537, 1);
        length += got = fread(text + length, 1, 65536, in);
    }
    if (in)
        fclose(in);
    else
        fault_set(fault, "%s: %s", path, strerror(errno));
    char *copy = NULL;
    if (text) {
        text[length] = '\0';
        copy = arena_copy(arena, text);
    }
    free(text);
    return copy;
}

/* The end of the tag or comment that starts here. */
static const char *tag_end(const char *tag)
{
    const char *end = strncmp(tag, "<!--", 4) == 0 ? strstr(tag, "-->") : strchr(tag, '>');
    return end ? end + (*end == '-' ? 3 : 1) : tag + strlen(tag);
}

static bool is_tag(const char *tag, const char *name)
{
    size_t length = strlen(name);
    return strncmp(tag + 1, name, length) == 0 && strchr(" \t\r\n>/", tag[1 + length]);
}

/* A <prop .../> that the fit replaces. */
static bool is_fitted(const char *tag, const char *end)
{
    static const char *const kept[] = {"collective_in_network", "collective_torus"};
    const char *id = is_tag(tag, "prop") ? strstr(tag, "collective_") : NULL;
    if (!id || id >= end)
        return false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strncmp(id, kept[i], strlen(kept[i])) == 0)
            return false;
    return true;
}

/* The file with the fitted properties in its outermost zone, in place of those it had. */
static bool write_platform(FILE *out, const char *text, const struct platform_library *library, struct fault *fault)
{
    struct platform_library fitted = *library;
    bool inserted = false;
    fitted.in_network = PLATFORM_REDUCES_NOWHERE; /* not fitted: left where they are */
    fitted.in_network_efficiency = 0;
    fitted.torus[0] = 0;
    while (*text) {
        size_t plain = strcspn(text, "<");
        fwrite(text, 1, plain, out);
        text += plain;
        const char *end = *text ? tag_end(text) : text;
        if (!*text || is_fitted(text, end)) {
            text = end + (*end && is_tag(text, "prop") ? strspn(end, " \t\r\n") : 0);
            continue;
        }
        fwrite(text, 1, (size_t)(end - text), out);
        if (!inserted && (is_tag(text, "zone") || is_tag(text, "AS") || is_tag(text, "cluster")) && end[-2] != '/') {
            fputc('\n', out);
            library_write(out, &fitted, 4);
            inserted = true;
        }
        text = end;
    }
    return inserted || fault_set(fault, "the platform has no <zone> or <cluster> that could hold properties");
}

static bool write_fitted(FILE *out, void *user, struct fault *fault)
{
    const struct arguments *arguments = user;
    struct fitted fitted;
    struct arena *arena = arena_create();
    char *text = read_file(arguments->file, arena, fault);
    bool done = text && fit(arguments, &fitted, fault) && write_platform(out, text, &fitted.library, fault);
    arena_destroy(arena);
    if (!done)
        return false;
    struct table *table = table_create();
    table_column(table, "table", '<');
    table_column(table, "collective", '<');
    table_column(table, "ranks", '>');
    table_column(table, "rows", '>');
    table_column(table, "error before", '>');
    table_column(table, "after", '>');
    table_column(table, "bias after", '>');
    for (size_t i = 0; i < arguments->count; i++) {
        const struct measured *measured = &arguments->tables[i];
        const char *slash = strrchr(measured->file, '/');
        table_cell(table, "%s", slash ? slash + 1 : measured->file);
        table_cell(table, "%s", collective_name(measured->kind));
        table_cell(table, "%u", measured->ranks);
        table_cell(table, "%zu", measured->count);
        table_cell(table, "%.1f %%", fitted.before[i].absolute * 100);
        table_cell(table, "%.1f %%", fitted.after[i].absolute * 100);
        table_cell(table, "%+.1f %%", fitted.after[i].bias * 100);
    }
    table_print(table, stdout, 0);
    table_destroy(table);
    return true;
}

/* ---- the command line ---- */

static const struct option long_options[] = {
    {"platform", required_argument, NULL, 'p'},
    {"output", required_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

static int read_tables(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
    struct diag diag = {.out = stderr};
    if (optind == argc)
        return command_usage(command, "which tables?");
    if (argc - optind > TABLES_MAX)
        return command_usage(command, "more than %d tables", TABLES_MAX);
    for (; optind < argc; optind++) {
        struct fault fault = {""};
        if (!path_check_readable(argv[optind], &fault))
            diag_error(&diag, (struct place){argv[optind], 0, 0}, "%s", fault.text);
        else
            measured_init(&arguments->tables[arguments->count++], argv[optind], &diag);
    }
    return diag.errors ? EXIT_BAD_INPUT : 0;
}

int platform_fit_run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct arguments *arguments = arena_alloc(arena, sizeof *arguments);
    int code = 0;
    for (int option; code == 0 && (option = getopt_long(argc, argv, "o:", long_options, NULL)) != -1;)
        if (option == 'p')
            arguments->file = optarg;
        else if (option == 'o')
            arguments->output = optarg;
        else
            code = command_usage(command, "the command line is not understood");
    if (!code && (!arguments->file || !arguments->output))
        code = command_usage(command, "%s is missing", arguments->file ? "-o" : "--platform");
    if (!code)
        code = read_tables(command, argc, argv, arguments);
    if (!code)
        code = platform_write_result(arguments->output, write_fitted, arguments);
    for (size_t i = 0; i < arguments->count; i++)
        measured_finish(&arguments->tables[i]);
    arena_destroy(arena);
    return code;
}
