/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in whose programs are wrong in a way that the scenario chooses. */
#include "abi/workload.h"

#include <math.h>

enum mistake {
    CYCLE,
    ABSENT,
    OTHER_SIZE,
    STRANGER,
    TWICE,
    NO_POSITION,
    NO_COST,
    NO_ITERATION,
    NEGATIVE,
    NO_NUMBER,
    WAITS_ITSELF,
    TO_ITSELF,
    MANY_LANES,
    PAIR_BYTES_NEGATIVE,
    PAIR_IDLE,
    PAIR_REPLICAS,
    PAIR_KIND,
    PAIR_GROUP
};

static const char *const mistakes[] = {
    "cycle",        "absent",        "other-size", "stranger",     "twice",     "no-position", "no-cost",
    "no-iteration", "negative",      "no-number",  "waits-itself", "to-itself", "many-lanes",  "pair-negative",
    "pair-idle",    "pair-replicas", "pair-kind",  "pair-group",   NULL};

struct parameters {
    unsigned mistake;
};

static const struct stagesim_field fields[] = {
    {"mistake", STAGESIM_FIELD_NAME, offsetof(struct parameters, mistake), .required = true, .names = mistakes,
     .doc = "which"},
    {0},
};

static struct stagesim_identity identity(enum stagesim_kind kind, uint32_t stage, uint32_t micro_batch,
                                         uint32_t iteration)
{
    return (struct stagesim_identity){
        .kind = kind, .stage = stage, .micro_batch = micro_batch, .layer = STAGESIM_NONE, .iteration = iteration};
}

/* Position 0 waits for the gradient before it sends the activation, position 1 the other way round. */
static void add_cycle(struct stagesim_job *job, const struct stagesim_api *api, uint32_t cost)
{
    uint32_t send, receive, forward = api->compute(job, 0, identity(STAGESIM_FORWARD, 0, 3, 0), cost);
    uint32_t backward = api->compute(job, 1, identity(STAGESIM_BACKWARD, 1, 3, 0), cost);
    api->message(job, 0, 1, identity(STAGESIM_ACTIVATION, 0, 3, 0), cost, &send, &receive);
    api->wait(job, 0, send, forward);
    api->wait(job, 1, backward, receive);
    api->message(job, 1, 0, identity(STAGESIM_GRADIENT, 1, 3, 0), cost, &send, &receive);
    api->wait(job, 1, send, backward);
    api->wait(job, 0, forward, receive);
}

static void add_collectives(struct stagesim_job *job, const struct stagesim_api *api, enum mistake mistake,
                            uint32_t cost)
{
    static const uint32_t all[] = {0, 1}, twice[] = {1, 1};
    uint32_t group = api->group(job, "data", mistake == TWICE ? twice : all, mistake == STRANGER ? 1 : 2);
    uint32_t other = api->cost(job, &(struct stagesim_cost){.bytes = 16});
    struct stagesim_identity sync = identity(STAGESIM_GRADIENT_SYNC, 0, STAGESIM_NONE, 0);
    api->collective(job, 0, group, STAGESIM_ALL_REDUCE, sync, cost);
    if (mistake != ABSENT)
        api->collective(job, 1, group, STAGESIM_ALL_REDUCE, sync, mistake == OTHER_SIZE ? other : cost);
}

static void add_computations(struct stagesim_job *job, const struct stagesim_api *api, enum mistake mistake,
                             uint32_t cost)
{
    uint32_t position = mistake == NO_POSITION ? api->positions(job) : 0,
             iteration = mistake == NO_ITERATION ? api->iterations(job) : 0;
    if (mistake == NO_COST)
        cost += 1000;
    if (mistake == NEGATIVE || mistake == NO_NUMBER)
        cost = api->cost(job, &(struct stagesim_cost){.seconds = mistake == NEGATIVE ? -1 : NAN});
    uint32_t id = api->compute(job, position, identity(STAGESIM_FORWARD, 0, 0, iteration), cost);
    if (mistake == WAITS_ITSELF)
        api->wait(job, 0, id, id);
    for (uint32_t lane = 0; mistake == MANY_LANES && lane < 70000; lane++)
        api->delay(job, 0, lane, identity(STAGESIM_OTHER, 0, 0, 0), cost);
    if (mistake == TO_ITSELF)
        api->message(job, 0, 0, identity(STAGESIM_ACTIVATION, 0, 0, 0), cost, NULL, NULL);
}

/* Two positions exchange unequal bytes. */
static void add_pairs(struct stagesim_job *job, const struct stagesim_api *api, enum mistake mistake)
{
    static const uint32_t all[] = {0, 1};
    static const double fine[] = {0, 1, 2, 0}, negative[] = {0, 1, -2, 0}, idle[] = {5, 0, 0, 5};
    uint32_t group = api->group(job, mistake == PAIR_REPLICAS ? "data" : "", all, mistake == PAIR_REPLICAS ? 1 : 2);
    uint32_t other = api->group(job, "data", all, 2);
    uint32_t cost = api->pairs_cost(job, &(struct stagesim_cost){0}, group,
                                    mistake == PAIR_BYTES_NEGATIVE ? negative
                                    : mistake == PAIR_IDLE         ? idle
                                                                   : fine);
    for (uint32_t position = 0; position < 2; position++)
        api->collective(job, position, mistake == PAIR_GROUP ? other : group,
                        mistake == PAIR_KIND ? STAGESIM_ALL_GATHER : STAGESIM_ALL_TO_ALL,
                        identity(STAGESIM_OTHER, 0, STAGESIM_NONE, 0), cost);
}

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    enum mistake mistake = ((const struct parameters *)parameters)->mistake;
    uint32_t cost = api->cost(job, &(struct stagesim_cost){.seconds = 1, .bytes = 8});
    if (mistake == CYCLE)
        add_cycle(job, api, cost);
    else if (mistake <= TWICE)
        add_collectives(job, api, mistake, cost);
    else if (mistake >= PAIR_BYTES_NEGATIVE)
        add_pairs(job, api, mistake);
    else
        add_computations(job, api, mistake, cost);
    return true;
}

extern STAGESIM_EXPORT const struct stagesim_workload stagesim_workload_plugin;
const struct stagesim_workload stagesim_workload_plugin = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof(struct stagesim_workload),
    .name = "mistakes",
    .summary = "programs that are wrong",
    .fields = fields,
    .parameters_size = sizeof(struct parameters),
    .build = build,
};
