/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison.h"
#include "analysis/output/comparison_output.h"
#include "analysis/output/run_files.h"
#include "analysis/output/saved/saved_run.h"
#include "base/arena.h"
#include "base/bulk.h"
#include "base/diagnostics.h"
#include "base/path_near.h"
#include "base/quantity.h"
#include "cluster/jobs/jobs_view.h"
#include "commands/cli/command.h"
#include "commands/cli/option_next.h"
#include "commands/cli/options.h"
#include "commands/cli/words.h"
#include "commands/report_kept.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A run that is no job. */
struct kept_run {
    const struct kept_kind *kind; /* NULL: it is one */
    void *run;
};

/* An output directory: of one run, or of a comparison with its runs below. */
struct directory {
    const char *path;
    bool is_comparison;
    const char **names;           /* [count]: "NAME/" of each run, "" where the directory is the run's own */
    struct saved_run *runs;       /* [count] */
    struct kept_run *kept;        /* [count] */
    struct saved_row *rows;       /* [count], of a comparison */
    struct comparison_row *alike; /* the same where all runs are of one kind that is no job; NULL: they are not */
    const struct kept_kind *kind; /* of `alike` */
    size_t count;
    struct output *output; /* open until all directories are written */
};

struct reporting {
    struct arena *arena;
    struct diag diag;
    unsigned pictures; /* bits of enum picture_bit; 0: those that are there */
    struct picture_form form;
    bool quiet;
    struct directory *directories;
    size_t count;
};

/* ---- reading ---- */

static bool exists(const struct reporting *reporting, const char *directory, const char *name)
{
    return access(arena_print(reporting->arena, "%s/%s", directory, name), F_OK) == 0;
}

/* The kind of which there is a file in a run's directory; NULL: none. */
static const struct kept_kind *find_kind(const struct reporting *reporting, const char *directory)
{
    const struct kept_kind *const *kind = kept_kinds;
    while (*kind && !exists(reporting, directory, (*kind)->file))
        kind++;
    return *kind;
}

static bool list_compared(struct reporting *reporting, struct directory *directory)
{
    struct arena *arena = reporting->arena;
    const char *file = arena_print(arena, "%s/comparison.json", directory->path);
    const struct node *list = saved_comparison_load(file, arena, &reporting->diag);
    unsigned errors = reporting->diag.errors;
    for (const struct kept_kind *const *kind = kept_kinds; *kind && list && !directory->alike; kind++)
        if ((*kind)->rows && reporting->diag.errors == errors) {
            directory->kind = *kind;
            directory->alike = kept_rows_read((*kind)->rows, list, &directory->count, arena, &reporting->diag);
        }
    if (list && !directory->alike && reporting->diag.errors == errors)
        directory->rows = saved_comparison_read(list, &directory->count, arena, &reporting->diag);
    if (!directory->alike && !directory->rows)
        return false;
    directory->names = arena_array(arena, directory->count, sizeof *directory->names);
    for (size_t i = 0; i < directory->count; i++)
        directory->names[i] =
            arena_print(arena, "%s/", directory->alike ? directory->alike[i].directory : directory->rows[i].directory);
    return true;
}

static bool list_runs(struct reporting *reporting, struct directory *directory)
{
    if (access(directory->path, F_OK)) {
        diag_error(&reporting->diag, (struct place){directory->path, 0, 0}, "%s%s", strerror(errno),
                   path_near_directory(directory->path, reporting->arena));
        return false;
    }
    directory->is_comparison = exists(reporting, directory->path, "comparison.json");
    if (directory->is_comparison)
        return list_compared(reporting, directory);
    if (!exists(reporting, directory->path, "summary.json") && !find_kind(reporting, directory->path)) {
        diag_error(&reporting->diag, (struct place){directory->path, 0, 0},
                   "there is neither a summary.json nor a comparison.json; expected a directory that `stagesim run -o` "
                   "or `compare -o` "
                   "wrote with --trace csv");
        return false;
    }
    directory->names = arena_array(reporting->arena, 1, sizeof *directory->names);
    directory->names[directory->count++] = "";
    return true;
}

