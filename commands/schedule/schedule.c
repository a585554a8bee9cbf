/* SPDX-License-Identifier: Apache-2.0 */
/* stagesim schedule: draws one schedule, without a platform. */
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/files/output.h"
#include "base/path_near.h"
#include "base/paths.h"
#include "base/process/interruption.h"
#include "base/quantity.h"
#include "base/standard_streams.h"
#include "commands/cli/command.h"
#include "commands/cli/words.h"
#include "commands/schedule/schedule_arguments.h"
#include "commands/schedule/schedule_on.h"
#include "commands/schedule/schedule_output.h"
#include "commands/schedule/schedule_times.h"
#include "commands/schedule/schedule_watch.h"
#include "job/scenario/schedule_option.h"
#include "schedules/plan/plan_check.h"
#include "schedules/plan/plan_file.h"
#include "schedules/steady.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- the request ---- */

static int unknown_schedule(const struct command *command, const char *name)
{
    const char *names[64];
    size_t count = 0;
    while (schedule_table[count] && count < sizeof names / sizeof *names) {
        names[count] = schedule_table[count]->name;
        count++;
    }
    return words_unknown(command, "schedule", name, names, count);
}

static int unknown_option(const struct command *command, const struct schedule *schedule, const char *key)
{
    const char *keys[SCHEDULE_OPTIONS_MAX];
    size_t count = 0;
    for (; schedule->options && schedule->options[count].key; count++)
        keys[count] = schedule->options[count].key;
    char what[96];
    snprintf(what, sizeof what, "option of %s", schedule->name);
    return words_unknown(command, what, key, keys, count);
}

/* Puts KEY=VALUE into the request. 0 when it was understood, else an exit code. */
static int set_option(const struct command *command, const struct schedule *schedule, const char *text,
                      struct arena *arena, struct schedule_request *request)
{
    size_t length = strcspn(text, "=");
    if (!text[length])
        return command_usage(command, "an option is KEY=VALUE, not '%s'", text);
    const char *key = arena_print(arena, "%.*s", (int)length, text);
    const struct schedule_option *option = schedule_find_option(schedule, key);
    if (!option)
        return unknown_option(command, schedule, key);
    struct diag diag = {.out = stderr};
    const struct fields_reader reader = {.arena = arena, .diag = &diag};
    const struct node value = {.kind = NODE_SCALAR, .at = {.file = "--option"}, .text = text + length + 1};
    bool good =
        schedule_option_read(&reader, option, &value, &request->options[option - schedule->options], &request->stashes);
    return good ? 0 : EXIT_BAD_INPUT;
}

/* --effort is short for the option, and goes with --time-limit only where there is a search. */
static int read_effort(const struct command *command, const struct schedule *schedule,
                       const struct schedule_arguments *arguments, struct schedule_request *request)
{
    if (!schedule->searches && (arguments->effort || arguments->time_limit > 0))
        return command_usage(command, "%s is for schedules that are searched for, as best is",
                             arguments->effort ? "--effort" : "--time-limit");
    return arguments->effort
               ? set_option(command, schedule, arena_print(arguments->arena, "effort=%s", arguments->effort),
                            arguments->arena, request)
               : 0;
}

static int make_request(const struct command *command, const struct schedule *schedule,
                        const struct schedule_arguments *arguments, struct schedule_request *request)
{
    if (!arguments->workers || !arguments->micro_batches)
        return command_usage(command, "%s is missing", arguments->workers ? "--micro-batches" : "--workers");
    *request = schedule_request_default(schedule, arguments->workers, arguments->micro_batches);
    request->iterations = arguments->iterations;
    request->forward = times_mean(&arguments->costs[FORWARD]);
    request->backward = times_mean(&arguments->costs[BACKWARD]);
    request->weight = times_mean(&arguments->costs[WEIGHT]);
    for (size_t i = 0; i < arguments->option_count; i++) {
        int code = set_option(command, schedule, arguments->options[i], arguments->arena, request);
        if (code)
            return code;
    }
    int code = read_effort(command, schedule, arguments, request);
    if (code)
        return code;
    if (arguments->iterations > 1 && !schedule->crosses)
        return command_usage(command,
                             "the iterations of %s do not overlap; --iterations is for schedules without a flush",
                             schedule->name);
    struct schedule_refusal refusal;
    if (schedule_fits(schedule, request, &refusal))
        return 0;
    diag_print(stderr, "stagesim schedule: %s\n", refusal.text);
    return EXIT_BAD_INPUT;
}

