/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/rating.h"

#include "platforms/device.h"

#include <string.h>

/* Host files name few models; each is looked up once. */
enum { MODELS_MAX = 64 };

struct model_speed {
    const char *model; /* NULL: hosts without one */
    const struct device_model *known;
    double speed;
};

struct model_speeds {
    struct model_speed items[MODELS_MAX];
    uint32_t count;
};

static bool same_model(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Beyond the table's end each host is a model of its own: NULL. */
static struct model_speed *find_model(struct model_speeds *speeds, const char *model)
{
    for (uint32_t i = 0; i < speeds->count; i++)
        if (same_model(speeds->items[i].model, model))
            return &speeds->items[i];
    if (speeds->count == MODELS_MAX)
        return NULL;
    struct model_speed *added = &speeds->items[speeds->count++];
    *added = (struct model_speed){.model = model, .known = model ? device_find(model) : NULL};
    return added;
}

void rating_find(struct platform *platform)
{
    struct model_speeds speeds = {.count = 0};
    for (uint32_t i = 0; i < platform->host_count; i++) {
        const struct platform_host *host = &platform->hosts[i];
        struct model_speed *model = find_model(&speeds, host->model);
        if (model && platform_full_speed(host) > model->speed)
            model->speed = platform_full_speed(host);
    }
    for (uint32_t i = 0; i < platform->host_count; i++) {
        struct platform_host *host = &platform->hosts[i];
        const struct model_speed *model = find_model(&speeds, host->model);
        double peak = model && model->known ? host->peak[model->known->precision] : 0;
        host->full_speed = peak > 0 ? peak : model ? model->speed : platform_full_speed(host);
    }
}
