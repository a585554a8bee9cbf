/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario: the user's file, checked, with the place of every value. */
#ifndef STAGESIM_SCENARIO_H
#define STAGESIM_SCENARIO_H

#include "abi/workload.h"
#include "base/diagnostics.h"
#include "base/words/output_formats.h"
#include "base/words/paper_size.h"
#include "job/scenario/plan_settings.h"
#include "job/scenario/platform_source.h"
#include "job/scenario/scenario_imported.h"
#include "job/scenario/scenario_needs.h"
#include "job/scenario/search_dimensions.h"
#include "platforms/platform.h"
#include "platforms/power/power.h"
#include "platforms/what_if.h"
#include "schedules/schedule.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/mesh.h"
#include "simulator/tails/tails.h"
#include "training/forecast.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;
struct node;

enum scenario_engine { ENGINE_SIMGRID, ENGINE_ANALYTIC, ENGINE_BOTH };
enum scenario_placement { PLACEMENT_ORDER, PLACEMENT_NIC_AWARE };
enum scenario_fold { FOLD_AUTO, FOLD_OFF };
enum scenario_steady { STEADY_AUTO, STEADY_OFF };
enum scenario_nearest { NEAREST_AUTO, NEAREST_ON, NEAREST_OFF };
enum scenario_messages { MESSAGES_QUEUED, MESSAGES_PIPELINED, MESSAGES_BLOCKING };
enum scenario_recompute { RECOMPUTE_NONE, RECOMPUTE_SELECTIVE, RECOMPUTE_FULL, RECOMPUTE_OPERATORS };

/* What `search` varies; a dimension that is not given has count 0. */
enum search_objective {
    OBJECTIVE_TIME,
    OBJECTIVE_ENERGY,
    OBJECTIVE_ENERGY_DELAY,
    OBJECTIVE_P50, /* of steps that vary, of which so many of a hundred are no longer */
    OBJECTIVE_P95,
    OBJECTIVE_P99,
    OBJECTIVE_DAYS, /* this and those below: of a whole training, see struct search_training */
    OBJECTIVE_PRICE,
    OBJECTIVE_GOODPUT,
    SEARCH_OBJECTIVES
};
extern const char *const search_objective_names[]; /* [enum search_objective], NULL-terminated */
/* Layouts that are the same job. */
enum search_alike { ALIKE_ONCE, ALIKE_EACH };

struct scenario_search {
    struct stagesim_list gpus; /* of a layout; count 0: all of the platform */
    unsigned objective;        /* enum search_objective */
    unsigned alike;            /* enum search_alike */
    struct stagesim_texts values[DIMENSIONS];
};

/* A value given on the command line in place of the file's. */
struct scenario_set {
    const char *option; /* as typed: "--set" or NULL, "--engine", "--trace", ... */
    const char *text; /* "dotted.path=VALUE", VALUE in YAML: "parallel.pipeline=8", "output.trace=[paje, csv]"; mistakes
                         are reported at `--set dotted.path`, for other options at the option */
};

/* What to load. Texts are copied. */
struct scenario_request {
    const char *file;
    const struct scenario_set *sets; /* set_count of them, later ones win */
    size_t set_count;
    /* A schedule, by its name or as a schedule file (see schedule_is_file), that stands in for the file's (compare
     * --schedules); NULL: the file's. Options of the file that this schedule does not have are dropped. Whether it fits
     * is not checked: see scenario_check_pipeline. */
    const char *schedule;
    bool plugins; /* a plug-in that the scenario names by a path may be loaded: its code runs */
    bool kinds;   /* it may be more than one job, see scenario_kind.h; refused otherwise */
    bool study;   /* many jobs are made of it by changes of its values: keys that change nothing in one of them are not
                     refused */
};

enum { SCENARIO_ITERATIONS_MAX = 1000 }; /* that a scenario may ask for */

