/* SPDX-License-Identifier: Apache-2.0 */
/* The program: timed tasks of one replica, per position and stream an ordered list of operations with dependencies. The
 * one language into which every workload is lowered and the only thing that an engine understands. */
#ifndef STAGESIM_PROGRAM_H
#define STAGESIM_PROGRAM_H

#include "abi/workload.h"
#include "platforms/power/power.h"
#include "simulator/program/mesh.h"
#include "simulator/program/pair_bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum operation_type { OPERATION_COMPUTE, OPERATION_SEND, OPERATION_RECEIVE, OPERATION_COLLECTIVE, OPERATION_DELAY };

enum { STAGE_NONE = UINT16_MAX, LAYER_NONE = UINT16_MAX };
/* ISO C's enumerators are ints. */
#define MICRO_BATCH_NONE UINT32_MAX
#define VARIATION_NONE UINT32_MAX
#define PAIRS_NONE UINT32_MAX

enum { ITERATIONS_MAX = 1 << 17 };
/* Of all positions together. */
#define PROGRAM_OPERATIONS_MAX 0x1p28
enum { PROGRAM_STREAMS_MAX = UINT16_MAX };

/* 24 bytes: programs reach millions of operations. Lies in position.operations, where another one follows it. */
struct operation {
    unsigned type : 3;       /* enum operation_type */
    unsigned kind : 5;       /* enum stagesim_kind */
    unsigned part : 2;       /* 0 whole, 1 half a, 2 half b */
    unsigned collective : 4; /* OPERATION_COLLECTIVE: enum stagesim_collective */
    unsigned is_block : 1;   /* compute: two in one; operation_block gives the second */
    unsigned iteration : 17; /* below ITERATIONS_MAX */
    uint16_t stage, layer;   /* STAGE_NONE, LAYER_NONE: none */
    uint32_t micro_batch;    /* MICRO_BATCH_NONE: none */
    uint32_t cost;           /* index into program.costs */
    uint32_t first_wait;     /* what it waits for: position.waits[first_wait .. first_wait of the next operation) */
    uint16_t pipeline;
    uint16_t stream; /* index into position.streams */
};

/* Operations of a stream have consecutive ids: first .. first + count - 1. Stream 0 of a position is its compute
 * stream. */
struct stream {
    uint8_t type;      /* enum operation_type of all its operations */
    uint8_t kind;      /* send, receive: enum stagesim_kind of its messages */
    uint32_t peer;     /* send, receive: position; collective: index into program.groups; delay: lane */
    uint32_t opposite; /* send, receive: index of the matching stream at the peer position */
    uint32_t first, count;
};

struct position {
    struct operation *operations; /* and one more, whose first_wait ends the waits of the last */
    uint32_t operation_count;
    struct stream *streams;
    uint32_t stream_count;
    uint32_t *waits;
    uint32_t wait_count;
    /* The reverse of waits: dependents[first_dependent[id] .. first_dependent[id + 1]) are the operations that wait for
     * id. */
    uint32_t *dependents, *first_dependent;
    struct block *blocks; /* in the order of operations */
    uint32_t block_count;
    struct stagesim_static_memory memory;
};

/* A set of ranks: all coordinates along `axes` (bit i: mesh axis i, none of them distinct) of `positions`. One instance
 * for every coordinate along the other replicated axes. Members in rank order. */
struct group {
    uint32_t axes;
    uint32_t *positions;
    uint32_t position_count;
    uint32_t collective_count; /* operations of each member position in this group */
};

/* The second half of a computation that is a forward and a backward (or two forwards) as one block. Time and flops of
 * the whole block are in the operation's own cost; `cost` holds only what the second half takes or gives back. */
struct block {
    uint8_t kind, part;
    uint16_t stage, pipeline;
    uint32_t micro_batch;
    uint32_t cost;
    uint32_t operation; /* id of the computation */
};

/* Computations that take longer on some replicas than on others: times and flop of a cost are multiplied by the factor
 * of the replica's coordinate along `axes`. */
struct variation {
    uint32_t axes;   /* bit i: mesh axis i */
    double *factors; /* [coordinate] */
};

struct assignment;

