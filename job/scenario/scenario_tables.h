/* SPDX-License-Identifier: Apache-2.0 */
/* The scenario's own keys, and the structs that they fill. */
#ifndef STAGESIM_SCENARIO_TABLES_H
#define STAGESIM_SCENARIO_TABLES_H

#include "abi/fields/fields.h"
#include "platforms/platform.h"
#include "platforms/power/power.h"
#include "simulator/program/mesh.h"
#include "simulator/tails/tails.h"

struct arena;

/* As RANKS_MAX: keeps products of sizes within 64 bits, and tables within memory. */
#define MICRO_BATCHES_MAX ((uint64_t)1 << 24)

struct root_values {
    const char *platform, *workload, *name, *framework;
    struct stagesim_texts what_if;
    unsigned engine, fold, steady, placement, loader;
    const char *iterations;
};

struct memory_values {
    const char *reserve; /* NULL: not given */
};

struct power_values {
    struct power_settings settings;
    struct stagesim_list carbon; /* a number, or one for each hour of a day, in place of rows */
    struct stagesim_rows intensities, table;
};
extern const struct power_values power_defaults;

/* NULL, 0: not given. */
struct training_values {
    uint64_t steps, evaluate_every, runs, seed, rack, behind_switch, lemon_strikes, every_steps;
    double step, evaluate, scale, redundancy, lemons, lemon_rate, bytes, storage, storage_every;
    const char *rates, *spares, *every;
    struct stagesim_rows components;
    unsigned policy, batch, way, traffic;
    bool fill_bubble;
    struct stagesim_texts servers;
    const struct fields_distribution *start, *detect, *replacement, *restart, *repair, *pool, *stall, *save, *write,
        *load, *load_memory;
};
/* Memory from the arena. */
struct training_values training_values_default(struct arena *arena);

/* NULL, 0: not given. */
struct tails_values {
    bool quantiles;
    const char *like;
    const struct fields_distribution *device, *node, *worker, *micro_batch, *operation, *forward, *backward, *weight,
        *optimizer, *kernels[TAILS_KERNELS], *transfer, *message, *collective, *link, *pause;
    double pause_every;
    struct stagesim_rows trace;
    uint64_t steps, seed;
};
extern const struct tails_values tails_defaults;

struct platform_values { /* NULL, 0: not given */
    const char *file, *preset, *nic, *torus;
    uint64_t nodes, gpus_per_node, pod, group, sites;
    double oversubscription, group_oversubscription, site_rate, site_latency, flow_rate, flow_window;
    unsigned group_links; /* 0: shared, 1: direct */
    unsigned rails;       /* an enum fabric_rails */
    unsigned routing;     /* an enum routing_policy */
    uint64_t paths, flows, seed;
};

struct batch_values { /* 0: not given */
    uint64_t global, micro, micro_batches;
};

extern const char *const scenario_recompute_names[]; /* [enum scenario_recompute], NULL-terminated */

struct schedule_values {
    const char *name, *file;
    struct stagesim_texts recompute; /* words that scenario_recompute_names has, or that are no good */
};

struct communication_values {
    unsigned algorithms[STAGESIM_COLLECTIVES];  /* indices into the field's names */
    unsigned form;                              /* 0: steady, 1: stepwise */
    unsigned messages;                          /* enum scenario_messages */
    struct stagesim_texts links;                /* "nic=0.8" */
    const char *programs[STAGESIM_COLLECTIVES]; /* files in place of algorithms; NULL: none */
};

struct output_values {
    unsigned traces, pictures, replicas, nearest;
    const char *picture_width, *font_size; /* NULL: not given */
    uint64_t picture_iterations;           /* 0: not given */
    bool report;
};

/* Names of the mesh's axes, innermost first unless the scenario says otherwise; NULL-terminated. */
enum { AXIS_TENSOR = 3, AXIS_CONTEXT, AXIS_EXPERT, AXIS_PIPELINE, AXIS_DATA, AXIS_NAMES }; /* indices into axis_names */
/* No axis: the ranks of the axis tensor that share each expert; 1 where it is not given. */
enum { SIZE_EXPERT_TENSOR = AXIS_NAMES, PARALLEL_SIZES };
extern const char *const axis_names[AXIS_NAMES + 1];

extern const struct stagesim_field root_fields[], platform_fields[], parallel_fields[], batch_fields[],
    schedule_fields[], output_fields[];
/* Large enough for the value of any of simgrid_settings. */
union simgrid_value {
    uint64_t count;
    double ratio;
    unsigned name;
};

/* Sections of the scenario's own; parallel_fields fill uint64_t[PARALLEL_SIZES]. */
extern const struct fields_section root_section, platform_section, parallel_section, batch_section, schedule_section,
    output_section, simgrid_section, search_section, memory_section, power_section, training_section, failures_section,
    checkpoint_section, tails_section, plan_section, prices_section, imported_section;
/* `communication` may hold keys of the workload, too. */
extern const struct fields_section communication_section;
/* Its fields with the words that they take: those of algorithms are the ones of the table of algorithms that carry out
 * the collective; of those that `given` (the section, NULL: none) has programs for, files. From the arena. The
 * section's own fields have the keys alone. */
const struct stagesim_field *communication_fields_create(const struct node *given, struct arena *arena);
/* The collective whose algorithm a field chooses; STAGESIM_COLLECTIVES: none. */
enum stagesim_collective communication_collective(const struct stagesim_field *field);
/* Its keys, NULL-terminated. */
extern const char *const communication_keys[];
/* Its keys are files, its values their hashes. */
extern const char inputs_section_name[];
/* What a framework's profile may have: sections, each with the scenario's own keys that profile_own_section has (NULL:
 * none) and those of all workloads; and other keys, of which rules have none but `if`. NULL-terminated. */
extern const char *const profile_sections[], *const profile_words[];
const struct fields_section *profile_own_section(const char *name);
/* Keys of the top level that are not in root_fields; NULL-terminated. */
extern const char *const section_names[];

/* `power` with numbers for its key `carbon` where the section, which may be NULL, gives some; otherwise rows. */
struct fields_section power_section_create(const struct node *node, struct arena *arena);

#endif
