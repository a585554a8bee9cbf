/* SPDX-License-Identifier: Apache-2.0 */
/* `rl:` steps of reinforcement learning: samples are generated and scored, a policy is trained with them, and its
 * weights go to the engines. Documented in doc/rl.md. */
#ifndef STAGESIM_RL_H
#define STAGESIM_RL_H

#include "abi/fields/fields_distribution.h"
#include "base/tables/table_write.h"
#include "cluster/generation/engine.h"
#include "cluster/jobs/job_run.h"
#include "job/scenario/scenario_kind.h"
#include "workloads/generation/lengths.h"
#include "workloads/generation/reshard.h"

enum rl_arrangement { RL_COLOCATED, RL_APART, RL_ASYNC };
enum rl_tool_cache { RL_KEPT, RL_RECOMPUTED };
enum rl_place { RL_HOST, RL_GPU };
enum rl_transfer { RL_RESHARD, RL_BROADCAST, RL_BUCKETS, RL_TENSORS };

/* As the section's fields fill it. */
struct rl_values {
    uint64_t prompts, samples, most, seed, mini_batch, engines, staleness, steps, pack, padded;
    const struct fields_distribution *prompt, *output, *reward, *turns, *tool, *tool_tokens;
    double correlation, kept, host_rate, transfer_rate, transfer_start, overhead, trainer_time, padded_rate;
    struct stagesim_list pool;
    unsigned arrangement, transfer, tool_cache, models; /* enum rl_arrangement, rl_transfer, rl_tool_cache, rl_place */
    bool partial, old_log_probabilities, reference, reward_model, critic, offload;
};

/* What `search` tries, as the section `variants` says; of lists without values, and where a number is 0, its own. */
struct rl_choices {
    uint64_t gpus;
    unsigned arrangements; /* bit i: enum rl_arrangement i */
    struct stagesim_list staleness, trainer_gpus, tensor, pipeline, engine_tensor, engine_pipeline;
};

/* One of them. */
struct rl_variant {
    unsigned arrangement;
    uint32_t staleness, trainer_gpus, tensor, pipeline, data, engine_tensor, engine_pipeline, engines;
};

/* As a scenario says it. */
struct rl {
    struct rl_choices choices;
    struct rl_values values;
    struct generation_settings settings;
    const struct transformer_model *model;
    /* The trainer's job for one update, without recomputing, and with all of it, whose difference is a forward. */
    struct scenario *update, *kept, *again;
    struct reshard_layout trainer; /* how it has the weights */
    double sequence;               /* tokens of the sequences that the trainer computes in place of the samples */
    uint32_t engines;              /* the most that there are in any step */
};

/* Of a step, or means over several. */
struct rl_phases {
    double generation, reward, old, reference, scores, values, training, swap, transfer, move, overhead;
};

/* What the trainer's job takes, in seconds and bytes of a GPU. */
struct rl_trainer {
    double update, forward; /* of the samples of an update; its forward alone */
    double peak, states;    /* bytes at most, and those that stay between steps */
    double weights;         /* of these, what a forward needs */
    double working;         /* what a forward has beside them, at most: that of a job that recomputes everything */
    double capacity;        /* 0: the platform says nothing of memory */
};

/* Of the batch of a step, what its generation does. */
struct rl_generation {
    double seconds;       /* until the last engine has ended */
    double tail;          /* of them those behind 95 % of the samples */
    double engines_ended; /* seconds that engines, on average, wait for the last one */
    double batch;         /* sequences that go on in an engine, mean */
    double reward;        /* seconds of rewards behind the last sample */
    double tokens;        /* of samples that are kept, with their prompts and what tools answer */
    double preempted;
    double idle;      /* seconds in which an engine, mean, waits for tools alone */
    double tools;     /* seconds that a sample waits for tools, mean */
    double answers;   /* tokens of tools, of samples that are kept */
    double forgotten; /* answers that are read together with all tokens before them */
    double *done;     /* when its samples are, in order, count of them */
    uint32_t count;
};

struct rl_step {
    double generates, generated; /* when its batch is */
    double loads, loaded;        /* when engines get the weights that it is generated with; loads < 0: they have them */
    double trains, trained;      /* log-probabilities, values and updates */
};

/* Shares of the time between the ends of steps in which a pool of GPUs idles, by what it waits for. */
struct rl_idle {
    double busy, transfer, move, engines, tools, weights, samples, overhead;
};

/* Changes of which it is said what they would give. */
enum rl_lever { RL_LEVER_ENGINES, RL_LEVER_TRAINER, RL_LEVER_TAIL, RL_LEVER_STALENESS, RL_LEVER_TRANSFER, RL_LEVERS };

/* What GPUs hold while something is done, in bytes. */
enum rl_memory {
    RL_IN_GENERATION,
    RL_IN_OLD,
    RL_IN_REFERENCE,
    RL_IN_SCORES,
    RL_IN_VALUES,
    RL_IN_TRAINING,
    RL_MEMORIES
};

struct rl_figures {
    double levers[RL_LEVERS]; /* seconds of a step with each of them; -1: it changes nothing */
    double usual;             /* tokens of outputs that 95 % do not exceed */
    struct rl_phases phases;
    double step; /* seconds from the end of a step to that of the next, mean */
    double tokens_per_s, tokens_per_s_per_gpu;
    uint32_t gpus, generation_gpus;
    double tail; /* of generation, the share behind 95 % of its samples */
    double batch, preempted, tokens, samples;
    double idle, tools, answers, forgotten; /* as of a batch, means */
    double staleness;                       /* versions, mean over batches */
    double longest;                         /* seconds of a generation of the longest sample alone */
    struct rl_idle generation, training;
    double transfer_bytes, transfer_most; /* of all GPUs, and of the one that gets the most */
    double weights, cache, trainer_states, capacity;
    double memory[RL_MEMORIES]; /* 0: nothing of the kind is done */
    bool fits;                  /* all of them but engines, which are refused */
    struct rl_step *steps;
    struct rl_generation *batches;
    uint32_t step_count;
};

