/* SPDX-License-Identifier: Apache-2.0 */
/* The stagesim workload plug-in interface: the one installed header.
 * A workload turns a job into a program. A position of the mesh is a coordinate along the axes on which the code
 * differs; a pipeline has one per worker. For every position the program has streams of operations that run in order,
 * and says what each operation waits for. Data-parallel and tensor-parallel replicas of a position share its program.
 * A plug-in is a shared object that exports one symbol, `stagesim_workload_plugin`. If its `abi` differs, stagesim
 * refuses it and names both numbers and the path. Under one ABI number, structs with a `size` grow only at their end.
 * If a plug-in has the smaller size of an earlier version, stagesim reads the struct up to that size and takes the
 * missing fields as zero. It refuses a larger size. Structs without a `size` do not change. Enumerations and struct
 * stagesim_api get new entries only at their end; a plug-in must not use entries beyond api->size. Units are seconds,
 * bytes and flop. All calls come from one thread. Strings passed in are copied. */
#ifndef STAGESIM_WORKLOAD_H
#define STAGESIM_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STAGESIM_WORKLOAD_ABI 3u

/* ---- the section of the scenario that a workload reads ---- */

enum stagesim_field_type {
    STAGESIM_FIELD_COUNT,      /* uint64_t: a plain integer */
    STAGESIM_FIELD_RATIO,      /* double: a plain number */
    STAGESIM_FIELD_TIME,       /* double, seconds: 1.5us */
    STAGESIM_FIELD_BYTES,      /* double, bytes: 80GiB */
    STAGESIM_FIELD_RATE,       /* double, bytes per second: 400Gbps, 25GBps */
    STAGESIM_FIELD_FLOPS,      /* double, flop/s: 312Tf */
    STAGESIM_FIELD_FLAG,       /* bool: true, false */
    STAGESIM_FIELD_NAME,       /* unsigned: index into `names` */
    STAGESIM_FIELD_TEXT,       /* const char *: any text */
    STAGESIM_FIELD_PATH,       /* const char *: a file, made relative to the scenario's directory */
    STAGESIM_FIELD_TIMES,      /* struct stagesim_list: one time, or a list of times */
    STAGESIM_FIELD_BYTES_LIST, /* struct stagesim_list: one size, or a list of sizes */
    STAGESIM_FIELD_NAMES,      /* unsigned: one of `names`, or a list of them; bit i is set for names[i] */
    STAGESIM_FIELD_COUNTS,     /* struct stagesim_list: one plain integer, or a list of them */
    STAGESIM_FIELD_AMOUNT,     /* struct stagesim_amount: elements as a plain number, or bytes with their unit */
    STAGESIM_FIELD_ROWS,       /* struct stagesim_rows: maps with the keys of `rows`, or a CSV file with such columns */
    STAGESIM_FIELD_TEXTS,      /* struct stagesim_texts: any text, or a list of texts */
    STAGESIM_FIELD_WATTS,      /* double, watts: 500W */
    STAGESIM_FIELD_RATIOS,     /* struct stagesim_list: one plain number, or a list of them */
    STAGESIM_FIELD_DISTRIBUTION, /* stagesim's own sections only: times that are not the same every time, factors */
    STAGESIM_FIELD_FACTORS
};

/* Values of a list field in order; one value where the scenario gives a scalar. count 0: not given. */
struct stagesim_list {
    size_t count;
    const double *values;
};

/* Texts in order; one where the scenario gives a scalar. count 0: not given. */
struct stagesim_texts {
    size_t count;
    const char *const *texts;
};

/* How much data: either elements, whose size the precision gives, or bytes. */
struct stagesim_amount {
    double elements, bytes; /* one of them; the other one is 0 */
    bool given;
};

/* A table: `count` structs, one behind the other. */
struct stagesim_rows {
    size_t count;
    void *rows;
};

struct stagesim_field;
/* What a row of a table is. */
struct stagesim_row_type {
    const char *what;                    /* for messages: "a layer" */
    const struct stagesim_field *fields; /* keys without a dot; no tables in tables */
    size_t size;                         /* of the struct that they fill */
    const void *defaults;                /* its initial bytes; NULL: all zero */
};

/* One key of a section. "key" is in the section with the workload's name; "section.key" is in another section of the
 * scenario, for instance "model.layers". The scenario may name a YAML file instead of such a section; the file then
 * holds the section. Names of stagesim's own sections are refused. A table ends with an entry whose key is NULL. A key
 * that is not given keeps its default. `least` and `most` bound numbers, inclusively, when least < most. */
