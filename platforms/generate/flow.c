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

/* Of one limit and a latency there and back; 0: none. */
static double least_rate(double rate, double window, double latency)
{
    double least = rate > 0 ? rate : INFINITY;
    if (window > 0)
        least = fmin(least, window / (2 * latency));
    return isinf(least) ? 0 : least;
}

double design_flow_rate(const struct design *design, enum design_level level)
{
    const struct flow_limit *flow = &design->fabric.flow;
    return least_rate(level == LEVEL_POD ? flow->rate : 0, flow->window, design_latency(design, level));
}

/* In a platform of several designs each has links of its own. */
static void put_name(char *name, size_t size, const struct layout *layout, enum design_level level)
{
    if (layout->joint)
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

/* ---- over the joint of several designs ---- */

/* Seconds from the first device to that of an equal node, over interfaces of the joint in place of the node's own. */
static double joint_latency(const struct layout *layout)
{
    const struct layout_route *route = &layout->out[0];
    double latency = layout->joint->wire->latency;
    for (uint32_t i = 0; i < layout_to_joint(route); i++)
        latency += layout->design->node->cables[route->steps[i].cable].wire->latency;
    return 2 * latency;
}

/* 0: there is neither a limit on it, nor one beside it. */
static double joint_rate(const struct layout *layout)
{
    const struct joint *joint = layout->joint;
    double rate = least_rate(joint->flow.rate, joint->flow.window, joint_latency(layout));
    bool beside = design_flow_rate(layout->design, LEVEL_POD) > 0;
    return rate == 0 && beside ? joint->wire->effective * 1e9 : rate;
}

void layout_write_joint_flow_link(FILE *out, const struct layout *layout)
{
    char name[32];
    snprintf(name, sizeof name, "flow-joint-%u", layout->first_pod);
    if (joint_rate(layout) > 0)
        xml_flow_link(out, name, joint_rate(layout));
}

void layout_joint_flow_on_route(FILE *out, const struct layout *layout)
{
    if (joint_rate(layout) > 0)
        fprintf(out, "<link_ctn id=\"flow-joint-%u\"/>", layout->first_pod);
}
