/* SPDX-License-Identifier: Apache-2.0 */
/* By what one way is better than another. */
#include "studies/fleet/fleet.h"

bool fleet_is_allowed(const struct fleet *fleet, const struct fleet_way *way)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    return (!(settings->by > 0) || way->seconds <= settings->by) &&
           (!(settings->below > 0) || way->money <= settings->below) &&
           (!(settings->carbon > 0) || (way->kilograms >= 0 && way->kilograms <= settings->carbon));
}

double fleet_goal(const struct fleet *fleet, const struct fleet_way *way)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    return settings->by > 0 ? way->money : settings->below > 0 ? way->seconds : way->seconds * way->money;
}