struct stagesim_field {
    const char *key;
    enum stagesim_field_type type;
    size_t offset;
    bool required;
    double least, most;
    const char *const *names;             /* STAGESIM_FIELD_NAME: allowed words, NULL-terminated */
    const char *doc;                      /* one line: meaning, unit, default */
    const struct stagesim_row_type *rows; /* STAGESIM_FIELD_ROWS */
};

/* What a key needs so that it changes anything. A table ends with an entry whose key is NULL; all rows of a key have to
 * hold. `key` is one of the workload's fields, as in their table. `needs` is a condition, or several with '|' between
 * them, one of which has to hold:
 *     PATH>NUMBER, PATH>@PATH    a number that is larger
 *     PATH=WORD,WORD,...         one of these words or numbers; flags are true and false
 *     PATH!WORD,WORD,...         none of them
 *     PATH?                      it is given: a number is not 0
 *     PATH-                      it is not
 * PATH is a key of the workload with its section ("transformer.zero"), "parallel.AXIS", "batch.micro",
 * "batch.micro_batches", "iterations", "engine", "workload", "schedule.name", "schedule.recompute" or an option of the
 * schedule ("schedule.chunks"). What is not known holds.
 * A value other than the default that is given where a condition does not hold is refused, or, with `note`, told of:
 * where sizes of the job decide, the same key may count in the next job. The same holds of a framework's default. */
struct stagesim_need {
    const char *key, *needs;
    bool note;
};

/* ---- what a program consists of ---- */

/* What an operation is for; letters as in operations.csv. */
enum stagesim_kind {
    STAGESIM_FORWARD,          /* F: forward of a stage and micro-batch */
    STAGESIM_BACKWARD,         /* B: backward, or its input-gradient part where the backward is split */
    STAGESIM_WEIGHT,           /* W: weight-gradient part of a backward */
    STAGESIM_BLOCK,            /* FB: a forward and a backward as one block */
    STAGESIM_OPTIMIZER,        /* optimizer */
    STAGESIM_ACTIVATION,       /* activation: message to the next stage */
    STAGESIM_GRADIENT,         /* gradient: message to the previous stage */
    STAGESIM_GRADIENT_SYNC,    /* gradient-sync: gradient synchronisation */
    STAGESIM_PARAMETER_GATHER, /* parameter-gather: all-gather of sharded parameters */
    STAGESIM_TENSOR,           /* tensor: tensor-parallel communication */
    STAGESIM_EXCHANGE,         /* exchange: stashed activations moved between workers, and other re-layouts */
    STAGESIM_OTHER,            /* other */
    STAGESIM_CONTEXT,          /* context: keys and values of a sequence that several ranks share */
    STAGESIM_EXPERT,           /* expert: tokens to the ranks of their experts, and back */
    STAGESIM_WEIGHTS,          /* weights: a stage's, on their way around the workers */
    STAGESIM_SHARE,            /* gradient-share: its gradient likewise */
    STAGESIM_OFFLOAD,          /* offload: a stash to the memory of the host, from a position to itself */
    STAGESIM_LOAD,             /* load: a stash from there */
    STAGESIM_INPUT,            /* input: samples: a delay is a storage's read, a message asks for them or brings them */
    STAGESIM_KINDS
};

enum stagesim_collective {
    STAGESIM_ALL_REDUCE,
    STAGESIM_REDUCE_SCATTER,
    STAGESIM_ALL_GATHER,
    STAGESIM_ALL_TO_ALL,
    STAGESIM_BROADCAST,
    STAGESIM_REDUCE,
    STAGESIM_BARRIER,
    STAGESIM_SEND_RECEIVE, /* every rank sends to its successor and receives from its predecessor */
    STAGESIM_COLLECTIVES
};

#define STAGESIM_NONE UINT32_MAX

/* What an operation belongs to. Unused numbers are STAGESIM_NONE. */
struct stagesim_identity {
    enum stagesim_kind kind;
    uint32_t stage;       /* 0 .. S-1 */
    uint32_t micro_batch; /* 0 .. N-1 within the replica */
    uint32_t pipeline;    /* 2i: down pipeline i, 2i+1: up pipeline i; 0 otherwise */
    uint32_t part;        /* 0: whole; 1, 2: half a, half b */
    uint32_t layer;       /* STAGESIM_NONE at stage granularity */
    uint32_t iteration;
};

