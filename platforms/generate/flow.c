/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of single transfers (TCP's windows, the core that handles packets). Each is a link on the routes of its level
 * that every transfer has for itself (FATPIPE), so that both engines, files and other tools know of it. */
#include "platforms/generate/layout.h"
#include "platforms/generate/xml.h"

#include <math.h>

const char *const design_flow_links[LEVELS] = {"flow", "flow-spine", "flow-top"};

double design_latency(const struct design *design, enum design_level level)
{
    enum { STEPS_MAX = 64 };
    struct node_step steps[STEPS_MAX];
    uint32_t count = node_route(design->node, 0, node_port(design->node), steps, STEPS_MAX);
    double latency = design->fabric.hop;
    for (uint32_t i = 0; i < count; i++)
        latency += design->node->cables[steps[i].cable].wire->latency;
    latency += level >= LEVEL_SPINE ? design->fabric.hop : 0;
    latency += level >= LEVEL_TOP ? design->fabric.group.hop : 0;
    return 2 * latency;
}

double design_flow_rate(const struct design *design, enum design_level level)
{
    const struct flow_limit *flow = &design->fabric.flow;
    double rate = flow->rate > 0 && level == LEVEL_POD ? flow->rate : INFINITY;
    if (flow->window > 0)
        rate = fmin(rate, flow->window / (2 * design_latency(design, level)));
    return isinf(rate) ? 0 : rate;
}

/* In a platform of several designs each has links of its own. */
static void put_name(char *name, size_t size, const struct layout *layout, enum design_level level)
{
    if (layout->join)
        snprintf(name, size, "%s-%u", design_flow_links[level], layout->first_pod);
    else
        snprintf(name, size, "%s", design_flow_links[level]);
}

void layout_write_flow_link(FILE *out, const struct layout *layout, enum design_level level)
{
    char name[32];
    double rate = design_flow_rate(layout->design, level);
    put_name(name, sizeof name, layout, level);
    if (rate > 0)
        xml_flow_link(out, name, rate);
}

void layout_flow_on_route(FILE *out, const struct layout *layout, enum design_level level)
{
    char name[32];
    put_name(name, sizeof name, layout, level);
    if (design_flow_rate(layout->design, level) > 0)
        fprintf(out, "<link_ctn id=\"%s\"/>", name);
}
