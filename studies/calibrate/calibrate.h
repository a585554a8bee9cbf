/* SPDX-License-Identifier: Apache-2.0 */
/* Scenarios beside what was measured of them: which values of a profile make predictions agree. */
#ifndef STAGESIM_CALIBRATE_H
#define STAGESIM_CALIBRATE_H

#include "frameworks/logs/training_log.h"
#include "job/scenario/scenario.h"
#include "studies/calibrate/reach.h"
#include "studies/calibrate/tuning.h"

struct arena;

/* What was asked for; borrowed. */
struct calibration_request {
    const char *const *scenarios; /* scenario_count files */
    size_t scenario_count;
    const char *const *measured; /* measured_count of them: a time as 9.0s, a log, or a table that ends in .csv. One
                                    scenario: all are of it; otherwise one of each, in their order. Beside them tables
                                    of collectives and of operators, which belong to all */
    size_t measured_count;
    const struct scenario_set *sets; /* set_count of them, for every scenario */
    size_t set_count;
    bool plugins;
};

/* One measurement. */
struct calibration_row {
    struct scenario *scenario; /* with the row's sets */
    const char *source;        /* name of the file without its directory; "--measured 9.0s" */
    const char *text;          /* what tables call it: the scenario and what was changed */
    struct place at;
    unsigned last_line;             /* with at.line what it was read from; 0: no lines */
    const struct training_log *log; /* NULL: none */
    const char *date;               /* "2026-11-20"; "": not known */
    double seconds, spread;         /* of an iteration; the spread between its steps, 0: not known */
    double bytes;                   /* memory of the fullest rank; 0: not measured */
    bool of_allocator;              /* bytes are those of PyTorch's allocator */

    /* Predicted: */
    double before, after, left_out; /* seconds; left_out NAN: there is no other row */
    double predicted_bytes;         /* of the fullest rank; 0: not known */
    double extra_bytes;             /* of them transformer.extra_memory */
    double whole_bytes;             /* measured, with what lies beside the allocator; 0: not measured */
    double left_out_bytes;          /* what the other rows' extra memory predicts; 0: there is no other row */
    double samples, tokens;         /* of an iteration; 0: not known */
    bool contradicts;               /* it lies far from what the others say */
};

struct calibration {
    struct calibration_row *rows; /* count of them */
    size_t count;
    struct tuning tuning;
    unsigned possible; /* parameters that could be fitted, a bit each */
    const char *base;  /* framework that the scenarios name, a file as it can be opened; NULL: none */
    const char *base_name;
    bool memory;                                  /* extra_memory says what follows from the rows with bytes */
    double extra_memory, memory_low, memory_high; /* bytes; low and high NAN: too few rows */
    double memory_over;                           /* bytes that formulas count beyond what was measured; 0: none */
    double own_step;                              /* seconds: compute.step of the first row before it is fitted */
    double timed_step;                            /* seconds of it that logs have by their timers; 0: none */
    struct measured *tables; /* table_count of collectives; calibration_finish gives their memory back */
    size_t table_count;
    struct reach reach;    /* what they say of links */
    const char *operators; /* a table of operators, a file as it can be opened; NULL: none */
    const char **links;    /* link_count values of communication.links, each with a remark behind '#'; NULL: none */
    size_t link_count;
    const char *remark;  /* what else was measured, which no value says: a comment of the profile; NULL: nothing */
    const char **advice; /* advice_count sentences: what another run would settle */
    size_t advice_count;
};

/* Reads, simulates (analytic engine) and fits. Returns an exit code after every mistake was reported on standard error.
 * Memory from the arena. */
int calibrate(const struct calibration_request *request, struct arena *arena, struct calibration *calibration);

void calibration_finish(struct calibration *calibration);
/* What may be measured: a run of its own, what says something of all, or a trace, which is not read here. */
enum calibration_sort {
    CALIBRATION_RUN,
    CALIBRATION_COLLECTIVES,
    CALIBRATION_OPERATORS,
    CALIBRATION_LAYERS,
    CALIBRATION_TRACE
};
enum calibration_sort calibration_sort_of(const char *measured);

/* So many seconds of the host in an iteration were measured by themselves, beside the rows' times: the fixed time has
 * them, and the rows' times from now on. False, and nothing is changed, where the scenario leaves no fixed time to a
 * profile, or where it was fitted. */
bool calibration_add_step(struct calibration *calibration, double seconds);

/* A parameter as people and files have it. */
struct calibration_key {
    const char *key;  /* "compute.clock" */
    const char *name; /* "clock" */
    const char *what; /* what it is, in words */
    bool seconds;     /* its unit; otherwise a ratio */
};
extern const struct calibration_key calibration_keys[TUNING_PARAMETERS];
/* A value with its unit as a scenario takes it. Memory from the arena. */
const char *calibration_value_text(enum tuning_parameter parameter, double value, struct arena *arena);

#endif
