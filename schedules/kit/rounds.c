/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/kit/rounds.h"

#include "schedules/kit/generate.h"

#include <stdio.h>
#include <string.h>

uint32_t rounds_stages(const struct schedule_request *request)
{
    return request->workers * (uint32_t)request->options[ROUNDS_OPTION_CHUNKS];
}

uint32_t rounds_group(const struct schedule_request *request)
{
    uint32_t workers = request->workers, micro_batches = request->micro_batches;
    if (request->options[ROUNDS_OPTION_GROUP])
        return (uint32_t)request->options[ROUNDS_OPTION_GROUP];
    uint32_t rounds = micro_batches > workers ? micro_batches / workers : 1;
    return micro_batches % rounds ? workers : micro_batches / rounds;
}

struct rounds_cursor rounds_begin(uint32_t micro_batches, uint32_t group)
{
    return (struct rounds_cursor){.size = group < micro_batches ? group : micro_batches};
}

void rounds_next(struct rounds_cursor *cursor, uint32_t micro_batches, uint32_t group, uint32_t chunks)
{
    if (++cursor->micro_batch < cursor->first + cursor->size)
        return;
    if (++cursor->chunk == chunks) {
        cursor->chunk = 0;
        cursor->first += cursor->size;
        cursor->size = group < micro_batches - cursor->first ? group : micro_batches - cursor->first;
    }
    cursor->micro_batch = cursor->first;
}

static bool group_fits(uint32_t group, uint32_t workers, uint32_t micro_batches)
{
    return group == micro_batches || (group >= workers && group <= micro_batches &&
                                      (micro_batches % group == 0 || micro_batches % group >= workers));
}

/* Writes "8, 12, 16 and more" for the groups that fit. */
static void name_groups(char *text, size_t size, uint32_t workers, uint32_t micro_batches)
{
    enum { NAMED = 8 };
    unsigned named = 0;
    text[0] = '\0';
    for (uint32_t group = workers < micro_batches ? workers : micro_batches; group <= micro_batches; group++) {
        if (!group_fits(group, workers, micro_batches))
            continue;
        size_t used = strlen(text);
        if (named++ == NAMED) {
            snprintf(text + used, size - used, " and more");
            return;
        }
        snprintf(text + used, size - used, "%s%u", used ? ", " : "", group);
    }
}

bool rounds_fit(const char *name, const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t workers = request->workers, micro_batches = request->micro_batches, group = rounds_group(request);
    if (group_fits(group, workers, micro_batches))
        return true;
    char legal[128];
    name_groups(legal, sizeof legal, workers, micro_batches);
    if (request->options[ROUNDS_OPTION_GROUP])
        return schedule_refuse(refusal, REFUSED_OPTION, "group",
                               "%s cannot run %u micro-batches on %u workers in groups of %u; possible groups: %s",
                               name, micro_batches, workers, group, legal);
    return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                           "%s needs micro-batches that can be cut into equal groups of %u or a few more, not %u, or "
                           "the option group: %s",
                           name, workers, micro_batches, legal);
}

struct plan *rounds_plan(const struct schedule_request *request,
                         void (*order)(struct plan *plan, uint32_t worker, uint32_t group))
{
    struct plan *plan = plan_create_looped(request, rounds_stages(request));
    for (uint32_t worker = 0; worker < request->workers; worker++)
        order(plan, worker, rounds_group(request));
    return plan;
}
