/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/idle_log.h"

#include "base/arena.h"
#include "base/csv.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_NODE, COLUMN_FROM, COLUMN_TO, COLUMNS };
enum { LOG_BYTES_MAX = 256 << 20 };

static const char *const column_names[COLUMNS] = {"node", "from", "to"};
static const struct csv_columns columns = {column_names, COLUMNS, COLUMNS, "a log of idle nodes", true};

/* ---- reading ---- */

/* A span as read: its node by name, and its line. */
struct entry {
    const char *node;
    double from, to;
    unsigned line;
};

struct reading {
    struct csv *csv;
    struct arena *arena;
    struct diag *diag;
    struct entry *entries;
    size_t count, capacity;
    double end;
};

/* Seconds from 0 to 1e12, about 30,000 years. */
static bool read_seconds(struct reading *reading, size_t column, double *seconds)
{
    if (!csv_number(reading->csv, column, seconds))
        return false;
    return (*seconds >= 0 && *seconds <= 1e12) ||
           csv_mistake(reading->csv, column, "'%s' is %g, expected seconds from 0 to 1e12", column_names[column],
                       *seconds);
}

static void read_row(struct reading *reading)
{
    struct csv *csv = reading->csv;
    struct entry entry = {.line = csv_line(csv), .to = INFINITY};
    if (!csv_get(csv, COLUMN_NODE).size) {
        csv_mistake(csv, COLUMN_NODE, "the node has no name");
        return;
    }
    if (!read_seconds(reading, COLUMN_FROM, &entry.from) ||
        (csv_get(csv, COLUMN_TO).size && !read_seconds(reading, COLUMN_TO, &entry.to)))
        return;
    if (entry.to <= entry.from) {
        csv_mistake(csv, COLUMN_TO, "the span ends at %g s and begins at %g s, expected a later end", entry.to,
                    entry.from);
        return;
    }
    if (reading->count == IDLE_SPANS_MAX) {
        csv_mistake(csv, COLUMN_NODE, "the log has more than %d spans", (int)IDLE_SPANS_MAX);
        return;
    }
    entry.node = csv_text(csv_get(csv, COLUMN_NODE), reading->arena);
    reading->end = fmax(reading->end, isfinite(entry.to) ? entry.to : entry.from);
    reading->entries = array_grow(reading->entries, &reading->capacity, reading->count + 1, sizeof *reading->entries);
    reading->entries[reading->count++] = entry;
}

static int by_name_and_start(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int names = strverscmp(a->node, b->node);
    return names ? names : (a->from > b->from) - (a->from < b->from);
}

/* Numbers the nodes by name; a node that is idle twice at a time is a mistake. */
static struct idle_log *number_nodes(struct reading *reading, const char *name)
{
    struct arena *arena = reading->arena;
    struct idle_span *spans = arena_array(arena, reading->count, sizeof *spans);
    const char **names = arena_array(arena, reading->count, sizeof *names);
    uint32_t nodes = 0;
    qsort(reading->entries, reading->count, sizeof *reading->entries, by_name_and_start);
    for (size_t i = 0; i < reading->count; i++) {
        const struct entry *entry = &reading->entries[i], *before = entry - 1;
        bool same = i > 0 && !strcmp(entry->node, before->node);
        double to = isfinite(entry->to) ? entry->to : reading->end;
        if (same && entry->from < before->to)
            diag_error(reading->diag, (struct place){name, entry->line, 0},
                       "node '%s' is idle from %g s, and by line %u it still is", entry->node, entry->from,
                       before->line);
        if (!same)
            names[nodes++] = entry->node;
        if (entry->from < to) /* else it became idle with the end of the log */
            spans[i] = (struct idle_span){nodes - 1, entry->from, to};
        else
            spans[i] = (struct idle_span){nodes - 1, entry->from, entry->from};
    }
    if (nodes > IDLE_NODES_MAX)
        diag_error(reading->diag, (struct place){name, 0, 0}, "the log has %u nodes, expected at most %d", nodes,
                   (int)IDLE_NODES_MAX);
    return idle_log_create(names, nodes, spans, reading->count, arena);
}