/* What an operation costs; shared by all operations that cost the same. */
struct stagesim_cost {
    double seconds; /* duration; a compute's at full speed of the position's first host, longer on a slower one */
    double flops;   /* compute: floating-point operations, recomputation included; 0 when not known */
    double bytes;   /* message: its size; collective: the buffer with nccl-tests' meaning of size */
    double memory;  /* bytes taken at the start (positive) or given back at the end (negative) */
    double stash;   /* the same, in activations of a micro-batch in one worker: +1 at F, -1 at B; a chunk counts 1/v */
    double repeats; /* collective: `bytes` is the sum of so many equal buffers, one after the other; 0 means 1 */
};

/* Bytes that a position holds for the whole run. */
struct stagesim_static_memory {
    double parameters, gradients, optimizer, buffers;
};

/* ---- what stagesim offers while a workload is built ---- */

struct stagesim_job; /* the job being built; stagesim's own */

/* The host of a rank. */
struct stagesim_device {
    const char *model;       /* the platform's property `model`; NULL when not given */
    double speed;            /* flop/s: the peak of the default precision */
    double peak[5];          /* flop/s in fp32, tf32, fp16, bf16, fp8; 0 when not given */
    double memory;           /* bytes; 0 when not given */
    double memory_bandwidth; /* bytes per second; 0 when not given */
};

/* What the report derives its figures from; 0: not known. */
struct stagesim_figures {
    size_t size;            /* sizeof(struct stagesim_figures) at build time */
    double sequence_length; /* tokens of a sample */
    double model_flops;     /* of an iteration, all ranks, recomputation not counted */
    double hardware_flops;  /* the same with recomputation */
    double peak_flops;      /* flop/s of a rank in the precision in use */
    double tokens;          /* of the whole training */
    double price;           /* of a GPU for an hour */
    bool bounds_known;      /* the report says what limits the job: */
    double memory_bound;    /* share of computing time in which memory, not arithmetic, sets the pace */
    /* Layers of the stages as --pipeline-model-parallel-layout has them; NULL: as many in each, or none. Copied. */
    const char *pipeline_layout;
    /* Kernels that were looked up among measured ones, of them those with sizes beyond what was measured; 0: none. */
    uint32_t kernels, kernels_outside;
    const char *choices; /* what the workload has chosen by itself, a line for people; NULL: nothing. Copied */
    double tower_seconds, tower_most; /* of an iteration, what towers compute: the mean of replicas, and the most */
};

/* What replicas of a stage divide among themselves (ZeRO, Rajbhandari et al. 2020), not all-reducing gradients. */
enum stagesim_sharding {
    STAGESIM_SHARD_NOTHING,
    STAGESIM_SHARD_OPTIMIZER,  /* 1: reduce-scatter of gradients, all-gather of weights after the optimizer */
    STAGESIM_SHARD_GRADIENTS,  /* 2: the reduce-scatter after every backward */
    STAGESIM_SHARD_PARAMETERS, /* 3: also an all-gather of weights before each use, none after the optimizer */
};

/* When a part's exchange runs, relative to the part's computation. The next part waits for all exchanges. */
enum stagesim_moment {
    STAGESIM_AFTER,         /* after the computation and everything beside it */
    STAGESIM_BEFORE,        /* before the computation, after everything earlier */
    STAGESIM_BESIDE,        /* starts when the computation could */
    STAGESIM_BESIDE_WEIGHT, /* of a backward: while the weight's gradient is computed; where that is split, as AFTER */
    STAGESIM_TOGETHER,      /* begins with the exchange before it in the list, whose moment is AFTER or BEFORE */
};

/* A collective among ranks that share a part's work. These are the ranks along `axes`, comma-separated names of
 * replicated mesh axes as for `group`. With one rank along them nothing is exchanged. Exchanges with the moments AFTER
 * and BEFORE run one after the other, in their order. The others run together. */
struct stagesim_exchange {
    enum stagesim_collective collective;
    enum stagesim_kind kind;
    enum stagesim_moment moment;
    const char *axes;
    double bytes;   /* of all buffers together, with nccl-tests' meaning; 0: nothing to exchange */
    double buffers; /* of equal size, moved one after the other; 0 means 1 */
    bool hidden;    /* in a block of a forward and a backward it runs beside both, whatever its moment */
};

