/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives that take a share of their ranks' compute while they move. */
#include "simulator/engines/simgrid/run.h"

#include "simulator/engines/overlap.h"

#include <math.h>
#include <simgrid/actor.h>
#include <simgrid/engine.h>

#include "simulator/engines/simgrid/services.h"

/* Less than this share of a computation is not worth another event. */
#define REST 1e-12

/* Brings the sum up to now. */
static void settle(struct overlap *overlap)
{
    double now = simgrid_get_clock();
    overlap->lost += fmin(overlap->share, OVERLAP_MOST) * (now - overlap->since);
    overlap->since = now;
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
    while (rest > 0) {
        double lost = rank->overlap.lost, since = rank->overlap.since;
        sg_actor_execute(rest * rank->speed);
        settle(&rank->overlap);
        double span = rank->overlap.since -
                      since; /* more than `rest` on a host that is slower than those for which times are given */
        rest = span > 0 ? rest * ((rank->overlap.lost - lost) / span) : 0;
        rest = rest > least ? rest : 0;
    }
}