/* All memory belongs to the arena given to scenario_load. */
struct scenario {
    const char *file, *name;      /* as given; what it is called: its key, or the file's own name without .yaml */
    const char *directory;        /* of the file: relative paths start here */
    const char *model_file;       /* that stands for the section `model`, as it can be opened; NULL: none */
    const char *framework_file;   /* the profile of its framework, as it can be opened; NULL: none */
    const char **framework_files; /* that one and those that it starts from, framework_count of them */
    size_t framework_count;
    const char *framework_name; /* of the installed profile that its own starts from, without a release: "nemo"; of a
                                   file that starts from none the file's; NULL: none */
    const char *release;        /* "nemo@26.08": which release the framework's profile stands for; NULL: not known */
    const char *calibration;    /* what the profile was calibrated with, "3 runs of 2026-11-20"; NULL: it was not */
    size_t calibrated_runs;     /* how many of these are runs, not tables */
    const double *left_out;     /* left_out_count of these runs, ascending: measured time over that predicted by the
                                   others */
    size_t left_out_count;
    const double *left_out_memory; /* the same of their memory */
    size_t left_out_memory_count;
    struct platform_source platform;
    const struct what_if *what_if; /* changes of it, what_if_count of them */
    size_t what_if_count;
    const struct what_if *links; /* what they reach, as measured: link_count of them, before those changes */
    size_t link_count;
    const char *platform_name; /* what outputs call the platform: its text, and the changes */

    const struct stagesim_workload *workload;
    const char *plugin;     /* the file that the workload comes from; NULL: it is built in */
    const void *parameters; /* workload->parameters_size bytes, filled from the workload's sections */

    struct mesh mesh; /* finished; always has the axes data and pipeline, others where larger than 1 */
    uint32_t workers; /* D: size of the pipeline axis */
    uint32_t data;    /* size of the data axis */

    uint32_t micro_batches;    /* N: per iteration and data-parallel replica; 0: the scenario has no `batch` */
    uint64_t micro_batch_size; /* samples; 0: not given */
    uint64_t global_batch;     /* samples: N * micro_batch_size * data; 0: not known */
    uint32_t iterations;
    bool spelt;   /* as many are asked for, of a schedule whose order crosses iterations, too */
    bool settled; /* until the time between their ends stands: the job finds out how many that takes */
    bool found;   /* `iterations` is that number: set by who has found it */

    const struct schedule *schedule;             /* NULL: none given, or schedule_file */
    const char *schedule_file;                   /* csv with a schedule of the user's own; NULL: none */
    const char *schedule_name;                   /* name, or the file's base name without .csv; NULL: no schedule */
    int64_t options[SCHEDULE_OPTIONS_MAX];       /* in the order of schedule->options */
    struct schedule_stashes stashes;             /* of each worker, where an option gives them so */
    enum scenario_recompute recompute;           /* where stages differ that of the first one */
    const enum scenario_recompute *recompute_of; /* [stage], recompute_count of them; NULL: all alike */
    uint32_t recompute_count;

    enum scenario_engine engine;
    enum scenario_fold fold;
    enum scenario_steady steady;
    enum scenario_placement placement;
    struct collective_policy collectives; /* what `communication` asks for */
    enum scenario_messages messages;
    const char *const *simgrid; /* "key:value" for SimGrid's --cfg, simgrid_count of them, in the file's order */
    size_t simgrid_count;

    unsigned traces, pictures; /* bits of enum trace_bit, picture_bit */
    struct paper_size paper;   /* of pictures */
    uint32_t drawn_iterations; /* of pictures; 0: as usual. At least as many are simulated */
    bool report;
    enum scenario_nearest nearest;
    struct plan_store *plans; /* shared with other jobs, set like `bounded`; NULL: none */
    bool keeps_order;         /* the job keeps the order of its pipeline: set like `bounded` */
    bool bounded;             /* the job says what no order takes less than: for comparisons, which set it */
    uint64_t operations_max;  /* larger jobs are refused before they are built; 0: none are. Set like `bounded` */
    struct scenario_search search;
    struct plan_settings plan;
    const struct scenario_kind *kind; /* NULL: it is a job; otherwise most of this says nothing of it */
    void *whole;                      /* what its kind has read */
    const char *log;                  /* a further file that it reads; NULL: none */
    struct scenario *const *parts;    /* its jobs, part_count of them */
    size_t part_count;

