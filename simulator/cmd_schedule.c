/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim schedule: draws one schedule, without a platform. */
#include "analysis/output.h"
#include "schedules/plan_check.h"
#include "schedules/plan_file.h"
#include "schedules/steady.h"
#include "simulator/arena.h"
#include "simulator/command.h"
#include "simulator/paths.h"
#include "simulator/schedule_output.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { OPTIONS_MAX = 32, WIDTH_DEFAULT = 120 };

enum format { FORMAT_TEXT, FORMAT_CSV, FORMAT_JSON, FORMAT_SVG, FORMAT_PNG, FORMAT_PDF, FORMATS };

static const char *const format_names[FORMATS] = {"text", "csv", "json", "svg", "png", "pdf"};

/* The command line. */
struct arguments {
    const char *name; /* a schedule, or a csv file */
    uint32_t workers, micro_batches, iterations;
    const char *options[OPTIONS_MAX]; /* KEY=VALUE */
    size_t option_count;
    double forward, backward, weight, block, latency; /* negative: not given */
    enum format format;                               /* FORMATS: not given */
    const char *output;
};

/* ---- the command line ---- */

static bool read_count(const char *text, uint32_t *count)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *count = (uint32_t)value;
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno && value >= 1 && value <= UINT32_MAX;
}

static bool read_time(const char *text, double *time)
{
    char *end;
    *time = strtod(text, &end);
    return text[0] >= '0' && text[0] <= '9' && !*end && text[strspn(text, "0123456789.eE+-")] == '\0' && isfinite(*time) && *time <= 1e15;
}

static bool read_format(const char *text, enum format *format)
{
    for (*format = 0; *format < FORMATS; (*format)++)
        if (!strcmp(text, format_names[*format]))
            return true;
    return false;
}

static const struct option long_options[] = {
    {"workers", required_argument, NULL, 'w'},    {"micro-batches", required_argument, NULL, 'n'},
    {"iterations", required_argument, NULL, 'i'}, {"option", required_argument, NULL, 'O'},
    {"forward", required_argument, NULL, 'F'},    {"backward", required_argument, NULL, 'B'},
    {"weight", required_argument, NULL, 'W'},     {"block", required_argument, NULL, 'X'},
    {"latency", required_argument, NULL, 'L'},    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},     {NULL, 0, NULL, 0},
};

/* One option. 0 when it was understood, else an exit code. */
static int read_argument(const struct command *command, struct arguments *arguments, int option)
{
    uint32_t *counts[] = {['w'] = &arguments->workers, ['n'] = &arguments->micro_batches, ['i'] = &arguments->iterations};
    double *times[] = {['F'] = &arguments->forward,
                       ['B'] = &arguments->backward,
                       ['W'] = &arguments->weight,
                       ['X'] = &arguments->block,
                       ['L'] = &arguments->latency};
    switch (option) {
    case 'w':
    case 'n':
    case 'i':
        return read_count(optarg, counts[option]) ? 0 : command_usage(command, "'%s' is no count; counts are whole numbers from 1", optarg);
    case 'F':
    case 'B':
    case 'W':
    case 'X':
    case 'L':
        return read_time(optarg, times[option])
                   ? 0
                   : command_usage(command, "'%s' is no time; times here are plain numbers from 0, all in one unit", optarg);
    case 'O':
        if (arguments->option_count == OPTIONS_MAX)
            return command_usage(command, "more than %d options", OPTIONS_MAX);
        arguments->options[arguments->option_count++] = optarg;
        return 0;
    case 'f':
        return read_format(optarg, &arguments->format)
                   ? 0
                   : command_usage(command, "'%s' is no format; known are text, csv, json, svg, png, pdf", optarg);
    case 'o':
        arguments->output = optarg;
        return 0;
    default:
        return command_usage(command, "the command line is not understood");
    }
}

/* Without --format the ending of the output file says it. */
static void choose_format(struct arguments *arguments)
{
    const char *dot = arguments->output ? strrchr(arguments->output, '.') : NULL;
    if (arguments->format == FORMATS && (!dot || !read_format(dot + 1, &arguments->format)))
        arguments->format = FORMAT_TEXT;
}

static int read_arguments(const struct command *command, int argc, char **argv, struct arguments *arguments)
{
    *arguments = (struct arguments){.iterations = 1, .forward = 1, .backward = 2, .weight = -1, .block = -1, .format = FORMATS};
    opterr = 1;
    for (int option; (option = getopt_long(argc, argv, "o:", long_options, NULL)) != -1;) {
        int code = read_argument(command, arguments, option);
        if (code)
            return code;
    }
    if (optind + 1 != argc)
        return command_usage(command, optind == argc ? "which schedule?" : "one schedule at a time");
    arguments->name = argv[optind];
    choose_format(arguments);
    if (arguments->weight < 0)
        arguments->weight = arguments->backward / 2;
    if (arguments->weight > arguments->backward)
        return command_usage(command, "the weight gradient (%g) is a part of the backward (%g) and cannot take longer", arguments->weight,
                             arguments->backward);
    return 0;
}

