/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of stagesim schedule. */
#ifndef STAGESIM_SCHEDULE_ARGUMENTS_H
#define STAGESIM_SCHEDULE_ARGUMENTS_H

#include "commands/cli/command.h"
#include "commands/cli/words.h"
#include "commands/schedule/schedule_times.h"
#include "job/scenario/scenario.h"

enum { OPTIONS_MAX = 32, WIDTH_DEFAULT = 120 };

enum format {
    FORMAT_TEXT,
    FORMAT_CSV,
    FORMAT_JSON,
    FORMAT_SVG,
    FORMAT_PNG,
    FORMAT_PDF,
    FORMAT_PYTORCH,
    FORMAT_PYTORCH_COMMS,
    FORMAT_LATEX,
    FORMAT_MARKDOWN,
    FORMATS
};

/* By enum format, as --format has them. */
extern const char *const schedule_format_names[FORMATS];

/* The command line. */
struct schedule_arguments {
    const char *name; /* a schedule, or a csv file */
    uint32_t workers, micro_batches, iterations;
    const char *options[OPTIONS_MAX]; /* KEY=VALUE */
    size_t option_count;
    struct time_list costs[COSTS];
    double latency, attention;
    unsigned format; /* enum format; FORMATS: not given */
    bool older_pytorch;
    const char *on; /* a scenario; NULL: not given */
    bool partition;
    struct scenario_set sets[OPTIONS_MAX]; /* of it */
    size_t set_count;
    const char *effort; /* NULL: not given */
    double time_limit;  /* seconds; 0: none */
    const char *output, *picture_width, *font_size;
    struct picture_form form;
    struct arena *arena;
};

/* Reads it; 0, or an exit code after what is wrong was said. `arguments` is zero but for its arena and costs. */
int schedule_read_arguments(const struct command *command, int argc, char **argv, struct schedule_arguments *arguments);

#endif
