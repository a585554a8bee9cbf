/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/slurm.h"

#include "base/arena.h"
#include "platforms/import/hostlist.h"
#include "platforms/import/import.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

/* Which record a name belongs to. Texts live in the arena. */
struct names {
    struct arena *arena;
    const char **texts;
    uint32_t *records;
    size_t room, count; /* room: a power of two */
};

static size_t find_cell(const struct names *names, const char *text)
{
    uint64_t hash = 1469598103934665603u; /* FNV-1a */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t cell = (size_t)hash & (names->room - 1);
    while (names->texts[cell] && strcmp(names->texts[cell], text) != 0)
        cell = (cell + 1) & (names->room - 1);
    return cell;
}

static void grow(struct names *names)
{
    struct names old = *names;
    names->room = old.room ? 2 * old.room : 64;
    names->texts = array_zeroed(names->room, sizeof *names->texts);
    names->records = array_zeroed(names->room, sizeof *names->records);
    for (size_t i = 0; i < old.room; i++)
        if (old.texts[i]) {
            size_t cell = find_cell(names, old.texts[i]);
            names->texts[cell] = old.texts[i];
            names->records[cell] = old.records[i];
        }
    free(old.texts);
    free(old.records);
}

/* The record that has the name already, or `record` when it is new. */
static uint32_t claim(struct names *names, const char *text, uint32_t record)
{
    if (2 * names->count >= names->room)
        grow(names);
    size_t cell = find_cell(names, text);
    if (names->texts[cell])
        return names->records[cell];
    names->texts[cell] = arena_copy(names->arena, text);
    names->records[cell] = record;
    names->count++;
    return record;
}

static void names_finish(struct names *names)
{
    free(names->texts);
    free(names->records);
}

/* ---- checks ---- */

/* One switch is below another. */
struct edge {
    uint32_t above, below; /* records */
};

struct check {
    const struct slurm_records *records;
    struct fault *fault;
    struct names switches, nodes;
    uint32_t *sizes, *above; /* [record]: nodes of a leaf; how many switches are above */
    uint32_t *last;          /* [record]: the number of the last one of them, counted from 1 */
    struct edge *edges;      /* by the switch above, in the order of records */
    size_t edge_count, edge_capacity;
    uint32_t current;
};

__attribute__((format(printf, 3, 4))) static bool mistake(const struct check *check, uint32_t record,
                                                          const char *format, ...)
{
    const struct slurm_switch *at = &check->records->switches[record];
    va_list arguments;
    va_start(arguments, format);
    const char *what = arena_vprint(check->records->arena, format, arguments);
    va_end(arguments);
    return fault_set(check->fault, "%s:%u:%u: %s: %s", check->records->file, at->line, at->column, at->name, what);
}

static bool take_node(void *user, const char *name)
{
    struct check *check = user;
    size_t before = check->nodes.count;
    uint32_t holder = claim(&check->nodes, name, check->current);
    check->sizes[check->current]++;
    if (check->nodes.count > before)
        return true;
    return mistake(check, check->current, "node %s is in %s, line %u, as well; expected each node once", name,
                   check->records->switches[holder].name, check->records->switches[holder].line);
}

static bool take_child(void *user, const char *name)
{
    struct check *check = user;
    size_t before = check->switches.count;
    uint32_t child = claim(&check->switches, name, check->current);
    if (check->switches.count > before)
        return mistake(check, check->current, "there is no switch %s below it in this file", name);
    if (check->last[child] == check->current + 1)
        return mistake(check, check->current, "switch %s stands twice below it", name);
    check->last[child] = check->current + 1;
    check->edges = array_grow(check->edges, &check->edge_capacity, check->edge_count + 1, sizeof *check->edges);
    check->edges[check->edge_count++] = (struct edge){check->current, child};
    check->above[child]++;
    return true;
}

static bool expand(struct check *check, const char *list, bool (*take)(void *user, const char *name))
{
    struct fault fault = {""};
    if (hostlist_expand(list, &(struct hostlist_taker){take, check}, &fault))
        return true;
    return check->fault->text[0] ? false : mistake(check, check->current, "%s", fault.text);
}

static bool check_names(struct check *check)
{
    for (uint32_t i = 0; i < check->records->count; i++) {
        const struct slurm_switch *record = &check->records->switches[i];
        if (claim(&check->switches, record->name, i) != i)
            return mistake(check, i, "a second record of that name");
        if (!record->nodes == !record->children)
            return mistake(check, i,
                           record->nodes ? "nodes and switches; expected one of them" : "neither nodes nor switches");
    }
    return true;
}

static bool check_lists(struct check *check)
{
    for (check->current = 0; check->current < check->records->count; check->current++) {
        const struct slurm_switch *record = &check->records->switches[check->current];
        if (record->nodes ? !expand(check, record->nodes, take_node) : !expand(check, record->children, take_child))
            return false;
    }
    return true;
}

/* Names the first switch of a cycle. `waits`: of those on a cycle and of those below one, switches above that wait as
 * well; of all others 0. */
