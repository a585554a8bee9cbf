/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of `rl:`. */
#include "base/arena.h"
#include "base/document.h"
#include "base/paths.h"
#include "cluster/generation/beside.h"
#include "cluster/rl/rl.h"
#include "job/schema/schema_value.h"
#include "workloads/transformer/transformer.h"

#include <math.h>
#include <string.h>

enum { SAMPLES_MOST = 1000000, TURNS_MOST = 20000000, RL_STEPS_MOST = 1000 };

#define VALUE(name) offsetof(struct rl_values, name)

static const char *const tool_cache_names[] = {"kept", "recomputed", NULL};
static const char *const place_names[] = {"host", "gpu", NULL};
static const char *const transfer_names[] = {"reshard", "broadcast", "buckets", "tensors", NULL};

static const struct stagesim_field fields[] = {
    {"prompts", STAGESIM_FIELD_COUNT, VALUE(prompts), .least = 1, .most = SAMPLES_MOST,
     .doc = "prompts of a step that are trained with; default 64"},
    {"samples", STAGESIM_FIELD_COUNT, VALUE(samples), .least = 1, .most = 10000,
     .doc = "samples of each prompt; default 16"},
    {"prompt", STAGESIM_FIELD_FACTORS, VALUE(prompt), .doc = "tokens of a prompt; default 512"},
    {"output", STAGESIM_FIELD_FACTORS, VALUE(output), .doc = "tokens of a sample behind its prompt; default 1024"},
    {"most", STAGESIM_FIELD_COUNT, VALUE(most), .least = 1, .most = 100000000,
     .doc = "samples are cut there; default: none is"},
    {"correlation", STAGESIM_FIELD_RATIO, VALUE(correlation), .least = 0, .most = 1,
     .doc = "of the lengths of samples of one prompt; default 0.5"},
    {"seed", STAGESIM_FIELD_COUNT, VALUE(seed), .least = 0, .most = 9007199254740992.0,
     .doc = "seed of the random numbers; default 0"},
    {"kept", STAGESIM_FIELD_RATIO, VALUE(kept), .least = 0.001, .most = 1,
     .doc = "share of prompts whose samples are worth training with (dynamic sampling): as many more are generated; "
            "default 1"},
    {"mini_batch", STAGESIM_FIELD_COUNT, VALUE(mini_batch), .least = 1, .most = SAMPLES_MOST,
     .doc = "samples of an update; default: all of a step"},
    {"reward", STAGESIM_FIELD_DISTRIBUTION, VALUE(reward),
     .doc = "how long the score of a sample takes, which begins when the sample ends, beside the GPUs; default 0s"},
    {"turns", STAGESIM_FIELD_FACTORS, VALUE(turns),
     .doc = "equal parts of a sample's output, with a tool or an environment between two; rounded, at least 1; "
            "default 1"},
    {"tool", STAGESIM_FIELD_DISTRIBUTION, VALUE(tool),
     .doc = "how long a tool takes, while others have the sample's place in the engine; default 0s"},
    {"tool_tokens", STAGESIM_FIELD_FACTORS, VALUE(tool_tokens),
     .doc = "tokens that it answers: they are read as a prompt is, and trained with; default 0"},
    {"tool_cache", STAGESIM_FIELD_NAME, VALUE(tool_cache), .names = tool_cache_names,
     .doc = "tokens of a sample that waits: kept, in the cache until others need the room, those that wait the longest "
            "first; recomputed behind each tool; default kept"},
    {"old_log_probabilities", STAGESIM_FIELD_FLAG, VALUE(old_log_probabilities),
     .doc = "the trainer computes the samples' probabilities before its updates; default true"},
    {"reference", STAGESIM_FIELD_FLAG, VALUE(reference), .doc = "a reference model computes them, too; default true"},
    {"reward_model", STAGESIM_FIELD_FLAG, VALUE(reward_model),
     .doc = "a model as large as the policy scores the samples on the trainer's GPUs; default false: rules do"},
    {"critic", STAGESIM_FIELD_FLAG, VALUE(critic),
     .doc =
         "a critic as large as the policy gives values and is trained (PPO); default false: advantages are of groups"},
    {"arrangement", STAGESIM_FIELD_NAME, VALUE(arrangement), .names = rl_arrangement_names,
     .doc = "colocated: the same GPUs in turns; apart: engines have their own, and wait for the weights of the step "
            "before; async: they are staleness steps ahead; default colocated"},
    {"staleness", STAGESIM_FIELD_COUNT, VALUE(staleness), .least = 0, .most = 64,
     .doc = "with async: versions that the weights of a batch are older than those that it trains; default 1"},
    {"partial", STAGESIM_FIELD_FLAG, VALUE(partial),
     .doc = "with async: samples go on with new weights, and the next ones begin while others end; default false"},
    {"engines", STAGESIM_FIELD_COUNT, VALUE(engines), .least = 1, .most = 100000,
     .doc = "engines; default: as many as the trainer's GPUs hold"},
    {"pool", STAGESIM_FIELD_COUNTS, VALUE(pool), .least = 1, .most = 100000,
     .doc = "in place of engines, those of step after step, over and over: [8, 8, 16]"},
    {"transfer", STAGESIM_FIELD_NAME, VALUE(transfer), .names = transfer_names,
     .doc = "how weights go to engines: reshard, each GPU gets its own part from those that have it; broadcast, all "
            "hosts get all; buckets, tensors: gathered and sent in pieces or one by one; default reshard"},
    {"transfer_rate", STAGESIM_FIELD_RATE, VALUE(transfer_rate), .least = 1, .most = 1e15,
     .doc = "bytes a second of it, of the whole model, with reshard of a GPU; default: of its kind"},
    {"transfer_start", STAGESIM_FIELD_TIME, VALUE(transfer_start), .least = 0, .most = 1e6,
     .doc = "what it takes beside its bytes; default 200ms"},
    {"offload", STAGESIM_FIELD_FLAG, VALUE(offload),
     .doc = "colocated: the trainer's states are in the host's memory while engines generate; default true"},
    {"models", STAGESIM_FIELD_NAME, VALUE(models), .names = place_names,
     .doc = "where reference, reward model and critic are while others compute: host, from where they come for their "
            "phases, or gpu; default host"},
    {"host_rate", STAGESIM_FIELD_RATE, VALUE(host_rate), .least = 1, .most = 1e15,
     .doc = "bytes a second of a GPU to and from its host's memory; default 25GBps"},
    {"overhead", STAGESIM_FIELD_TIME, VALUE(overhead), .least = 0, .most = 1e6,
     .doc = "what a step takes beside its phases: data, advantages, engines that wake and sleep; default 5s where GPUs "
            "take turns, otherwise 0s"},
    {"padded", STAGESIM_FIELD_COUNT, VALUE(padded), .least = 1, .most = 100000000,
     .doc = "tokens to which one process pads each sample that it gathers from engines and hands out to each phase of "
            "the trainer, as veRL's does; default: none does"},
    {"padded_rate", STAGESIM_FIELD_RATE, VALUE(padded_rate), .least = 1, .most = 1e15,
     .doc = "with padded: bytes a second of that process, 48 of a token; default 500MBps"},
    {"pack", STAGESIM_FIELD_COUNT, VALUE(pack), .least = 1, .most = 100000000,
     .doc = "tokens into which samples are packed for training; default: those of the longest sample"},
    {"trainer_time", STAGESIM_FIELD_RATIO, VALUE(trainer_time), .least = 0.01, .most = 100,
     .doc = "time of the trainer's phases over that of the job that is simulated: packs that are not full, data that "
            "is unequal; default 1"},
    {"steps", STAGESIM_FIELD_COUNT, VALUE(steps), .least = 1, .most = RL_STEPS_MOST,
     .doc = "steps that are simulated; with apart at least 3, with async 3 more than twice staleness; default 4, with "
            "async at least 8 more than staleness"},
    {0},
};