/* ---- the result ---- */

static bool is_pytorch(const struct schedule_arguments *arguments)
{
    return arguments->format == FORMAT_PYTORCH || arguments->format == FORMAT_PYTORCH_COMMS;
}

/* A table for papers. */
static bool is_table(const struct schedule_arguments *arguments)
{
    return arguments->format == FORMAT_LATEX || arguments->format == FORMAT_MARKDOWN;
}

static enum table_format table_of(const struct schedule_arguments *arguments)
{
    return arguments->format == FORMAT_LATEX      ? TABLE_LATEX
           : arguments->format == FORMAT_MARKDOWN ? TABLE_MARKDOWN
                                                  : TABLE_TEXT;
}

/* A file of a schedule says what each worker runs, and cannot say that one runs nothing. */
static bool csv_holds(const struct schedule_view *view, struct fault *fault)
{
    for (uint32_t worker = 0; worker < view->plan->workers; worker++)
        if (!view->plan->orders[worker].count)
            return fault_set(fault, "worker %u runs nothing, and files have no such workers", worker);
    return true;
}

/* Not every plan can be written in every format. */
static int check_format(const struct schedule_arguments *arguments, const struct schedule_view *view)
{
    struct fault fault = {""};
    bool csv = arguments->format == FORMAT_CSV;
    if (csv ? csv_holds(view, &fault) : !is_pytorch(arguments) || plan_pytorch_holds(view->plan, &fault))
        return EXIT_DONE;
    diag_print(stderr, "stagesim schedule: %s cannot be written %s: %s\n", view->name, csv ? "as csv" : "for PyTorch",
               fault.text);
    return EXIT_BAD_INPUT;
}

static unsigned terminal_width(void)
{
    struct winsize size;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return WIDTH_DEFAULT;
}

static bool write_view(FILE *out, const struct schedule_arguments *arguments, const struct schedule_view *view,
                       struct fault *fault)
{
    bool terminal = !arguments->output && isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    enum canvas_format picture;
    if (canvas_format_of(schedule_format_names[arguments->format], &picture))
        return schedule_picture_write(out, view, picture, &arguments->form, fault);
    if (arguments->format == FORMAT_CSV)
        schedule_csv_write(out, view);
    else if (arguments->format == FORMAT_JSON)
        schedule_json_write(out, view);
    else if (is_table(arguments))
        schedule_table_write(out, view, table_of(arguments));
    else if (is_pytorch(arguments))
        plan_pytorch_write(view->plan, arguments->format == FORMAT_PYTORCH_COMMS, out);
    else
        schedule_text_write(
            out, view, (struct schedule_text_style){arguments->output ? WIDTH_DEFAULT : terminal_width(), terminal});
    return true;
}

/* To the file of -o, which appears whole or not at all. */
static int write_file(const struct schedule_arguments *arguments, const struct schedule_view *view)
{
    struct fault fault = {""};
    FILE *out;
    struct output *output = output_create_file(arguments->output, &out, &fault);
    bool done = output && write_view(out, arguments, view, &fault);
    if (done)
        done = output_commit(output, &fault);
    else
        output_abort(output);
    if (!done)
        diag_print(stderr, "stagesim schedule: %s\n", fault.text);
    return done ? EXIT_DONE : output ? EXIT_FAILED : EXIT_BAD_INPUT;
}

static int write_result(const struct schedule_arguments *arguments, const struct schedule_view *view)
{
    if (arguments->output)
        return write_file(arguments, view);
    struct fault fault = {""};
    if (write_view(stdout, arguments, view, &fault) || standard_output_is_unread())
        return EXIT_DONE;
    struct fault lost = {""};
    diag_print(stderr, "stagesim schedule: %s\n", standard_output_finish(&lost) ? fault.text : lost.text);
    return EXIT_FAILED;
}

static struct plan_costs stage_costs(const struct schedule_arguments *arguments, uint32_t workers, uint32_t stages)
{
    return times_of_stages(arguments->costs, arguments->latency, arguments->attention, workers, stages,
                           arguments->arena);
}

