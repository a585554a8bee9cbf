/* SPDX-License-Identifier: Apache-2.0 */
/* `variants:` what `search` tries of a step: a split of GPUs, layouts of both sides, staleness. */
#include "base/arena.h"
#include "cluster/rl/rl.h"

const char *const rl_arrangement_names[] = {"colocated", "apart", "async", NULL};

uint32_t rl_gpus(const struct rl *rl)
{
    uint32_t trainer = rl->update->mesh.ranks;
    return trainer + (rl->values.arrangement == RL_COLOCATED ? 0 : rl->engines * generation_gpus(&rl->settings));
}

/* ---- the section ---- */

#define VALUE(name) offsetof(struct rl_choices, name)

static const struct stagesim_field fields[] = {
    {"gpus", STAGESIM_FIELD_COUNT, VALUE(gpus), .least = 1, .most = 1000000,
     .doc = "GPUs of trainer and engines; default: as many as the scenario itself has"},
    {"arrangement", STAGESIM_FIELD_NAMES, VALUE(arrangements), .names = rl_arrangement_names,
     .doc = "default: that of rl"},
    {"staleness", STAGESIM_FIELD_COUNTS, VALUE(staleness), .least = 0, .most = 64,
     .doc = "with async; default: that of rl"},
    {"trainer_gpus", STAGESIM_FIELD_COUNTS, VALUE(trainer_gpus), .least = 1, .most = 1000000,
     .doc = "GPUs of the trainer where engines have their own; default: eighths of all"},
    {"tensor", STAGESIM_FIELD_COUNTS, VALUE(tensor), .least = 1, .most = 1024,
     .doc = "trainer.parallel.tensor; default [1, 2, 4, 8]"},
    {"pipeline", STAGESIM_FIELD_COUNTS, VALUE(pipeline), .least = 1, .most = 1024,
     .doc = "trainer.parallel.pipeline; default [1, 2, 4, 8]"},
    {"engine_tensor", STAGESIM_FIELD_COUNTS, VALUE(engine_tensor), .least = 1, .most = 1024,
     .doc = "generation.tensor; default [1, 2, 4, 8]"},
    {"engine_pipeline", STAGESIM_FIELD_COUNTS, VALUE(engine_pipeline), .least = 1, .most = 1024,
     .doc = "generation.pipeline; default: that of generation"},
    {0},
};

const struct fields_section rl_choices_section = {"variants", true, fields};

static const double layouts[] = {1, 2, 4, 8};

/* A list of its own where none is given. */
static struct stagesim_list list_or(struct stagesim_list given, const double *values, size_t count)
{
    return given.count ? given : (struct stagesim_list){count, values};
}

/* ---- listing ---- */

struct listing {
    const struct rl *rl;
    const struct rl_choices *choices;
    uint32_t gpus, beside; /* beside: ranks of the trainer's other axes, such as context */
    struct rl_variant *items;
    size_t count, room;
};

static void add(struct listing *listing, struct rl_variant variant)
{
    bool own = variant.arrangement != RL_COLOCATED;
    uint64_t each = (uint64_t)variant.engine_tensor * variant.engine_pipeline * listing->rl->settings.data;
    variant.engines = (uint32_t)((own ? listing->gpus - variant.trainer_gpus : variant.trainer_gpus) / each);
    if (!variant.engines || listing->count > RL_VARIANTS_MOST)
        return;
    listing->items = array_grow(listing->items, &listing->room, listing->count + 1, sizeof *listing->items);
    listing->items[listing->count++] = variant;
}

static void add_engines(struct listing *listing, struct rl_variant variant)
{
    double same = (double)listing->rl->settings.pipeline;
    struct stagesim_list tensor = list_or(listing->choices->engine_tensor, layouts, 4);
    struct stagesim_list pipeline = list_or(listing->choices->engine_pipeline, &same, 1);
    for (size_t i = 0; i < tensor.count * pipeline.count; i++) {
        variant.engine_tensor = (uint32_t)tensor.values[i / pipeline.count];
        variant.engine_pipeline = (uint32_t)pipeline.values[i % pipeline.count];
        add(listing, variant);
    }
}