static const struct fields_section section = {"rl", true, fields};
const char *const rl_keys[] = {"name",   "platform",   "loader",   "what_if",  "model",
                               "engine", "generation", "trainer",  "rl",       "output",
                               "inputs", "imported",   "workload", "variants", NULL};

void rl_schema(struct json_writer *json)
{
    schema_section(json, section.name, &section, NULL);
    schema_section(json, rl_choices_section.name, &rl_choices_section, NULL);
    json_object_begin(json, "trainer", false);
    json_text(json, "type", "object");
    json_object_end(json);
}

/* ---- checks ---- */

/* Bit i: enum rl_arrangement i, which the step has, or which `search` tries. */
static unsigned arrangements_of(const struct rl *rl)
{
    return 1u << rl->values.arrangement | rl->choices.arrangements;
}

const struct rl_arranged rl_arranged_keys[] = {
    {"staleness", RL_ASYNC}, {"partial", RL_ASYNC}, {"offload", RL_COLOCATED}, {NULL, 0}};

static bool check_arrangement(const struct rl *rl, const struct node *node, struct diag *diag)
{
    for (const struct rl_arranged *key = rl_arranged_keys; key->name; key++)
        if (node_get(node, key->name) && !(arrangements_of(rl) >> key->of & 1)) {
            diag_error(diag, node_get(node, key->name)->key_at, "'%s' goes with arrangement: %s", key->name,
                       rl_arrangement_names[key->of]);
            return false;
        }
    return true;
}