struct program {
    const struct mesh *mesh;
    struct stagesim_cost *costs;
    uint32_t cost_count;
    uint32_t *variation_of; /* [cost]: index into variations; VARIATION_NONE: the same on all replicas */
    struct variation *variations;
    uint32_t variation_count;
    uint32_t *pairs_of; /* [cost]: index into pairs, of all-to-alls whose pairs have bytes of their own; PAIRS_NONE */
    struct pair_bytes *pairs;
    uint32_t pairs_count;
    struct group *groups;
    uint32_t group_count;
    struct position *positions;    /* [mesh->positions] */
    struct assignment *assignment; /* how the collectives are carried out, see assignment_create; NULL until then */
    uint32_t iterations;
    bool overlapping; /* iterations overlap (asynchronous schedules, bypassed optimizer synchronisation) */
    bool pipelined;   /* messages of a stream: one moves as soon as the bytes of the one before are there, its latency
                         under   way beside them; otherwise it leaves when the one before has arrived */
    bool independent; /* ranks go through their iterations each at its own speed, see struct stagesim_pace */
    bool uneven;      /* micro-batches of an iteration do not take equal times */
    uint32_t period;  /* iterations that repeat as a whole; at least 1 */
    uint32_t workers,
        stages; /* of the pipeline; S/D is the number of chunks that `stash` of one micro-batch divides by */
    uint32_t micro_batches;           /* per iteration and replica */
    const struct power_state *states; /* [rank]: of the hosts, for engines that measure energy; NULL: not asked for */
};

/* ---- building; the builder checks nothing that a workload's author could not see at once: mistakes are asserts ----
 */

struct program_builder;

/* mesh is borrowed for the life of the program. */
struct program_builder *program_builder_create(const struct mesh *mesh);
void program_builder_destroy(struct program_builder *builder);

/* The operations and waits that a position has been given so far. */
struct program_size {
    size_t operations, waits;
};
struct program_size program_size_of(const struct program_builder *builder, uint32_t position);
/* Room for that many operations and waits of a position beside those it has; merely saves time. */
void program_expect(struct program_builder *builder, uint32_t position, size_t operations, size_t waits);
uint32_t program_add_cost(struct program_builder *builder, const struct stagesim_cost *cost);
/* Factors, which are copied, for every coordinate along the axes; and a cost that varies by them. */
uint32_t program_add_variation(struct program_builder *builder, uint32_t axes, const double *factors);
void program_vary_cost(struct program_builder *builder, uint32_t cost, uint32_t variation);
/* A cost of all-to-alls in which each pair of members has its own bytes, [from * members + to], members in rank order.
 * They are copied. The cost's own `bytes` become pair_bytes_size. */
uint32_t program_add_pairs_cost(struct program_builder *builder, const struct stagesim_cost *cost, uint32_t members,
                                const double *bytes);
/* The members of such a cost; 0: it is none. And pairs of the costs so far. */
uint32_t program_pairs_members(const struct program_builder *builder, uint32_t cost);
uint64_t program_pairs_total(const struct program_builder *builder);
/* The ranks of an instance of a group that was made; and whether each is a position of its own. */
uint32_t program_group_ranks(const struct program_builder *builder, uint32_t group);
bool program_group_is_distinct(const struct program_builder *builder, uint32_t group);
/* axes: bit per mesh axis. */
uint32_t program_add_group(struct program_builder *builder, uint32_t axes, const uint32_t *positions, size_t count);
uint32_t program_add_compute(struct program_builder *builder, uint32_t position, struct stagesim_identity identity,
                             uint32_t cost);
/* The first computation that the position has been given since an operation; UINT32_MAX: none. */
uint32_t program_next_compute(const struct program_builder *builder, uint32_t position, uint32_t operation);
/* Gives the newest compute of the position a second identity: it is a block. `second.operation` need not be set. */
void program_add_block(struct program_builder *builder, uint32_t position, struct block second);
uint32_t program_add_delay(struct program_builder *builder, uint32_t position, uint32_t lane,
                           struct stagesim_identity identity, uint32_t cost);
void program_add_message(struct program_builder *builder, uint32_t from, uint32_t to, struct stagesim_identity identity,
                         uint32_t cost, uint32_t *send, uint32_t *receive);
