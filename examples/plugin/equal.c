/* SPDX-License-Identifier: Apache-2.0 */
/* A workload plug-in: data-parallel training of a model of equal layers. Every rank runs the forward of all layers,
 * then their backward from the last to the first; the gradient of a layer is all-reduced as soon as its backward is
 * done, while the backward goes on. The optimizer step waits for the last all-reduce. */
#include <stagesim/workload.h>

struct parameters {
    uint64_t layers;
    double forward, backward, optimizer; /* seconds; forward and backward of one layer */
    double gradient;                     /* bytes of one layer */
};

static const struct stagesim_field fields[] = {
    {"layers", STAGESIM_FIELD_COUNT, offsetof(struct parameters, layers), true, 1, 10000, .doc = "number of layers"},
    {"forward", STAGESIM_FIELD_TIME, offsetof(struct parameters, forward), true, .doc = "time of one layer's forward"},
    {"backward", STAGESIM_FIELD_TIME, offsetof(struct parameters, backward), true,
     .doc = "time of one layer's backward"},
    {"optimizer", STAGESIM_FIELD_TIME, offsetof(struct parameters, optimizer), false,
     .doc = "time of the optimizer step; none"},
    {"gradient", STAGESIM_FIELD_BYTES, offsetof(struct parameters, gradient), true,
     .doc = "bytes of one layer's gradient"},
    {0},
};

/* Costs are entries of a table, shared by the operations that cost the same. */
struct costs {
    uint32_t forward, backward, gradient, optimizer;
};

static struct stagesim_identity identity(enum stagesim_kind kind, uint32_t layer, uint32_t iteration)
{
    return (struct stagesim_identity){
        .kind = kind, .micro_batch = STAGESIM_NONE, .layer = layer, .iteration = iteration};
}

static void build_iteration(struct stagesim_job *job, const struct stagesim_api *api, const struct parameters *p,
                            const struct costs *costs, uint32_t group, uint32_t iteration)
{
    uint32_t layers = (uint32_t)p->layers, reduced = 0;
    for (uint32_t layer = 0; layer < layers; layer++)
        api->compute(job, 0, identity(STAGESIM_FORWARD, layer, iteration), costs->forward);
    for (uint32_t layer = layers; layer-- > 0;) {
        uint32_t backward = api->compute(job, 0, identity(STAGESIM_BACKWARD, layer, iteration), costs->backward);
        reduced = api->collective(job, 0, group, STAGESIM_ALL_REDUCE,
                                  identity(STAGESIM_GRADIENT_SYNC, layer, iteration), costs->gradient);
        api->wait(job, 0, reduced, backward);
    }
    uint32_t step = api->compute(job, 0, identity(STAGESIM_OPTIMIZER, STAGESIM_NONE, iteration), costs->optimizer);
    api->wait(job, 0, step, reduced);
}

/* Position 0 is all there is: every rank runs the same code, and `data` replicas share it. */
static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    const struct parameters *p = parameters;
    if (api->positions(job) != 1) {
        api->error(job, NULL, "layers run data-parallel only: leave pipeline and the like out of `parallel`");
        return false;
    }
    struct costs costs = {
        .forward = api->cost(job, &(struct stagesim_cost){.seconds = p->forward}),
        .backward = api->cost(job, &(struct stagesim_cost){.seconds = p->backward}),
        .gradient = api->cost(job, &(struct stagesim_cost){.bytes = p->gradient}),
        .optimizer = api->cost(job, &(struct stagesim_cost){.seconds = p->optimizer}),
    };
    uint32_t position = 0, group = api->group(job, "data", &position, 1);
    for (uint32_t iteration = 0; iteration < api->iterations(job); iteration++)
        build_iteration(job, api, p, &costs, group, iteration);
    return true;
}

extern STAGESIM_EXPORT const struct stagesim_workload stagesim_workload_plugin;
const struct stagesim_workload stagesim_workload_plugin = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .size = sizeof(struct stagesim_workload),
    .name = "equal",
    .summary = "data-parallel training of equal layers, gradients reduced during the backward",
    .fields = fields,
    .parameters_size = sizeof(struct parameters),
    .build = build,
};
