/* SPDX-License-Identifier: Apache-2.0 */
/* Breadth-first: the placement of interleaved 1F1B, but all micro-batches go through a chunk before the next chunk
 * begins, so that fully sharded weights are gathered once per chunk and batch instead of once per micro-batch. */
#include "schedules/schedules.h"

enum { OPTION_CHUNKS, OPTION_BACKWARDS };
enum { FIFO, LIFO };

static const char *const backwards[] = {"fifo", "lifo", NULL};

static const struct schedule_option options[] = {
    [OPTION_CHUNKS] = {.key = "chunks",
                       .initial = 2,
                       .least = 1,
                       .most = SCHEDULE_STAGES_MAX,
                       .doc = "chunks of the model per worker (v)"},
    [OPTION_BACKWARDS] = {.key = "backwards",
                          .names = backwards,
                          .initial = FIFO,
                          .doc =
                              "which micro-batch's backward comes first in a chunk: the first one's or the last one's"},
    {0},
};

static uint32_t stages(const struct schedule_request *request)
{
    return request->workers * (uint32_t)request->options[OPTION_CHUNKS];
}

static struct plan *generate(const struct schedule_request *request)
{
    uint32_t workers = request->workers, chunks = (uint32_t)request->options[OPTION_CHUNKS];
    uint32_t count = request->micro_batches;
    bool last_first = request->options[OPTION_BACKWARDS] == LIFO;
    struct plan *plan = plan_create_looped(request, workers * chunks);
    for (uint32_t worker = 0; worker < workers; worker++) {
        for (uint32_t chunk = 0; chunk < chunks; chunk++)
            for (uint32_t i = 0; i < count; i++)
                plan_append(plan, worker, SLOT_FORWARD, 0, chunk * workers + worker, i);
        for (uint32_t chunk = chunks; chunk-- > 0;)
            for (uint32_t i = 0; i < count; i++)
                plan_append(plan, worker, SLOT_BACKWARD, 0, chunk * workers + worker, last_first ? count - 1 - i : i);
    }
    return plan;
}

const struct schedule schedule_breadth_first = {
    .name = "breadth-first",
    .summary = "several chunks per worker, each run for all micro-batches at once: sharded weights are gathered once "
               "per batch",
    .when = "fully sharded weights, which are gathered once a batch; memory for all micro-batches",
    .source = "Lamy-Poirier, Breadth-First Pipeline Parallelism, MLSys 2023, arXiv 2211.05953",
    .plain = true,
    .options = options,
    .stages = stages,
    .plan = generate,
};
