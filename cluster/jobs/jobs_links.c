/* SPDX-License-Identifier: Apache-2.0 */
/* Whose transfers move on a link at the same time: of every job and link the set of instants, within a window of time.
 * That is the cycle where there is one, otherwise from the first start to the last end. */
#include "base/arena.h"
#include "base/intervals.h"
#include "cluster/jobs/job_links.h"
#include "cluster/jobs/jobs_figures.h"
#include "platforms/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a job does on a link. */
struct job_use {
    uint32_t job;
    struct interval *intervals;
    size_t count, capacity;
};

struct link_state {
    struct job_use *uses;
    size_t count, capacity;
};

struct watching {
    struct jobs_figures *figures;
    struct platform *whole;
    struct link_state *links;
    uint32_t job;
    double start, end; /* the window of the job's component */
};

static void watch(void *user, const struct link_use *use)
{
    struct watching *watching = user;
    double offset = watching->figures->jobs[watching->job].run.start;
    struct interval interval = {fmax(use->moment->data_start + offset, watching->start),
                                fmin(use->moment->end + offset, watching->end)};
    for (uint32_t i = 0; i < use->route->link_count; i++) {
        struct link_state *link = &watching->links[use->route->links[i]];
        if (!link_is_shared(&watching->whole->links[use->route->links[i]]))
            continue;
        if (!link->count || link->uses[link->count - 1].job != watching->job) {
            link->uses = array_grow(link->uses, &link->capacity, link->count + 1, sizeof *link->uses);
            link->uses[link->count++] = (struct job_use){watching->job, NULL, 0, 0};
        }
        struct job_use *mine = &link->uses[link->count - 1];
        if (interval.end <= interval.start)
            continue;
        mine->intervals = array_grow(mine->intervals, &mine->capacity, mine->count + 1, sizeof *mine->intervals);
        mine->intervals[mine->count++] = interval;
    }
}

static void find_window(const struct jobs_figures *figures, uint32_t job, double *start, double *end)
{
    const struct job_figures *watched = &figures->jobs[job];
    *start = INFINITY;
    *end = 0;
    if (watched->repeats) {
        *start = watched->cycle.start;
        *end = watched->cycle.start + watched->cycle.length;
        return;
    }
    for (uint32_t i = 0; i < figures->count; i++)
        if (figures->jobs[i].component == watched->component) {
            *start = fmin(*start, figures->jobs[i].run.start);
            *end = fmax(*end, figures->jobs[i].run.start + figures->jobs[i].duration);
        }
}

/* ---- one link ---- */

/* Keeps the longest in order; of equal ones those found first. */
static void meet(struct job_figures *job, const struct job_meeting *meeting)
{
    uint32_t place = job->meeting_count;
    while (place && job->meetings[place - 1].share < meeting->share)
        place--;
    if (place == JOB_MEETINGS_MAX)
        return;
    if (job->meeting_count < JOB_MEETINGS_MAX)
        job->meeting_count++;
    for (uint32_t i = job->meeting_count - 1; i > place; i--)
        job->meetings[i] = job->meetings[i - 1];
    job->meetings[place] = *meeting;
}

/* What of it two or more jobs use: all pairs' common times, united. */
static double contended(struct jobs_figures *figures, const struct link_state *link, const char *name, double window)
{
    struct interval *both = NULL;
    size_t count = 0, capacity = 0;
    for (size_t a = 0; a < link->count; a++)
        for (size_t b = a + 1; b < link->count; b++) {
            const struct job_use *left = &link->uses[a], *right = &link->uses[b];
            double share = intervals_common(left->intervals, left->count, right->intervals, right->count) / window;
            if (share <= 0)
                continue;
            meet(&figures->jobs[left->job], &(struct job_meeting){name, right->job, share});
            meet(&figures->jobs[right->job], &(struct job_meeting){name, left->job, share});
            for (size_t i = 0, k = 0; i < left->count && k < right->count;) {
                struct interval common = {fmax(left->intervals[i].start, right->intervals[k].start),
                                          fmin(left->intervals[i].end, right->intervals[k].end)};
                if (common.end > common.start) {
                    both = array_grow(both, &capacity, count + 1, sizeof *both);
                    both[count++] = common;
                }
                if (left->intervals[i].end < right->intervals[k].end)
                    i++;
                else
                    k++;
            }
        }
    count = intervals_unite(both, count);
    double length = intervals_length(both, count);
    free(both);
    return length / window;
}

