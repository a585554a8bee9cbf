/* SPDX-License-Identifier: Apache-2.0 */
/* Cables and parts come into being in the order of the steps: links are named and routes are found by that order. */
#include "platforms/presets/node_plan.h"

#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/quantity.h"
#include "platforms/hardware/hardware.h"
#include "platforms/presets/node_step.h"

#include <stdlib.h>
#include <string.h>

enum { GROUPS_MAX = 64, PARTS_MAX = 8192, CABLES_MAX = 65536, LINKS_MAX = 1000 };

/* Parts of one name. */
struct group {
    const char *name;
    uint32_t *parts;
    uint32_t count, capacity, latest; /* how many the last step added */
    unsigned depth;                   /* of `each` in which they are added */
    bool open;                        /* within that very round: the name means the latest alone */
};

struct building {
    const struct node_plan *plan;
    struct node_graph *graph;
    struct arena *arena;
    struct diag *diag;
    uint32_t devices;
    struct group groups[GROUPS_MAX];
    size_t group_count;
};

/* The devices that a step is about: all, or those of a round of `each`. */
struct scope {
    const uint32_t *devices; /* in the order of their slots */
    uint32_t count, first;   /* `first`: the first slot */
    uint32_t width;          /* slots of a whole round */
    unsigned depth;
};

/* One side of a `join`. */
struct side {
    bool devices;
    const uint32_t *parts;
    uint32_t count;
    uint32_t one; /* where it is a single device */
};

static bool fail(struct building *building, const struct node *at, const char *text)
{
    diag_error(building->diag, at->at, "%s", text);
    return false;
}

static bool read_value(struct building *building, const struct node *step, const struct stagesim_field *field,
                       void *value)
{
    const struct fields_reader reader = {.directory = ".", .arena = building->arena, .diag = building->diag};
    const struct node *given = node_get(step, field->key);
    return !given || fields_read_value(&reader, field, field->key, given, value);
}

static bool check_keys(struct building *building, const struct node *step, enum step which)
{
    const struct fields_reader reader = {.directory = ".", .arena = building->arena, .diag = building->diag};
    struct stagesim_field fields[STEP_KEYS + 1] = {0};
    unsigned errors = building->diag->errors;
    for (unsigned i = 0; i < STEP_KEYS; i++)
        fields[i] = step_keys[which][i].field;
    fields_check_keys(&reader, &(struct fields_section){"the step", true, fields}, NULL, step);
    return building->diag->errors == errors;
}

static const struct plan_cable *cable_of(struct building *building, const struct node *step)
{
    const struct node *role = node_get(step, "cable");
    const struct node_plan *plan = building->plan;
    if (!role || role->kind != NODE_SCALAR) {
        fail(building, role ? role : step, "the step has no 'cable'; expected a name of those in 'cables'");
        return NULL;
    }
    for (size_t i = 0; i < plan->cable_count; i++)
        if (strcmp(plan->cables[i].role, role->text) == 0)
            return &plan->cables[i];
    diag_error(building->diag, role->at, "cable: '%.60s' is not among 'cables'", role->text);
    return NULL;
}

/* The new cable; its number is NODE_NONE where there are too many. */
static uint32_t join(struct building *building, const struct node *step, uint32_t from, uint32_t to,
                     const struct plan_cable *cable, double links)
{
    if (building->graph->cable_count >= CABLES_MAX) {
        fail(building, step, "a node has at most 65536 cables");
        return NODE_NONE;
    }
    return node_join(building->graph, from, to, &cable->wire->wire, cable->links * links);
}

/* ---- parts and their names ---- */

static struct group *group_find(struct building *building, const char *name, size_t length)
{
    for (size_t i = 0; i < building->group_count; i++)
        if (strlen(building->groups[i].name) == length && strncmp(building->groups[i].name, name, length) == 0)
            return &building->groups[i];
    return NULL;
}

static bool add_part(struct building *building, struct group *group, enum node_part_kind kind)
{
    if (building->graph->part_count >= PARTS_MAX)
        return false;
    if (group->count == group->capacity) {
        uint32_t *more = arena_array(building->arena, group->capacity ? 2 * group->capacity : 4, sizeof *more);
        if (group->count)
            memcpy(more, group->parts, group->count * sizeof *more);
        group->parts = more;
        group->capacity = group->capacity ? 2 * group->capacity : 4;
    }
    group->parts[group->count++] = node_add(building->graph, kind);
    return true;
}

