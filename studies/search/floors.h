/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of candidates that nobody has looked at, from others that were. Where only the fastest layout is asked for,
 * most candidates need not be looked at. Of dense transformers on GPUs that are all alike:
 *
 * (a) What a micro-batch computes depends neither on the schedule (of plain ones), nor on the ranks along data and
 *     pipeline, nor on what replicas share, unless a stage computes more again than another. The busiest worker has at
 *     least an even share of it, for each micro-batch.
 * (b) Candidates that differ only in what replicas share (`zero`) have the same layers on the same stages, and the same
 *     exchanges beside them: their bounds differ in optimizer steps and no more.
 * (c) Some numbers do not go together, whatever else a layout has: heads that the ranks along tensor do not divide,
 *     more stages than layers, micro-batches that the samples of an iteration do not fill. */
#ifndef STAGESIM_SEARCH_FLOORS_H
#define STAGESIM_SEARCH_FLOORS_H

#include "job/job.h"
#include "studies/search/space.h"

struct fault;
struct floor_table;

struct search_floors {
    const struct scenario *scenario;
    const struct search_space *space;
    struct floor_table *table; /* in memory that processes share; NULL: nothing is known of any */
};

/* Where the scenario is one that this is true of, else they say nothing. False with the fault filled. Finish them all
 * the same. */
bool search_floors_create(struct search_floors *floors, const struct scenario *scenario,
                          const struct search_space *space, struct fault *fault);
void search_floors_finish(struct search_floors *floors);

/* What the outline of a candidate says of others. */
void search_floors_note(const struct search_floors *floors, uint64_t index, const struct job_outline *outline);

/* Seconds that no iteration of the candidate is shorter than; 0: not known; INFINITY: it is illegal. */
double search_floors_bound(const struct search_floors *floors, uint64_t index);

#endif
