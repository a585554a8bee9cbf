/* SPDX-License-Identifier: Apache-2.0 */
/* What learning from dead ends keeps; for learn*.c only. */
#ifndef STAGESIM_LEARN_PARTS_H
#define STAGESIM_LEARN_PARTS_H

#include "schedules/best/clauses.h"
#include "schedules/best/learn.h"

struct learn {
    const struct instance *instance;
    struct knowledge *k;
    /* Which variable is decided next: the one that dead ends had to do with lately. */
    double *activity, step;
    uint32_t *heap, *place, heap_count; /* place: index + 1 in the heap */
    bool *phase;                        /* [variable]: how it is decided */
    /* The analysis of a conflict. */
    uint32_t *queue; /* entries, the last first: a heap */
    size_t queue_count, queue_capacity;
    bool *seen; /* [entry] */
    size_t seen_capacity;
    uint32_t *learnt;
    size_t learnt_count, learnt_capacity;
    uint32_t *level_marks, mark;
    size_t level_capacity;
    size_t thin_at;
    uint32_t conflicts, restart_number;
};

/* Puts a variable into the heap where it is not there. */
void learn_insert(struct learn *learn, uint32_t variable);
/* Takes the first one out. */
uint32_t learn_take(struct learn *learn);
/* A dead end had to do with the variable. */
void learn_bump(struct learn *learn, uint32_t variable);

#endif