/* ---- the request ---- */

static int report_unknown(const struct command *command, const char *what, const char *word, const char *const *words, size_t count)
{
    const char *nearest = diag_nearest(word, words, count);
    if (nearest)
        return command_usage(command, "'%s' is no %s; did you mean '%s'?", word, what, nearest);
    char known[512] = "";
    for (size_t i = 0; i < count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", words[i]);
    }
    return command_usage(command, "'%s' is no %s; known are %s", word, what, known[0] ? known : "none");
}

static int unknown_schedule(const struct command *command, const char *name)
{
    const char *names[64];
    size_t count = 0;
    while (schedule_table[count] && count < sizeof names / sizeof *names) {
        names[count] = schedule_table[count]->name;
        count++;
    }
    return report_unknown(command, "schedule", name, names, count);
}

static int read_option_value(const struct command *command, const struct schedule_option *option, const char *text, int64_t *value)
{
    if (!option->names) {
        char *end;
        errno = 0;
        *value = strtoll(text, &end, 10);
        bool good = text[0] >= '0' && text[0] <= '9' && !*end && !errno;
        return good ? 0 : command_usage(command, "option %s wants a whole number, not '%s'", option->key, text);
    }
    size_t count = 0;
    for (; option->names[count]; count++)
        if (!strcmp(option->names[count], text)) {
            *value = (int64_t)count;
            return 0;
        }
    char what[64];
    snprintf(what, sizeof what, "value of %s", option->key);
    return report_unknown(command, what, text, option->names, count);
}

/* Puts KEY=VALUE into the request. 0 when it was understood, else an exit code. */
static int set_option(const struct command *command, const struct schedule *schedule, const char *text, struct schedule_request *request)
{
    const char *keys[SCHEDULE_OPTIONS_MAX];
    size_t length = strcspn(text, "="), count = 0;
    if (!text[length])
        return command_usage(command, "an option is KEY=VALUE, not '%s'", text);
    for (; schedule->options && schedule->options[count].key; count++) {
        keys[count] = schedule->options[count].key;
        if (strlen(keys[count]) == length && !strncmp(text, keys[count], length))
            return read_option_value(command, &schedule->options[count], text + length + 1, &request->options[count]);
    }
    char key[64], what[96];
    snprintf(key, sizeof key, "%.*s", (int)length, text);
    snprintf(what, sizeof what, "option of %s", schedule->name);
    return report_unknown(command, what, key, keys, count);
}

static int make_request(const struct command *command, const struct schedule *schedule, const struct arguments *arguments,
                        struct schedule_request *request)
{
    if (!arguments->workers || !arguments->micro_batches)
        return command_usage(command, "%s is missing", arguments->workers ? "--micro-batches" : "--workers");
    *request = schedule_request_default(schedule, arguments->workers, arguments->micro_batches);
    request->iterations = arguments->iterations;
    request->forward = arguments->forward;
    request->backward = arguments->backward;
    request->weight = arguments->weight;
    for (size_t i = 0; i < arguments->option_count; i++) {
        int code = set_option(command, schedule, arguments->options[i], request);
        if (code)
            return code;
    }
    if (arguments->iterations > 1 && !schedule->crosses)
        return command_usage(command, "the iterations of %s do not overlap; --iterations is for schedules without a flush", schedule->name);
    struct schedule_refusal refusal;
    if (schedule_fits(schedule, request, &refusal))
        return 0;
    fprintf(stderr, "stagesim schedule: %s\n", refusal.text);
    return EXIT_BAD_INPUT;
}

/* ---- the result ---- */

static unsigned terminal_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return WIDTH_DEFAULT;
}

static bool write_view(FILE *out, const struct arguments *arguments, const struct schedule_view *view, struct fault *fault)
{
    bool terminal = !arguments->output && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    enum canvas_format picture;
    if (canvas_format_of(format_names[arguments->format], &picture))
        return schedule_picture_write(out, view, picture, fault);
    if (arguments->format == FORMAT_CSV)
        schedule_csv_write(out, view);
    else if (arguments->format == FORMAT_JSON)
        schedule_json_write(out, view);
    else
        schedule_text_write(out, view, (struct schedule_text_style){arguments->output ? WIDTH_DEFAULT : terminal_width(), terminal});
    return true;
}

