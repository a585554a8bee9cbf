/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/who.h"

void loss_search_seconds(const struct loss_search *search, size_t step, const double *values)
{
    const struct replay *replay = search->replays[step];
    for (uint32_t i = 0; i < replay->node_count; i++)
        search->seconds[i] = replay->nodes[i].kind == REPLAY_WORK ? values[replay->nodes[i].operation] : 0;
}

double loss_search_replay(const struct loss_search *search, const double *values, bool gaps,
                          bool (*mended)(const void *user, const struct recorded_operation *operation),
                          const void *user)
{
    double sum = 0;
    for (size_t s = 0; s < search->step_count; s++) {
        const struct replay *replay = search->replays[s];
        for (uint32_t i = 0; i < replay->node_count; i++) {
            const struct replay_node *node = &replay->nodes[i];
            bool works = node->kind == REPLAY_WORK;
            bool mend = mended && node->operation != RECORDED_NONE &&
                        mended(user, &search->recorded->operations[node->operation]);
            search->seconds[i] = !works ? 0 : mend ? search->next[node->operation] : values[node->operation];
            search->gaps[i] = gaps && !(mend && search->mend_gaps) ? node->gap : 0;
        }
        sum += replay_time(replay, search->seconds, search->gaps, NULL);
    }
    return sum / (double)search->step_count;
}

bool loss_concerns(enum loss_kind kind, const struct recorded_operation *operation)
{
    bool forward = operation->work == RECORDED_FORWARD,
         backward = operation->work == RECORDED_BACKWARD || operation->work == RECORDED_WEIGHT;
    switch (kind) {
    case LOSS_FORWARD:
        return forward;
    case LOSS_BACKWARD:
        return backward;
    case LOSS_OTHER_COMPUTE:
        return !forward && !backward;
    default:
        return true;
    }
}