/* A trace cannot show more than was simulated. */
static void check_iterations(struct reporting *reporting, const struct directory *directory, size_t index)
{
    const struct gantt *gantt = directory->runs[index].gantt;
    uint32_t there = gantt ? gantt_iteration_count(gantt) : 0;
    if (gantt && there < reporting->form.iterations)
        diag_error(
            &reporting->diag, (struct place){directory->path, 0, 0},
            "%u iterations cannot be drawn, only %u were simulated; expected at most %u, or `run --iterations %u`",
            reporting->form.iterations, there, there, reporting->form.iterations);
}

static void read_directory(struct reporting *reporting, struct directory *directory)
{
    if (!list_runs(reporting, directory))
        return;
    directory->runs = arena_array(reporting->arena, directory->count, sizeof *directory->runs);
    directory->kept = arena_array(reporting->arena, directory->count, sizeof *directory->kept);
    for (size_t i = 0; i < directory->count; i++) {
        int length = (int)strlen(directory->names[i]);
        const char *path = arena_print(reporting->arena, "%s%s%.*s", directory->path, length ? "/" : "",
                                       length ? length - 1 : 0, directory->names[i]);
        struct kept_run *kept = &directory->kept[i];
        kept->kind = find_kind(reporting, path);
        if (directory->alike && kept->kind != directory->kind)
            diag_error(&reporting->diag, (struct place){path, 0, 0}, "there is no %s; expected that of each run",
                       directory->kind->file);
        else if (kept->kind) {
            kept->run = kept->kind->read(arena_print(reporting->arena, "%s/%s", path, kept->kind->file),
                                         reporting->arena, &reporting->diag);
        } else {
            saved_run_read(path, &directory->runs[i], reporting->arena, &reporting->diag);
            check_iterations(reporting, directory, i);
        }
    }
}

/* ---- writing ---- */

/* The formats that are there already, else svg; unless the command line chose. */
static unsigned pictures_of(const struct reporting *reporting, const char *path, const char *run, const char *name)
{
    static const unsigned bits[] = {PICTURE_SVG, PICTURE_PNG, PICTURE_PDF};
    unsigned pictures = reporting->pictures;
    for (int format = 0; format < PICTURE_FORMATS && !reporting->pictures; format++)
        for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
            if (picture_wanted(bits[i], (enum canvas_format)format) &&
                exists(reporting, path,
                       arena_print(reporting->arena, "%s%s.%s", run, name,
                                   canvas_format_name((enum canvas_format)format))))
                pictures |= bits[i];
    return pictures ? pictures : PICTURE_SVG;
}

static bool write_run(const struct reporting *reporting, struct directory *directory, size_t index, struct fault *fault)
{
    const char *name = directory->names[index];
    const struct saved_run *run = &directory->runs[index];
    const struct kept_run *kept = &directory->kept[index];
    struct run_files files;
    return run_files_open_drawn(&files, pictures_of(reporting, directory->path, name, "timeline"), &reporting->form,
                                true, directory->output, name, fault) &&
           (kept->kind ? kept->kind->draw(&files, kept->run, fault)
                       : run_files_draw(&files, run->report, run->gantt, fault));
}

/* Of a comparison of runs of one kind that is no job. */
static bool write_top_alike(const struct reporting *reporting, struct directory *directory, struct fault *fault)
{
    struct arena *arena = reporting->arena;
    struct gantt **gantts = arena_array(arena, directory->count, sizeof *gantts);
    const char **links = arena_array(arena, directory->count, sizeof *links);
    const struct nearest **nearest = arena_array(arena, directory->count, sizeof *nearest), none = {0};
    for (size_t i = 0; i < directory->count; i++) {
        gantts[i] = directory->kind->aligned(directory->kept[i].run, &directory->alike[i]);
        links[i] = arena_print(arena, "%sreport.html", directory->names[i]);
        nearest[i] = &none;
    }
    struct comparison_view view = {directory->alike[0].scenario,
                                   (const struct gantt **)(void *)gantts,
                                   directory->alike,
                                   links,
                                   nearest,
                                   directory->count};
    bool done = comparison_write_pictures(&view, pictures_of(reporting, directory->path, "", "comparison"),
                                          &reporting->form, directory->output, fault) &&
                comparison_write_report(&view, directory->output, fault);
    for (size_t i = 0; i < directory->count; i++)
        gantt_destroy(gantts[i]);
    return done;
}

