/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded trace: what was measured, in the one form that all readers fill and all that explains it reads. Ranks have
 * streams, on a GPU those of device work and on a host threads; streams have operations. Times are seconds after
 * `origin`, the same for all ranks. What a format does not say is NONE, NaN or an empty text. */
#ifndef STAGESIM_RECORDED_H
#define STAGESIM_RECORDED_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct arena;

#define RECORDED_NONE UINT32_MAX
/* Ranks, positions and peers of a trace are numbered up to this. */
enum { RECORDED_RANK_MOST = 1 << 24 };

enum recorded_kind {
    RECORDED_COMPUTE,    /* a kernel, or a computation of a job's timeline */
    RECORDED_MEMORY,     /* device memory is copied or set */
    RECORDED_COLLECTIVE, /* messages that ranks exchange as a group */
    RECORDED_SEND,
    RECORDED_RECEIVE,
    RECORDED_HOST,       /* an operator or a function on the CPU */
    RECORDED_LAUNCH,     /* a call of the device's runtime on the CPU */
    RECORDED_SYNC,       /* what a wait for another stream or the device waits for, see struct recorded_sync */
    RECORDED_ANNOTATION, /* of the user's, such as ProfilerStep#3 */
    RECORDED_KINDS
};

/* What it is for. */
enum recorded_work {
    RECORDED_UNKNOWN,
    RECORDED_FORWARD,
    RECORDED_BACKWARD,
    RECORDED_WEIGHT,
    RECORDED_OPTIMIZER,
    RECORDED_ACTIVATION,       /* a message of a forward */
    RECORDED_GRADIENT,         /* a message of a backward */
    RECORDED_GRADIENT_SYNC,    /* gradients are summed over replicas */
    RECORDED_PARAMETER_GATHER, /* weights are collected of the ranks that hold their parts */
    RECORDED_OTHER,
    RECORDED_WORKS
};

/* What the members of a collective do. */
enum recorded_collective {
    RECORDED_NO_COLLECTIVE, /* or it is not known */
    RECORDED_ALL_REDUCE,
    RECORDED_ALL_GATHER,
    RECORDED_REDUCE_SCATTER,
    RECORDED_ALL_TO_ALL,
    RECORDED_BROADCAST,
    RECORDED_REDUCE,
    RECORDED_COLLECTIVES
};

struct recorded_operation {
    double begin, end;    /* begin: it was posted */
    double data;          /* messages and collectives: data began to move; NaN: not recorded */
    uint32_t name;        /* names[name] */
    uint32_t stream;      /* streams[stream] */
    uint32_t step;        /* number as it was recorded */
    uint32_t micro_batch; /* from 0 in each step */
    uint32_t group;       /* groups[group] of a collective or message */
    uint32_t sequence;    /* its number among its kind in the step on its rank: pairs sends with receives */
    uint32_t peer;        /* messages: rank at the other end */
    uint32_t correlation; /* of a profile: device work and the launch that it comes from have the same */
    uint32_t external;    /* device work and the operator on the host that it comes from have the same */
    uint32_t shape;       /* names[shape]: dimensions and types of its inputs */
    float bytes;          /* message, or copy; NaN: not recorded */
    uint16_t stage, chunk;
    uint16_t piece, pieces; /* of a timeline: which of how many alike of its rank, step, stage and micro-batch it is,
                               as the layers of a forward are; 0 of 0: not counted */
    uint8_t kind, work;     /* enum recorded_kind, recorded_work */
    uint8_t collective;     /* enum recorded_collective, of a profile */
    bool waiting;           /* its time holds what it waited for others, as that of kernels of NCCL */
};

enum { RECORDED_NO_STAGE = UINT16_MAX };

/* A dependency between streams of a device: RECORDED_SYNC operations have one, in this order. */
struct recorded_sync {
    uint32_t operation;
    uint32_t stream, awaited_stream; /* as the device numbers them; RECORDED_NONE: the host, all */
    uint32_t record;                 /* correlation of the cudaEventRecord; RECORDED_NONE: not recorded */
};

/* An operation begins when the awaited one has ended, as the trace itself says. */
struct recorded_wait {
    uint32_t operation, awaited;
};

/* A computation that is a block of two: the operation says what the first is of, this what the second is. */
struct recorded_block {
    uint32_t operation, micro_batch;
    uint16_t stage;
};

struct recorded_stream {
    uint32_t rank;   /* ranks[rank] */
    uint64_t number; /* as the trace has it: CUDA's stream, a thread */
    const char *name;
    bool host;
};

struct recorded_rank {
    uint32_t number;              /* in the job */
    uint32_t data, stage, tensor; /* coordinates, where the trace says; RECORDED_NONE */
    const char *file, *device;    /* device: "NVIDIA A100-SXM4-80GB"; NULL */
    double shift;                 /* seconds that were added to all its times to agree with the others' clocks */
};

