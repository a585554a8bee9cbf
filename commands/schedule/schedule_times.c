/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/schedule/schedule_times.h"

#include "base/arena.h"
#include "schedules/plan/plan_share.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const cost_names[COSTS] = {"forward", "backward", "weight", "block"};

bool time_read(const char *text, double *time, char **end)
{
    *time = strtod(text, end);
    size_t length = strspn(text, "0123456789.eE+-");
    return text[0] >= '0' && text[0] <= '9' && *end == text + length && isfinite(*time) && *time <= 1e15;
}

bool times_read(const char *text, struct time_list *times, struct arena *arena)
{
    times->count = 0;
    times->values = arena_array(arena, strlen(text) / 2 + 1, sizeof *times->values);
    for (char *end;; text = end + 1) {
        if (!time_read(text, &times->values[times->count++], &end))
            return false;
        if (*end != ',')
            return *end == '\0';
    }
}

/* The time of a share: the only one, or its own. */
static double share_time(const struct time_list *list, uint32_t share)
{
    return list->values[list->count == 1 ? 0 : share];
}

double times_mean(const struct time_list *list)
{
    double sum = 0;
    for (size_t i = 0; i < list->count; i++)
        sum += list->values[i];
    return sum / (double)list->count;
}

void times_complete(struct time_list costs[COSTS], struct arena *arena)
{
    static const double initial[] = {[FORWARD] = 1, [BACKWARD] = 2};
    struct time_list *backward = &costs[BACKWARD], *weight = &costs[WEIGHT];
    for (enum cost cost = FORWARD; cost <= BACKWARD; cost++)
        if (!costs[cost].count) {
            costs[cost] = (struct time_list){arena_array(arena, 1, sizeof(double)), 1};
            costs[cost].values[0] = initial[cost];
        }
    if (weight->count)
        return;
    *weight = (struct time_list){arena_array(arena, backward->count, sizeof(double)), backward->count};
    for (size_t i = 0; i < backward->count; i++)
        weight->values[i] = backward->values[i] / 2;
}

int times_check(const struct command *command, const struct time_list costs[COSTS], uint32_t workers)
{
    for (enum cost cost = FORWARD; cost < COSTS; cost++)
        if (costs[cost].count > 1 && costs[cost].count != workers)
            return command_usage(command, "--%s gives %zu times, but there are %u workers", cost_names[cost],
                                 costs[cost].count, workers);
    for (uint32_t share = 0; share < workers; share++) {
        double backward = share_time(&costs[BACKWARD], share), weight = share_time(&costs[WEIGHT], share);
        if (weight > backward)
            return command_usage(command,
                                 "the weight gradient (%g) is a part of the backward (%g) and cannot take longer",
                                 weight, backward);
    }
    return 0;
}

struct plan_costs times_of_stages(const struct time_list costs[COSTS], double latency, double attention_share,
                                  uint32_t workers, uint32_t stages, struct arena *arena)
{
    double *times[COSTS];
    for (enum cost cost = FORWARD; cost < COSTS; cost++) {
        times[cost] = NULL;
        if (!costs[cost].count)
            continue;
        times[cost] = arena_array(arena, stages, sizeof(double));
        for (uint32_t stage = 0; stage < stages; stage++)
            times[cost][stage] = plan_share_cut(costs[cost].values, costs[cost].count, workers, stages, stage);
    }
    double *attention = arena_array(arena, stages, sizeof *attention);
    for (uint32_t stage = 0; stage < stages; stage++)
        attention[stage] = attention_share;
    return (struct plan_costs){.forward = times[FORWARD],
                               .backward = times[BACKWARD],
                               .weight = times[WEIGHT],
                               .block = times[BLOCK],
                               .latency = latency,
                               .attention = {attention, attention}};
}
