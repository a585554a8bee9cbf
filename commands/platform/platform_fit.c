/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim platform fit: a platform's collective library from measured tables. */
#include "analysis/pictures/picture_chart.h"
#include "base/arena.h"
#include "base/csv.h"
#include "base/isolate.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "base/process/guard.h"
#include "base/tables/table_write.h"
#include "commands/cli/option_next.h"
#include "commands/cli/result.h"
#include "commands/cli/words.h"
#include "commands/platform/platform_command.h"
#include "job/scenario/platform_source.h"
#include "platforms/generate/xml.h"
#include "platforms/library.h"
#include "simulator/collectives/fit/fit.h"
#include "simulator/collectives/fit/settled.h"
#include "simulator/program/program.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES_MAX = 64, FILE_MAX = 64 << 20 };

/* What comes back from the process that loads the platform. */
struct fitted {
    struct platform_library library;
    enum platform_scope scopes[TABLES_MAX];
    struct fit_error before[TABLES_MAX], after[TABLES_MAX];
    struct settled settled[SCOPES][SETTLED_MAX];
    uint32_t settled_count[SCOPES];
    double left_out[TABLES_MAX]; /* error where the fit knows all other tables; below 0: there are none of its scope */
};

struct arguments {
    const char *file, *output, *picture; /* picture NULL: none */
    struct platform_source source;
    char *text; /* of the platform's file */
    size_t size;
    enum canvas_format format;
    unsigned table_format; /* enum table_format */
    const char *picture_width, *font_size;
    struct picture_form form;
    struct arena *arena;
    double *predicted[TABLES_MAX];      /* seconds of each row */
    struct measured tables[TABLES_MAX]; /* as given */
    size_t count;
    struct fitted fitted;
};

/* ---- in that process ---- */

static void send_predictions(const struct arguments *arguments, struct platform *platform, struct arena *arena,
                             FILE *results)
{
    for (size_t i = 0; i < arguments->count; i++) {
        const struct measured *table = &arguments->tables[i];
        double *seconds = arena_array(arena, table->count, sizeof *seconds);
        fit_predict(platform, table, arena, seconds);
        fwrite(seconds, sizeof *seconds, table->count, results);
    }
}

/* Fits without each table in turn, and says how far that is off. */
static bool leave_out(const struct arguments *arguments, struct platform *platform, struct fitted *fitted,
                      struct arena *arena, struct fault *fault)
{
    struct platform_library given = platform->library;
    struct measured others[TABLES_MAX];
    bool done = true;
    for (size_t i = 0; i < arguments->count && done; i++) {
        size_t count = 0;
        bool known = false;
        for (size_t other = 0; other < arguments->count; other++)
            if (other != i) {
                known |= fitted->scopes[other] == fitted->scopes[i];
                others[count++] = arguments->tables[other];
            }
        fitted->left_out[i] = -1;
        if (!known)
            continue;
        done = fit_library(platform, others, count, fault);
        fitted->left_out[i] = fit_error_of(platform, &arguments->tables[i], arena).absolute;
        platform->library = given;
    }
    return done;
}

/* Whether tables were of a scope. */
static bool has_scope(const struct fitted *fitted, size_t count, enum platform_scope scope)
{
    for (size_t i = 0; i < count; i++)
        if (fitted->scopes[i] == scope)
            return true;
    return false;
}

static int fit_isolated(void *user, struct isolated *self)
{
    const struct arguments *arguments = user;
    struct fault fault = {""};
    struct arena *arena = arena_create();
    guard_doing("loading %s", arguments->file);
    struct platform *platform = platform_source_load(&arguments->source, false, arena, &fault);
    guard_doing("fitting %s", arguments->file);
    struct fitted fitted;
    memset(&fitted, 0, sizeof fitted);
    for (size_t i = 0; platform && i < arguments->count && arguments->tables[i].ranks <= platform->host_count; i++) {
        fitted.scopes[i] = fit_scope_of(platform, &arguments->tables[i], arena);
        fitted.before[i] = fit_error_of(platform, &arguments->tables[i], arena);
    }
    bool fits = platform != NULL;
    for (size_t i = 0; fits && i < arguments->count; i++)
        fits = arguments->tables[i].ranks <= platform->host_count;
    bool done = platform && (!fits || leave_out(arguments, platform, &fitted, arena, &fault)) &&
                fit_library(platform, arguments->tables, arguments->count, &fault);
    for (size_t i = 0; done && i < arguments->count; i++)
        fitted.after[i] = fit_error_of(platform, &arguments->tables[i], arena);
    for (unsigned scope = 0; done && scope < SCOPES; scope++)
        if (has_scope(&fitted, arguments->count, (enum platform_scope)scope))
            fitted.settled_count[scope] = settled_find(platform, (enum platform_scope)scope, arguments->tables,
                                                       arguments->count, arena, fitted.settled[scope]);
    if (done) {
        fitted.library = platform->library; /* names of protocols are constant data: at the same place in the parent */
        fwrite(&fitted, sizeof fitted, 1, self->results);
        send_predictions(arguments, platform, arena, self->results);
    } else {
        fputs(fault.text, self->results);
    }
    arena_destroy(arena);
    return done ? EXIT_DONE : EXIT_BAD_INPUT;
}

