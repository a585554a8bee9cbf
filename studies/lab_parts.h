/* SPDX-License-Identifier: Apache-2.0 */
/* The search of the laboratory; for lab*.c only. */
#ifndef STAGESIM_LAB_PARTS_H
#define STAGESIM_LAB_PARTS_H

#include "studies/lab.h"

/* The part that runs beside the platform. */
struct session {
    const struct lab_request *request;
    struct platform *platform;
    struct lab *lab;
    double began;
    uint64_t random;
};

/* ---- lab_candidate.c ---- */

/* The file of a candidate's number. Memory from the arena. */
const char *lab_file_of(const struct session *session, uint32_t number, const char *ending, struct arena *arena);
/* What the candidate changes of the scenario; `order`: a schedule file in place of its own, or NULL. */
struct scenario_request lab_scenario_of(const struct lab_request *request, const struct lab_candidate *candidate,
                                        const char *order, struct arena *arena);
/* Whether time, room or the user ended it. */
bool lab_is_over(struct session *session);
/* Sets a key; a later value of the same key takes the place of the earlier one. */
__attribute__((format(printf, 2, 3))) void lab_add_set(struct lab_candidate *candidate, const char *format, ...);
/* Times a candidate, by its order's file if it has one. False where it is not possible. */
bool lab_judge(struct session *session, struct lab_candidate *candidate, uint32_t number, const char *order);
/* What fits comes first, then the fastest. */
bool lab_is_better(const struct lab_candidate *a, const struct lab_candidate *b);
/* Times a candidate and keeps it; false where it is not possible or the search is over. */
bool lab_try(struct session *session, struct lab_candidate *candidate, const char *order);
/* NULL: there is none yet. */
const struct lab_candidate *lab_best(const struct lab *lab);

/* ---- lab_layers.c ---- */

/* From the best so far, and from the scenario's own schedule: its layers balanced, then moved; each way of
 * recomputing. */
void lab_try_partitions(struct session *session);

#endif
