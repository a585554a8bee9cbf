/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a run, as defined in doc/definitions.md. Seconds, bytes, flop; shares are of T unless said otherwise.
 */
#ifndef STAGESIM_REPORT_H
#define STAGESIM_REPORT_H

#include "abi/workload.h"
#include "analysis/band/band.h"
#include "analysis/band/memory_band.h"
#include "analysis/figures/collective_use.h"
#include "analysis/figures/contention.h"
#include "analysis/figures/energy.h"
#include "analysis/figures/idle.h"
#include "analysis/figures/nearest.h"
#include "platforms/platform.h"
#include "simulator/program/steady.h"
#include "simulator/program/timeline.h"
#include "simulator/tails/tails.h"
#include "training/forecast.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

enum cause { CAUSE_FILL, CAUSE_DRAIN, CAUSE_RECEIVE, CAUSE_COLLECTIVE, CAUSE_DEPENDENCY, CAUSE_INPUT, CAUSES };
extern const char *const cause_names[CAUSES];

/* What an import of the job left open, see the scenario's section `imported`; summary NULL: nobody imported it. */
struct run_imported {
    const char *summary; /* "train.sh (Megatron-LM): 2 not modelled, 1 not known, 3 assumed" */
    struct stagesim_texts not_modelled, not_known, assumed;
};

/* What the report needs to know beside program, platform and timeline; borrowed. */
struct run_description {
    const char *scenario_file, *scenario_name; /* name: the file's base name without .yaml */
    const char *platform_file, *workload, *schedule, *engine;
    struct band band;          /* how far measured times of such jobs lie from predictions; no rows: not said */
    struct memory_band memory; /* the same of their memory */
    struct run_imported imported;
    const char *release;             /* "nemo@26.08": of the framework; NULL: not known */
    const char *calibration;         /* runs that the framework's profile was calibrated with; NULL: none */
    double micro_batch_size;         /* samples; 0: not known (then no throughput block) */
    struct stagesim_figures figures; /* what the workload declared; 0: not known, not given */
    bool settle;                     /* as many iterations were asked for as it takes until their time stands */
    bool asynchronous;               /* the schedule is not equivalent to synchronous training */
    const uint32_t *staleness;       /* [positions], NULL when synchronous */
    const uint32_t *hosts;           /* rank -> index into platform hosts */
    uint32_t
        folded_replicas;   /* data-parallel replicas of which one was simulated for all; 0 or 1: all were simulated */
    uint32_t fold_classes; /* of ranks that do the same at the same time; 0: not said */
    uint32_t fold_classes_but_latency; /* that there would be if no routes differed in a latency alone; 0: not said */
    const char *fold_reason;           /* why all were simulated; NULL or empty: not said */
    struct steady steady; /* how much was run; the timeline may be that of the shorter job, see frame_create_shortened;
                             then links are not asked for */
    const struct power_plan *power; /* NULL: the scenario says nothing of power */
    double reserve;                 /* share of every GPU's memory that is held back */
    bool brief;         /* only time, throughput, bubble and memory are asked for: no causes, links, paths or workers */
    bool communication; /* what of it is exposed is asked for, too; all the same where not brief */
    bool memory_known;  /* of a brief report: it fits, and memory is not asked for */
    bool printed;       /* only what people are shown on the terminal is asked for: no links */
    /* For people; NULL: not known. Inputs: "scenario demo.yaml sha256 ...". */
    const char *model, *precision, *gpu, *currency, *command, *simgrid;
    const char *const *notes; /* what is not as the scenario asks for, note_count of them */
    size_t note_count;
    const char *const *inputs;
    size_t input_count;
    struct nearest nearest; /* how far it is from the best that a search found */
};

/* What the ranks of the mesh's axes spend T with, shares of T that add up to 1. */
enum limit { LIMIT_COMPUTE, LIMIT_MEMORY, LIMIT_NETWORK, LIMIT_PIPELINE, LIMIT_INPUT, LIMITS };
extern const char *const limit_names[LIMITS];

struct limits {
    bool known;
    double shares[LIMITS]; /* arithmetic; moving bytes of device memory; waiting for communication; filling and
                              draining; waiting for samples */
};

/* The largest share. */
enum limit limits_by(const struct limits *limits);

/* What the fullest rank holds at its peak, in bytes. */
struct memory_parts {
    double parameters, gradients, optimizer, buffers, activations;
};

/* A change of the scenario that needs less memory. */
struct lever {
    const char *setting; /* as --set takes it */
    double peak_bytes;   /* of the fullest rank with it */
    bool fits;           /* in the platform's memory */
};

struct worker_report { /* one position of the replica on which the critical path spends most time */
    uint32_t position, rank;
    uint32_t simulated_rank; /* the rank whose times these are: another one where replicas were folded */
    const char *host;
    double busy, span, bubble; /* seconds, seconds, 1 - busy/T */
    double causes[CAUSES];     /* shares of T */
    double peak_in_flight;
    double peak_bytes;
};

struct link_report {
    const char *name;
    double bytes, utilization; /* bytes / (T * bandwidth) */
};

