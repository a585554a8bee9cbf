/* SPDX-License-Identifier: Apache-2.0 */
/* A program of MSCCL as it was read, and its limits (microsoft/msccl, src/include/devcomm.h); for this folder only. */
#ifndef STAGESIM_MSCCL_PROGRAM_H
#define STAGESIM_MSCCL_PROGRAM_H

#include "abi/workload.h"
#include "base/diagnostics.h"

#include <stdbool.h>
#include <stdint.h>

/* MSCCL's own, but for ranks, chunks and the file's size, which bound what checking takes. */
enum {
    MSCCL_STEPS_MAX = 256,
    MSCCL_BLOCKS_MAX = 216,
    MSCCL_CHANNELS_MAX = 32,
    MSCCL_COUNT_MAX = 71,
    MSCCL_SLOTS = 8, /* messages that a connection holds */
    MSCCL_RANKS_MAX = 256,
    MSCCL_CHUNKS_MAX = 1 << 16,
    MSCCL_FILE_MAX = 64 << 20
};

enum msccl_buffer { MSCCL_INPUT, MSCCL_OUTPUT, MSCCL_SCRATCH, MSCCL_BUFFERS };

/* What steps do: `receive` takes a message, `add` adds the source to it (or for re to the destination), `store` puts
 * the result into the destination, `send` sends it on. */
struct msccl_action {
    const char *name;
    bool receive, read, store, send;
};
enum { MSCCL_REDUCE_LOCAL = 7 }; /* index of re among the actions */
extern const struct msccl_action msccl_actions[];

struct msccl_step {
    const struct msccl_action *action;
    enum msccl_buffer buffer[2]; /* of the source, of the destination */
    uint32_t offset[2], count;
    uint32_t awaits_block, awaits_step; /* MSCCL_NONE: nothing */
    bool awaited;                       /* hasdep */
    struct place at;
};
enum { MSCCL_SOURCE, MSCCL_DESTINATION };
#define MSCCL_NONE UINT32_MAX

struct msccl_block {
    uint32_t send, receive, channel;  /* MSCCL_NONE: no such peer */
    uint32_t sends_to, receives_from; /* thread blocks at the other ends, among all of the program; MSCCL_NONE: none */
    uint32_t gpu, number;             /* number: id in the GPU */
    struct msccl_step *steps;
    uint32_t count;
    struct place at;
};

struct msccl_gpu {
    uint32_t first, count; /* blocks */
    uint32_t scratch;      /* chunks */
    struct place at;
};

struct msccl_program {
    const char *name;
    const char *protocol; /* as the platforms call it */
    enum stagesim_collective kind;
    uint32_t ranks, chunks, channels;
    uint32_t length[MSCCL_SCRATCH]; /* chunks of the input and of the output */
    bool in_place, out_of_place;
    double least, most;         /* bytes that it is for */
    struct msccl_gpu *gpus;     /* [ranks] */
    struct msccl_block *blocks; /* by GPU, then by id */
    uint32_t block_count;
    struct place at;
};

/* A message of a program that was carried out. */
struct msccl_message {
    uint32_t round, from, to, count;
};
struct msccl_messages {
    struct msccl_message *items; /* malloc; in no order */
    size_t count, capacity;
};

/* NULL after mistakes. */
struct msccl_program *msccl_read(const char *name, const char *text, size_t size, struct arena *arena,
                                 struct diag *diag);
/* Carries it out; see msccl_load. False after a mistake. */
bool msccl_run(const struct msccl_program *program, struct arena *arena, struct diag *diag,
               struct msccl_messages *messages);

#endif