static bool receive(struct arguments *arguments, FILE *results)
{
    bool good = fread(&arguments->fitted, sizeof arguments->fitted, 1, results) == 1;
    for (size_t i = 0; good && i < arguments->count; i++) {
        size_t count = arguments->tables[i].count;
        arguments->predicted[i] = arena_array(arguments->arena, count, sizeof(double));
        good = fread(arguments->predicted[i], sizeof(double), count, results) == count;
    }
    return good;
}

static bool fit(struct arguments *arguments, struct fault *fault)
{
    FILE *results = NULL;
    int stage = 0;
    struct fault inner = {""};
    int code = isolate(fit_isolated, arguments, &results, &stage, &inner);
    bool done = code == EXIT_DONE && receive(arguments, results);
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

static const char *const remarks[SCOPES] = {"<!-- collectives: fitted to ", "<!-- collectives over nodes: fitted to "};

/* Whether a tag is the property `key` of the library. */
static bool is_property(const char *tag, const char *end, enum platform_scope scope)
{
    char key[64] = "";
    const char *id = is_tag(tag, "prop") ? strstr(tag, "collective_") : NULL;
    if (!id || id >= end)
        return false;
    snprintf(key, sizeof key, "%.*s", (int)strcspn(id, "\"'"), id);
    return library_in_regime(key, scope);
}

/* A property that the fit replaces, or its remark. */
static bool is_fitted(const char *tag, const char *end, const struct arguments *arguments)
{
    for (unsigned scope = 0; scope < SCOPES; scope++)
        if (has_scope(&arguments->fitted, arguments->count, (enum platform_scope)scope) &&
            (strncmp(tag, remarks[scope], strlen(remarks[scope])) == 0 ||
             is_property(tag, end, (enum platform_scope)scope)))
            return true;
    return false;
}

/* The text behind what is_fitted. */
static const char *behind_fitted(const char *tag, const char *end)
{
    static const char close[] = "</prop>";
    const char *closing = is_tag(tag, "prop") && end[-2] != '/' ? strstr(end, close) : NULL;
    return closing ? closing + sizeof close - 1 : end;
}

static size_t without_blanks(const char *text, size_t length)
{
    while (length && strchr(" \t\r\n", text[length - 1]))
        length--;
    return length;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The properties of a scope, and to what they were fitted; the tables' order does not matter. */
static void write_properties(FILE *out, const struct arguments *arguments, enum platform_scope scope, bool first)
{
    const char *names[TABLES_MAX];
    size_t count = 0;
    for (size_t i = 0; i < arguments->count; i++)
        if (arguments->fitted.scopes[i] == scope)
            names[count++] = last_part(arguments->tables[i].file);
    qsort(names, count, sizeof *names, by_name);
    fprintf(out, "%s    %s", first ? "\n" : "", remarks[scope]);
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ", " : "", out);
        xml_comment_text(out, names[i]);
    }
    fputs(" -->\n", out);
    library_write_regime(out, &arguments->fitted.library.regimes[scope], scope, 4);
}

static void write_all_properties(FILE *out, const struct arguments *arguments)
{
    for (unsigned scope = 0, first = 1; scope < SCOPES; scope++)
        if (has_scope(&arguments->fitted, arguments->count, (enum platform_scope)scope)) {
            write_properties(out, arguments, (enum platform_scope)scope, first);
            first = 0;
        }
}

