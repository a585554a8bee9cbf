/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in whose structs have other layouts than this stagesim's: `which` struct, and how it is `made`. What lies
 * behind an older layout are bytes that would be noticed. As built with OLD_WORKLOAD its own struct is an older one. */
#include "abi/workload.h"

#include <string.h>

enum which { FIGURES, PIPELINE, PACE };
enum made { TODAY, OLDER, NEVER, NEWER };

static const char *const which_names[] = {"figures", "pipeline", "pace", NULL};
static const char *const made_names[] = {"today", "older", "never", "newer", NULL};

struct parameters {
    unsigned which, made;
};

static const struct stagesim_field fields[] = {
    {"which", STAGESIM_FIELD_NAME, offsetof(struct parameters, which), .required = true, .names = which_names},
    {"made", STAGESIM_FIELD_NAME, offsetof(struct parameters, made), .required = true, .names = made_names},
    {0},
};

/* The size that the struct says it has; of an older layout what lies behind is spoilt. */
static size_t layout(const struct parameters *p, enum which which, void *object, size_t today, size_t older)
{
    if (p->which != which || p->made == TODAY)
        return today;
    if (p->made == OLDER)
        memset((char *)object + older, 0xab, today - older);
    return p->made == OLDER ? older : p->made == NEVER ? today - 4 : today + 8;
}

static bool build(const void *parameters, struct stagesim_job *job, const struct stagesim_api *api)
{
    enum { STAGES = 2 };
    const struct parameters *p = parameters;
    static const double forward[STAGES] = {1, 1}, backward[STAGES] = {2, 2}, zeros[STAGES] = {0};
    struct stagesim_figures figures = {.model_flops = 5e12, .tokens = 1e9};
    figures.size = layout(p, FIGURES, &figures, sizeof figures, offsetof(struct stagesim_figures, bounds_known));
    api->declare(job, &figures);
    struct stagesim_pace pace = {.period = 1};
    pace.size = layout(p, PACE, &pace, sizeof pace, sizeof pace);
    api->pace(job, &pace);
    struct stagesim_pipeline pipeline = {
        .stages = STAGES, .forward = forward, .backward = backward, .gradient = forward, .message = zeros};
    pipeline.size = layout(p, PIPELINE, &pipeline, sizeof pipeline, offsetof(struct stagesim_pipeline, sync_axes));
    return api->pipeline(job, &pipeline);
}

#ifdef OLD_WORKLOAD
static void spoilt(const void *parameters, struct stagesim_shape *shape)
{
    (void)parameters;
    shape->distinct = true;
    shape->extra = 1000000;
}
#endif

extern STAGESIM_EXPORT const struct stagesim_workload stagesim_workload_plugin;
const struct stagesim_workload stagesim_workload_plugin = {
    .abi = STAGESIM_WORKLOAD_ABI,
    .name = "layouts",
    .summary = "structs of other layouts",
    .fields = fields,
    .parameters_size = sizeof(struct parameters),
    .build = build,
#ifdef OLD_WORKLOAD
    .size = offsetof(struct stagesim_workload, shape),
    .shape = spoilt,
#else
    .size = sizeof(struct stagesim_workload),
#endif
};