    struct power_settings power;
    struct training_settings training;
    struct tails_settings tails;
    double reserve;    /* share of every GPU's memory that is held back */
    bool all_replicas; /* write folded replicas out, too */

    const struct scenario_imported *imported; /* what an import left open; NULL: nobody imported it */

    const struct scenario_unmet *unmet; /* what is given and changes nothing, unmet_count of them */
    size_t unmet_count;

    struct node *root; /* the document, for places */
    struct scenario_request
        request; /* what was loaded, for loading it again with a change; its texts as long as the caller's */
};

/* A request with further sets behind its own; the list is in the arena. */
struct scenario_request scenario_request_with(const struct scenario_request *request, const struct scenario_set *sets,
                                              size_t count, struct arena *arena);

/* Loads and checks; every mistake goes to diag. NULL after a mistake. The platform file is looked for but not read. */
struct scenario *scenario_load(const struct scenario_request *request, struct arena *arena, struct diag *diag);

/* Where the value at a dotted path was written ("parallel.pipeline"); where the path does not exist, its longest part
 * that does; "" is the whole file. */
struct place scenario_place(const struct scenario *scenario, const char *path);
/* Whether the scenario itself or the command line says what is at a path, and not a framework's profile. */
bool scenario_is_own(const struct scenario *scenario, const char *path);
/* The place of a key as in the workload's field table: "forward" is stages.forward, "model.layers" is itself; NULL: the
 * workload's section, or the value of `workload` where it has none. */
struct place scenario_workload_place(const struct scenario *scenario, const char *key);
/* schedule.recompute as a scenario has it: a word, or "[none, full]" where stages differ. Memory from the arena. */
const char *scenario_recompute_text(const struct scenario *scenario, struct arena *arena);
/* Where to report what the workload says about a key: that key's place. If it was not written in the scenario itself (a
 * file that the scenario names has it, or nobody), the fault lies rather with a value of the command line: the first
 * whose key the message names, or the last in the key's section. */
struct place scenario_blame(const struct scenario *scenario, const char *key, const char *message);

/* Whether a word that stands for a schedule is a schedule file: it ends in .csv or has a '/'. */
bool schedule_is_file(const char *word);
/* What the scenario asks of its schedule. Needs scenario->schedule. */
struct schedule_request scenario_schedule_request(const struct scenario *scenario);
/* For workloads with a pipeline: the scenario has a batch and a schedule, and the schedule fits. False with the mistake
 * reported at the value to blame. Loading has checked the fit already unless the request replaced the schedule. */
bool scenario_check_pipeline(const struct scenario *scenario, struct diag *diag);
/* The platform has a GPU for every rank. False with the mistake reported at `parallel`, and a note at `platform`. */
bool scenario_check_platform(const struct scenario *scenario, const struct platform *platform, struct diag *diag);

/* Between what communication.links may lie: a share of the platform's rate, of which no wire has more than a little
 * above what messages reach, and a factor on latency. */
struct link_bounds {
    double rate_least, rate_most, latency_least, latency_most;
};
extern const struct link_bounds scenario_link_bounds;

/* The loaded platform with what its links reach (communication.links) and the scenario's changes (what_if); memory from
 * the arena. NULL with the mistake reported. */
struct platform *scenario_change_platform(const struct scenario *scenario, struct platform *platform,
                                          struct arena *arena, struct diag *diag);

/* Whether the scenario's workload has the key of a dimension (stagesim's own keys it always has). */
bool scenario_has_dimension(const struct scenario *scenario, enum search_dimension dimension);
/* The words that values of a dimension are of, NULL-terminated; NULL: they are numbers, or not known. */
const char *const *scenario_dimension_words(const struct scenario *scenario, enum search_dimension dimension);

/* Markdown tables of all keys: name, type, meaning. From the tables that the reader works with. */
void scenario_print_keys(FILE *out);

#endif