/* The file with the fitted properties in its outermost zone, in place of those it had. */
static bool write_platform(FILE *out, const char *text, const struct arguments *arguments, struct fault *fault)
{
    bool inserted = false, fresh = false; /* fresh: a line was ended here */
    while (*text) {
        size_t plain = strcspn(text, "<");
        const char *tag = text + plain, *end = *tag ? tag_end(tag) : tag;
        bool drop = *tag && is_fitted(tag, end, arguments);
        plain = drop ? without_blanks(text, plain) : plain;
        if (plain) {
            bool skip = fresh && *text == '\n';
            fwrite(text + skip, 1, plain - skip, out);
            fresh = false;
        }
        text = drop ? behind_fitted(tag, end) : end;
        if (drop)
            continue;
        fwrite(tag, 1, (size_t)(end - tag), out);
        bool zone = *tag && (is_tag(tag, "zone") || is_tag(tag, "AS") || is_tag(tag, "cluster")) && end[-2] != '/';
        if (!inserted && zone) {
            write_all_properties(out, arguments);
            inserted = fresh = true;
        }
    }
    return inserted || fault_set(fault, "the platform has no <zone> or <cluster> that could hold properties");
}

/* The text of the platform's file, ended by a 0 byte. */
static bool load_text(void *user, const char *path, struct fault *fault)
{
    struct arguments *arguments = user;
    char *text = csv_load(path, FILE_MAX, &arguments->size);
    if (!text)
        return fault_set(fault, "%s: %s", path, strerror(errno));
    arguments->text = arena_alloc(arguments->arena, arguments->size + 1);
    memcpy(arguments->text, text, arguments->size);
    free(text);
    return true;
}

static bool write_fitted(FILE *out, void *user, struct fault *fault)
{
    struct arguments *arguments = user;
    return platform_source_typed(arguments->file, &arguments->source, arguments->arena, fault) &&
           platform_source_with_file(&arguments->source, load_text, arguments, fault) && fit(arguments, fault) &&
           write_platform(out, arguments->text, arguments, fault);
}

static void print_errors(const struct arguments *arguments)
{
    struct table *table = table_create();
    table_columns(table, "<table", "<collective", ">ranks", ">rows", ">error before", ">after", ">bias after", NULL);
    bool left_out = false;
    for (size_t i = 0; i < arguments->count; i++)
        left_out |= arguments->fitted.left_out[i] >= 0;
    if (left_out)
        table_column(table, "left out", '>');
    for (size_t i = 0; i < arguments->count; i++) {
        const struct measured *measured = &arguments->tables[i];
        table_cell(table, "%s", last_part(measured->file));
        table_cell(table, "%s", collective_name(measured->kind));
        table_cell(table, "%u", measured->ranks);
        table_value(table, measured->ranks);
        table_cell(table, "%zu", measured->count);
        table_value(table, (double)measured->count);
        table_cell(table, "%.1f %%", arguments->fitted.before[i].absolute * 100);
        table_value(table, arguments->fitted.before[i].absolute);
        table_cell(table, "%.1f %%", arguments->fitted.after[i].absolute * 100);
        table_value(table, arguments->fitted.after[i].absolute);
        table_cell(table, "%+.1f %%", arguments->fitted.after[i].bias * 100);
        if (left_out && arguments->fitted.left_out[i] >= 0)
            table_cell(table, "%.1f %%", arguments->fitted.left_out[i] * 100);
        else if (left_out)
            table_cell(table, "-");
        table_value(table, arguments->fitted.after[i].bias);
    }
    table_finish(table, stdout, table_style_of((enum table_format)arguments->table_format, stdout));
}

/* What was found, and the sizes of the rows that say so. */
static void print_settled(const struct arguments *arguments)
{
    char value[READABLE_MAX], least[READABLE_MAX], most[READABLE_MAX];
    struct table *table = table_create();
    table_columns(table, "<property", ">value", ">settled by rows", ">from", ">to", NULL);
    for (unsigned scope = 0; scope < SCOPES; scope++)
        for (uint32_t i = 0; i < arguments->fitted.settled_count[scope]; i++) {
            const struct settled *settled = &arguments->fitted.settled[scope][i];
            table_cell(table, "%s", settled->name);
            if (settled->seconds)
                table_cell(table, "%s", readable_seconds(value, settled->value));
            else
                table_cell(table, "%.4g", settled->value);
            table_cell(table, "%u", settled->rows);
            table_value(table, settled->rows);
            table_cell(table, "%s", settled->rows ? readable_binary_bytes(least, settled->least) : "-");
            table_cell(table, "%s", settled->rows ? readable_binary_bytes(most, settled->most) : "-");
        }
    table_finish(table, stdout, table_style_of((enum table_format)arguments->table_format, stdout));
}