static struct group *group_named(struct building *building, const char *name, unsigned depth)
{
    struct group *group = group_find(building, name, strlen(name));
    if (!group && building->group_count < GROUPS_MAX) {
        group = &building->groups[building->group_count++];
        *group = (struct group){.name = name, .depth = depth};
    }
    return group;
}

static bool run_add(struct building *building, const struct scope *scope, const struct node *step)
{
    static const enum node_part_kind kinds[] = {NODE_SWITCH, NODE_SOCKET, NODE_PORT};
    const struct fields_reader reader = {.directory = ".", .arena = building->arena, .diag = building->diag};
    const struct node *what = node_get(step, "add"), *as = node_get(step, "as");
    unsigned kind = 0;
    uint64_t count = 1;
    if (!check_keys(building, step, STEP_ADD) || !fields_read_word(&reader, "add", what, step_parts, &kind) ||
        !read_value(building, step, step_field(STEP_ADD, "count"), &count))
        return false;
    if (as && (as->kind != NODE_SCALAR || !*as->text || strcmp(as->text, "device") == 0 || strchr(as->text, ' ')))
        return fail(building, as, "as: expected a word other than device");
    if (kinds[kind] == NODE_PORT && (count > 1 || node_port(building->graph) != NODE_NONE))
        return fail(building, what, "a node has one port");
    struct group *group = group_named(building, as ? as->text : step_parts[kind], scope->depth);
    if (!group)
        return fail(building, step, "a node has at most 64 names of parts");
    for (uint64_t i = 0; i < count; i++)
        if (!add_part(building, group, kinds[kind]))
            return fail(building, step, "a node has at most 8192 parts");
    group->latest = (uint32_t)count;
    group->open = scope->depth > 0;
    group->depth = scope->depth;
    return true;
}

/* A number behind a name, below `past`. */
static bool read_number(struct building *building, const struct node *text, const char *digits, uint32_t past,
                        uint64_t *number)
{
    struct quantity_reason reason;
    if (quantity_count(digits, number, &reason) && *number < past)
        return true;
    diag_error(building->diag, text->at, "'%.60s': there are %u, counted from 0", text->text, past);
    return false;
}

/* "device", a name, or either with a number. */
static bool read_side(struct building *building, const struct node *text, struct side *side)
{
    if (text->kind != NODE_SCALAR || !*text->text)
        return fail(building, text, "expected device, the name of a part, or the name and its number");
    size_t length = strcspn(text->text, " ");
    *side = (struct side){.devices = strcmp(text->text, "device") == 0};
    if (side->devices)
        return true;
    uint64_t number = 0;
    if (strncmp(text->text, "device ", 7) == 0) {
        if (!read_number(building, text, text->text + 7, building->devices, &number))
            return false;
        *side = (struct side){.one = (uint32_t)number, .count = 1};
        return true;
    }
    const struct group *group = group_find(building, text->text, length);
    if (!group) {
        diag_error(building->diag, text->at, "'%.60s' names no part that an earlier step adds", text->text);
        return false;
    }
    uint32_t latest = group->open ? group->latest : group->count;
    *side = (struct side){.parts = group->parts + (group->count - latest), .count = latest};
    if (!text->text[length])
        return true;
    if (!read_number(building, text, text->text + length + 1, side->count, &number))
        return false;
    side->parts += number;
    side->count = 1;
    return true;
}

/* ---- joins ---- */

/* A list of a number for each device of a whole node, each below `past`. *given false where the key is a flag. */
static bool read_places(struct building *building, const struct node *step, const struct stagesim_field *field,
                        uint32_t past, const double **places)
{
    const char *key = field->key;
    const struct node *given = node_get(step, key);
    struct stagesim_list list = {0};
    *places = NULL;
    if (!given || given->kind != NODE_LIST)
        return true;
    if (!read_value(building, step, field, &list))
        return false;
    if (list.count != building->plan->devices) {
        diag_error(building->diag, given->at, "%s has %zu numbers; expected one for each of %u devices", key,
                   list.count, building->plan->devices);
        return false;
    }
    for (size_t i = 0; i < list.count; i++)
        if (list.values[i] >= past) {
            diag_error(building->diag, given->at, "%s: %g is too large; there are %u, counted from 0", key,
                       list.values[i], past);
            return false;
        }
    *places = list.values;
    return true;
}

