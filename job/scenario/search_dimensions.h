/* SPDX-License-Identifier: Apache-2.0 */
/* What `search` varies: one table, a line for each dimension. A key of the scenario becomes searchable by a line here:
 * its values are checked by the key's own table, conditions between dimensions by what `check` checks. */
#ifndef STAGESIM_SEARCH_DIMENSIONS_H
#define STAGESIM_SEARCH_DIMENSIONS_H

/* How a dimension enters a layout. */
enum search_role {
    SEARCH_AXIS,       /* an axis of the mesh: their product is the number of GPUs */
    SEARCH_MICRO,      /* samples of a micro-batch; those of an iteration stay */
    SEARCH_SCHEDULE,   /* the schedule's name */
    SEARCH_OPTION,     /* of the schedule, where it has it */
    SEARCH_KEY,        /* any other key; where the workload has it */
    SEARCH_TENSOR_KEY, /* the same, where ranks share layers; otherwise it changes nothing */
};

/* LINE(key in `search`, the scenario's key, role, values when not given, meaning). Values: "" those that the scenario
 * has, "any" all sizes that go, "powers" all powers of two up to the samples of an iteration. Candidates are numbered
 * in the order of the lines. */
#define SEARCH_DIMENSIONS(LINE)                                                                                        \
    LINE(data, "parallel.data", SEARCH_AXIS, "any", "sizes of the axis data; default: any")                            \
    LINE(tensor, "parallel.tensor", SEARCH_AXIS, "any", "sizes of the axis tensor; default: any")                      \
    LINE(pipeline, "parallel.pipeline", SEARCH_AXIS, "any", "sizes of the axis pipeline; default: any")                \
    LINE(context, "parallel.context", SEARCH_AXIS, "", "sizes of the axis context; default: the scenario's")           \
    LINE(x, "parallel.x", SEARCH_AXIS, "", "sizes of the axis x; default: the scenario's")                             \
    LINE(y, "parallel.y", SEARCH_AXIS, "", "sizes of the axis y; default: the scenario's")                             \
    LINE(z, "parallel.z", SEARCH_AXIS, "", "sizes of the axis z; default: the scenario's")                             \
    LINE(micro, "batch.micro", SEARCH_MICRO, "1 2 4 8",                                                                \
         "samples of a micro-batch; default 1, 2, 4, 8; for workloads other than transformer, all powers of two")      \
    LINE(schedules, "schedule.name", SEARCH_SCHEDULE, "1f1b interleaved zb-h1",                                        \
         "schedules, or all; default 1f1b, interleaved, zb-h1 and the scenario's")                                     \
    LINE(chunks, "schedule.chunks", SEARCH_OPTION, "", "chunks per worker, of schedules with chunks")                  \
    LINE(group, "schedule.group", SEARCH_OPTION, "", "option group of interleaved")                                    \
    LINE(pairs, "schedule.pairs", SEARCH_OPTION, "", "pairs of pipelines, of chimera")                                 \
    LINE(concatenation, "schedule.concatenation", SEARCH_OPTION, "", "option concatenation of chimera")                \
    LINE(waves, "schedule.waves", SEARCH_OPTION, "", "waves, of hanayo")                                               \
    LINE(sync, "schedule.sync", SEARCH_OPTION, "", "when gradients are synchronised, of chimera")                      \
    LINE(step, "schedule.optimizer", SEARCH_OPTION, "", "what a worker's step waits for, of zb-h2, zb-v and others")   \
    LINE(backwards, "schedule.backwards", SEARCH_OPTION, "", "which backward comes first, of gpipe")                   \
    LINE(backward, "schedule.backward", SEARCH_OPTION, "", "backwards outside of blocks, of dualpipe and dualpipe-v")  \
    LINE(slices, "schedule.slices", SEARCH_OPTION, "", "slices of a sequence, of seq1f1b and slimpipe")                \
    LINE(lengths, "schedule.lengths", SEARCH_OPTION, "", "lengths of the slices, of seq1f1b")                          \
    LINE(exchange, "schedule.exchange", SEARCH_OPTION, "", "whether workers exchange attention, of slimpipe")          \
    LINE(offload, "schedule.offload", SEARCH_OPTION, "", "chunks with stashes in host memory, of pipe-offload")        \
    LINE(stashes, "schedule.memory", SEARCH_OPTION, "", "option memory of zb-auto, adapipe and best")                  \
    LINE(units, "schedule.units", SEARCH_OPTION, "", "parts of a stage that are kept or computed again, of adapipe")   \
    LINE(redundant, "schedule.redundant", SEARCH_OPTION, "", "whether the last worker keeps its stashes, of mario")    \
    LINE(ahead, "schedule.ahead", SEARCH_OPTION, "", "forwards that move into the warm-up, of mario")                  \
    LINE(rounds, "schedule.order", SEARCH_OPTION, "", "option order of hanayo")                                        \
    LINE(hand_on, "schedule.gradient", SEARCH_OPTION, "", "when a gradient is handed on, of weipipe")                  \
    LINE(placement, "schedule.placement", SEARCH_OPTION, "", "where chunks lie, of best")                              \
    LINE(recompute, "schedule.recompute", SEARCH_KEY, "none selective full",                                           \
         "activations computed again; default none, selective and full")                                               \
    LINE(zero, "transformer.zero", SEARCH_KEY, "0 1 2 3", "what replicas share; default 0, 1, 2, 3")                   \
    LINE(expert, "parallel.expert", SEARCH_KEY, "",                                                                    \
         "ranks that share the experts of a layer; default: the scenario's")                                           \
    LINE(expert_tensor, "parallel.expert_tensor", SEARCH_KEY, "",                                                      \
         "ranks along tensor that share each expert; default: the scenario's")                                         \
    LINE(sequence_parallel, "transformer.sequence_parallel", SEARCH_TENSOR_KEY, "false true",                          \
         "sequence parallelism, where the axis tensor is larger than 1; default false and true")                       \
    LINE(balance, "transformer.balance", SEARCH_KEY, "auto", "layers of the stages, even or auto; default auto")       \
    LINE(layers_per_stage, "transformer.layers_per_stage", SEARCH_KEY, "",                                             \
         "lists of the layers of each stage; default: what balance says")                                              \
    LINE(tensor_algorithm, "tensor_parallel.algorithm", SEARCH_KEY, "",                                                \
         "how ranks share matrices; default: the scenario's")                                                          \
    LINE(tensor_exchanges, "tensor_parallel.overlap", SEARCH_KEY, "",                                                  \
         "what of the axes x, y and z moves while ranks compute: lists; default: the scenario's")                      \
    LINE(tensor_overlap, "transformer.tensor_overlap", SEARCH_TENSOR_KEY, "",                                          \
         "exchanges beside the products of linear maps; default: the scenario's")                                      \
    LINE(scatter_gather, "transformer.scatter_gather", SEARCH_TENSOR_KEY, "",                                          \
         "messages between stages sent in parts; default: the scenario's")                                             \
    LINE(overlap, "communication.overlap", SEARCH_KEY, "",                                                             \
         "gradients synchronised while the backward goes on; default: the scenario's")                                 \
    LINE(expert_overlap, "transformer.expert_overlap", SEARCH_KEY, "",                                                 \
         "tokens travel while shared experts compute; default: the scenario's")                                        \
    LINE(expert_node, "transformer.expert_node", SEARCH_KEY, "",                                                       \
         "expert-parallel ranks between which a token travels once; default: the scenario's")                          \
    LINE(context_method, "transformer.context_method", SEARCH_KEY, "",                                                 \
         "how keys and values reach the ranks that share a sequence; default: the scenario's")                         \
    LINE(reshard, "transformer.reshard", SEARCH_KEY, "",                                                               \
         "whether zero: 3 gathers weights again for the backward; default: the scenario's")                            \
    LINE(prefetch, "transformer.prefetch", SEARCH_KEY, "",                                                             \
         "layers ahead whose weights zero: 3 asks for; default: the scenario's")                                       \
    LINE(shard_ranks, "transformer.shard_ranks", SEARCH_KEY, "", "neighbours that share what zero says; default: all") \
    LINE(bucket, "transformer.bucket", SEARCH_KEY, "",                                                                 \
         "gradients that are synchronised together; default: the scenario's")                                          \
    LINE(cap, "power.cap", SEARCH_KEY, "", "watts that each GPU may draw; default: the scenario's")                    \
    LINE(dense, "layers.dense", SEARCH_KEY, "replicated divided",                                                      \
         "of the workload layers: whether dense layers are divided along the axis data; default both")

#define SEARCH_DIMENSION_INDEX(key, path, role, values, doc) DIMENSION_##key,
enum search_dimension { SEARCH_DIMENSIONS(SEARCH_DIMENSION_INDEX) DIMENSIONS };

struct search_dimension_line {
    const char *key, *path, *defaults;
    enum search_role role;
};
extern const struct search_dimension_line search_dimensions[DIMENSIONS];

#endif
