/* SPDX-License-Identifier: Apache-2.0 */
/* The options that run, compare and check share. */
#ifndef STAGESIM_OPTIONS_H
#define STAGESIM_OPTIONS_H

#include "analysis/output/comparison.h"
#include "commands/cli/command.h"
#include "job/scenario/scenario.h"

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>

struct arena;

enum { OPTION_LETTERS = 26 };

enum options_sort { SORT_NOT = 0, SORT_TIME, SORT_MEMORY, SORT_P95 };

struct options {
    struct scenario_set *sets; /* --set, and --engine, --trace, --picture, --report as what they set */
    size_t set_count;
    const char *scales;    /* --scale, all of them, as the items of a YAML list; NULL: not given */
    const char **what_ifs; /* --what-if, what_if_count of them, as they were typed */
    size_t what_if_count;
    const char *output;    /* -o; NULL: nothing is written */
    const char *schedules; /* --schedules; NULL: not given */
    enum table_format format;
    enum options_sort sort;                /* --sort */
    const char *x, *y, *by;                /* --x, --y, --by; NULL: not given */
    const char *picture_width, *font_size; /* --picture-width, --font-size; NULL: not given */
    const char *calibrate;                 /* --calibrate, a file to write; NULL: not given */
    const char *method;                    /* --method; NULL: not given */
    bool quiet, plugins;                   /* --quiet, --plugins */
    bool quantiles;                        /* --quantiles */
    bool symmetric;                        /* --symmetric */
    unsigned top;                          /* --top; OPTIONS_NOT_GIVEN */
    unsigned jobs;                         /* --jobs; 0: not given */
    bool exhaustive, resume, merge;        /* --exhaustive, --resume, --merge */
    double time_limit;                     /* --time-limit, seconds; 0: not given */
    uint64_t budget, seed;                 /* --budget; 0: not given; --seed */
    unsigned restarts;                     /* --restarts; OPTIONS_NOT_GIVEN */
    bool apart;                            /* --links apart */
    double temperature;                    /* --temperature, seconds; 0: not given */
    const char *shard;                     /* --shard; NULL: not given */
    const char *slurm;                     /* --slurm, options of sbatch; NULL: not given */
    const char *given[OPTION_LETTERS];     /* [letter of `accepted` - 'a']: an option of it, as it was typed; or NULL */
    char *const *files;                    /* the arguments that are no options */
    int file_count;
};

/* The lines of --help about these options. */
#define OPTIONS_HELP                                                                                                   \
    "  --engine simgrid|analytic|both   the engine; both: also says what contention adds\n"                            \
    "  --set KEY=VALUE                  any scenario value by its dotted path, for instance parallel.pipeline=8; "     \
    "repeatable\n"                                                                                                     \
    "  --schedule NAME                  short for --set schedule.name=NAME\n"                                          \
    "  --scale TARGET=FACTOR            what if links or GPUs were faster or slower: nic=0.5, gpu-3-*=0.8, "           \
    "nvlink.latency=2, nic@5%=0.5; repeatable\n"                                                                       \
    "  --plugins                        load the plug-in that the scenario names by its path; its code runs with "     \
    "your "                                                                                                            \
    "rights\n"

#define OPTIONS_NOT_GIVEN UINT32_MAX

/* Reads a command's arguments. `accepted` lists the letters of what this command takes beyond --engine, --set,
 * --plugins and --quiet:
 * o (-o, --picture, --picture-width, --font-size), w (-o alone), t (--trace, --report, --iterations), s (--schedules,
 * --what-if), r (--sort), q (--quantiles), p (--x, --y, --by), f (--format), l (--method), k (--top), g (--gpus,
 * --jobs), j (--jobs alone), c (--calibrate, --symmetric), x (--exhaustive, --time-limit, --resume, --shard, --merge,
 * --slurm), d (--time-limit alone), m (--budget, --seed, --restarts, --temperature, --links), b (--tokens, --by,
 * --below,
 * --carbon, --prices, --clusters).
 * False after a usage mistake was reported. Memory from the arena. */
bool options_read(const struct command *command, const char *accepted, int argc, char **argv, struct arena *arena,
                  struct options *options);

#endif
