/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded step as a program of the simulator, which an engine runs. Each rank of the trace is a position: what it
 * computes is in the order of the trace. Without a network, messages and collectives are delays of the seconds that
 * they take, and where ranks meet they do so in messages and collectives without bytes: what waits for what is as in
 * the step's graph (replay.h), so both give the same time; the graph is faster, and serves where a step is replayed
 * hundreds of times. With a network, messages and collectives move their bytes over its links, beside each other. */
#ifndef STAGESIM_EXPLAIN_ENGINE_REPLAY_H
#define STAGESIM_EXPLAIN_ENGINE_REPLAY_H

#include "abi/workload.h"
#include "simulator/collectives/assignment.h"
#include "simulator/engines/engine.h"
#include "studies/explain/replay.h"

struct engine_replay;

struct replay_collective {
    enum stagesim_collective collective;
    struct stagesim_cost cost;
    double *pairs; /* bytes of each pair, [from * members + to], which the replay frees; NULL: the same of all */
};

/* What the messages and collectives of a trace are on a platform; all borrowed, as long as the replay. */
struct replay_network {
    struct platform *platform;
    const uint32_t *hosts; /* [rank of the trace] */
    const struct collective_policy *policy;
    /* Bytes of a message by its send; NaN: not known. */
    double (*message)(void *user, uint32_t operation);
    /* What these ranks of the trace do together in that operation; false: not known. Then it takes the recorded time.
     */
    bool (*collective)(void *user, uint32_t operation, const uint32_t *ranks, uint32_t count,
                       struct replay_collective *collective);
    void *user;
};

/* The graph is borrowed; the caller owns the result. NULL with the fault filled where the step has more streams or
 * operations than a program may have. */
struct engine_replay *engine_replay_create(const struct replay *replay, const struct replay_network *network,
                                           struct fault *fault);
void engine_replay_finish(struct engine_replay *replay); /* NULL is fine */

/* The step's seconds on the contention-free engine when nodes of the graph take these times and gaps, [node]; NULL:
 * those recorded. NaN with the fault filled where the engine refuses it. Not with a network. */
double engine_replay_time(struct engine_replay *replay, const double *seconds, const double *gaps, struct fault *fault);

/* With a network: the step's seconds with recorded computations and gaps. `seconds`, [node], gets what messages and
 * collectives took; NaN: the node moves no data. NaN with the fault filled when the simulation failed. */
double engine_replay_simulate(struct engine_replay *replay, const struct engine *engine, double *seconds,
                              struct fault *fault);

#endif
