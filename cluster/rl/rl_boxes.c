/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "cluster/rl/rl_output.h"

const char *const rl_kind_names[RL_KINDS] = {"generation", "rewards",         "training",
                                             "weights",    "offload, reload", "overhead"};

const char *rl_pool_name(const struct rl_view *view, uint32_t pool)
{
    if (view->rl->values.arrangement == RL_COLOCATED)
        return "GPUs";
    return pool ? "trainer" : "engines";
}

static void add(struct rl_boxes *boxes, uint32_t pool, uint32_t step, enum rl_kind kind, double from, double to)
{
    if (to > from)
        boxes->items[boxes->count++] = (struct rl_box){from, to, pool, step, kind};
}

static void add_turns(const struct rl_view *view, uint32_t i, struct rl_boxes *boxes)
{
    const struct rl_figures *f = view->figures;
    const struct rl_step *step = &f->steps[i];
    double moved = step->loads + f->phases.move, rests = step->trained - f->phases.overhead;
    add(boxes, 0, i, RL_MOVES, step->loads, moved);
    add(boxes, 0, i, RL_TRANSFERS, moved, step->loaded);
    add(boxes, 0, i, RL_GENERATES, step->generates, step->generated);
    add(boxes, 0, i, RL_SCORES, step->generated, step->trains);
    add(boxes, 0, i, RL_TRAINS, step->trains, rests);
    add(boxes, 0, i, RL_RESTS, rests, step->trained);
}

struct rl_boxes rl_boxes_of(const struct rl_view *view, struct arena *arena)
{
    const struct rl_figures *f = view->figures;
    struct rl_boxes boxes = {.items = arena_array(arena, 6 * (size_t)f->step_count + 1, sizeof *boxes.items),
                             .pools = view->rl->values.arrangement == RL_COLOCATED ? 1 : 2,
                             .end = f->steps[f->step_count - 1].trained};
    for (uint32_t i = 0; i < f->step_count && boxes.pools == 1; i++)
        add_turns(view, i, &boxes);
    for (uint32_t i = 0; i < f->step_count && boxes.pools == 2; i++) {
        add(&boxes, 0, i, RL_TRANSFERS, f->steps[i].loads, f->steps[i].loads < 0 ? -1 : f->steps[i].loaded);
        add(&boxes, 0, i, RL_GENERATES, f->steps[i].generates, f->steps[i].generated);
    }
    for (uint32_t i = 0; i < f->step_count && boxes.pools == 2; i++) {
        double rests = f->steps[i].trained - f->phases.overhead;
        add(&boxes, 1, i, RL_TRAINS, f->steps[i].trains, rests);
        add(&boxes, 1, i, RL_RESTS, rests, f->steps[i].trained);
    }
    return boxes;
}