/* Links that are alike: names that differ in digits only, same rates. */
struct link_kind {
    const char *name;
    uint32_t count, used;    /* of the platform; of those used, by which utilization is a mean */
    double bandwidth, bytes; /* bytes per second of each; bytes over all of them */
    double utilization, utilization_max;
};

/* What of the critical path's time outside of computations is most. */
struct critical_transfer {
    const char *kind; /* as in operations.csv; NULL: nothing of the kind */
    bool collective;
    double seconds;
};

struct report {
    struct run_description run;
    const struct mesh *mesh; /* borrowed from the program */
    uint32_t ranks, iterations, micro_batches;
    uint32_t pipeline_workers, stages; /* 0: the workload has no pipeline */
    uint32_t counted_ranks;            /* ranks that means count: all but those that only feed others */
    uint32_t represented_ranks;        /* ranks that were not simulated themselves: another rank's times are theirs */
    double iteration, makespan;
    double shortest_iteration, longest_iteration; /* of those that `iteration` is the mean of; 0: fewer than two */
    /* Where several iterations were simulated: the one that the figures are about, see frame_shown; window_end 0: there
     * is but one. */
    double window_start, window_end;
    uint32_t period;   /* iterations of a round where they repeat in rounds, otherwise 0 */
    bool independent;  /* ranks are watched each at its own pace */
    bool settled;      /* the time between the ends of iterations stands, where run.settle */
    bool steady_state; /* iterations overlap: `iteration` is the mean over the cycle, or over half of the iterations */
    double cycle_start, cycle_length; /* seconds; 0: iterations do not overlap, or no state came back */
    uint32_t cycle_iterations;
    double samples_per_s, tokens_per_s, model_flops_per_s_per_gpu, mfu, hfu; /* 0: does not apply */
    double bubble, bubble_min, bubble_max, over_ideal, span_max; /* over_ideal: NaN where nothing is computed */
    double causes[CAUSES];
    struct idle_split idle; /* filled by the caller where the program was run with free transfers, too */
    double exposed, overlapped, sent_bytes;
    double peak_in_flight;             /* largest over all ranks */
    double peak_bytes, capacity_bytes; /* capacity 0: the platform says nothing of memory */
    bool fits;
    struct limits limits;
    struct memory_parts parts;         /* of the rank with peak_bytes */
    struct memory_outlook outlook;     /* of peak_bytes */
    double training_s, training_cost;  /* time and price of all tokens; 0: not asked for */
    struct training_job training;      /* what that was made of */
    struct training_forecast forecast; /* of the training with what fails; filled by the caller */
    struct tails_figures tails;        /* of steps that vary; filled by the caller */
    double million_tokens_cost;        /* price of a million tokens; 0: not asked for */
    struct lever *levers; /* of a job that does not fit, the one that saves least first; filled by the caller */
    uint32_t lever_count;
    double energy;      /* joules; negative: the platform has no wattage */
    double link_energy; /* of it that of links; 0: the platform says nothing of theirs */
    struct power_figures power;
    struct worker_report *workers;
    uint32_t worker_count;
    struct link_report *links; /* the 20 busiest, busiest first, then by name */
    uint32_t link_count;
    struct link_kind *link_kinds; /* all that are used, the one with the busiest link first */
    uint32_t link_kind_count;
    struct collective_use *collectives; /* how they were carried out */
    size_t collective_count;
    bool has_critical_path;
    bool lost; /* of a shorter job: its critical path does not come back in the cycle; the whole one has to be asked */
    struct critical_transfer critical_transfer;
    double critical_length, critical_compute, critical_receive, critical_collective, critical_delay;
    /* seconds of the critical path that scale with each, see sensitivity.h */
    double sensitive_compute, sensitive_bandwidth, sensitive_latency;
    const struct contention
        *contention; /* what SimGrid's timeline has and the analytic one has not; NULL: not compared */
    /* the simulation block: the only figures that differ from run to run */
    double wall, activities_per_s;
    uint64_t activities;
    double peak_rss_bytes;
    const char *platform_loader, *platform_loader_reason; /* see platform.h; NULL: not known */
};

/* The worker that waits longest for messages and collectives, and how long in an iteration; NULL: none does. */
const struct worker_report *report_longest_waiting(const struct report *report, double *seconds);
/* The name and size of the largest part: "activations". */
const char *memory_dominant(const struct memory_parts *parts, double *bytes);

/* Time, throughput and bubble of a job of one iteration that fits, which takes `iteration` seconds, of which the mean
 * rank computes `busy`. Memory from the arena. */
struct report *report_of_time(const struct run_description *run, const struct program *program, double iteration,
                              double busy, struct arena *arena);

/* Computes all figures; memory from the arena. `simulation` figures other than activities are left to the caller. */
struct report *report_create(const struct run_description *run, const struct timeline *timeline,
                             struct platform *platform, struct arena *arena);
/* The same where the timeline's frame is there. */
struct report *report_of_frame(const struct run_description *run, const struct frame *frame, struct platform *platform,
                               struct arena *arena);

#endif