/* How many exchanges a part has at most in one direction. The limit also holds for a stage in one direction, where
 * exchanges that become one count once; and the most that `gathers_ahead` may say. */
enum { STAGESIM_EXCHANGES_MAX = 12, STAGESIM_AHEAD_MAX = 16 };

/* Exchanges of a part in one direction, in order. Entries after the first one without bytes are not read. */
struct stagesim_exchanges {
    struct stagesim_exchange items[STAGESIM_EXCHANGES_MAX];
};

/* A part of a stage: a layer or a block. Parts run in turn, in a backward in reverse. As in stagesim_pipeline: */
struct stagesim_part {
    uint32_t layer; /* STAGESIM_NONE: none */
    double forward, backward, weight;
    double forward_flops, backward_flops, weight_flops;
    double gradient, expert_gradient;
    struct stagesim_exchanges forward_exchanges, backward_exchanges;
    /* Not 0: computed only with parts of this number, as its exchanges run beside nothing else, or as it varies. */
    uint32_t apart;
    /* Factors on the time, one per coordinate along these axes, as for `varying_cost`, not of halves; NULL: none. */
    const char *varies;
    const double *factors;
};

/* Times and sizes of the stages of a pipeline, for `pipeline`. Arrays have `stages` entries, stage 0 first. An array
 * that is NULL means all zero. Times are those of one whole micro-batch in one stage; `backward` includes `weight`. */
struct stagesim_pipeline {
    size_t size; /* sizeof(struct stagesim_pipeline) at build time */
    uint32_t stages;
    const double *forward, *backward, *weight; /* seconds; weight: the part of backward that is the weight gradient */
    const double *block;                       /* seconds of a forward and a backward in one block; NULL: their sum */
    const double *optimizer;                   /* seconds, after the stage's gradients are synchronised */
    const double *forward_flops, *backward_flops, *weight_flops;
    const double *message; /* bytes of the activation that stage s sends to s+1 (and of its gradient on the way back) */
    const double *gradient;          /* bytes of the stage's gradient, all-reduced over its replicas */
    const double *activation;        /* bytes stashed from F to B per micro-batch */
    const double *weight_activation; /* the part of `activation` that W still needs after B; NULL: half of it */
    const double *parameter;         /* bytes of one copy of the stage's weights */
    const double *optimizer_state;
    /* Parts that a stage consists of, [stage][part] in the order of the forward; NULL: none. Where several ranks hold
     * the stage, a backward that completes a gradient is cut into its parts, so that synchronisation overlaps the rest
     * of the backward. A forward or backward that is not cut has the exchanges of all its parts. Exchanges of the same
     * kind, moment, collective and axes become one, with the latencies of all. Each number `apart` is a computation. */
    const struct stagesim_part *const *parts;
    const uint32_t *part_counts;
    bool fine;      /* every forward and backward (but halves and blocks) is cut into its parts */
    bool late_sync; /* gradients are synchronised after the iteration's last backward, not as soon as complete */
    double bucket;  /* bytes of gradients of parts that are gathered, then synchronised together; 0: each alone */
    enum stagesim_sharding sharding;
    bool keep_gathered;     /* STAGESIM_SHARD_PARAMETERS: weights gathered for a forward are kept for its backward */
    const double *gathered; /* bytes of a stage's weights as they are gathered; NULL: `parameter` */
    /* Bytes of gradients and of buffers that a rank holds per stage; NULL: as in `gradient`, and no buffers. */
    const double *gradient_memory, *buffers;
    /* sync_axes: axes (a list as for `group`) whose ranks hold the same weights; NULL: "data".
     * shard_axes: what `sharding` says is divided along these axes alone. Gradients are reduced and scattered along
     * them, and then all-reduced along sync_axes. NULL: it is divided along sync_axes. */
    const char *sync_axes, *shard_axes;
    /* Of experts, whose copies lie along `expert_axes`, not in `gradient` and `gathered`; NULL: none. */
    const double *expert_gradient, *expert_gathered;
    const char *expert_axes;
    bool late_gather;      /* weights are gathered when the layer before has ended, not while it runs */
    bool blocking_scatter; /* with shard_axes: what follows a layer's backward waits for its gradients' scatter */
    bool late_replicas; /* with shard_axes: the all-reduce along sync_axes only after the iteration's last backward */
    /* For schedules that cut sequences into slices. Shares of `forward` and of `backward` that are causal attention, of
     * which a later slice has more; the rest goes with its length. NULL: none; of the latter, as the former. */
    const double *attention, *attention_backward;
    const double *keys_values; /* the part of `activation` that is kept until the backward of the first slice */
    double slice_grain;        /* share of a sequence that the lengths of slices are multiples of; 0: any */
    const double *checkpoint;  /* bytes of a micro-batch from which a stage's forward can be computed again, for
                                  schedules that do so; NULL: as many as `message` */
    /* STAGESIM_SHARD_PARAMETERS. gathers_ahead: the weights of a stage's layers may be gathered from when the layer so
     * many before theirs begins, at most STAGESIM_AHEAD_MAX; 0: when the layer before has ended; NULL: 1, or with
     * late_gather 0. A layer's weights are gathered in equal pieces, one after the other: gather_pieces of them (0:
     * one), or as many as make them no larger than gather_bucket bytes (0: any) where that is more. */
    const uint32_t *gathers_ahead;
    double gather_bucket;
    uint32_t gather_pieces;
    double tied_gradient; /* bytes, in both `gradient`, of weights of the first and last stage, which they all-reduce */
    /* STAGESIM_SHARD_OPTIMIZER, where ranks update whole tensors: what they broadcast after it, [stage][entry],
     * where equal parts (NULL) are all-gathered; gradients are all-reduced along all axes at once. */
    const struct stagesim_cost *const *owned;
    const uint32_t *owned_counts;
    uint32_t factor_sets; /* parts that vary along `data` have so many sets of factors: micro-batch m set m; 0: one */
    bool unsliced;        /* what slices of sequences cost is not known: schedules that cut them are refused */
    /* Islands of replicas (DiLoCo) that agree along outer_axes, which sync_axes and expert_axes leave out: after every
     * outer_interval-th iteration a rank computes outer_before and all-reduces outer_bytes; outer_delay iterations
     * later it computes outer_after and gathers the rest along the island's axes. [stage]; NULL: none. */
    const char *outer_axes;
    uint32_t outer_interval, outer_delay;
    const double *outer_bytes, *outer_before, *outer_after, *outer_gathered, *outer_expert_gathered;
    const char *first_expert_axes; /* of stage 0, whose `expert_gradient` has copies along other axes; NULL: the same */
    const double *gradient_message; /* bytes on the way back, where these are not as many as in `message` */
};

