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
    size_t hash = 1469598103934665603u; /* FNV-1a */
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    size_t cell = hash & (names->room - 1);
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

struct check {
    const struct slurm_records *records;
    struct fault *fault;
    struct names switches, nodes;
    uint32_t *sizes, *above; /* [record]: nodes of a leaf; the switch above, NODE_NONE without */
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
    if (check->above[child] != NODE_NONE)
        return mistake(check, check->current, "switch %s is below %s already", name,
                       check->records->switches[check->above[child]].name);
    check->above[child] = check->current;
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
        check->above[i] = NODE_NONE;
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

/* Switches from a leaf up to its root; 0 after a mistake, which is a cycle. */
static uint32_t height(const struct check *check, uint32_t record)
{
    uint32_t levels = 1;
    for (uint32_t at = record; check->above[at] != NODE_NONE; at = check->above[at])
        if (levels++ > check->records->count) {
            mistake(check, at, "it is below itself");
            return 0;
        }
    return levels;
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
    uint32_t roots = 0, most = 1;
    for (uint32_t i = 0; i < check->records->count; i++) {
        uint32_t levels = height(check, i);
        if (!levels)
            return false;
        most = levels > most ? levels : most;
        roots += check->above[i] == NODE_NONE;
    }
    if (check->records->blocks)
        import_find(findings, IMPORT_ASSUMED, "between blocks: one spine; the file has no network");
    else if (roots > 1)
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
                          .above = arena_array(records->arena, records->count, sizeof *check.above)};
    *cluster = (struct slurm_cluster){.blocks = records->blocks};
    bool good = check_names(&check) && check_lists(&check);
    if (good)
        import_find(findings, IMPORT_MEASURED, "%zu nodes in %s", check.nodes.count,
                    records->blocks ? "blocks" : "leaf switches");
    good = good && check_levels(&check, findings) && check_sizes(&check, uneven, cluster);
    names_finish(&check.switches);
    names_finish(&check.nodes);
    return good;
}