/* Ranks that talk as one. */
struct recorded_group {
    const char *name, *what; /* what: as described by the framework; NULL */
    uint32_t size;           /* ranks; 0: not known */
    uint32_t *members;       /* numbers of ranks; NULL: not known, otherwise `size` of them, ascending */
};

struct recorded {
    const char *format;                    /* "PyTorch (Kineto)", for people */
    bool timeline;                         /* operations are those of a job's timeline (whole forwards), not kernels */
    size_t annotated;                      /* files that are profiles and say which forward and backward is when */
    int64_t origin;                        /* nanoseconds since 1970, or of the trace's own clock */
    uint32_t world;                        /* ranks of the job; 0: not known */
    struct recorded_operation *operations; /* of each stream together, in the order of their begin */
    size_t count, capacity;
    struct recorded_sync *syncs;
    size_t sync_count, sync_capacity;
    struct recorded_wait *waits; /* by operation, then awaited */
    size_t wait_count, wait_capacity;
    struct recorded_block *blocks; /* by operation */
    size_t block_count, block_capacity;
    struct recorded_stream *streams;
    size_t stream_count, stream_capacity;
    size_t *first;               /* [stream + 1]: its operations are first[stream] .. first[stream + 1] */
    struct recorded_rank *ranks; /* by number */
    size_t rank_count, rank_capacity;
    struct recorded_group *groups;
    size_t group_count, group_capacity;
    const char **names; /* names[0] is "" */
    size_t name_count, name_capacity;
    const char **notes; /* what is not in the trace, or was understood in a way that people should know */
    size_t note_count, note_capacity;
    struct recorded_index *index; /* of names, streams and groups while it is filled */
    struct arena *arena;          /* of all texts */
};

/* ---- filling; for readers ---- */

/* Empty; the caller owns it. */
struct recorded *recorded_create(void);
void recorded_destroy(struct recorded *recorded); /* NULL is fine */
/* Number of a text, copied when it is new. */
uint32_t recorded_name(struct recorded *recorded, const char *text, size_t size);
/* Index of the rank of that number, which is added with no coordinates when it is new. */
uint32_t recorded_rank(struct recorded *recorded, uint32_t number, const char *file);
/* Index of the stream of that number; the name is copied when it is new. */
uint32_t recorded_stream(struct recorded *recorded, uint32_t rank, uint64_t number, bool host, const char *name);
/* Index of the group of that name and, where they are known, those members, which are copied and sorted. */
uint32_t recorded_group(struct recorded *recorded, const char *name, const char *what, uint32_t size,
                        const uint32_t *members);
/* An operation with nothing known, at the end; valid until the next call. */
struct recorded_operation *recorded_add(struct recorded *recorded, enum recorded_kind kind, uint32_t stream,
                                        double begin, double end);
/* Says that the newest operation is a block, and of what its second is. */
void recorded_add_block(struct recorded *recorded, uint16_t stage, uint32_t micro_batch);
__attribute__((format(printf, 2, 3))) void recorded_note(struct recorded *recorded, const char *format, ...);
/* Sorts operations by stream and begin (indices change, syncs, waits and blocks follow) and ranks by number, fills
 * `first`, and counts the pieces of a timeline. */
void recorded_finish(struct recorded *recorded);

/* ---- reading ---- */

static inline const struct recorded_stream *recorded_stream_of(const struct recorded *recorded,
                                                               const struct recorded_operation *operation)
{
    return &recorded->streams[operation->stream];
}

/* Index of its rank. */
static inline uint32_t recorded_rank_of(const struct recorded *recorded, const struct recorded_operation *operation)
{
    return recorded->streams[operation->stream].rank;
}

static inline const char *recorded_name_of(const struct recorded *recorded, const struct recorded_operation *operation)
{
    return recorded->names[operation->name];
}

/* On the device, or a computation or message of a timeline. */
static inline bool recorded_works(const struct recorded_operation *operation)
{
    return operation->kind <= RECORDED_RECEIVE;
}

static inline bool recorded_is_message(const struct recorded_operation *operation)
{
    return operation->kind == RECORDED_SEND || operation->kind == RECORDED_RECEIVE;
}

/* A message or a collective. */
static inline bool recorded_communicates(const struct recorded_operation *operation)
{
    return operation->kind == RECORDED_COLLECTIVE || recorded_is_message(operation);
}

/* ---- the readers' table: traces/read.c ---- */

/* Reads files of one job, each in the format that its beginning says. NULL after a mistake was reported. The caller
 * owns the result. */
struct recorded *recorded_read(const char *const *files, size_t count, struct diag *diag);
/* The same of one that is open, from its beginning; it stays open. `name` stands in messages. */
struct recorded *recorded_read_stream(const char *name, FILE *stream, struct diag *diag);

#endif