static bool blame_cycle(const struct check *check, const uint32_t *waits)
{
    uint32_t count = check->records->count, at = 0;
    uint32_t *up = arena_array(check->records->arena, count, sizeof *up);
    for (size_t i = 0; i < check->edge_count; i++)
        if (waits[check->edges[i].above])
            up[check->edges[i].below] = check->edges[i].above;
    while (!waits[at])
        at++;
    for (uint32_t step = 0; step < count; step++) /* is on the cycle then */
        at = up[at];
    uint32_t first = at;
    for (uint32_t next = up[at]; next != at; next = up[next])
        first = next < first ? next : first;
    return mistake(check, first, "it is below itself");
}

/* Switches from the top down to each record, the most of all ways; from those without one above, a switch follows when
 * all above it are done. False after a mistake, which is a cycle. */
static bool find_levels(const struct check *check, uint32_t *levels)
{
    uint32_t count = check->records->count, done = 0, end = 0;
    uint32_t *order = arena_array(check->records->arena, count, sizeof *order);
    uint32_t *waits = arena_array(check->records->arena, count, sizeof *waits);
    size_t *first = arena_array(check->records->arena, (size_t)count + 1, sizeof *first);
    for (size_t i = 0; i < check->edge_count; i++)
        first[check->edges[i].above + 1]++;
    for (uint32_t i = 0; i < count; i++) {
        first[i + 1] += first[i];
        waits[i] = check->above[i];
        levels[i] = 1;
        if (!waits[i])
            order[end++] = i;
    }
    for (; done < end; done++)
        for (size_t i = first[order[done]]; i < first[order[done] + 1]; i++) {
            uint32_t below = check->edges[i].below;
            if (levels[below] < levels[order[done]] + 1)
                levels[below] = levels[order[done]] + 1;
            if (!--waits[below])
                order[end++] = below;
        }
    for (uint32_t i = 0; i < count; i++)
        if (waits[i])
            return blame_cycle(check, waits);
    return true;
}

/* ---- the cluster ---- */

static bool check_sizes(const struct check *check, bool uneven, struct slurm_cluster *cluster)
{
    uint32_t first = NODE_NONE, last = 0;
    for (uint32_t i = 0; i < check->records->count; i++)
        if (check->records->switches[i].nodes) {
            last = i;
            first = first == NODE_NONE ? i : first;
            cluster->leaves++;
            cluster->nodes += check->sizes[i];
            cluster->leaf_nodes = check->sizes[i] > cluster->leaf_nodes ? check->sizes[i] : cluster->leaf_nodes;
        }
    if (!cluster->leaves)
        return fault_set(check->fault, "%s: no switch has nodes", check->records->file);
    for (uint32_t i = 0; !uneven && i < check->records->count; i++)
        if (check->records->switches[i].nodes && check->sizes[i] != check->sizes[first] &&
            !(i == last && check->sizes[i] < check->sizes[first]))
            return mistake(check, i,
                           "%u nodes, where %s has %u; a platform's pods are equal: --pod N cuts the nodes "
                           "into pods of N in their order",
                           check->sizes[i], check->records->switches[first].name, check->sizes[first]);
    return true;
}

static bool check_levels(const struct check *check, struct import *findings)
{
    uint32_t roots = 0, most = 1, spines = 1;
    uint32_t *levels = arena_array(check->records->arena, check->records->count, sizeof *levels);
    if (!find_levels(check, levels))
        return false;
    for (uint32_t i = 0; i < check->records->count; i++) {
        most = levels[i] > most ? levels[i] : most;
        roots += !check->above[i];
        spines = check->above[i] > spines ? check->above[i] : spines;
    }
    if (spines > 1)
        import_find(findings, IMPORT_LEFT_OUT, "%u switches above one: taken as one spine", spines);
    if (check->records->blocks)
        import_find(findings, IMPORT_ASSUMED, "between blocks: one spine; the file has no network");
    else if (roots > 1 && spines < 2)
        import_find(findings, IMPORT_ASSUMED, "%u switches without one above: joined by a spine", roots);
    if (most > 2)
        import_find(findings, IMPORT_LEFT_OUT, "%u levels of switches: those above the leaves are taken as one spine",
                    most);
    import_find(findings, IMPORT_ASSUMED,
                "links of switches: as many as --oversubscription says; the file has no widths");
    if (check->records->sizes)
        import_find(findings, IMPORT_LEFT_OUT, "BlockSizes=%s: for planning jobs, no part of the network",
                    check->records->sizes);
    return true;
}

bool slurm_check(const struct slurm_records *records, bool uneven, struct import *findings,
                 struct slurm_cluster *cluster, struct fault *fault)
{
    struct check check = {.records = records,
                          .fault = fault,
                          .switches = {.arena = records->arena},
                          .nodes = {.arena = records->arena},
                          .sizes = arena_array(records->arena, records->count, sizeof *check.sizes),
                          .above = arena_array(records->arena, records->count, sizeof *check.above),
                          .last = arena_array(records->arena, records->count, sizeof *check.last)};
    *cluster = (struct slurm_cluster){.blocks = records->blocks};
    bool good = check_names(&check) && check_lists(&check);
    if (good)
        import_find(findings, IMPORT_MEASURED, "%zu nodes in %s", check.nodes.count,
                    records->blocks ? "blocks" : "leaf switches");
    good = good && check_levels(&check, findings) && check_sizes(&check, uneven, cluster);
    names_finish(&check.switches);
    names_finish(&check.nodes);
    free(check.edges);
    return good;
}