struct idle_log *idle_log_parse(const char *name, const char *text, size_t size, struct arena *arena, struct diag *diag)
{
    unsigned before = diag->errors;
    struct reading reading = {csv_open(name, text, size, &columns, diag, NULL), arena, diag, NULL, 0, 0, 0};
    if (!reading.csv)
        return NULL;
    while (csv_next(reading.csv))
        read_row(&reading);
    if (diag->errors == before && !reading.count)
        diag_error(diag, (struct place){name, 0, 0}, "the log has no span in which a node is idle");
    struct idle_log *log = diag->errors == before ? number_nodes(&reading, name) : NULL;
    csv_close(reading.csv);
    free(reading.entries);
    return diag->errors == before ? log : NULL;
}

struct idle_log *idle_log_load(const char *file, struct place at, struct arena *arena, struct diag *diag)
{
    size_t size;
    char *text = csv_load(file, LOG_BYTES_MAX, &size);
    if (!text) {
        diag_trouble(diag, at, "cannot read '%s': %s", file, strerror(errno));
        return NULL;
    }
    struct idle_log *log = idle_log_parse(file, text, size, arena, diag);
    free(text);
    return log;
}

/* ---- spans ---- */

static int by_start(const void *left, const void *right)
{
    const struct idle_span *a = left, *b = right;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->node > b->node) - (a->node < b->node);
}

static const char *const *number_names(uint32_t count, struct arena *arena)
{
    const char **names = arena_array(arena, count, sizeof *names);
    for (uint32_t node = 0; node < count; node++)
        names[node] = arena_print(arena, "node-%u", node);
    return names;
}

struct idle_log *idle_log_create(const char *const *names, uint32_t node_count, struct idle_span *spans, size_t count,
                                 struct arena *arena)
{
    struct idle_log *log = arena_alloc(arena, sizeof *log);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (spans[i].from < spans[i].to) {
            spans[kept++] = spans[i];
            log->end = fmax(log->end, spans[i].to);
        }
    if (kept)
        qsort(spans, kept, sizeof *spans, by_start);
    log->names = names ? names : number_names(node_count, arena);
    log->node_count = node_count;
    log->spans = spans;
    log->count = kept;
    return log;
}

/* ---- moments ---- */

struct change {
    double time;
    bool joins;
    uint32_t node;
};

static int by_time(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->joins != b->joins)
        return a->joins - b->joins;
    return (a->node > b->node) - (a->node < b->node);
}

static size_t list_changes(const struct idle_log *log, double start, double duration, struct change *changes)
{
    size_t count = 0;
    for (size_t i = 0; i < log->count; i++) {
        double from = log->spans[i].from - start, to = log->spans[i].to - start;
        if (to <= 0 || from >= duration)
            continue;
        changes[count++] = (struct change){fmax(0, from), true, log->spans[i].node};
        if (to < duration)
            changes[count++] = (struct change){to, false, log->spans[i].node};
    }
    qsort(changes, count, sizeof *changes, by_time);
    return count;
}

struct idle_moments idle_log_moments(const struct idle_log *log, double start, double duration, struct arena *arena)
{
    struct change *changes = array_zeroed(2 * log->count + 1, sizeof *changes);
    size_t count = list_changes(log, start, duration, changes), moments = 0;
    struct idle_moment *items = arena_array(arena, count + 1, sizeof *items);
    uint32_t *nodes = arena_array(arena, count + 1, sizeof *nodes);
    for (size_t i = 0; i < count; i++) {
        struct idle_moment *last = moments ? &items[moments - 1] : NULL;
        nodes[i] = changes[i].node;
        if (!last || last->time != changes[i].time) {
            last = &items[moments++];
            *last = (struct idle_moment){changes[i].time, &nodes[i], NULL, 0, 0};
        }
        if (!changes[i].joins)
            last->left_count++;
        else if (!last->joined_count++)
            last->joined = &nodes[i];
    }
    free(changes);
    return (struct idle_moments){items, moments, duration};
}