/* To the file of -o, which appears whole or not at all. */
static int write_file(const struct arguments *arguments, const struct schedule_view *view)
{
    struct fault fault = {""};
    struct arena *arena = arena_create();
    const char *name = path_name(arguments->output, "", arena);
    struct output *output = output_create(path_directory(arguments->output, arena), &fault);
    FILE *out = output ? output_open(output, name, &fault) : NULL;
    bool done = out && write_view(out, arguments, view, &fault);
    if (done)
        done = output_commit(output, &fault);
    else
        output_abort(output);
    arena_destroy(arena);
    if (!done)
        fprintf(stderr, "stagesim schedule: %s\n", fault.text);
    return done ? EXIT_DONE : out ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static int write_result(const struct arguments *arguments, const struct schedule_view *view)
{
    if (arguments->output)
        return write_file(arguments, view);
    struct fault fault = {""};
    bool written = write_view(stdout, arguments, view, &fault);
    if (written && !fflush(stdout) && !ferror(stdout))
        return EXIT_DONE;
    fprintf(stderr, "stagesim schedule: standard output: %s\n", written ? strerror(errno) : fault.text);
    return EXIT_FAILED;
}

/* Times of one share are cut among its chunks. */
static int show(const struct arguments *arguments, struct schedule_view *view)
{
    uint32_t stages = view->plan->stages;
    double chunks = (double)stages / view->plan->workers, *times = array_grow(NULL, &(size_t){0}, 4 * (size_t)stages, sizeof *times);
    double shares[] = {arguments->forward, arguments->backward, arguments->weight, arguments->block};
    for (unsigned kind = 0; kind < 4; kind++)
        for (uint32_t stage = 0; stage < stages; stage++)
            times[kind * (size_t)stages + stage] = shares[kind] / chunks;
    struct plan_costs costs = {.forward = times,
                               .backward = times + stages,
                               .weight = times + 2 * (size_t)stages,
                               .block = arguments->block < 0 ? NULL : times + 3 * (size_t)stages,
                               .latency = arguments->latency};
    struct plan_timing timing;
    plan_timing_init(&timing, view->plan, &costs);
    if (view->schedule && view->schedule->crosses && view->plan->iterations == 1)
        plan_timing_set_iteration(&timing, schedule_steady_iteration(view->schedule, view->request, &costs));
    view->timing = &timing;
    int code = write_result(arguments, view);
    plan_timing_finish(&timing);
    free(times);
    return code;
}

/* A name with an ending or a directory is a file. */
static bool is_file(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".csv"));
}

static int show_file(const struct command *command, const struct arguments *arguments)
{
    if (arguments->workers || arguments->micro_batches || arguments->option_count || arguments->iterations > 1)
        return command_usage(command, "a schedule file says itself how many workers and micro-batches there are, and has no options");
    struct diag diag = {.out = stderr};
    struct plan *plan = plan_file_read(arguments->name, &diag);
    if (!plan)
        return EXIT_BAD_INPUT;
    int code = show(arguments, &(struct schedule_view){.name = arguments->name, .plan = plan});
    plan_destroy(plan);
    return code;
}

static bool print_mistake(void *user, const struct plan_mistake *mistake)
{
    fprintf(stderr, "stagesim schedule: internal error in %s: %s\n", (const char *)user, mistake->text);
    return true;
}

static int run(const struct command *command, int argc, char **argv)
{
    struct arguments arguments;
    int code = read_arguments(command, argc, argv, &arguments);
    if (code)
        return code;
    if (is_file(arguments.name))
        return show_file(command, &arguments);
    const struct schedule *schedule = schedule_find(arguments.name);
    if (!schedule)
        return unknown_schedule(command, arguments.name);
    struct schedule_request request;
    code = make_request(command, schedule, &arguments, &request);
    if (code)
        return code;
    struct plan *plan = schedule->plan(&request);
    if (plan_check(plan, &(struct plan_reporter){print_mistake, (void *)schedule->name}))
        code = show(&arguments, &(struct schedule_view){schedule->name, schedule, &request, plan, NULL});
    else
        code = EXIT_FAILED;
    plan_destroy(plan);
    return code;
}

const struct command command_schedule = {
    .name = "schedule",
    .arguments = "NAME|FILE.csv --workers D --micro-batches N [OPTION]...",
    .summary = "draws a pipeline schedule: who computes what when, bubbles, micro-batches in flight",
    .help = "NAME is one of `stagesim list schedules`; FILE.csv a schedule of one's own (worker,kind,stage,micro_batch).\n"
            "Times are those of one micro-batch on one worker's share of the model, plain numbers in any one unit.\n\n"
            "  --workers D          pipeline workers\n"
            "  --micro-batches N    micro-batches of one iteration, both directions together\n"
            "  --option KEY=VALUE   an option of the schedule, e.g. pairs=2; repeatable\n"
            "  --iterations K       that many iterations in one go, for schedules without a flush (1)\n"
            "  --forward S          time of a forward (1)\n"
            "  --backward S         time of a whole backward (2)\n"
            "  --weight S           its part that is the weight gradient (half of it)\n"
            "  --block S            time of a forward and a backward as one block (their sum)\n"
            "  --latency S          time of a message from worker to worker (0)\n"
            "  --format FORMAT      text, csv, json, svg, png or pdf (what FILE ends in, else text)\n"
            "  -o, --output FILE    write there instead of to standard output\n\n"
            "examples:\n  stagesim schedule chimera --workers 4 --micro-batches 8 --option concatenation=doubling\n"
            "  stagesim schedule 1f1b --workers 8 --micro-batches 16 -o 1f1b.svg\n",
    .run = run,
};