static void add_layouts(struct listing *listing, struct rl_variant variant)
{
    struct stagesim_list tensor = list_or(listing->choices->tensor, layouts, 4);
    struct stagesim_list pipeline = list_or(listing->choices->pipeline, layouts, 4);
    for (size_t i = 0; i < tensor.count * pipeline.count; i++) {
        variant.tensor = (uint32_t)tensor.values[i / pipeline.count];
        variant.pipeline = (uint32_t)pipeline.values[i % pipeline.count];
        uint64_t layout = (uint64_t)variant.tensor * variant.pipeline * listing->beside;
        if (variant.trainer_gpus > listing->gpus || variant.trainer_gpus % layout)
            continue;
        variant.data = (uint32_t)(variant.trainer_gpus / layout);
        add_engines(listing, variant);
    }
}

/* Where GPUs take turns the trainer has all. */
static void add_splits(struct listing *listing, struct rl_variant variant)
{
    enum { PARTS = 8 };
    double parts[PARTS], all = listing->gpus;
    struct stagesim_list splits = {0, parts};
    for (uint32_t i = 1; i < PARTS; i++)
        if (listing->gpus * i % PARTS == 0)
            parts[splits.count++] = (double)(listing->gpus * i / PARTS);
    splits = list_or(listing->choices->trainer_gpus, splits.values, splits.count);
    if (variant.arrangement == RL_COLOCATED)
        splits = (struct stagesim_list){1, &all};
    for (size_t i = 0; i < splits.count; i++) {
        variant.trainer_gpus = (uint32_t)splits.values[i];
        add_layouts(listing, variant);
    }
}

/* Whether lists as long as these take too long to go through, whatever comes of it. */
static bool are_too_long(const struct rl_choices *choices)
{
    static const double most = 1e7;
    const struct stagesim_list *lists[] = {&choices->staleness, &choices->trainer_gpus,  &choices->tensor,
                                           &choices->pipeline,  &choices->engine_tensor, &choices->engine_pipeline};
    double tries = 1;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        tries *= (double)(lists[i]->count ? lists[i]->count : 1);
    return tries > most;
}

unsigned rl_tried(const struct rl *rl)
{
    return rl->choices.arrangements ? rl->choices.arrangements : 1u << rl->values.arrangement;
}

size_t rl_list_variants(const struct rl *rl, struct rl_variant **variants)
{
    const struct mesh *mesh = &rl->update->mesh;
    const struct rl_choices *choices = &rl->choices;
    uint32_t split = mesh_size(mesh, "tensor") * mesh_size(mesh, "pipeline") * mesh_size(mesh, "data");
    struct listing listing = {.rl = rl,
                              .choices = choices,
                              .gpus = choices->gpus ? (uint32_t)choices->gpus : rl_gpus(rl),
                              .beside = mesh->ranks / split};
    double same = (double)rl->values.staleness, none = 0;
    if (are_too_long(choices)) {
        *variants = NULL;
        return RL_VARIANTS_MOST + 1;
    }
    unsigned arrangements = rl_tried(rl);
    for (unsigned a = RL_COLOCATED; a <= RL_ASYNC; a++) {
        struct stagesim_list staleness = {1, &none};
        if (a == RL_ASYNC)
            staleness = list_or(choices->staleness, &same, 1);
        for (size_t i = 0; arrangements >> a & 1 && i < staleness.count; i++)
            add_splits(&listing, (struct rl_variant){.arrangement = a, .staleness = (uint32_t)staleness.values[i]});
    }
    *variants = listing.items;
    return listing.count;
}

const char *rl_variant_sets(const struct rl_variant *v, struct arena *arena)
{
    const char *sets =
        arena_print(arena,
                    "rl.arrangement=%s rl.engines=%u trainer.parallel.tensor=%u trainer.parallel.pipeline=%u "
                    "trainer.parallel.data=%u generation.tensor=%u generation.pipeline=%u",
                    rl_arrangement_names[v->arrangement], v->engines, v->tensor, v->pipeline, v->data, v->engine_tensor,
                    v->engine_pipeline);
    return v->arrangement == RL_ASYNC ? arena_print(arena, "%s rl.staleness=%u", sets, v->staleness) : sets;
}
