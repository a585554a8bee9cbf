/* SPDX-License-Identifier: Apache-2.0 */
/* What follows from files of reinforcement learning: GPUs of trainer and engines, replicas, what is missing. */
#include "base/arena.h"
#include "frameworks/import/parts.h"

#include <string.h>

bool import_is_rl(const struct import *import)
{
    return settings_find(&import->settings, "rl.samples") || settings_find(&import->settings, "rl.prompts");
}

static bool is_true(const struct settings *s, const char *key, bool other)
{
    return !strcmp(settings_text(s, key, other ? "true" : "false"), "true");
}

/* The value of a fact becomes that of a key. */
static void move(struct settings *s, const char *fact, const char *key)
{
    const struct setting *found = settings_find(s, fact);
    if (found && !settings_find(s, key))
        settings_put(s, key, found->value, found->from);
}

/* NeMo RL's and veRL's policies are trained by one of two backends, and a file may have the keys of both. */
static void choose_backend(struct settings *s)
{
    static const char *const parts[][3] = {{"@megatron.tensor", "@dtensor.tensor", "parallel.tensor"},
                                           {"@megatron.pipeline", NULL, "parallel.pipeline"},
                                           {"@megatron.context", "@dtensor.context", "parallel.context"},
                                           {"@megatron.expert", NULL, "parallel.expert"},
                                           {"@megatron.again", "@dtensor.again", "@again"}};
    bool megatron = is_true(s, "@megatron", false);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i][!megatron])
            move(s, parts[i][!megatron], parts[i][2]);
    if (settings_find(s, "@megatron") && !settings_find(s, "transformer.zero"))
        settings_put(s, "transformer.zero", megatron ? "1" : "3",
                     source_default(megatron ? "Megatron's distributed optimizer" : "DTensor's FSDP"));
}

/* GPUs of engines of their own: those of so many nodes, or so many of a node. */
static uint64_t engine_gpus(const struct settings *s)
{
    uint64_t whole = settings_find(s, "@engine_nodes") ? settings_count(s, "@gpus_per_node", 1) : 0;
    return settings_product(settings_count(s, "@engine_nodes", 1), settings_count(s, "@engine_gpus", whole));
}

static void put_engines(struct settings *s, uint64_t gpus)
{
    uint64_t each =
        settings_product(settings_count(s, "generation.tensor", 1), settings_count(s, "generation.pipeline", 1));
    const struct setting *nodes = settings_find(s, "@engine_nodes"), *of_node = settings_find(s, "@engine_gpus");
    struct source from = source_given((nodes ? nodes : of_node)->from.at, "GPUs of engines, divided");
    if (!each || gpus % each)
        settings_remark(s, REMARK_MISSING, from.at, "rl.engines", "%llu GPUs are no multiple of an engine's %llu",
                        (unsigned long long)gpus, (unsigned long long)each);
    else if (!settings_find(s, "rl.engines"))
        settings_put_count(s, "rl.engines", gpus / each, from);
}

static void put_trainer(struct settings *s)
{
    static const char *const axes[] = {"parallel.tensor", "parallel.pipeline", "parallel.context"};
    uint64_t ranks = settings_product(settings_count(s, "@nodes", 1), settings_count(s, "@gpus_per_node", 1));
    uint64_t engines = engine_gpus(s);
    uint64_t replica = 1;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        replica = settings_product(replica, settings_count(s, axes[i], 1));
    if (!is_true(s, "@colocated", true) && engines && engines < ranks) {
        ranks -= engines;
        put_engines(s, engines);
    }
    const struct setting *nodes = settings_find(s, "@nodes");
    struct source from = source_given(nodes ? nodes->from.at : (struct place){0}, "nodes x GPUs, divided");
    if (!replica || ranks % replica)
        settings_remark(s, REMARK_MISSING, from.at, "parallel.data", "%llu GPUs are no multiple of a replica's %llu",
                        (unsigned long long)ranks, (unsigned long long)replica);
    else if (!settings_find(s, "parallel.data"))
        settings_put_count(s, "parallel.data", ranks / replica, from);
    if (settings_find(s, "@again"))
        settings_put(s, "schedule.recompute", is_true(s, "@again", false) ? "full" : "none",
                     settings_find(s, "@again")->from);
    if (settings_count(s, "parallel.expert", 1) > 1 && settings_count(s, "parallel.tensor", 1) > 1)
        settings_put(s, "parallel.expert_tensor", "1", source_assumed("experts are not divided along tensor"));
    if (settings_count(s, "parallel.pipeline", 1) > 1)
        settings_put(s, "transformer.balance", "auto", source_assumed("layers may not divide evenly"));
    settings_put(s, "schedule.name", "1f1b", source_assumed("no file says"));
}

static void put_arrangement(struct settings *s)
{
    const struct setting *colocated = settings_find(s, "@colocated"), *ahead = settings_find(s, "@ahead");
    const struct setting *mini = settings_find(s, "@mini_prompts"), *prompt = settings_find(s, "@prompt");
    if (ahead && is_true(s, "@ahead", false)) {
        settings_put(s, "rl.arrangement", "async", ahead->from);
        move(s, "@staleness", "rl.staleness");
    } else if (colocated)
        settings_put(s, "rl.arrangement", is_true(s, "@colocated", true) ? "colocated" : "apart", colocated->from);
    if (mini)
        settings_put_count(s, "rl.mini_batch",
                           settings_product(settings_count(s, "@mini_prompts", 1), settings_count(s, "rl.samples", 1)),
                           mini->from);
    if (prompt && settings_find(s, "rl.most"))
        settings_put_count(s, "rl.pack", settings_count(s, "@prompt", 0) + settings_count(s, "rl.most", 0),
                           prompt->from);
    if (settings_find(s, "rl.pack") && !settings_find(s, "model.sequence"))
        settings_put(s, "model.sequence", settings_find(s, "rl.pack")->value, settings_find(s, "rl.pack")->from);
}

static void ask(struct settings *s, const char *key, const char *text)
{
    if (!settings_find(s, key))
        settings_remark(s, REMARK_MISSING, (struct place){0}, key, "%s", text);
}

void import_combine_rl(const struct import_request *request, struct import *import)
{
    struct settings *s = &import->settings;
    if (request->platform)
        settings_put(s, "platform", request->platform, (struct source){SETTING_TYPED, {0}, "--platform"});
    choose_backend(s);
    put_trainer(s);
    put_arrangement(s);
    ask(s, "platform", "no file says on which machines: --platform PRESET:NODES, such as dgx-h100:4");
    ask(s, "model.layers", "no file has the model's shape: give its config.json as well");
    ask(s, "rl.output",
        "how long samples are, runs say: --set 'rl.output={log-normal: {mean: 2000, deviation: 1500}}'");
    ask(s, "rl.prompt", "how long prompts are, data say: --set rl.prompt=200");
}