static bool join_devices(struct building *building, const struct scope *scope, const struct node *step,
                         const struct side *to, const struct plan_cable *cable, bool exit)
{
    const double *at;
    if (!read_places(building, step, step_field(STEP_JOIN, "at"), to->count, &at))
        return false;
    for (uint32_t i = 0; i < scope->count; i++) {
        uint32_t device = scope->devices[i];
        uint64_t block = (uint64_t)(scope->first + i) * to->count / building->plan->devices;
        uint32_t index = join(building, step, device, to->parts[at ? (uint32_t)at[device] : block], cable, 1);
        if (index == NODE_NONE)
            return false;
        if (exit)
            building->graph->parts[device].exit = index;
    }
    return true;
}

/* Neighbours of one group. */
static bool join_chain(struct building *building, const struct node *step, const struct side *group,
                       const struct plan_cable *cable)
{
    for (uint32_t i = 0; i + 1 < group->count; i++)
        if (join(building, step, group->parts[i], group->parts[i + 1], cable, 1) == NODE_NONE)
            return false;
    return true;
}

/* Devices share the cables in blocks, or as the list `exit` says. */
static bool set_exits(struct building *building, const struct scope *scope, const struct node *step,
                      const uint32_t *cables, uint32_t count)
{
    const double *exits;
    if (!read_places(building, step, step_field(STEP_JOIN, "exit"), count, &exits))
        return false;
    for (uint32_t i = 0; i < scope->count; i++) {
        uint32_t block = (uint32_t)((uint64_t)i * count / scope->width), device = scope->devices[i];
        building->graph->parts[device].exit = cables[exits ? (uint32_t)exits[device] : block];
    }
    return true;
}

/* The listed devices leave by the cable. */
static bool set_exit_of(struct building *building, const struct node *step, uint32_t cable)
{
    struct stagesim_list list = {0};
    struct stagesim_field field = *step_field(STEP_JOIN, "exit_of");
    field.most = building->plan->devices - 1;
    if (!read_value(building, step, &field, &list))
        return false;
    for (size_t i = 0; i < list.count; i++)
        if (list.values[i] < building->devices)
            building->graph->parts[(uint32_t)list.values[i]].exit = cable;
    return true;
}

static bool join_parts(struct building *building, const struct scope *scope, const struct node *step,
                       const struct side sides[2], const struct plan_cable *cable, bool exit)
{
    uint64_t times = 1;
    if (!read_value(building, step, step_field(STEP_JOIN, "times"), &times))
        return false;
    uint32_t *cables = arena_array(building->arena, sides[0].count * times, sizeof *cables), count = 0;
    for (uint32_t i = 0; i < sides[0].count; i++) {
        uint64_t to = sides[0].count == 1 ? (uint64_t)scope->first * sides[1].count / building->plan->devices
                                          : (uint64_t)i * sides[1].count / sides[0].count;
        for (uint64_t k = 0; k < times; k++, count++) {
            cables[count] = join(building, step, sides[0].parts[i], sides[1].parts[to], cable, 1);
            if (cables[count] == NODE_NONE)
                return false;
        }
    }
    return (!exit || set_exits(building, scope, step, cables, count)) &&
           (!node_get(step, "exit_of") || set_exit_of(building, step, cables[0]));
}