/* Of several jobs on one platform. */
static struct comparison_row row_of_jobs(const struct saved_row *saved)
{
    struct comparison_row row = {.iteration = saved->iteration,
                                 .samples_per_s = saved->samples_per_s,
                                 .bubble = saved->bubble,
                                 .asynchronous = saved->asynchronous};
    snprintf(row.scenario, sizeof row.scenario, "%s", saved->scenario);
    snprintf(row.schedule, sizeof row.schedule, "%s", saved->schedule);
    snprintf(row.engine, sizeof row.engine, "%s", saved->engine);
    return row;
}

static bool write_top(const struct reporting *reporting, struct directory *directory, struct fault *fault)
{
    if (directory->alike)
        return write_top_alike(reporting, directory, fault);
    struct arena *arena = reporting->arena;
    struct comparison_row *rows = arena_array(arena, directory->count, sizeof *rows);
    const struct gantt **gantts = arena_array(arena, directory->count, sizeof *gantts);
    const char **links = arena_array(arena, directory->count, sizeof *links);
    const struct nearest **nearest = arena_array(arena, directory->count, sizeof *nearest), none = {0};
    for (size_t i = 0; i < directory->count; i++) {
        const struct jobs_view *jobs = directory->kept[i].kind == &kept_jobs ? directory->kept[i].run : NULL;
        rows[i] = jobs ? row_of_jobs(&directory->rows[i]) : comparison_row_of(directory->runs[i].report);
        gantts[i] = jobs ? jobs->gantt : directory->runs[i].gantt;
        links[i] = arena_print(arena, "%sreport.html", directory->names[i]);
        nearest[i] = jobs ? &none : &directory->runs[i].report->run.nearest;
    }
    struct comparison_view view = {rows[0].scenario, gantts, rows, links, nearest, directory->count};
    return comparison_write_pictures(&view, pictures_of(reporting, directory->path, "", "comparison"), &reporting->form,
                                     directory->output, fault) &&
           comparison_write_report(&view, directory->output, fault);
}

static bool write_directory(const struct reporting *reporting, struct directory *directory, struct fault *fault)
{
    directory->output = output_create(directory->path, fault);
    bool ok = directory->output != NULL;
    for (size_t i = 0; i < directory->count && ok; i++)
        ok = write_run(reporting, directory, i, fault);
    return ok && (!directory->is_comparison || write_top(reporting, directory, fault)) &&
           output_flush(directory->output, fault);
}

/* Every directory's files are written before any of them gets its name. */
static int write_all(struct reporting *reporting)
{
    struct fault fault = {""};
    bool ok = true;
    char *names = NULL;
    size_t size = 0;
    FILE *list = memory_stream_open(&names, &size);
    for (size_t i = 0; i < reporting->count && ok; i++)
        ok = write_directory(reporting, &reporting->directories[i], &fault);
    for (size_t i = 0; i < reporting->count; i++) {
        struct output *output = reporting->directories[i].output;
        if (ok)
            output_print_names(output, list);
        if (ok)
            ok = output_commit(output, &fault);
        else
            output_abort(output);
    }
    if (ok)
        memory_stream_close(list);
    else
        fclose(list);
    if (!ok)
        diag_print(stderr, "stagesim: %s\n", fault.text);
    else if (!reporting->quiet)
        fputs(names, stdout);
    free(names);
    return ok ? EXIT_DONE : fault.refused ? EXIT_BAD_INPUT : EXIT_FAILED;
}

/* Whether an earlier argument is the same directory. */
static bool is_repeated(const struct reporting *reporting, const char *path)
{
    struct stat status, other;
    for (size_t i = 0; i < reporting->count; i++)
        if (!stat(path, &status) && !stat(reporting->directories[i].path, &other) && status.st_dev == other.st_dev &&
            status.st_ino == other.st_ino)
            return true;
    return false;
}