static int show(const struct command *command, const struct schedule_arguments *arguments, struct schedule_view *view)
{
    int code = times_check(command, arguments->costs, view->plan->workers);
    if (!code)
        code = check_format(arguments, view);
    if (code)
        return code;
    struct plan_costs costs = stage_costs(arguments, view->plan->workers, view->plan->stages);
    costs.transfer = plan_transfer_time(view->plan, &costs);
    bool crosses = view->schedule && view->schedule->crosses && view->plan->iterations == 1;
    struct plan_timing timing;
    plan_timing_init(&timing, view->plan, &costs);
    if (crosses)
        plan_timing_set_iteration(
            &timing, schedule_steady_iteration(view->schedule, view->request, &costs, view->plan, &timing));
    view->timing = &timing;
    code = write_result(arguments, view);
    plan_timing_finish(&timing);
    return code;
}

/* A name with an ending or a directory is a file. */
static bool is_file(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 4 && !strcmp(name + length - 4, ".csv"));
}

static int show_file(const struct command *command, const struct schedule_arguments *arguments)
{
    if (arguments->workers || arguments->micro_batches || arguments->option_count || arguments->iterations > 1)
        return command_usage(
            command, "a schedule file says itself how many workers and micro-batches there are, and has no options");
    struct diag diag = {.out = stderr};
    struct fault fault = {""};
    if (!path_check_typed(arguments->name, &fault))
        diag_error(&diag, (struct place){.file = arguments->name}, "%s", fault.text);
    struct plan *plan =
        diag.errors ? NULL
                    : plan_file_read(arguments->name, arguments->older_pytorch ? PYTORCH_OLDER : PYTORCH_TODAY, &diag);
    diag_rest(&diag);
    if (!plan)
        return EXIT_BAD_INPUT;
    int code = show(command, arguments, &(struct schedule_view){.name = arguments->name, .plan = plan});
    plan_destroy(plan);
    return code;
}

static bool print_mistake(void *user, const struct plan_mistake *mistake)
{
    diag_print(stderr, "stagesim schedule: internal error in %s: %s\n", (const char *)user, mistake->text);
    return true;
}

static struct plan *make_plan(const struct schedule *schedule, struct schedule_request *request, double time_limit)
{
    struct schedule_watcher watcher;
    if (!schedule->searches)
        return schedule->plan(request);
    schedule_watch_begin(&watcher, time_limit);
    request->watch = &watcher.watch;
    struct plan *plan = schedule->plan(request);
    request->watch = NULL;
    schedule_watch_end(&watcher);
    return plan;
}

static int show_schedule(const struct command *command, const struct schedule_arguments *arguments)
{
    const struct schedule *schedule = schedule_find(arguments->name);
    if (!schedule)
        return unknown_schedule(command, arguments->name);
    if (arguments->older_pytorch)
        return command_usage(command, "--older-pytorch is for files");
    struct schedule_request request;
    int code = make_request(command, schedule, arguments, &request);
    if (code)
        return code;
    code = times_check(command, arguments->costs, request.workers);
    if (code)
        return code;
    struct plan_costs costs = stage_costs(arguments, request.workers, schedule->stages(&request));
    request.costs = &costs;
    struct plan *plan = make_plan(schedule, &request, arguments->time_limit);
    if (plan_check(plan, &(struct plan_reporter){print_mistake, (void *)schedule->name}))
        code = show(command, arguments, &(struct schedule_view){schedule->name, schedule, &request, plan, NULL});
    else
        code = EXIT_FAILED;
    plan_destroy(plan);
    return code;
}

/* The best schedule for a scenario. */
static int show_on(const struct command *command, const struct schedule_arguments *arguments)
{
    uint64_t effort = 100000;
    struct quantity_reason reason;
    if (strcmp(arguments->name, "best") != 0)
        return command_usage(command, "--on is for best, not for %s", arguments->name);
    if (arguments->workers || arguments->micro_batches || arguments->option_count)
        return command_usage(command, "the scenario says how many workers and micro-batches there are, and all stages, "
                                      "chunks and placements are tried");
    if (arguments->effort && (!quantity_count(arguments->effort, &effort, &reason) || effort == 0))
        return command_usage(command, "--effort takes a plain integer from 1, not '%s'", arguments->effort);
    bool drawn = arguments->output || arguments->format == FORMAT_TEXT || is_table(arguments);
    struct schedule_on_request request = {
        .scenario = {.file = arguments->on, .sets = arguments->sets, .set_count = arguments->set_count},
        .effort = effort,
        .time_limit = arguments->time_limit,
        .partition = arguments->partition,
        .pytorch = is_pytorch(arguments),
        .format = table_of(arguments),
        .table = drawn ? stdout : stderr};
    struct schedule_on_result result;
    int code = schedule_on(&request, arguments->arena, &result);
    if (code)
        return code;
    struct plan_timing timing;
    struct schedule_view view = {.name = "best", .plan = result.plan, .timing = &timing};
    plan_timing_init(&timing, result.plan, &result.costs);
    code = check_format(arguments, &view);
    if (!code && (arguments->output || (arguments->format != FORMAT_TEXT && !is_table(arguments))))
        code = write_result(arguments, &view);
    plan_timing_finish(&timing);
    plan_destroy(result.plan);
    return code;
}