struct rl_view {
    const struct scenario *scenario;
    const struct rl *rl;
    const struct rl_figures *figures;
};

extern const struct scenario_kind rl_kind;
extern const char *const rl_keys[];
extern const char *const rl_arrangement_names[];
/* Keys of `rl` that mean something in one arrangement alone; the last one has no name. */
struct rl_arranged {
    const char *name;
    enum rl_arrangement of;
};
extern const struct rl_arranged rl_arranged_keys[];
extern const struct fields_section rl_choices_section;

struct scenario *rl_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                         struct diag *diag);
void rl_schema(struct json_writer *json);

/* The trainer's job with its sequences, from the section `trainer`: fills rl->update and what is like it. `tokens`:
 * of the samples of an update. False with the mistakes reported. */
bool rl_trainer_read(const struct scenario_request *request, const struct node *root, double tokens, struct rl *rl,
                     struct arena *arena, struct diag *diag);
bool rl_trainer_simulate(const struct rl *rl, struct platform *platform, struct arena *arena, struct diag *diag,
                         struct rl_trainer *trainer);

/* A step's samples: prompts, kept or not, times samples. */
struct rl_samples {
    uint32_t count, each;          /* each: of a prompt */
    double *prompts, *outputs;     /* tokens: [prompt], [sample] */
    struct batching_pause *pauses; /* of sample i those from begins[i] to begins[i + 1] */
    uint32_t *begins;
};
/* Memory from the arena. */
struct rl_samples rl_samples_draw(const struct rl_values *values, uint32_t step, struct arena *arena);
/* What an engine generates for sample i, whose prompts are numbered from `group` on. Points to the samples. */
struct batching_request rl_sample(const struct rl_samples *samples, uint32_t i, uint32_t group);
uint32_t rl_prompts(const struct rl_values *values);
/* Whether samples call tools. */
bool rl_calls_tools(const struct rl_values *values);
/* The batch of a step on all engines. From the arena. */
struct rl_generation rl_generate(const struct rl *rl, struct generation_engine *engine, uint32_t step,
                                 struct arena *arena);
/* A batch where the next ones begin while others go on: seconds from the end of one to that of the next; the mean batch
 * of a step, and what is preempted. */
struct rl_generation rl_stream(const struct rl *rl, struct generation_engine *engine);
/* Engines of a step. */
uint32_t rl_engines(const struct rl *rl, uint32_t step);
/* Bytes that all GPUs of engines get, and the one that gets the most. */
void rl_transfer_bytes(const struct rl *rl, double *all, double *most, struct arena *arena);
double rl_transfer_seconds(const struct rl *rl, struct platform *platform, double most, struct arena *arena);

/* Steps from which the time of one can be seen: the first `staleness` + 1 have no weights to wait for, the last ones
 * none to send, and one has to be in between. */
uint32_t rl_steps_least(const struct rl_values *values);
/* When steps generate and train: fills figures->steps from their batches and phases. */
void rl_arrange(const struct rl *rl, const struct rl_phases *phases, struct rl_figures *figures);

/* The phases and steps of a trainer and engines like the one: fills the figures that depend on both. */
void rl_compute(const struct rl *rl, const struct rl_trainer *trainer, struct platform *platform,
                struct generation_engine *engine, struct rl_figures *figures, struct arena *arena);
/* Computes the step again with each change: fills figures->levers. */
void rl_find_levers(const struct rl *rl, const struct rl_trainer *trainer, struct platform *platform,
                    struct generation_engine *engine, struct rl_figures *figures, struct arena *arena);

/* Bytes that the trainer's GPUs hold for other models than the policy, between their phases and at most. */
double rl_models_states(const struct rl *rl, const struct rl_trainer *trainer);
/* Fills figures->memory of an engine with `engine` bytes, and whether all fits. */
void rl_find_memory(const struct rl *rl, const struct rl_trainer *trainer, double engine, struct rl_figures *figures);

/* GPUs of trainer and engines. */
uint32_t rl_gpus(const struct rl *rl);
/* Arrangements that `search` tries, bit i: enum rl_arrangement i. */
unsigned rl_tried(const struct rl *rl);
/* All variants that GPUs can be split into, at most one more than RL_VARIANTS_MOST: how many, which the caller frees.
 */
enum { RL_VARIANTS_MOST = 20000 };
size_t rl_list_variants(const struct rl *rl, struct rl_variant **variants);
/* The keys that make it, "KEY=VALUE KEY=VALUE". From the arena. */
const char *rl_variant_sets(const struct rl_variant *variant, struct arena *arena);

/* What people read: a phase, or what a pool is at or waits for. */
enum { RL_PHASES = 11, RL_CAUSES = 8 };
struct rl_row {
    const char *name, *key;
    double value;
};
void rl_list_memory(const struct rl_figures *figures, struct rl_row rows[RL_MEMORIES]);
void rl_list_phases(const struct rl_phases *phases, struct rl_row rows[RL_PHASES]);
/* Seconds of a step with each change; -1: it changes nothing. */
void rl_list_levers(const struct rl_figures *figures, struct rl_row rows[RL_LEVERS]);
void rl_list_idle(const struct rl_idle *idle, struct rl_row rows[RL_CAUSES]);

void rl_print(FILE *out, const struct rl_view *view, enum table_format format);
void rl_json(FILE *out, const struct rl_view *view);
void rl_steps_csv(FILE *out, const struct rl_view *view);

#endif