/* How iterations follow each other, if not one after the other with all ranks together. */
struct stagesim_pace {
    size_t size;      /* sizeof(struct stagesim_pace) at build time */
    uint32_t period;  /* so many iterations repeat as a whole: figures are means over them; 0, 1: all are alike */
    bool overlapping; /* an iteration begins before the previous one has ended */
    bool independent; /* ranks go on at their own speed; T is the inverse of the mean of their rates */
};

/* A forward, backward or weight gradient in a worker's order; its optimizer step follows the last of an iteration. */
struct stagesim_slot {
    enum stagesim_kind kind;
    uint32_t stage, micro_batch, iteration; /* the micro-batch is counted from 0 in each iteration */
    bool split;                             /* a backward whose weight gradient follows later */
};

struct stagesim_api {
    unsigned abi;
    size_t size;

    /* The job: workers is the pipeline axis' size, stages the schedule's number of stages (workers times chunks). */
    uint32_t (*workers)(const struct stagesim_job *job);
    uint32_t (*stages)(const struct stagesim_job *job);
    uint32_t (*micro_batches)(const struct stagesim_job *job);
    uint32_t (*iterations)(const struct stagesim_job *job);
    uint32_t (*positions)(const struct stagesim_job *job);
    /* Size of the named mesh axis; 1 when the mesh has no such axis. */
    uint32_t (*axis)(const struct stagesim_job *job, const char *name);
    /* Full flop/s of the model of a position's host (of its first replica). */
    double (*host_speed)(const struct stagesim_job *job, uint32_t position);

    /* Reports a mistake at the place of `key` in the workload's section (NULL: the section itself). */
    void (*error)(struct stagesim_job *job, const char *key, const char *format, ...);

