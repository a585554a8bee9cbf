/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule turns (workers, micro-batches, options) into a plan. */
#ifndef STAGESIM_SCHEDULES_KIT_SCHEDULE_H
#define STAGESIM_SCHEDULES_KIT_SCHEDULE_H

#include "schedules/plan/plan.h"
#include "schedules/plan/plan_timing.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SCHEDULE_OPTIONS_MAX = 6,
    SCHEDULE_STASH = 5040,     /* parts of a stash: any number of chunks up to ten, and halves of most of them */
    SCHEDULE_STASHES_EACH = -1 /* a limit of stashes for each worker */
};

/* Limits of stashes for each worker, of the one option of a schedule that takes them. */
struct schedule_stashes {
    const int64_t *parts; /* [worker], in parts of a stash; count of them */
    uint32_t count;
};

/* An option of a schedule: a count (names NULL, bounds inclusive), one of some words, or a limit of stashes. */
struct schedule_option {
    const char *key; /* NULL ends a table */
    const char *const *names;
    int64_t initial, least, most; /* initial: the default; for words an index into names */
    const char *doc;
    bool stashes; /* a limit of stashes: one of the words, where there are any; otherwise a number of stashes in parts
                     of one, 0 (without words): any number; SCHEDULE_STASHES_EACH: as the request says of each worker */
};

struct best_progress;

/* Who watches a search; false ends it with the best order so far. */
struct schedule_watch {
    bool (*report)(void *user, const struct best_progress *progress);
    void *user;
};

/* What a plan is asked for. */
struct schedule_request {
    uint32_t workers;       /* D */
    uint32_t micro_batches; /* N: per iteration, both directions of a bidirectional pipeline together */
    uint32_t iterations;    /* how many the plan spells out when the schedule crosses iterations; 1 otherwise */
    int64_t options[SCHEDULE_OPTIONS_MAX]; /* in the order of the schedule's option table */
    struct schedule_stashes stashes;       /* where an option gives them for each worker; borrowed */
    double forward, backward, weight; /* times of one micro-batch on one worker's share, backward whole; for schedules
                                         whose order depends on times; 1, 2, 1 when not known */
    double grain;                     /* share of a sequence that the lengths of slices are multiples of; 0: any */
    const struct plan_costs *costs;   /* times of the schedule's own stages, and of a message; NULL: those above, spread
                                         evenly, and messages that take no time */
    const struct schedule_watch *watch; /* of a schedule that is searched for; NULL: nobody */
};

/* Why a request does not fit a schedule: which of its inputs is to blame, and text with what would be accepted. */
struct schedule_refusal {
    enum { REFUSED_WORKERS, REFUSED_MICRO_BATCHES, REFUSED_OPTION } about;
    const char *option; /* REFUSED_OPTION: its key */
    char text[256];
};

struct schedule {
    const char *name, *summary, *source;
    const char *when;    /* to use it; NULL: not said */
    bool asynchronous;   /* not equivalent to synchronous training */
    bool crosses;        /* its order crosses iterations: asked for several at once to find the steady state;
                            where an option forbids it, the plan has one iteration all the same */
    bool split_backward; /* has W slots */
    bool plain;          /* synchronous, of one pipeline: each micro-batch goes once forward and once backward through
                            every stage, whole and by itself */
    bool adapts;         /* its order depends on the request's costs */
    bool timed;          /* its order depends on the request's forward and backward */
    bool slices;         /* it cuts the sequences of micro-batches */
    bool recomputes;     /* it computes forwards again */
    bool fails;          /* some of its workers have failed: it is taken only by name */
    bool shares_output;  /* its workers share the output layer: it is taken only by name */
    bool searches;       /* it takes seconds to find: searches try it only by name */
    const struct schedule_option *options; /* NULL: none */
    /* Stages of the model that the schedule cuts it into: workers times chunks. */
    uint32_t (*stages)(const struct schedule_request *request);
    /* False with the refusal filled when the request is not possible. NULL: everything with D >= 1, N >= 1 fits. */
    bool (*fits)(const struct schedule_request *request, struct schedule_refusal *refusal);
    /* The plan of a request that fits; the caller owns it. */
    struct plan *(*plan)(const struct schedule_request *request);
};

/* Whether it is taken only by name: it searches, or what its workers do is not what those of others do. */
static inline bool schedule_goes_by_name(const struct schedule *schedule)
{
    return schedule->searches || schedule->fails || schedule->shares_output;
}

/* A schedule's option of that key, or NULL. */
const struct schedule_option *schedule_find_option(const struct schedule *schedule, const char *key);
/* Whether a value is one of the option's words. */
bool schedule_option_is_word(const struct schedule_option *option, int64_t value);
/* Reads a number of stashes, "4", "3.5" or "7/2", into parts of one, rounded down; false where it is none. */
bool schedule_stashes_read(const char *text, int64_t *parts);
/* The stashes that a worker may hold by an option's value that is no word, in parts of one; 0: any number. */
int64_t schedule_stashes_of(const struct schedule_request *request, uint32_t option, uint32_t worker);
/* Whether a text can be a value of the option: one of its words, or where it has none a count. */
bool schedule_option_takes(const struct schedule_option *option, const char *text);
/* A request with the schedule's default options. */
struct schedule_request schedule_request_default(const struct schedule *schedule, uint32_t workers,
                                                 uint32_t micro_batches);
/* The fits function, or the built-in check of D and N. */
bool schedule_fits(const struct schedule *schedule, const struct schedule_request *request,
                   struct schedule_refusal *refusal);
__attribute__((format(printf, 4, 5))) bool schedule_refuse(struct schedule_refusal *refusal, int about,
                                                           const char *option, const char *format, ...);

#endif