static bool run_join(struct building *building, const struct scope *scope, const struct node *step)
{
    const struct node *ends = node_get(step, "join"), *exit_given = node_get(step, "exit");
    const struct stagesim_field leaves = {"exit", STAGESIM_FIELD_FLAG};
    struct side sides[2];
    if (!check_keys(building, step, STEP_JOIN))
        return false;
    if (ends->kind != NODE_LIST || ends->count != 2)
        return fail(building, ends, "join: expected two, such as [device, nvswitch]");
    const struct plan_cable *cable = cable_of(building, step);
    if (!cable || !read_side(building, ends->first, &sides[0]) || !read_side(building, ends->first->next, &sides[1]))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (!sides[i].devices && !sides[i].parts)
            sides[i].parts = &sides[i].one;
    bool exit = exit_given && exit_given->kind == NODE_LIST;
    if (exit_given && !exit && !read_value(building, step, &leaves, &exit))
        return false;
    if (sides[1].devices)
        return fail(building, ends->first->next,
                    "join: devices come first; 'mesh' and 'pairs' join them with each other");
    if ((exit || node_get(step, "exit_of")) && building->graph->parts[sides[1].parts[0]].kind != NODE_PORT)
        return fail(building, exit ? exit_given : node_get(step, "exit_of"),
                    "exit: only a cable to the port is a way out");
    if (sides[0].devices ? node_get(step, "times") != NULL : node_get(step, "at") != NULL)
        return fail(building, step, "'times' is for cables between parts, 'at' for those of devices");
    if (sides[0].devices)
        return join_devices(building, scope, step, &sides[1], cable, exit);
    return sides[0].parts == sides[1].parts ? join_chain(building, step, &sides[0], cable)
                                            : join_parts(building, scope, step, sides, cable, exit);
}

static bool run_mesh(struct building *building, const struct scope *scope, const struct node *step)
{
    const struct node *within = node_get(step, "mesh");
    uint64_t width = building->plan->devices;
    const struct plan_cable *cable = check_keys(building, step, STEP_MESH) ? cable_of(building, step) : NULL;
    bool all = within->kind == NODE_SCALAR && strcmp(within->text, "all") == 0;
    if (!cable || (!all && !read_value(building, step, step_field(STEP_MESH, "mesh"), &width)))
        return false;
    for (uint32_t first = 0; first < scope->count; first += (uint32_t)width)
        for (uint32_t a = first; a < first + width && a < scope->count; a++)
            for (uint32_t b = a + 1; b < first + width && b < scope->count; b++)
                if (join(building, step, scope->devices[a], scope->devices[b], cable, 1) == NODE_NONE)
                    return false;
    return true;
}

static bool join_pair(struct building *building, const struct node *pair, const struct plan_cable *cable)
{
    uint64_t numbers[3] = {0, 0, 1};
    const struct node *number = pair->kind == NODE_LIST ? pair->first : NULL;
    struct quantity_reason reason;
    bool good = number && (pair->count == 2 || pair->count == 3);
    for (unsigned i = 0; good && number; number = number->next, i++)
        good = number->kind == NODE_SCALAR && quantity_count(number->text, &numbers[i], &reason);
    uint32_t devices = building->plan->devices;
    if (!good || numbers[0] >= devices || numbers[1] >= devices || numbers[0] == numbers[1] || numbers[2] < 1 ||
        numbers[2] > LINKS_MAX)
        return fail(building, pair,
                    "pairs: expected two devices, counted from 0, and perhaps how many links they have: [0, 1, 2]");
    return numbers[0] >= building->devices || numbers[1] >= building->devices ||
           join(building, pair, (uint32_t)numbers[0], (uint32_t)numbers[1], cable, (double)numbers[2]) != NODE_NONE;
}

static bool run_pairs(struct building *building, const struct scope *scope, const struct node *step)
{
    const struct node *pairs = node_get(step, "pairs");
    const struct plan_cable *cable = check_keys(building, step, STEP_PAIRS) ? cable_of(building, step) : NULL;
    (void)scope;
    if (cable && pairs->kind != NODE_LIST)
        return fail(building, pairs, "pairs: expected a list such as [[0, 1], [1, 2]]");
    for (const struct node *pair = cable ? pairs->first : NULL; pair; pair = pair->next)
        if (!join_pair(building, pair, cable))
            return false;
    return cable != NULL;
}

/* The latest part of a name with the one before it; the last with the first. */
static bool run_loop(struct building *building, const struct scope *scope, const struct node *step)
{
    bool chain = node_get(step, "chain") != NULL;
    const struct node *name = node_get(step, chain ? "chain" : "close");
    (void)scope;
    if (!check_keys(building, step, chain ? STEP_CHAIN : STEP_CLOSE))
        return false;
    const struct group *group = name->kind == NODE_SCALAR ? group_find(building, name->text, strlen(name->text)) : NULL;
    if (!group)
        return fail(building, name, "expected the name of parts that an earlier step adds");
    const struct plan_cable *cable = cable_of(building, step);
    if (!cable || group->count < (chain ? 2 : 3))
        return cable != NULL;
    uint32_t last = group->parts[group->count - 1], other = group->parts[chain ? group->count - 2 : 0];
    return join(building, step, chain ? other : last, chain ? last : other, cable, 1) != NODE_NONE;
}

