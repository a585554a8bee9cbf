/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layers/steps.h"

void layers_await(const struct layers_steps *s, uint32_t position, uint32_t operation, uint32_t awaited)
{
    if (awaited != STAGESIM_NONE)
        s->j->api->wait(s->j->job, position, operation, awaited);
}

uint32_t layers_add_compute(const struct layers_steps *s, struct layers_worker *worker,
                            struct stagesim_identity identity, uint32_t cost)
{
    uint32_t id = s->j->api->compute(s->j->job, worker->position, identity, cost);
    layers_await(s, worker->position, id, worker->exchange);
    worker->exchange = STAGESIM_NONE;
    worker->last = id;
    return id;
}
