/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved 1F1B: a worker holds v chunks of the model, chunk c being stage c D + w, so that filling and draining
 * take 1/v of the time. Forwards go through the micro-batches in groups of g: within a group all of chunk 0, then all
 * of chunk 1 and so on; backwards likewise from the last chunk down. */
#include "schedules/schedules.h"

#include <stdio.h>
#include <string.h>

enum { OPTION_CHUNKS, OPTION_GROUP };

static const struct schedule_option options[] = {
    [OPTION_CHUNKS] = {.key = "chunks",
                       .initial = 2,
                       .least = 2,
                       .most = SCHEDULE_STAGES_MAX,
                       .doc = "chunks of the model per worker (v)"},
    [OPTION_GROUP] = {.key = "group",
                      .initial = 0,
                      .least = 0,
                      .most = SCHEDULE_FORWARDS_MAX,
                      .doc = "micro-batches that follow each other in one chunk (g); 0: as many as workers"},
    {0},
};

static uint32_t stages(const struct schedule_request *request)
{
    return request->workers * (uint32_t)request->options[OPTION_CHUNKS];
}

static uint32_t group_of(const struct schedule_request *request)
{
    return request->options[OPTION_GROUP] ? (uint32_t)request->options[OPTION_GROUP] : request->workers;
}

/* A place in the sequence (group, chunk, micro-batch of the group). */
struct cursor {
    uint32_t first, size; /* of the group */
    uint32_t chunk, micro_batch;
};

static struct cursor cursor_begin(uint32_t micro_batches, uint32_t group)
{
    return (struct cursor){.size = group < micro_batches ? group : micro_batches};
}

static void cursor_next(struct cursor *cursor, uint32_t micro_batches, uint32_t group, uint32_t chunks)
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

static void generate_worker(struct plan *plan, uint32_t worker, uint32_t group, uint32_t chunks)
{
    uint32_t workers = plan->workers, micro_batches = plan->micro_batches;
    uint64_t count = (uint64_t)micro_batches * chunks;
    uint64_t warm = 2 * (uint64_t)(workers - 1 - worker) + (uint64_t)(chunks - 1) * group;
    struct cursor forward = cursor_begin(micro_batches, group), backward = forward;
    for (uint64_t i = 0, done = 0; done < count; i++) {
        if (i < count) {
            plan_append(plan, worker, SLOT_FORWARD, 0, forward.chunk * workers + worker, forward.micro_batch);
            cursor_next(&forward, micro_batches, group, chunks);
        }
        if (i < warm && i + 1 < count)
            continue;
        plan_append(plan, worker, SLOT_BACKWARD, 0, (chunks - 1 - backward.chunk) * workers + worker,
                    backward.micro_batch);
        cursor_next(&backward, micro_batches, group, chunks);
        done++;
    }
}

static struct plan *generate(const struct schedule_request *request)
{
    struct plan *plan = plan_create_looped(request, stages(request));
    for (uint32_t worker = 0; worker < request->workers; worker++)
        generate_worker(plan, worker, group_of(request), (uint32_t)request->options[OPTION_CHUNKS]);
    return plan;
}

/* A group smaller than the pipeline is deep leaves chunk c + 1 waiting for chunk c, the last, shorter one included. */
static bool group_fits(uint32_t group, uint32_t workers, uint32_t micro_batches)
{
    return group >= workers && group <= micro_batches &&
           (micro_batches % group == 0 || micro_batches % group >= workers);
}

/* Writes "8, 12, 16 and more" for the groups that fit. */
static void name_groups(char *text, size_t size, uint32_t workers, uint32_t micro_batches)
{
    enum { NAMED = 8 };
    unsigned named = 0;
    text[0] = '\0';
    for (uint32_t group = workers; group <= micro_batches; group++) {
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

static bool fits(const struct schedule_request *request, struct schedule_refusal *refusal)
{
    uint32_t workers = request->workers, micro_batches = request->micro_batches, group = group_of(request);
    if (group_fits(group, workers, micro_batches))
        return true;
    if (micro_batches < workers)
        return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                               "interleaved needs at least as many micro-batches as there are workers (%u), not %u",
                               workers, micro_batches);
    char legal[128];
    name_groups(legal, sizeof legal, workers, micro_batches);
    if (request->options[OPTION_GROUP])
        return schedule_refuse(
            refusal, REFUSED_OPTION, "group",
            "interleaved cannot run %u micro-batches on %u workers in groups of %u; possible groups: %s", micro_batches,
            workers, group, legal);
    return schedule_refuse(refusal, REFUSED_MICRO_BATCHES, NULL,
                           "interleaved needs a multiple of %u micro-batches, not %u, or the option group: %s", workers,
                           micro_batches, legal);
}

const struct schedule schedule_interleaved = {
    .name = "interleaved",
    .summary = "1f1b with several chunks of the model per worker: 1/v of the bubble, v times the messages",
    .when = "few micro-batches a worker, fast links, a framework without split backwards",
    .source = "Narayanan et al., Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM, SC "
              "2021, arXiv 2104.04473",
    .options = options,
    .stages = stages,
    .fits = fits,
    .plan = generate,
};
