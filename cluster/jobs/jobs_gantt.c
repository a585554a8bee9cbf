/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/intervals.h"
#include "cluster/jobs/job_links.h"
#include "cluster/jobs/jobs_output.h"

#include <math.h>
#include <stdlib.h>

/* What a row has at most, so that a picture of many jobs stays one; the first ones are shown. */
enum { BOXES_MAX = 4000 };

struct spans {
    struct interval *items;
    size_t count, capacity;
    double offset;
};

static void add(struct spans *spans, double start, double end)
{
    enum { OFTEN = 1 << 16 };
    if (end <= start)
        return;
    if (spans->count == spans->capacity && spans->count >= OFTEN)
        spans->count = intervals_unite(spans->items, spans->count);
    spans->items = array_grow(spans->items, &spans->capacity, spans->count + 1, sizeof *spans->items);
    spans->items[spans->count++] = (struct interval){start + spans->offset, end + spans->offset};
}

static void add_transfer(void *user, const struct link_use *use)
{
    add(user, use->moment->data_start, use->moment->end);
}

/* When any rank computes in an iteration. */
static void find_computing(const struct job_run *run, uint32_t iteration, struct spans *spans)
{
    spans->count = 0;
    for (uint32_t entry = 0; entry < run->timeline->rank_count; entry++) {
        uint32_t rank = run->timeline->ranks[entry];
        const struct position *position = &run->job->program->positions[run->job->program->mesh->position_of[rank]];
        const struct stream *stream = &position->streams[0];
        for (uint32_t id = stream->first; id < stream->first + stream->count; id++)
            if (position->operations[id].iteration == iteration)
                add(spans, run->timeline->moments[entry][id].start, run->timeline->moments[entry][id].end);
    }
    spans->count = intervals_unite(spans->items, spans->count);
}

static void add_boxes(struct gantt *gantt, uint32_t row, const struct spans *spans, enum gantt_kind kind,
                      uint32_t number)
{
    for (size_t i = 0; i < spans->count && i < BOXES_MAX; i++)
        gantt_add_box(gantt,
                      &(struct gantt_box){.start = spans->items[i].start,
                                          .end = spans->items[i].end,
                                          .row = row,
                                          .number = number,
                                          .kind = (uint8_t)kind,
                                          .lane = kind == GANTT_COMPUTE ? GANTT_LANE_COMPUTE : GANTT_LANE_COLLECTIVE});
}

static void add_job(struct gantt *gantt, const struct job_figures *job, struct platform *whole)
{
    struct spans spans = {.offset = job->run.start};
    double busy = 0;
    uint32_t row = gantt_add_row(gantt, job->run.described->name, -1);
    for (uint32_t i = 0; i < job->run.iterations; i++) {
        find_computing(&job->run, i, &spans);
        busy += intervals_length(spans.items, spans.count);
        add_boxes(gantt, row, &spans, GANTT_COMPUTE, i);
    }
    if (job->ends[job->run.iterations - 1] > 0)
        gantt->rows[row].busy = fmin(1, busy / job->ends[job->run.iterations - 1]);
    spans.count = 0;
    job_links_visit(&job->run, whole, add_transfer, &spans);
    spans.count = intervals_unite(spans.items, spans.count);
    add_boxes(gantt, row, &spans, GANTT_COLLECTIVE, GANTT_NO_NUMBER);
    free(spans.items);
}

struct gantt *jobs_gantt_create(const struct jobs_figures *figures, struct platform *whole,
                                const struct jobs_description *description)
{
    char subtitle[sizeof((struct gantt *)NULL)->subtitle];
    uint32_t hosts = 0, cut = 0;
    for (uint32_t i = 0; i < figures->count; i++) {
        hosts += figures->jobs[i].run.part->host_count;
        cut += figures->jobs[i].left_out > 0;
    }
    snprintf(subtitle, sizeof subtitle, "%u jobs on %u of %u GPUs of %s, engine %s; below each: its transfers%s",
             figures->count, hosts, whole->host_count, description->scenario->platform_name, description->engine->name,
             cut ? "; iterations that repeat are left out" : "");
    struct gantt *gantt = gantt_create(description->scenario->name, subtitle, GANTT_SECONDS);
    gantt->jobs = 1;
    for (uint32_t i = 0; i < figures->count; i++)
        add_job(gantt, &figures->jobs[i], whole);
    gantt_finish(gantt);
    return gantt;
}
