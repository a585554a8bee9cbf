/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/figures/link_use.h"

#include "analysis/figures/traffic.h"
#include "base/arena.h"
#include "platforms/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINKS_MAX = 20 };

/* A link and its use. */
struct used_link {
    uint32_t index; /* platform->links are in the order of names */
    double bytes, utilization;
};

static int busier_first(const void *left, const void *right)
{
    const struct used_link *a = left, *b = right;
    if (a->utilization != b->utilization)
        return a->utilization > b->utilization ? -1 : 1;
    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void keep_busiest(struct report *report, const struct platform *platform, const struct used_link *used,
                         size_t count, struct arena *arena)
{
    report->link_count = count < LINKS_MAX ? (uint32_t)count : LINKS_MAX;
    report->links = arena_array(arena, (size_t)report->link_count + 1, sizeof *report->links);
    for (uint32_t i = 0; i < report->link_count; i++)
        report->links[i] =
            (struct link_report){platform->links[used[i].index].name, used[i].bytes, used[i].utilization};
}

/* ---- kinds ---- */

struct classed_link {
    struct view_links alike;
    double bytes, utilization;
};

static int busier_kind_first(const void *left, const void *right)
{
    const struct link_kind *a = left, *b = right;
    if (a->utilization_max != b->utilization_max)
        return a->utilization_max > b->utilization_max ? -1 : 1;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->bandwidth > b->bandwidth) - (a->bandwidth < b->bandwidth);
}

static void add_link(struct link_kind *kind, const struct classed_link *link)
{
    kind->count++;
    if (link->bytes <= 0)
        return;
    kind->used++;
    kind->bytes += link->bytes;
    kind->utilization += link->utilization;
    kind->utilization_max = fmax(kind->utilization_max, link->utilization);
}

/* Only kinds of which a link is used stay. */
static void fold(struct report *report, const struct classed_link *links, uint32_t count, struct arena *arena)
{
    struct link_kind *kinds = arena_array(arena, (size_t)count + 1, sizeof *kinds);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count;) {
        uint32_t first = i;
        struct link_kind kind = {.bandwidth = links[i].alike.bandwidth};
        for (; i < count && view_links_order(&links[first], &links[i]) == 0; i++)
            add_link(&kind, &links[i]);
        if (!kind.used)
            continue;
        kind.utilization /= kind.used;
        kind.name = arena_copy(arena, links[first].alike.name);
        kinds[kept++] = kind;
    }
    if (kept)
        qsort(kinds, kept, sizeof *kinds, busier_kind_first);
    report->link_kinds = kinds;
    report->link_kind_count = kept;
}

static void find_kinds(struct report *report, const struct platform *platform, const double *bytes, struct arena *arena)
{
    size_t none = 0;
    struct classed_link *links = array_grow(NULL, &none, (size_t)platform->link_count + 1, sizeof *links);
    uint32_t count = 0;
    for (uint32_t i = 0; i < platform->link_count; i++) {
        const struct platform_link *link = &platform->links[i];
        if (!strcmp(link->name, PLATFORM_LOOPBACK))
            continue;
        double busy = bytes[i] / platform_link_rate(link);
        links[count] = (struct classed_link){.alike = {.bandwidth = platform_link_rate(link), .latency = link->latency},
                                             .bytes = bytes[i],
                                             .utilization = report->iteration > 0 ? busy / report->iteration : 0};
        view_link_class(link->name, links[count].alike.name, sizeof links[count].alike.name);
        count++;
    }
    if (count)
        qsort(links, count, sizeof *links, view_links_order);
    fold(report, links, count, arena);
    free(links);
}

void links_rank(struct report *report, const struct frame *frame, struct platform *platform, struct arena *arena)
{
    double *bytes = traffic_links(frame, platform, report->run.hosts, arena);
    struct used_link *used = NULL;
    size_t count = 0, capacity = 0;
    for (uint32_t i = 0; i < platform->link_count; i++) {
        if (bytes[i] <= 0)
            continue;
        used = array_grow(used, &capacity, count + 1, sizeof *used);
        double seconds = bytes[i] / platform_link_rate(&platform->links[i]);
        used[count++] = (struct used_link){i, bytes[i], report->iteration > 0 ? seconds / report->iteration : 0};
    }
    if (count)
        qsort(used, count, sizeof *used, busier_first);
    keep_busiest(report, platform, used, count, arena);
    find_kinds(report, platform, bytes, arena);
    free(used);
}