/* Lists of variants that no arrangement takes. */
static bool check_choices(const struct rl *rl, const struct node *node, struct diag *diag)
{
    const struct node *staleness = node_get(node, "staleness"), *gpus = node_get(node, "trainer_gpus");
    unsigned tried = rl_tried(rl);
    if (staleness && !(tried >> RL_ASYNC & 1))
        diag_error(diag, staleness->key_at, "'staleness' goes with arrangement: async, which is not tried");
    else if (gpus && tried == 1u << RL_COLOCATED)
        diag_error(diag, gpus->key_at,
                   "'trainer_gpus' goes with arrangements apart and async: of colocated the trainer has all GPUs");
    else
        return true;
    return false;
}

/* Keys of models beside the policy, and of what moves between GPUs and their hosts. */
static bool check_places(const struct rl *rl, const struct node *node, struct diag *diag)
{
    const struct rl_values *v = &rl->values;
    const struct node *models = node_get(node, "models"), *rate = node_get(node, "host_rate");
    bool others = v->reference || v->reward_model || v->critic;
    bool moves = (others && v->models == RL_HOST) || (arrangements_of(rl) >> RL_COLOCATED & 1 && v->offload);
    if (models && !others)
        diag_error(diag, models->key_at,
                   "'models' is where a reference, a reward model or a critic is, and there is none; expected one");
    else if (rate && !moves)
        diag_error(diag, rate->key_at,
                   "nothing moves to or from the host; expected models: host, or offload: true with arrangement: "
                   "colocated");
    else
        return true;
    return false;
}

static bool check_tools(const struct rl_values *v, const struct node *root, struct diag *diag)
{
    static const char *const keys[] = {"tool", "tool_tokens", "tool_cache"};
    const struct node *node = node_get(root, "rl");
    double turns = distribution_mean(&v->turns->distribution), all = turns * rl_prompts(v) * (double)v->samples;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (node_get(node, keys[i]) && !rl_calls_tools(v)) {
            diag_error(diag, node_get(node, keys[i])->key_at,
                       "'%s' is between turns, and there is one; expected "
                       "rl.turns, such as turns: 4",
                       keys[i]);
            return false;
        }
    if (turns >= 1 && all <= TURNS_MOST)
        return true;
    if (turns < 1)
        diag_error(diag, node_place(root, "rl.turns"), "a sample has %.6g turns; expected at least 1", turns);
    else
        diag_error(diag, node_place(root, "rl.turns"), "samples of a step have %.6g turns; expected at most %d", all,
                   TURNS_MOST);
    return false;
}

