/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that take a share of their ranks' compute while they move: kernels of the library occupy a part of the GPU.
 * M. Isaev et al., Calculon: a methodology and tool for high-level co-design of systems and large language models, SC 2023. */
#include "simulator/simgrid_run.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>
#include <string.h>

/* Less than this share of a computation is not worth another event. */
#define REST 1e-12

/* Brings the sum up to now. */
static void settle(struct overlap *overlap)
{
    double now = simgrid_get_clock();
    overlap->lost += fmin(overlap->share, OVERLAP_MOST) * (now - overlap->since);
    overlap->since = now;
}

double overlap_share(const struct run *run, const struct member *members, uint32_t count)
{
    const struct platform_library *library = &run->platform->library;
    const char *node = run->platform->hosts[run->hosts[members[0].number]].node;
    for (uint32_t i = 1; i < count; i++)
        if (strcmp(run->platform->hosts[run->hosts[members[i].number]].node, node) != 0)
            return library->overlap_network;
    return count > 1 ? library->overlap_node : 0;
}

static void change(const struct member *members, uint32_t count, double share, int by)
{
    for (uint32_t i = 0; i < count && share > 0; i++) {
        if (!members[i].rank)
            continue;
        struct overlap *overlap = &members[i].rank->overlap;
        settle(overlap);
        overlap->running += (uint32_t)by;
        overlap->share = overlap->running ? overlap->share + by * share : 0; /* no rounding is left over */
    }
}

void overlap_begin(const struct member *members, uint32_t count, double share)
{
    change(members, count, share, 1);
}

void overlap_end(const struct member *members, uint32_t count, double share)
{
    change(members, count, share, -1);
}

void overlap_execute(struct rank *rank, double seconds)
{
    double least = fmax(REST * seconds, rank->run->precision), rest = seconds;
    settle(&rank->overlap);
    for (double lost = rank->overlap.lost; rest > 0;) {
        sg_actor_execute(rest * rank->speed);
        settle(&rank->overlap);
        rest = rank->overlap.lost - lost;
        rest = rest > least ? rest : 0;
        lost = rank->overlap.lost;
    }
}