/* ---- a picture ---- */

static struct chart_series series_of(const struct arguments *arguments, size_t table, bool measures)
{
    const struct measured *measured = &arguments->tables[table];
    double *x = arena_array(arguments->arena, measured->count, sizeof *x),
           *y = arena_array(arguments->arena, measured->count, sizeof *y);
    for (size_t i = 0; i < measured->count; i++) {
        x[i] = measured->rows[i].bytes;
        y[i] = measures ? measured->rows[i].seconds : arguments->predicted[table][i];
    }
    return (struct chart_series){.name = arena_print(arguments->arena, "%s, %s", collective_name(measured->kind),
                                                     measures ? "measured" : "fitted"),
                                 .form = measures ? CHART_POINTS : CHART_LINE,
                                 .x = x,
                                 .y = y,
                                 .count = measured->count};
}

static bool write_picture(FILE *out, void *user, struct fault *fault)
{
    const struct arguments *arguments = user;
    struct chart_series series[2 * TABLES_MAX];
    for (size_t i = 0; i < arguments->count; i++) {
        series[2 * i] = series_of(arguments, i, false);
        series[2 * i + 1] = series_of(arguments, i, true);
    }
    struct chart chart = {.title = arena_print(arguments->arena, "collectives over %u ranks, measured and fitted",
                                               arguments->tables[0].ranks),
                          .subtitle = last_part(arguments->file),
                          .x = {"size", CHART_BYTES, true},
                          .y = {"time", CHART_SECONDS, true},
                          .series = series,
                          .series_count = 2 * arguments->count};
    return picture_chart(&chart, arguments->format, &arguments->form, out, fault);
}

/* ---- the command line ---- */

static const struct option long_options[] = {
    {"platform", required_argument, NULL, 'p'},
    {"output", required_argument, NULL, 'o'},
    {"format", required_argument, NULL, 'f'},
    {"picture-width", required_argument, NULL, 'V'},
    {"font-size", required_argument, NULL, 'Z'},
    {"picture", required_argument, NULL, 'i'},
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
        if (!path_check_typed(argv[optind], &fault))
            diag_error(&diag, (struct place){argv[optind], 0, 0}, "%s", fault.text);
        else
            measured_load(&arguments->tables[arguments->count++], argv[optind], &diag);
    }
    diag_rest(&diag);
    return diag.errors ? EXIT_BAD_INPUT : 0;
}

/* One option. 0 when it was understood, else an exit code. */
static int read_option(const struct command *command, int option, struct arguments *arguments)
{
    const char *dot;
    switch (option) {
    case 'p':
        arguments->file = path_platform(optarg, arguments->arena);
        return 0;
    case 'o':
        arguments->output = optarg;
        return 0;
    case 'V':
        arguments->picture_width = optarg;
        return 0;
    case 'Z':
        arguments->font_size = optarg;
        return 0;
    case 'f':
        return format_read(command, optarg, table_format_names, TABLE_FORMATS, &arguments->table_format);
    case 'i':
        arguments->picture = optarg;
        dot = strrchr(optarg, '.');
        if (dot && canvas_format_of(dot + 1, &arguments->format))
            return 0;
        return command_usage(command, "'%s': expected a picture that ends in .svg, .png or .pdf", optarg);
    default: /* option_next lets no other one through */
        return 0;
    }
}

int platform_fit_run(const struct command *command, int argc, char **argv)
{
    struct arena *arena = arena_create();
    struct arguments *arguments = arena_alloc(arena, sizeof *arguments);
    int code = 0;
    arguments->arena = arena;
    for (int option; code == 0 && (option = option_next(command, argc, argv, "o:", long_options, &code)) != -1;)
        code = read_option(command, option, arguments);
    if (!code && (!arguments->file || !arguments->output))
        code = command_usage(command, "%s is missing", arguments->file ? "-o" : "--platform");
    if (!code)
        code = form_read(command, arguments->picture_width, arguments->font_size, &arguments->form);
    if (!code)
        code = read_tables(command, argc, argv, arguments);
    if (!code)
        code = platform_write_result(arguments->output, write_fitted, arguments);
    if (!code && arguments->picture)
        code = platform_write_result(arguments->picture, write_picture, arguments);
    if (!code) {
        print_errors(arguments);
        putchar('\n');
        print_settled(arguments);
    }
    for (size_t i = 0; i < arguments->count; i++)
        measured_finish(&arguments->tables[i]);
    arena_destroy(arena);
    return code;
}