static bool check(const struct rl *rl, const struct node *root, struct diag *diag)
{
    const struct rl_values *v = &rl->values;
    const struct node *node = node_get(root, "rl");
    if (v->prompts * v->samples > SAMPLES_MOST * v->kept) {
        diag_error(diag, node_place(root, "rl.samples"), "there are %.6g samples of a step; expected at most %d",
                   (double)(v->prompts * v->samples) / v->kept, SAMPLES_MOST);
        return false;
    }
    if (node_get(node, "padded_rate") && !v->padded) {
        diag_error(diag, node_get(node, "padded_rate")->key_at,
                   "'padded_rate' is of a process that pads samples, and none does; expected rl.padded, too");
        return false;
    }
    if (v->mini_batch > v->prompts * v->samples) {
        diag_error(diag, node_place(root, "rl.mini_batch"), "an update has %llu of %llu samples; expected no more",
                   (unsigned long long)v->mini_batch, (unsigned long long)(v->prompts * v->samples));
        return false;
    }
    if (v->steps && v->steps < rl_steps_least(v)) {
        diag_error(diag, node_place(root, "rl.steps"),
                   "%llu steps have no two that wait for weights and send some; expected at least %u",
                   (unsigned long long)v->steps, rl_steps_least(v));
        return false;
    }
    return check_arrangement(rl, node, diag) && check_choices(rl, node_get(root, rl_choices_section.name), diag) &&
           check_places(rl, node, diag) && check_tools(v, root, diag);
}

/* Tokens of the samples of an update; the sequence whose attention is theirs, and the pack that holds the longest. */
static double measure(struct rl *rl, struct arena *arena)
{
    struct rl_values *v = &rl->values;
    struct rl_samples samples = rl_samples_draw(v, 0, arena);
    double sum = 0, squares = 0, longest = 0;
    for (uint32_t i = 0; i < samples.count; i++) {
        struct batching_request sample = rl_sample(&samples, i, 0);
        double length = batching_tokens(&sample);
        sum += length;
        squares += length * length;
        longest = fmax(longest, length);
    }
    rl->sequence = squares / sum;
    if (!v->pack)
        v->pack = (uint64_t)longest;
    return sum / samples.count * (double)v->mini_batch;
}

/* Steps over which the time of one is measured: with a pool all of its counts are as often among them. */
static bool check_pool(const struct rl_values *v, const struct node *root, struct diag *diag)
{
    uint64_t ends = v->arrangement == RL_COLOCATED ? 0 : rl_steps_least(v) - 1, rest = 0;
    if (v->pool.count)
        rest = (v->steps - ends) % v->pool.count;
    if (v->pool.count && v->engines)
        diag_error(diag, node_place(root, "rl.pool"),
                   "a pool has its engines in a list; expected no rl.engines beside "
                   "it");
    else if (v->pool.count && v->partial)
        diag_error(diag, node_place(root, "rl.pool"),
                   "samples that go on into the next steps need the same engines; "
                   "expected partial: false");
    else if (v->pool.count > RL_STEPS_MOST || v->steps > RL_STEPS_MOST)
        diag_error(diag, node_place(root, "rl.pool"),
                   "a round of the pool and what is before it take %llu steps; expected at most %d",
                   (unsigned long long)v->steps, RL_STEPS_MOST);
    else if (rest)
        diag_error(diag, node_place(root, "rl.steps"),
                   "%llu steps have not all counts of the pool as often; expected "
                   "such as %llu",
                   (unsigned long long)v->steps, (unsigned long long)(v->steps + v->pool.count - rest));
    else
        return true;
    return false;
}

/* As many as are needed, and whole rounds of the pool. */
static uint64_t steps_of(const struct rl_values *v)
{
    uint64_t ends = v->arrangement == RL_COLOCATED ? 0 : rl_steps_least(v) - 1, steps = 4, round = v->pool.count;
    if (v->arrangement == RL_ASYNC)
        steps = (uint64_t)fmax((double)v->staleness + 8, rl_steps_least(v));
    return round ? ends + (steps - ends + round - 1) / round * round : steps;
}

