/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim platform show: see platform.c. */
#include "base/arena.h"
#include "base/isolate.h"
#include "base/paths.h"
#include "base/process/guard.h"
#include "commands/cli/option_next.h"
#include "commands/cli/words.h"
#include "commands/platform/platform_command.h"
#include "commands/platform/platform_picture.h"
#include "commands/platform/platform_text.h"
#include "job/scenario/platform_source.h"
#include "platforms/view.h"
#include "platforms/zones.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum format {
    FORMAT_TEXT,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_LATEX,
    FORMAT_MARKDOWN,
    FORMAT_SVG,
    FORMAT_PNG,
    FORMAT_PDF,
    FORMATS
};

struct arguments {
    const char *file;
    struct platform_source source;
    const char *hosts[2]; /* --between; NULL: the whole platform */
    unsigned format;      /* enum format; FORMATS: not given */
    const char *output;
    struct arena *arena;
};

static const char *const format_names[FORMATS] = {"text", "json", "csv", "latex", "markdown", "svg", "png", "pdf"};

/* By enum format. */
static const enum table_format table_formats[] = {TABLE_TEXT, TABLE_JSON, TABLE_CSV, TABLE_LATEX, TABLE_MARKDOWN};

static const struct option long_options[] = {
    {"between", required_argument, NULL, 'b'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {NULL, 0, NULL, 0},
};

static bool find_host(struct platform *platform, const char *name, uint32_t *host, struct fault *fault)
{
    char other[256];
    for (*host = 0; *host < platform->host_count; (*host)++)
        if (strcmp(platform->hosts[*host].name, name) == 0)
            return true;
    size_t capacity = 0;
    const char **names = array_grow(NULL, &capacity, platform->host_count, sizeof *names);
    for (uint32_t i = 0; i < platform->host_count; i++)
        names[i] = platform->hosts[i].name;
    const char *near = diag_nearest(name, names, platform->host_count);
    free(names);
    snprintf(other, sizeof other, near ? "; did you mean '%s'?" : "; the first one is '%s'",
             near ? near : platform->hosts[0].name);
    return fault_set(fault, "%s: no GPU is called '%s'%s", platform->file, name, other);
}

static bool show_route(FILE *out, const struct arguments *arguments, struct platform *platform, struct fault *fault)
{
    uint32_t ends[2];
    if (!find_host(platform, arguments->hosts[0], &ends[0], fault) ||
        !find_host(platform, arguments->hosts[1], &ends[1], fault))
        return false;
    if (!platform->reaches(platform, ends[0], ends[1]))
        return fault_set(fault, "%s: there is no route from '%s' to '%s'", platform->file, arguments->hosts[0],
                         arguments->hosts[1]);
    if (arguments->format == FORMAT_JSON)
        platform_route_json(out, platform, ends[0], ends[1]);
    else if (arguments->format != FORMAT_TEXT)
        platform_route_table(out, platform, ends[0], ends[1], table_formats[arguments->format]);
    else
        platform_route_text(out, platform, ends[0], ends[1]);
    return true;
}

struct zones_request {
    struct arena *arena;
    const struct zone *root;
};

static bool read_zones(void *user, const char *path, struct fault *fault)
{
    struct zones_request *request = user;
    request->root = zones_read(path, request->arena, fault);
    return request->root != NULL;
}

static bool show_whole(FILE *out, const struct arguments *arguments, struct platform *platform, struct fault *fault)
{
    struct zones_request request = {arguments->arena, NULL};
    if (!platform_source_with_file(&arguments->source, read_zones, &request, fault))
        return false;
    const struct zone *root = request.root;
    const struct view *view = view_create(platform, arguments->arena);
    enum canvas_format picture;
    if (arguments->format == FORMAT_TEXT)
        platform_text_write(out, view, root);
    else if (arguments->format == FORMAT_JSON)
        platform_json_write(out, view, root);
    else if (!canvas_format_of(format_names[arguments->format], &picture))
        platform_tables_write(out, view, table_formats[arguments->format]);
    else
        return platform_picture(view, root, picture, out, fault);
    return true;
}

/* In a process of its own, because SimGrid ends it on some mistakes in a platform. Writes the result, or what is wrong.
 */
static int show_isolated(void *user, struct isolated *self)
{
    const struct arguments *arguments = user;
    struct fault fault = {""};
    guard_doing("loading %s", arguments->file);
    struct platform *platform = platform_source_load(&arguments->source, false, arguments->arena, &fault);
    bool done = platform != NULL;
    guard_doing("looking at %s", arguments->file);
    if (done && platform->host_count == 0)
        done = fault_set(&fault, "%s: no host in it can hold a rank", arguments->file);
    else if (done)
        done = arguments->hosts[0] ? show_route(self->results, arguments, platform, &fault)
                                   : show_whole(self->results, arguments, platform, &fault);
    arena_destroy(arguments->arena);
    if (done)
        return EXIT_DONE;
    rewind(self->results);
    fputs(fault.text, self->results);
    return EXIT_BAD_INPUT;
}

/* What the other process wrote: the result, or in the fault what is wrong. */
static bool take_results(FILE *out, FILE *results, int code, const char *file, struct fault *fault)
{
    char buffer[8192];
    size_t length;
    if (code < 0) {
        struct fault last = *fault;
        fault->text[0] = '\0';
        return fault_set(fault, "%s: %s", file, last.text);
    }
    while (code == EXIT_DONE && (length = fread(buffer, 1, sizeof buffer, results)) > 0)
        fwrite(buffer, 1, length, out);
    if (ferror(results))
        return fault_set(fault, "%s: what was found could not be read back", file);
    if (code == EXIT_DONE)
        return true;
    length = fread(buffer, 1, sizeof fault->text - 1, results);
    buffer[length] = '\0';
    return fault_set(fault, "%s", buffer);
}

static bool show(FILE *out, void *user, struct fault *fault)
{
    struct arguments *arguments = user;
    FILE *results = NULL;
    int stage = 0;
    if (!platform_source_typed(arguments->file, &arguments->source, arguments->arena, fault))
        return false;
    int code = isolate(show_isolated, user, &results, &stage, fault);
    bool done = take_results(out, results, code, arguments->file, fault);
    if (results)
        fclose(results);
    return done;
}

/* getopt_long gives an option one value; --between takes two. */
static int read_between(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
    if (optind >= argc)
        return command_usage(command, "--between wants two hosts");
    arguments->hosts[0] = optarg;
    arguments->hosts[1] = argv[optind++];
    return 0;
}

static int read_arguments(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
    int code = 0;
    while (optind < argc && code == 0) {
        int option = option_next(command, argc, argv, "-o:", long_options,
                                 &code); /* '-': other arguments come as option 1, in order */
        if (option == -1)
            break;
        if (option == 'b')
            code = read_between(command, argc, argv, arguments);
        else if (option == 'o')
            arguments->output = optarg;
        else if (option == 'f')
            code = format_read(command, optarg, format_names, FORMATS, &arguments->format);
        else if (option == 1 && arguments->file)
            code = command_usage(command, "one platform at a time");
        else if (option == 1)
            arguments->file = optarg;
    }
    return code;
}

int platform_show_run(const struct command *command, int argc, char **argv)
{
    struct arguments arguments = {.format = FORMATS};
    int code = read_arguments(command, argc, argv, &arguments);
    if (code == 0 && arguments.format == FORMATS)
        code = format_of_file(command, arguments.output, format_names, FORMATS, &arguments.format);
    if (code)
        return code;
    if (!arguments.file)
        return command_usage(command, "which platform?");
    if (arguments.hosts[0] && arguments.format >= FORMAT_SVG)
        return command_usage(command, "a single route is shown as text, json or a table");
    arguments.arena = arena_create();
    arguments.file = path_platform(arguments.file, arguments.arena);
    code = platform_write_result(arguments.output, show, &arguments);
    arena_destroy(arguments.arena);
    return code;
}