uint32_t program_add_collective(struct program_builder *builder, uint32_t position, uint32_t group,
                                enum stagesim_collective collective, struct stagesim_identity identity, uint32_t cost);
/* A receive waits for nothing but the receives before it: it may not be the waiting operation. */
void program_add_wait(struct program_builder *builder, uint32_t position, uint32_t operation, uint32_t awaited);
/* Whether a position has as many streams as can be told apart, or the program as many operations as it may have: then
 * nothing is added. */
bool program_is_full(const struct program_builder *builder, uint32_t position);
/* Whether there is such a cost or group, and whether an operation may wait for another: for checks before the calls
 * above. */
bool program_has_cost(const struct program_builder *builder, uint32_t cost);
bool program_has_group(const struct program_builder *builder, uint32_t group);
/* Operations so far, of one replica. */
uint64_t program_builder_operations(const struct program_builder *builder);
bool program_may_wait(const struct program_builder *builder, uint32_t position, uint32_t operation, uint32_t awaited);
void program_set_memory(struct program_builder *builder, uint32_t position,
                        const struct stagesim_static_memory *memory);

/* Lays the operations out by stream (ids change), links opposite streams and dependents. Memory from the arena; the
 * builder is left empty. */
struct program *program_finish(struct program_builder *builder, struct arena *arena);

/* ---- reading ---- */

/* Operations of one replica. */
uint64_t program_operations(const struct program *program);
/* Operations of all ranks. */
uint64_t program_all_operations(const struct program *program);

static inline const struct stagesim_cost *operation_cost(const struct program *program,
                                                         const struct operation *operation)
{
    return &program->costs[operation->cost];
}

/* What times and flop of an operation are multiplied by on a replica. */
static inline double operation_factor(const struct program *program, const struct operation *operation,
                                      uint32_t replica)
{
    uint32_t variation = program->variation_of[operation->cost];
    if (variation == VARIATION_NONE)
        return 1;
    return program->variations[variation]
        .factors[mesh_coordinate(program->mesh, program->variations[variation].axes, replica)];
}

/* Whether it is a storage's read: it moves data, as transfers do. */
static inline bool operation_reads_storage(const struct operation *operation)
{
    return operation->type == OPERATION_DELAY && operation->kind == STAGESIM_INPUT;
}

/* Whether all that a position does is to bring samples to others, as storage hosts do: means over ranks leave its ranks
 * out. The number of ranks that are left. */
bool program_position_feeds(const struct program *program, uint32_t position);
uint32_t program_counted_ranks(const struct program *program);

/* The bytes of an all-to-all's pairs; NULL: the same for all. */
static inline const struct pair_bytes *operation_pairs(const struct program *program, const struct operation *operation)
{
    uint32_t pairs = program->pairs_of[operation->cost];
    return pairs == PAIRS_NONE ? NULL : &program->pairs[pairs];
}

/* How many operations an operation waits for, and the i-th of them: ids of the same position. */
static inline uint32_t operation_wait_count(const struct operation *operation)
{
    return operation[1].first_wait - operation->first_wait;
}

static inline uint32_t operation_wait(const struct position *position, const struct operation *operation, uint32_t i)
{
    return position->waits[operation->first_wait + i];
}

/* The second half of an operation of the position that is a block; NULL when it is none. */
const struct block *operation_block(const struct position *position, const struct operation *operation);
/* Index of the position's stream of collectives in a group that it is a member of. */
uint32_t position_group_stream(const struct position *position, uint32_t group);
/* The number of ranks of an instance of a group. */
uint32_t group_size(const struct program *program, const struct group *group);
/* Number of instances of a group. */
uint32_t group_instances(const struct program *program, const struct group *group);
/* The instance that a replica belongs to: 0 .. group_instances - 1. */
uint32_t group_instance_of(const struct program *program, const struct group *group, uint32_t replica);
/* Ranks of an instance in rank order; `ranks` holds group_size entries. */
void group_ranks(const struct program *program, const struct group *group, uint32_t instance, uint32_t *ranks);

/* As in operations.csv: "F", "B", "W", "FB", "optimizer", "activation", ... */
const char *kind_name(enum stagesim_kind kind);
/* "all-reduce", ... */
const char *collective_name(enum stagesim_collective collective);

#endif