static bool set_engines(struct rl *rl, const struct node *root, struct diag *diag)
{
    uint32_t each = generation_gpus(&rl->settings), gpus = rl->update->mesh.ranks;
    rl->engines = rl->values.engines ? (uint32_t)rl->values.engines : gpus / each;
    for (size_t i = 0; i < rl->values.pool.count; i++)
        rl->engines = (uint32_t)fmax(i ? rl->engines : 0, rl->values.pool.values[i]);
    if (rl->engines < 1 || (rl->values.arrangement == RL_COLOCATED && (uint64_t)rl->engines * each > gpus)) {
        diag_error(diag, node_place(root, "generation"),
                   "%u engines of %u GPUs do not fit on the trainer's %u; expected fewer, or smaller ones", rl->engines,
                   each, gpus);
        return false;
    }
    return true;
}

struct scenario *rl_read(const struct scenario_request *request, struct node *root, struct arena *arena,
                         struct diag *diag)
{
    unsigned errors = diag->errors;
    struct fields_reader reader = {path_directory(request->file, arena), arena, diag, NULL, NULL};
    struct rl *rl = arena_alloc(arena, sizeof *rl);
    rl->values = (struct rl_values){.prompts = 64,
                                    .samples = 16,
                                    .prompt = fields_distribution_of("512s", arena),
                                    .output = fields_distribution_of("1024s", arena),
                                    .reward = fields_distribution_of("0s", arena),
                                    .turns = fields_distribution_of("1s", arena),
                                    .tool = fields_distribution_of("0s", arena),
                                    .tool_tokens = fields_distribution_of("0s", arena),
                                    .correlation = 0.5,
                                    .kept = 1,
                                    .staleness = 1,
                                    .old_log_probabilities = true,
                                    .reference = true,
                                    .offload = true,
                                    .host_rate = 25e9,
                                    .overhead = -1,
                                    .transfer_start = 0.2,
                                    .trainer_time = 1,
                                    .padded_rate = 500e6};
    for (size_t i = 0; i < request->set_count; i++)
        scenario_apply_set(root, &request->sets[i], "rl.staleness=2", arena, diag);
    scenario_check_keys(&reader, root, rl_keys, "a scenario of reinforcement learning");
    generation_check_words(root, "rl", arena, diag);
    fields_check_keys(&reader, &section, NULL, node_get(root, "rl"));
    fields_read(&reader, &section, node_get(root, "rl"), root->at, &rl->values);
    fields_check_keys(&reader, &rl_choices_section, NULL, node_get(root, rl_choices_section.name));
    fields_read(&reader, &rl_choices_section, node_get(root, rl_choices_section.name), root->at, &rl->choices);
    generation_settings_read(&reader, node_get(root, "generation"), root->at, &rl->settings);
    if (diag->errors > errors || !check(rl, root, diag))
        return NULL;
    struct rl_values *v = &rl->values;
    v->mini_batch = v->mini_batch ? v->mini_batch : v->prompts * v->samples;
    if (v->overhead < 0)
        v->overhead = v->arrangement == RL_COLOCATED ? 5 : 0;
    if (!v->steps)
        v->steps = steps_of(v);
    if (!check_pool(v, root, diag))
        return NULL;
    if (!rl_trainer_read(request, root, measure(rl, arena), rl, arena, diag) || !set_engines(rl, root, diag))
        return NULL;
    struct scenario *scenario = generation_read_beside(
        request, root, TRACE_CSV | TRACE_PAJE, "paje, for pools and phases, or csv, for steps.csv", arena, diag);
    if (!scenario)
        return NULL;
    rl->model = &((const struct transformer_parameters *)scenario->parameters)->model;
    scenario->schedule_name = rl_arrangement_names[v->arrangement];
    scenario->whole = rl;
    return scenario;
}
