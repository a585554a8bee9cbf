/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/canvas.h"
#include "base/arena.h"
#include "base/intervals.h"
#include "cluster/jobs/job_links.h"
#include "cluster/jobs/jobs_output.h"

#include <math.h>
#include <stdlib.h>

/* What a row has at most of one list, so that a picture of many jobs stays one; the first ones are shown. */
enum { BOXES_MAX = 4000 };
/* What all rows together may have with cycles drawn as often as jobs go through them. */
enum { REPEATED_MAX = 60000 };

struct spans {
    struct interval *items;
    size_t count, capacity;
    double offset;
};

/* The row of a job. Where its iterations repeat and there is room, the cycle is drawn as often as it is gone through,
 * and what follows it comes later. */
struct row {
    struct gantt *gantt;
    uint32_t number, iterations; /* of the row; in one cycle */
    double from, length;         /* of the cycle */
    uint32_t repeats;            /* more times; 0: what was simulated is all that is shown */
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

static void add_box(const struct row *row, const struct interval *span, uint32_t repeat, enum gantt_kind kind,
                    uint32_t number)
{
    bool numbered = number != GANTT_NO_NUMBER;
    gantt_add_box(row->gantt,
                  &(struct gantt_box){.start = span->start + repeat * row->length,
                                      .end = span->end + repeat * row->length,
                                      .row = row->number,
                                      .number = numbered ? number + repeat * row->iterations : number,
                                      .kind = (uint8_t)kind,
                                      .lane = kind == GANTT_COMPUTE ? GANTT_LANE_COMPUTE : GANTT_LANE_COLLECTIVE});
}

static void add_boxes(const struct row *row, const struct spans *spans, enum gantt_kind kind, uint32_t number)
{
    for (size_t i = 0; i < spans->count && i < BOXES_MAX; i++) {
        double start = spans->items[i].start;
        bool after = row->repeats && start >= row->from + row->length, before = !row->repeats || start < row->from;
        uint32_t first = after ? row->repeats : 0, last = before ? 0 : row->repeats;
        for (uint32_t repeat = first; repeat <= last; repeat++)
            add_box(row, &spans->items[i], repeat, kind, number);
    }
}

/* When data of the job move. */
static void find_moving(const struct job_figures *job, struct platform *whole, struct spans *spans)
{
    spans->count = 0;
    job_links_visit(&job->run, whole, add_transfer, spans);
    spans->count = intervals_unite(spans->items, spans->count);
}

/* Seconds in which any rank computes, and in how many spans, of all iterations that were simulated. */
static double count_computing(const struct job_run *run, struct spans *spans, size_t *count)
{
    double busy = 0;
    *count = 0;
    for (uint32_t i = 0; i < run->iterations; i++) {
        find_computing(run, i, spans);
        busy += intervals_length(spans->items, spans->count);
        *count += spans->count;
    }
    return busy;
}

/* True when the picture has all of the job. */
static bool add_job(struct gantt *gantt, const struct job_figures *job, uint32_t jobs, struct platform *whole)
{
    struct spans computing = {.offset = job->run.start}, moving = computing;
    size_t count;
    double busy = count_computing(&job->run, &computing, &count), simulated = job->ends[job->run.iterations - 1];
    find_moving(job, whole, &moving);
    struct row row = {.gantt = gantt, .number = gantt_add_row(gantt, job->run.described->name, -1)};
    bool all = !job->left_out || (double)(count + moving.count) * (job->repeats + 1) <= (double)REPEATED_MAX / jobs;
    if (job->left_out && all) {
        row.iterations = job->left_out / job->repeats;
        row.from = job->cycle.start;
        row.length = job->cycle.length;
        row.repeats = job->repeats;
    }
    for (uint32_t i = 0; i < job->run.iterations; i++) {
        find_computing(&job->run, i, &computing);
        add_boxes(&row, &computing, GANTT_COMPUTE, i);
    }
    add_boxes(&row, &moving, GANTT_COLLECTIVE, GANTT_NO_NUMBER);
    if (simulated > 0)
        gantt->rows[row.number].busy = fmin(1, busy / simulated);
    free(computing.items);
    free(moving.items);
    return all;
}

struct gantt *jobs_gantt_create(const struct jobs_figures *figures, struct platform *whole,
                                const struct jobs_description *description)
{
    uint32_t hosts = 0;
    bool all = true;
    struct gantt *gantt = gantt_create(description->scenario->name, "", GANTT_SECONDS);
    gantt->jobs = 1;
    for (uint32_t i = 0; i < figures->count; i++) {
        hosts += figures->jobs[i].run.part->host_count;
        all &= add_job(gantt, &figures->jobs[i], figures->count, whole);
    }
    char subtitle[sizeof gantt->subtitle];
    snprintf(subtitle, sizeof subtitle, "%u jobs on %u of %u GPUs of %s, engine %s; below each: its transfers%s",
             figures->count, hosts, whole->host_count, description->scenario->platform_name, description->engine->name,
             all ? "" : "; iterations that repeat are left out");
    text_clean(gantt->subtitle, sizeof gantt->subtitle, subtitle);
    gantt_finish(gantt);
    return gantt;
}
