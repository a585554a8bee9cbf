/* SPDX-License-Identifier: Apache-2.0 */
/* What GPUs hold in each phase. A reference and a reward model are the policy's weights once more, a critic its states.
 */
#include "cluster/rl/rl.h"

double rl_models_states(const struct rl *rl, const struct rl_trainer *trainer)
{
    const struct rl_values *v = &rl->values;
    if (v->models == RL_HOST)
        return 0;
    return (v->reference + v->reward_model) * trainer->weights + v->critic * trainer->states;
}

void rl_find_memory(const struct rl *rl, const struct rl_trainer *trainer, double engine, struct rl_figures *f)
{
    const struct rl_values *v = &rl->values;
    bool comes = v->models == RL_HOST; /* a model whose phase it is; otherwise it is there already */
    double resident = rl_models_states(rl, trainer), forward = resident + trainer->states + trainer->working;
    double weights = comes ? trainer->weights : 0, states = comes ? trainer->states : 0;
    bool together = v->arrangement == RL_COLOCATED;
    f->memory[RL_IN_GENERATION] = engine + (together ? resident + (v->offload ? 0 : trainer->states) : 0);
    f->memory[RL_IN_OLD] = v->old_log_probabilities ? forward : 0;
    f->memory[RL_IN_REFERENCE] = v->reference ? forward + weights : 0;
    f->memory[RL_IN_SCORES] = v->reward_model ? forward + weights : 0;
    f->memory[RL_IN_VALUES] = v->critic ? forward + states : 0;
    f->memory[RL_IN_TRAINING] = resident + trainer->peak + (v->critic ? states : 0);
    f->fits = true;
    for (int phase = RL_IN_OLD; phase < RL_MEMORIES; phase++)
        f->fits &= trainer->capacity <= 0 || f->memory[phase] <= trainer->capacity;
}
