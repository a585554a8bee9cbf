/* SPDX-License-Identifier: Apache-2.0 */
/* What a change would give: the step computed again with it. */
#include "base/arena.h"
#include "cluster/rl/rl.h"

#include <math.h>

/* One of each; false where it changes nothing, or cannot be. */
static bool change(enum rl_lever lever, const struct rl *rl, const struct rl_figures *now, struct rl *changed,
                   struct rl_trainer *trainer)
{
    struct rl_values *v = &changed->values;
    bool together = rl->values.arrangement == RL_COLOCATED;
    switch (lever) {
    case RL_LEVER_ENGINES:
        changed->engines *= 2;
        return !together && changed->engines <= rl_prompts(v);
    case RL_LEVER_TRAINER:
        trainer->update /= 2;
        trainer->forward /= 2;
        return !together;
    case RL_LEVER_TAIL:
        v->most = (uint64_t)fmax(1, now->usual);
        return now->usual > 0;
    case RL_LEVER_STALENESS:
        v->staleness = v->arrangement == RL_ASYNC ? v->staleness + 1 : 1;
        v->arrangement = RL_ASYNC;
        v->steps = v->pool.count ? v->steps + 2 : (uint64_t)fmax((double)v->steps, rl_steps_least(v));
        return !together;
    case RL_LEVER_TRANSFER:
        v->transfer = RL_RESHARD;
        v->transfer_rate = 0;
        return rl->values.transfer != RL_RESHARD;
    default:
        return false;
    }
}

void rl_find_levers(const struct rl *rl, const struct rl_trainer *trainer, struct platform *platform,
                    struct generation_engine *engine, struct rl_figures *figures, struct arena *arena)
{
    for (int lever = 0; lever < RL_LEVERS; lever++) {
        struct rl changed = *rl;
        struct rl_trainer other = *trainer;
        struct rl_figures then = {0};
        figures->levers[lever] = -1;
        if (!change((enum rl_lever)lever, rl, figures, &changed, &other))
            continue;
        rl_compute(&changed, &other, platform, engine, &then, arena);
        figures->levers[lever] = then.step;
    }
}
