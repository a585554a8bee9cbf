/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/schedule/schedule_arguments.h"
#include "commands/cli/option_next.h"

#include "base/quantity.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

const char *const schedule_format_names[FORMATS] = {"text", "csv",     "json",          "svg",   "png",
                                                    "pdf",  "pytorch", "pytorch-comms", "latex", "markdown"};

static bool read_count(const char *text, uint32_t *count)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    *count = (uint32_t)value;
    return text[0] >= '0' && text[0] <= '9' && !*end && !errno && value >= 1 && value <= UINT32_MAX;
}

static const struct option long_options[] = {
    {"workers", required_argument, NULL, 'w'},
    {"micro-batches", required_argument, NULL, 'n'},
    {"iterations", required_argument, NULL, 'i'},
    {"option", required_argument, NULL, 'O'},
    {"forward", required_argument, NULL, 'F'},
    {"backward", required_argument, NULL, 'B'},
    {"weight", required_argument, NULL, 'W'},
    {"block", required_argument, NULL, 'X'},
    {"attention", required_argument, NULL, 'A'},
    {"latency", required_argument, NULL, 'L'},
    {"format", required_argument, NULL, 'f'},
    {"output", required_argument, NULL, 'o'},
    {"older-pytorch", no_argument, NULL, 'P'},
    {"effort", required_argument, NULL, 'E'},
    {"on", required_argument, NULL, 'S'},
    {"set", required_argument, NULL, 's'},
    {"partition", no_argument, NULL, 'p'},
    {"picture-width", required_argument, NULL, 'V'},
    {"font-size", required_argument, NULL, 'Z'},
    {"time-limit", required_argument, NULL, 'T'},
    {NULL, 0, NULL, 0},
};

static int bad_time(const struct command *command, const char *text)
{
    return command_usage(command, "'%s' is no time; times here are plain numbers from 0, all in one unit", text);
}

static int read_time_limit(const struct command *command, const char *text, double *seconds)
{
    struct quantity_reason reason;
    if (quantity_parse(QUANTITY_TIME, text, seconds, &reason) && *seconds > 0)
        return 0;
    return command_usage(command, "--time-limit takes a time such as 60s, not '%s'", text);
}

/* How large a picture is. */
static int read_picture_argument(struct schedule_arguments *arguments, int option)
{
    *(option == 'V' ? &arguments->picture_width : &arguments->font_size) = optarg;
    return 0;
}

/* One option. 0 when it was understood, else an exit code. */
static int read_argument(const struct command *command, struct schedule_arguments *arguments, int option)
{
    uint32_t *counts[] = {
        ['w'] = &arguments->workers, ['n'] = &arguments->micro_batches, ['i'] = &arguments->iterations};
    enum cost costs[] = {['F'] = FORWARD, ['B'] = BACKWARD, ['W'] = WEIGHT, ['X'] = BLOCK};
    char *end;
    switch (option) {
    case 'w':
    case 'n':
    case 'i':
        return read_count(optarg, counts[option])
                   ? 0
                   : command_usage(command, "'%s' is no count; counts are whole numbers from 1", optarg);
    case 'F':
    case 'B':
    case 'W':
    case 'X':
        return times_read(optarg, &arguments->costs[costs[option]], arguments->arena) ? 0 : bad_time(command, optarg);
    case 'L':
        return time_read(optarg, &arguments->latency, &end) && !*end ? 0 : bad_time(command, optarg);
    case 'A':
        if (time_read(optarg, &arguments->attention, &end) && !*end && arguments->attention <= 1)
            return 0;
        return command_usage(command, "'%s' is no share; attention is a share of a forward, from 0 to 1", optarg);
    case 'O':
        if (arguments->option_count == OPTIONS_MAX)
            return command_usage(command, "more than %d options", OPTIONS_MAX);
        arguments->options[arguments->option_count++] = optarg;
        return 0;
    case 'f':
        return format_read(command, optarg, schedule_format_names, FORMATS, &arguments->format);
    case 'o':
        arguments->output = optarg;
        return 0;
    case 'S':
        arguments->on = optarg;
        return 0;
    case 's':
        if (arguments->set_count == OPTIONS_MAX)
            return command_usage(command, "more than %d values are set", OPTIONS_MAX);
        arguments->sets[arguments->set_count++] = (struct scenario_set){.option = "--set", .text = optarg};
        return 0;
    case 'p':
        arguments->partition = true;
        return 0;
    case 'E':
        arguments->effort = optarg;
        return 0;
    case 'T':
        return read_time_limit(command, optarg, &arguments->time_limit);
    case 'P':
        arguments->older_pytorch = true;
        return 0;
    default:
        return read_picture_argument(arguments, option);
    }
}

/* Without --format the ending of the output file says it. */
static void choose_format(struct schedule_arguments *arguments)
{
    const char *dot = arguments->output ? strrchr(arguments->output, '.') : NULL;
    if (arguments->format == FORMATS &&
        (!dot || !format_of_ending(schedule_format_names, FORMATS, dot + 1, &arguments->format)))
        arguments->format = FORMAT_TEXT;
}

int schedule_read_arguments(const struct command *command, int argc, char **argv, struct schedule_arguments *arguments)
{
    arguments->iterations = 1;
    arguments->format = FORMATS;
    int code = 0;
    for (int option; !code && (option = option_next(command, argc, argv, "o:", long_options, &code)) != -1;)
        code = read_argument(command, arguments, option);
    if (code)
        return code;
    if (optind + 1 != argc)
        return command_usage(command, optind == argc ? "which schedule?" : "one schedule at a time");
    arguments->name = argv[optind];
    choose_format(arguments);
    return form_read(command, arguments->picture_width, arguments->font_size, &arguments->form);
}