static int report(struct reporting *reporting, int count, char *const *paths)
{
    reporting->directories = arena_array(reporting->arena, (size_t)count, sizeof *reporting->directories);
    for (int i = 0; i < count; i++) {
        if (is_repeated(reporting, paths[i]))
            continue;
        struct directory *directory = &reporting->directories[reporting->count++];
        directory->path = paths[i];
        read_directory(reporting, directory);
    }
    int code = reporting->diag.errors ? EXIT_BAD_INPUT : write_all(reporting);
    for (size_t i = 0; i < reporting->count; i++) {
        const struct directory *directory = &reporting->directories[i];
        for (size_t run = 0; run < directory->count && directory->runs; run++)
            if (directory->kept[run].run)
                directory->kept[run].kind->finish(directory->kept[run].run);
            else
                gantt_destroy(directory->runs[run].gantt);
    }
    return code;
}

/* ---- the command line ---- */

static bool read_pictures(const struct command *command, struct reporting *reporting, const char *list)
{
    static const char *const names[] = {"svg", "png", "pdf"};
    static const unsigned bits[] = {PICTURE_SVG, PICTURE_PNG, PICTURE_PDF};
    char *words = arena_copy(reporting->arena, list), *rest;
    for (char *word = strtok_r(words, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        size_t format = 0;
        while (format < 3 && strcmp(word, names[format]))
            format++;
        if (format == 3) {
            command_usage(command, "--picture takes svg, png or pdf, separated by commas, not '%s'", word);
            return false;
        }
        reporting->pictures |= bits[format];
    }
    return reporting->pictures || command_usage(command, "--picture takes svg, png or pdf, not nothing") == EXIT_DONE;
}

static bool read_iterations(const struct command *command, const char *text, uint32_t *iterations)
{
    uint64_t count = 0;
    struct quantity_reason reason;
    bool good = quantity_count(text, &count, &reason) && count >= 1 && count <= 1000;
    *iterations = (uint32_t)count;
    return good || command_usage(command, "--iterations takes a count from 1 to 1000, not '%s'", text) == EXIT_DONE;
}

static int read_and_run(const struct command *command, struct reporting *reporting, int argc, char **argv)
{
    static const struct option options[] = {
        {"picture", required_argument, NULL, 'p'},   {"picture-width", required_argument, NULL, 'w'},
        {"font-size", required_argument, NULL, 'f'}, {"iterations", required_argument, NULL, 'i'},
        {"quiet", no_argument, NULL, 'q'},           {NULL, 0, NULL, 0}};
    const char *width = NULL, *font_size = NULL;
    optind = 0;
    int code = 0;
    for (int option; (option = option_next(command, argc, argv, "", options, &code)) != -1;) {
        if (option == 'p' && !read_pictures(command, reporting, optarg))
            return EXIT_USAGE;
        reporting->quiet |= option == 'q';
        width = option == 'w' ? optarg : width;
        font_size = option == 'f' ? optarg : font_size;
        if (option == 'i' && !read_iterations(command, optarg, &reporting->form.iterations))
            return EXIT_USAGE;
    }
    if (code || form_read(command, width, font_size, &reporting->form))
        return EXIT_USAGE;
    if (optind == argc)
        return command_usage(command, "expected at least one output directory");
    return report(reporting, argc - optind, argv + optind);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct reporting reporting = {.arena = arena_create(), .diag = {.out = stderr}};
    int code = read_and_run(command, &reporting, argc, argv);
    arena_destroy(reporting.arena);
    return code;
}

const struct command command_report = {
    .name = "report",
    .arguments = "DIR... [OPTION]...",
    .summary = "draws pictures and writes reports again from existing output",
    .help = "DIR was written by `run -o DIR` or `compare -o DIR` with --trace csv. Its report.html and pictures are "
            "written again, the same\n"
            "as the run itself would write; nothing is simulated. The files written are listed.\n"
            "\n"
            "  --picture svg,png,pdf            which pictures; default: those that are there, or svg if there are "
            "none\n" FORM_HELP("            ") "  --iterations K                   how many iterations timelines show; "
                                               "at most as many as were simulated\n"
                                               "  --quiet                          no list of the files\n"
                                               "\n"
                                               "example:\n"
                                               "  stagesim run scenarios/demo.yaml -o saved --trace csv\n"
                                               "  stagesim report saved --picture svg,pdf\n",
    .run = run,
};