    /* An entry of the program's cost table, to be named by operations. */
    uint32_t (*cost)(struct stagesim_job *job, const struct stagesim_cost *cost);
    /* A set of ranks: all coordinates along the named axes (comma-separated, e.g. "data", "data,tensor") of the given
     * positions (count of them, at least one). There is one instance of it for every coordinate along the other
     * replicated axes. An axis with a '-' is left out again: "context,data,-expert" are the ranks that hold the same
     * experts. "expert:8" are the innermost 8 along an axis that was cut there (see `cut`). */
    uint32_t (*group)(struct stagesim_job *job, const char *axes, const uint32_t *positions, size_t count);

    /* Operations. Each call returns the operation's id within its position; `wait` takes ids of one position. If an
     * argument makes no sense (no such position, cost, group or iteration, a message to oneself), stagesim reports it
     * once as the workload's mistake, and the call returns STAGESIM_NONE. Streams run in the order of adding. */
    uint32_t (*compute)(struct stagesim_job *job, uint32_t position, struct stagesim_identity identity, uint32_t cost);
    uint32_t (*delay)(struct stagesim_job *job, uint32_t position, uint32_t lane, struct stagesim_identity identity,
                      uint32_t cost);
    /* A message: a send at `from` and the receive at `to`, which is another position. Messages of the kinds
     * STAGESIM_OFFLOAD and STAGESIM_LOAD go from a position to itself: to the memory of its host, and from there.
     * Messages of one (from, to, identity.kind) travel one after the other in the order added. Ids of the two
     * operations are stored where the pointers are not NULL. */
    void (*message)(struct stagesim_job *job, uint32_t from, uint32_t to, struct stagesim_identity identity,
                    uint32_t cost, uint32_t *send, uint32_t *receive);
    /* One member position's part of a collective; the k-th call of each member for a group is the group's k-th
     * collective. Broadcasts come from, and reductions go to, the lowest rank of the group's first position. */
    uint32_t (*collective)(struct stagesim_job *job, uint32_t position, uint32_t group,
                           enum stagesim_collective collective, struct stagesim_identity identity, uint32_t cost);
    /* `operation`, which is not a receive, starts only after `awaited` of the same position has ended. */
    void (*wait)(struct stagesim_job *job, uint32_t position, uint32_t operation, uint32_t awaited);

    void (*static_memory)(struct stagesim_job *job, uint32_t position, const struct stagesim_static_memory *memory);

    /* Adds the operations of the scenario's pipeline schedule with these costs: computations, messages, gradient
     * synchronisation and optimizer. Returns false after it has reported a mistake. */
    bool (*pipeline)(struct stagesim_job *job, const struct stagesim_pipeline *pipeline);

    /* The host of a position (of its first replica). */
    struct stagesim_device (*device)(const struct stagesim_job *job, uint32_t position);
    /* Samples of a micro-batch; 0 when the scenario does not say. */
    double (*micro_batch_size)(const struct stagesim_job *job);
    /* The schedule's recomputation: 0 none, 1 selective, 2 full, 3 operators; of the first stage, see recompute_of. */
    unsigned (*recompute)(const struct stagesim_job *job);
    /* An installed efficiency table of a device's model, or NULL; valid as long as the job. */
    const char *(*efficiency_table)(struct stagesim_job *job, const char *model);
    /* Figures of the job for the report. */
    void (*declare)(struct stagesim_job *job, const struct stagesim_figures *figures);

