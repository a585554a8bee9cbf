/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded step as a program of the simulator, which an engine runs. Each rank of the trace is a position: what it
 * computes is in the order of the trace, messages and collectives are delays of the seconds that they take, and where
 * ranks meet they do so in messages and collectives without bytes. What waits for what is as in the step's graph
 * (replay.h), so both give the same time; the graph is faster, and serves where a step is replayed hundreds of times.
 */
#ifndef STAGESIM_EXPLAIN_ENGINE_REPLAY_H
#define STAGESIM_EXPLAIN_ENGINE_REPLAY_H

#include "studies/explain/replay.h"

struct engine_replay;

/* The graph is borrowed; the caller owns the result. NULL with the fault filled where the step has more streams or
 * operations than a program may have. */
struct engine_replay *engine_replay_create(const struct replay *replay, struct fault *fault);
void engine_replay_finish(struct engine_replay *replay); /* NULL is fine */

/* The step's seconds on the contention-free engine when nodes of the graph take these times and gaps, [node]; NULL:
 * those recorded. NaN with the fault filled where the engine refuses it. */
double engine_replay_time(struct engine_replay *replay, const double *seconds, const double *gaps, struct fault *fault);

#endif