/* ---- rounds ---- */

static bool run_steps(struct building *building, const struct scope *scope, const struct node *steps);

/* The devices of the outer scope in the order of the key `order`, if it is there. */
static bool order_of(struct building *building, const struct scope *scope, const struct node *step,
                     const uint32_t **devices)
{
    const double *order;
    *devices = scope->devices;
    if (!read_places(building, step, step_field(STEP_EACH, "order"), building->plan->devices, &order))
        return false;
    if (!order)
        return true;
    uint32_t *ordered = arena_array(building->arena, building->plan->devices, sizeof *ordered), count = 0;
    bool *seen = arena_array(building->arena, building->plan->devices, sizeof *seen);
    for (uint32_t i = 0; i < building->plan->devices; i++) {
        uint32_t device = (uint32_t)order[i];
        if (seen[device])
            return fail(building, node_get(step, "order"), "order: a device is there twice");
        seen[device] = true;
        if (device < building->devices)
            ordered[count++] = device;
    }
    *devices = ordered;
    return true;
}

static bool run_each(struct building *building, const struct scope *scope, const struct node *step)
{
    enum { DEPTH_MAX = 3 };
    uint64_t width = 1;
    const uint32_t *devices;
    const struct node *steps = node_get(step, "steps");
    if (!check_keys(building, step, STEP_EACH) || !read_value(building, step, step_field(STEP_EACH, "each"), &width))
        return false;
    if (!steps || steps->kind != NODE_LIST || scope->depth >= DEPTH_MAX)
        return fail(building, step, "each: expected 'steps', a list, and at most three of them in each other");
    if (scope->depth > 0 && node_get(step, "order"))
        return fail(building, step, "order: only for the outermost 'each'");
    if (!order_of(building, scope, step, &devices))
        return false;
    bool good = true;
    for (uint32_t first = 0; first < scope->count && good; first += (uint32_t)width) {
        uint32_t left = scope->count - first;
        struct scope round = {devices + first, left < width ? left : (uint32_t)width, scope->first + first,
                              (uint32_t)width, scope->depth + 1};
        good = run_steps(building, &round, steps);
        for (size_t i = 0; i < building->group_count; i++)
            if (building->groups[i].depth > scope->depth)
                building->groups[i].open = false;
    }
    return good;
}

static bool run_steps(struct building *building, const struct scope *scope, const struct node *steps)
{
    static bool (*const run[STEPS])(struct building * building, const struct scope *scope, const struct node *step) = {
        run_add, run_join, run_mesh, run_pairs, run_loop, run_loop, run_each};
    for (const struct node *step = steps->first; step; step = step->next) {
        bool known = false, good = true;
        for (int i = 0; i < STEPS && !known; i++) {
            known = node_get(step, step_keys[i][0].field.key) != NULL;
            good = !known || run[i](building, scope, step);
        }
        if (!known)
            return fail(building, step, "expected a step: a map with add, join, mesh, pairs, each, chain or close");
        if (!good)
            return false;
    }
    return true;
}

struct node_graph *node_plan_build(const struct node_plan *plan, uint32_t devices, struct arena *arena,
                                   struct diag *diag)
{
    struct building *building = arena_alloc(arena, sizeof *building);
    uint32_t *all = arena_array(arena, devices, sizeof *all);
    *building =
        (struct building){.plan = plan, .graph = node_create(arena), .arena = arena, .diag = diag, .devices = devices};
    for (uint32_t i = 0; i < devices; i++) {
        all[i] = node_add_device(building->graph, plan->device);
        building->graph->parts[i].label = i < plan->label_count ? plan->labels[i] : NULL;
        building->graph->parts[i].forwards = plan->forwards;
    }
    struct scope scope = {all, devices, 0, plan->devices, 0};
    return !plan->steps || run_steps(building, &scope, plan->steps) ? building->graph : NULL;
}