    /* An entry of the cost table whose seconds and flop are multiplied by a factor per coordinate along the named axes
     * (as for `group`). There are as many factors as the product of the axes' sizes, the innermost axis fastest. */
    uint32_t (*varying_cost)(struct stagesim_job *job, const struct stagesim_cost *cost, const char *axes,
                             const double *factors);
    /* Cuts the axes so that groups along "NAME:inner" can be made: ranks along NAME that share all but the innermost
     * `inner` coordinates. Call it before the first group is made. Returns false if the sizes do not allow it. */
    bool (*cut)(struct stagesim_job *job, const char *axes, uint32_t inner);
    /* Whether the scenario has a schedule. */
    bool (*scheduled)(const struct stagesim_job *job);
    void (*pace)(struct stagesim_job *job, const struct stagesim_pace *pace);
    /* Seconds that a collective of `bytes` (with nccl-tests' meaning) takes among the ranks along the named axes of a
     * position (of its first instance) while nothing else is under way; 0 with one rank along them. */
    double (*collective_seconds)(struct stagesim_job *job, uint32_t position, const char *axes,
                                 enum stagesim_collective collective, double bytes);
    /* Writes the pipeline workers that hold a stage under the scenario's schedule, each once, but at most `capacity` of
     * them. Returns how many there are. Call it before `pipeline` or `order`. */
    uint32_t (*stage_workers)(struct stagesim_job *job, uint32_t stage, uint32_t *workers, uint32_t capacity);
    /* Like error, for trouble that is not the scenario's fault (an unreadable file, no memory): searches then stop. */
    void (*trouble)(struct stagesim_job *job, const char *key, const char *format, ...);
    /* The share of a stage's forwards that the schedule computes again. Call it before `pipeline`. */
    double (*recomputed)(struct stagesim_job *job, uint32_t stage);
    /* As recompute, of one stage: the scenario may give each stage its own. */
    unsigned (*recompute_of)(const struct stagesim_job *job, uint32_t stage);
    /* The share of its full clock, above 0 and at most 1, at which a position's device (of its first replica) computes.
     * Whoever asks gives seconds at that clock: arithmetic takes as many times longer, moving bytes does not. Times of
     * a workload that does not ask are stretched, all but those of optimizers. */
    double (*clock)(struct stagesim_job *job, uint32_t position);
    /* An entry of the cost table for all-to-alls of a group in which each pair of members has its own bytes, as in
     * MPI's alltoallv: bytes[from * n + to], with n members in the order of their ranks. bytes[m * n + m] is what
     * member m keeps for itself. All messages leave at once, and a pair without bytes has none. Instead of cost->bytes,
     * the size is the mean of what a member has for all n: equal bytes make an ordinary all-to-all. cost->repeats
     * stands for so many buffers one after the other, whose bytes are given together. Every member must be a position
     * of its own (the group's axes have one rank) and must send or receive something. All members use the entry. */
    uint32_t (*pairs_cost)(struct stagesim_job *job, const struct stagesim_cost *cost, uint32_t group,
                           const double *bytes);
    /* Tells once of what is not as asked for and is no mistake: a key that changes nothing. `key` as for error. */
    void (*note)(struct stagesim_job *job, const char *key, const char *format, ...);
    /* Whether the schedule has every worker compute all stages, whose weights travel. Call it before `pipeline`. */
    bool (*weights_travel)(struct stagesim_job *job);
    /* flop/s of a position's host (of its first replica) in blocks of 4-bit numbers; 0: the platform gives none. */
    double (*narrow_peak)(const struct stagesim_job *job, uint32_t position);
    /* For workloads that add a pipeline's operations themselves: count slots of a worker in the order of the scenario's
     * schedule, made for these times when first asked; NULL after a mistake was reported. All slots are whole and each
     * stage is on one worker; other schedules are refused. An order of one iteration is that of each. */
    const struct stagesim_slot *(*order)(struct stagesim_job *job, const struct stagesim_pipeline *times,
                                         uint32_t worker, size_t *count);
    uint32_t (*worker_of)(const struct stagesim_job *job, uint32_t position); /* where all ranks are positions */
};

/* ---- what a plug-in is ---- */

/* The mesh of a job beyond the scenario's axes. */
struct stagesim_shape {
    bool distinct; /* no rank is a replica of another one: every rank is a position of its own, in the order of ranks */
    uint32_t extra; /* with `distinct`: further ranks behind those of the axes, on hosts of their own: servers */
};

struct stagesim_workload {
    unsigned abi; /* STAGESIM_WORKLOAD_ABI at build time */
    size_t size;  /* sizeof(struct stagesim_workload) at build time */
    const char *name, *summary;
    const struct stagesim_field *fields; /* the keys of the scenario's section of this name */
    size_t parameters_size;              /* of the struct that `fields` fill */
    const void *defaults;                /* its initial bytes; NULL: all zero */
    /* Optional: checks across fields; reports through api->error and returns false. */
    bool (*check)(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api);
    /* Mandatory: builds the program; false after a mistake was reported. */
    bool (*build)(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api);
    /* Optional: the mesh's shape; `shape` is zero when it is called, before any check. */
    void (*shape)(const void *parameters, struct stagesim_shape *shape);
    const struct stagesim_need *needs; /* NULL: nothing is known of what keys need */
};

#if defined(__GNUC__)
#define STAGESIM_EXPORT __attribute__((visibility("default")))
#else
#define STAGESIM_EXPORT
#endif

/* A plug-in exports `extern STAGESIM_EXPORT const struct stagesim_workload stagesim_workload_plugin;`. */

#ifdef __cplusplus
}
#endif

#endif
