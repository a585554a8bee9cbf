/* SPDX-License-Identifier: Apache-2.0 */
/* What a training with an offer comes to, and by what one way is better than another. */
#include "studies/fleet/fleet.h"

#include <math.h>

double fleet_course_money(const struct fleet_question *question, size_t offer, const struct fleet_course *course)
{
    struct fleet_use use = {course->seconds, course->joules, course->nodes * (question->gpus / question->nodes),
                            course->nodes};
    return fleet_money(question->offers[offer], &use);
}

/* Kilograms of carbon dioxide; negative: not known. */
static double kilograms_of(const struct fleet *fleet, const struct plan_offer *offer, const struct fleet_course *course)
{
    const struct power_settings *power = &fleet->scenario->power;
    if (!(course->joules > 0))
        return -1;
    if (offer->carbon >= 0)
        return course->joules / 3.6e6 * fmax(offer->cooling, power->pue) * offer->carbon / 1000;
    return power->given && power->carbon_count ? power_grams(power, course->joules, course->seconds) / 1000 : -1;
}

static bool is_allowed(const struct plan_settings *settings, const struct fleet_way *way)
{
    return (!(settings->by > 0) || way->seconds <= settings->by) &&
           (!(settings->below > 0) || way->money <= settings->below) &&
           (!(settings->carbon > 0) || (way->kilograms >= 0 && way->kilograms <= settings->carbon));
}

struct fleet_way fleet_way_of(const struct fleet *fleet, uint32_t i, uint32_t offer, const struct fleet_course *course)
{
    const struct fleet_question *question = &fleet->questions.list[i];
    struct fleet_way way = {.question = i,
                            .offer = offer,
                            .seconds = course->seconds,
                            .money = fleet_course_money(question, offer, course),
                            .kilograms = kilograms_of(fleet, question->offers[offer], course)};
    way.allowed = is_allowed(&fleet->scenario->plan, &way);
    return way;
}

/* Less is better. */
static double goal_of(const struct plan_settings *settings, const struct fleet_way *way)
{
    return settings->by > 0 ? way->money : settings->below > 0 ? way->seconds : way->seconds * way->money;
}

bool fleet_is_better(const struct fleet *fleet, const struct fleet_way *way, const struct fleet_way *other)
{
    const struct plan_settings *settings = &fleet->scenario->plan;
    return way->allowed != other->allowed ? way->allowed : goal_of(settings, way) < goal_of(settings, other);
}
