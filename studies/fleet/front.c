/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/fleet/front.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>

#define HOUR 3600.0
#define YEAR (365.25 * 24 * HOUR)
#define KILOWATT_HOUR 3.6e6

double fleet_money(const struct plan_offer *offer, const struct fleet_use *use)
{
    double paid = fmax(use->seconds, offer->minimum);
    if (offer->purchase > 0)
        return offer->purchase * use->nodes * (use->seconds / (offer->years * YEAR)) +
               use->joules / KILOWATT_HOUR * offer->cooling * offer->electricity;
    if (offer->commitment > 0)
        paid = ceil(paid / offer->commitment) * offer->commitment;
    return paid / HOUR * (offer->gpu_hour > 0 ? offer->gpu_hour * use->gpus : offer->node_hour * use->nodes);
}

bool fleet_point_beats(struct fleet_point a, struct fleet_point b)
{
    return a.seconds <= b.seconds && a.money <= b.money && (a.seconds < b.seconds || a.money < b.money);
}

void fleet_front_finish(struct fleet_front *front)
{
    free(front->points);
    *front = (struct fleet_front){0};
}

bool fleet_front_beats(const struct fleet_front *front, struct fleet_point point)
{
    for (size_t i = 0; i < front->count; i++)
        if (fleet_point_beats(front->points[i], point))
            return true;
    return false;
}

static bool is_there(const struct fleet_front *front, struct fleet_point point)
{
    for (size_t i = 0; i < front->count; i++)
        if (front->points[i].seconds <= point.seconds && front->points[i].money <= point.money)
            return true;
    return false;
}

void fleet_front_add(struct fleet_front *front, struct fleet_point point)
{
    size_t kept = 0;
    if (is_there(front, point))
        return;
    for (size_t i = 0; i < front->count; i++)
        if (!fleet_point_beats(point, front->points[i]))
            front->points[kept++] = front->points[i];
    front->count = kept;
    front->points = array_grow(front->points, &front->capacity, front->count + 1, sizeof *front->points);
    front->points[front->count++] = point;
}