static int run_arguments(const struct command *command, const struct schedule_arguments *arguments)
{
    if (arguments->on)
        return show_on(command, arguments);
    if (arguments->partition || arguments->set_count)
        return command_usage(command, "%s goes with --on SCENARIO", arguments->partition ? "--partition" : "--set");
    return is_file(arguments->name) ? show_file(command, arguments) : show_schedule(command, arguments);
}

static int run(const struct command *command, int argc, char **argv)
{
    struct schedule_arguments arguments = {.arena = arena_create()};
    int code = schedule_read_arguments(command, argc, argv, &arguments);
    if (!code) {
        times_complete(arguments.costs, arguments.arena);
        code = run_arguments(command, &arguments);
    }
    arena_destroy(arguments.arena);
    fflush(stdout);
    interruption_end(); /* the result is out: scripts do not go on after an interruption */
    interruption_forget();
    return code;
}

const struct command command_schedule = {
    .name = "schedule",
    .arguments = "NAME|FILE.csv --workers D --micro-batches N [OPTION]...",
    .summary = "draws a pipeline schedule: who computes what and when, bubbles, micro-batches in flight",
    .help =
        "NAME is one of `stagesim list schedules`; FILE.csv is a schedule of your own: a table "
        "worker,kind,stage,micro_batch,\n"
        "or a file of torch.distributed.pipelining (row r: the actions of rank r, such as 0F0).\n"
        "Times are those of one micro-batch on one worker's share of the model, plain numbers in any one unit; "
        "--forward,\n"
        "--backward, --weight and --block also take a list of D times, the model's shares in order.\n"
        "\n"
        "  --workers D          pipeline workers\n"
        "  --micro-batches N    micro-batches of one iteration, both directions together\n"
        "  --option KEY=VALUE   an option of the schedule, such as pairs=2; repeatable\n"
        "  --iterations K       how many iterations follow each other, for schedules without a flush (1)\n"
        "  --forward S          time of a forward (1)\n"
        "  --backward S         time of a whole backward (2)\n"
        "  --weight S           time of the weight gradient, a part of the backward (half of it)\n"
        "  --block S            time of a forward and a backward as one block (their sum)\n"
        "  --attention SHARE    share of forward and backward that is causal attention (0)\n"
        "  --latency S          time of a message from worker to worker (0)\n"
        "  --format FORMAT      text, csv, json, latex, markdown, svg, png, pdf, pytorch or pytorch-comms (what FILE\n"
        "                       ends in, else text); latex and markdown are tables of the workers, the last two are\n"
        "                       files of torch.distributed.pipelining, without and with communication\n"
        "  --effort N           how many partial orders the schedule best may look at (100000)\n"
        "  --time-limit TIME    stop the search of best then, with the best order so far\n"
        "  --on SCENARIO        best for the scenario's platform: the analytic engine judges all schedules and many "
        "orders,\n"
        "                       SimGrid confirms the ten best; -o writes the best order\n"
        "  --set KEY=VALUE      a value of that scenario; repeatable\n"
        "  --partition          with --on: choose the layers of the stages, and what is computed again, too\n"
        "  --older-pytorch      FILE.csv is from PyTorch before 2.6: B beside W is the input gradient, BW a whole "
        "backward\n" FORM_HELP(
            "") "  -o, --output FILE    write there instead of to standard output\n\n"
                "examples:\n  stagesim schedule chimera --workers 4 --micro-batches 8 --option concatenation=doubling\n"
                "  stagesim schedule 1f1b --workers 8 --micro-batches 16 -o 1f1b.svg\n"
                "  stagesim schedule zb-h1 --workers 4 --micro-batches 8 --format pytorch -o zb-h1.csv\n"
                "  stagesim schedule best --workers 4 --micro-batches 8 --forward 2,1,1,2 --option memory=3\n",
    .run = run,
};