static double busy(const struct link_state *link, double window)
{
    struct interval *all = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < link->count; i++)
        for (size_t k = 0; k < link->uses[i].count; k++) {
            all = array_grow(all, &capacity, count + 1, sizeof *all);
            all[count++] = link->uses[i].intervals[k];
        }
    count = intervals_unite(all, count);
    double length = intervals_length(all, count);
    free(all);
    return length / window;
}

/* ---- all links ---- */

static struct cluster_link_kind *find_kind(struct jobs_figures *figures, const char *link)
{
    char name[sizeof figures->kinds->name];
    view_link_class(link, name, sizeof name);
    for (uint32_t i = 0; i < figures->kind_count; i++)
        if (!strcmp(figures->kinds[i].name, name))
            return &figures->kinds[i];
    struct cluster_link_kind *kind = &figures->kinds[figures->kind_count++];
    memcpy(kind->name, name, sizeof name);
    return kind;
}

static void sum_up(struct jobs_figures *figures, const struct watching *watching, uint32_t index)
{
    const struct link_state *link = &watching->links[index];
    const char *name = watching->whole->links[index].name;
    double start, end;
    find_window(figures, link->uses[0].job, &start, &end);
    for (size_t i = 0; i < link->count; i++)
        link->uses[i].count = intervals_unite(link->uses[i].intervals, link->uses[i].count);
    struct cluster_link found = {name, (uint32_t)link->count, busy(link, end - start),
                                 contended(figures, link, name, end - start)};
    struct cluster_link_kind *kind = find_kind(figures, name);
    kind->used++;
    kind->several += link->count > 1;
    kind->busy += found.busy;
    kind->contended += found.contended;
    kind->contended_max = fmax(kind->contended_max, found.contended);
    if (link->count > 1)
        figures->links[figures->link_count++] = found;
}

static int by_contention(const void *left, const void *right)
{
    const struct cluster_link *a = left, *b = right;
    if (a->contended != b->contended)
        return a->contended > b->contended ? -1 : 1;
    if (a->busy != b->busy)
        return a->busy > b->busy ? -1 : 1;
    return strcmp(a->name, b->name);
}

static int kinds_by_contention(const void *left, const void *right)
{
    const struct cluster_link_kind *a = left, *b = right;
    if (a->contended_max != b->contended_max)
        return a->contended_max > b->contended_max ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void free_links(const struct watching *watching)
{
    for (uint32_t i = 0; i < watching->whole->link_count; i++) {
        for (size_t k = 0; k < watching->links[i].count; k++)
            free(watching->links[i].uses[k].intervals);
        free(watching->links[i].uses);
    }
    free(watching->links);
}

void jobs_links_find(struct jobs_figures *figures, struct platform *whole, struct arena *arena)
{
    struct watching watching = {figures, whole, array_zeroed(whole->link_count, sizeof *watching.links), 0, 0, 0};
    figures->links = arena_array(arena, whole->link_count + (size_t)1, sizeof *figures->links);
    figures->kinds = arena_array(arena, whole->link_count + (size_t)1, sizeof *figures->kinds);
    for (uint32_t i = 0; i < figures->count; i++) {
        watching.job = i;
        find_window(figures, i, &watching.start, &watching.end);
        job_links_visit(&figures->jobs[i].run, whole, watch, &watching);
    }
    for (uint32_t i = 0; i < whole->link_count; i++)
        if (watching.links[i].count)
            sum_up(figures, &watching, i);
    for (uint32_t i = 0; i < figures->kind_count; i++) {
        figures->kinds[i].busy /= figures->kinds[i].used;
        figures->kinds[i].contended /= figures->kinds[i].used;
    }
    qsort(figures->links, figures->link_count, sizeof *figures->links, by_contention);
    qsort(figures->kinds, figures->kind_count, sizeof *figures->kinds, kinds_by_contention);
    free_links(&watching);
}
