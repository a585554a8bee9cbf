/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/scenario_needs.h"

#include "abi/fields/needs.h"
#include "base/arena.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <string.h>

/* ---- the rules of stagesim's own keys ---- */

static const struct own_need {
    const char *path;
    const char *neutral; /* the value that is the same as none; NULL: there is none */
    struct stagesim_need need;
} own_needs[] = {
    {"platform.paths", NULL, {NULL, "platform.routing=ecmp", false}},
    {"platform.flows", "1", {NULL, "platform.routing=ecmp", false}},
    {"platform.seed", "0", {NULL, "platform.routing=ecmp", false}},
    {"parallel.expert_tensor", NULL, {NULL, "workload!stages,layers,dlrm", false}},
    {"parallel.expert_tensor", NULL, {NULL, "parallel.tensor>1", true}},
    {"schedule.recompute", "none", {NULL, "workload!stages,layers,dlrm", false}},
    {"communication.messages", "queued", {NULL, "parallel.pipeline>1", true}},
    {"power.carbon_start", "0s", {NULL, "a series in power.carbon?", false}},
    {"simgrid", NULL, {NULL, "engine=simgrid,both", true}},
};

enum { OWN_NEEDS = sizeof own_needs / sizeof *own_needs };

/* ---- values ---- */

static const char *const engine_words[] = {"simgrid", "analytic", "both"};

/* The whole path of a workload's key is "section.key". */
static const struct stagesim_field *find_field(const struct stagesim_workload *workload, const char *path)
{
    size_t own = strlen(workload->name);
    const char *key = !strncmp(path, workload->name, own) && path[own] == '.' ? path + own + 1 : path;
    for (const struct stagesim_field *field = workload->fields; field && field->key; field++)
        if (*field->key == *key && !strcmp(field->key, key)) /* asked for each key of every layout of a search */
            return field;
    return NULL;
}

static struct need_value number(double value)
{
    return (struct need_value){true, value, NULL};
}

static struct need_value word(const char *text)
{
    return (struct need_value){text != NULL, text != NULL, text};
}

static struct need_value schedule_value(const struct scenario *scenario, const char *key)
{
    if (!strcmp(key, "name"))
        return (struct need_value){!scenario->schedule_file, scenario->schedule != NULL,
                                   scenario->schedule ? scenario->schedule->name : "none"};
    if (!strcmp(key, "recompute"))
        return word(scenario->recompute_count ? NULL : scenario_recompute_names[scenario->recompute]);
    const struct schedule *schedule = scenario->schedule;
    for (unsigned i = 0; schedule && schedule->options && schedule->options[i].key; i++)
        if (!strcmp(schedule->options[i].key, key))
            return schedule_option_is_word(&schedule->options[i], scenario->options[i])
                       ? word(schedule->options[i].names[scenario->options[i]])
                       : number((double)scenario->options[i]);
    return (struct need_value){scenario->schedule_file == NULL, 0, NULL}; /* a file may say all of this */
}

/* Of a schedule file nothing is known. */
static struct need_value schedule_property(const struct scenario *scenario, const char *what)
{
    const struct schedule *schedule = scenario->schedule;
    if (!schedule)
        return (struct need_value){0};
    return number(!strcmp(what, "that splits backwards") ? schedule->split_backward : schedule->slices);
}

static struct need_value find_value(void *user, const char *path)
{
    const struct scenario *scenario = user;
    const char *dot = strchr(path, '.');
    if (!strncmp(path, "parallel.", 9))
        return number(mesh_size(&scenario->mesh, path + 9));
    if (!strncmp(path, "schedule.", 9))
        return schedule_value(scenario, dot + 1);
    if (!strcmp(path, "batch.micro"))
        return number((double)scenario->micro_batch_size);
    if (!strcmp(path, "batch.micro_batches"))
        return number(scenario->micro_batches);
    if (!strcmp(path, "iterations"))
        return number(scenario->iterations);
    if (!strcmp(path, "engine"))
        return word(engine_words[scenario->engine]);
    if (!strcmp(path, "workload"))
        return word(scenario->workload->name);
    if (!strcmp(path, "platform.routing"))
        return word(scenario->platform.request.ecmp ? "ecmp" : "adaptive");
    if (!strcmp(path, "a series in power.carbon"))
        return number(scenario->power.series);
    if (!strncmp(path, "a schedule ", 11))
        return schedule_property(scenario, path + 11);
    const struct stagesim_field *field = find_field(scenario->workload, path);
    return field ? need_field_value(field, scenario->parameters) : (struct need_value){0};
}

/* ---- which keys change nothing ---- */

struct checking {
    struct scenario *scenario;
    struct arena *arena;
    struct scenario_unmet *unmet; /* count of them */
    size_t count, capacity;
};

static bool is_of(const struct node *node, const char *file)
{
    return file && node->at.file && !strcmp(node->at.file, file);
}

static void check(struct checking *c, const char *path, const struct stagesim_need *need)
{
    const struct need_values values = {find_value, c->scenario};
    const struct node *node = node_find(c->scenario->root, path);
    bool described = node && need->note && is_of(node, c->scenario->model_file); /* what the model is, used or not */
    if (!node || described || need_holds(need->needs, &values))
        return;
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp(c->unmet[i].path, path)) {
            c->unmet[i].refused |= !need->note;
            c->unmet[i].needs =
                arena_print(c->arena, "%s; and %s", c->unmet[i].needs, need_words(need->needs, c->arena));
            return;
        }
    if (c->count < c->capacity)
        c->unmet[c->count++] =
            (struct scenario_unmet){arena_copy(c->arena, path), node->at, need_words(need->needs, c->arena),
                                    !need->note, is_of(node, c->scenario->framework_file)};
}

static bool is_neutral(const struct own_need *own, const struct node *node)
{
    return node_is_empty(node) || (own->neutral && node->kind == NODE_SCALAR && !strcmp(node->text, own->neutral)) ||
           (node->kind != NODE_SCALAR && !node->count);
}

static void check_own(struct checking *c)
{
    for (size_t i = 0; i < OWN_NEEDS; i++) {
        const struct node *node = node_find(c->scenario->root, own_needs[i].path);
        if (node && !is_neutral(&own_needs[i], node))
            check(c, own_needs[i].path, &own_needs[i].need);
    }
}

/* A key of stagesim's own that a workload has a rule for. */
static bool own_counts(const struct checking *c, const char *path)
{
    const struct node *node = node_find(c->scenario->root, path);
    for (size_t i = 0; node && i < OWN_NEEDS; i++)
        if (!strcmp(own_needs[i].path, path))
            return !is_neutral(&own_needs[i], node);
    return node;
}

static const char *path_of(const struct stagesim_workload *workload, const char *key, struct arena *arena)
{
    return strchr(key, '.') ? key : arena_print(arena, "%s.%s", workload->name, key);
}

/* A default that is written beside a named model, which may have another value. */
static bool overrides_model(const struct checking *c, const char *path, const struct stagesim_need *need)
{
    const struct node *node = node_find(c->scenario->root, path);
    return need->note && node && !strncmp(path, "model.", 6) && c->scenario->model_file &&
           !is_of(node, c->scenario->model_file) && !is_of(node, c->scenario->framework_file);
}

static void check_workload(struct checking *c)
{
    const struct stagesim_workload *workload = c->scenario->workload;
    for (const struct stagesim_need *need = workload->needs; need && need->key; need++) {
        const char *path = path_of(workload, need->key, c->arena);
        const struct stagesim_field *field = find_field(workload, path);
        if (field ? need_field_differs(field, c->scenario->parameters, workload->defaults) ||
                        overrides_model(c, path, need)
                  : own_counts(c, path))
            check(c, path, need);
    }
}

static size_t count_needs(const struct stagesim_workload *workload)
{
    size_t count = OWN_NEEDS;
    for (const struct stagesim_need *need = workload->needs; need && need->key; need++)
        count++;
    return count;
}

void scenario_check_needs(struct loader *loader)
{
    struct scenario *scenario = loader->scenario;
    if (!scenario->workload)
        return;
    struct checking c = {.scenario = scenario, .arena = loader->fields.arena};
    c.capacity = count_needs(scenario->workload);
    c.unmet = arena_array(c.arena, c.capacity, sizeof *c.unmet);
    check_own(&c);
    check_workload(&c);
    scenario->unmet = c.unmet;
    scenario->unmet_count = c.count;
    for (size_t i = 0; i < c.count && !scenario->request.study; i++)
        if (c.unmet[i].refused && !c.unmet[i].profile)
            diag_error(loader->fields.diag, c.unmet[i].at, "%s %s", c.unmet[i].path,
                       scenario_unmet_text(&c.unmet[i], c.arena));
}

/* ---- telling ---- */

const struct scenario_unmet *scenario_unmet_find(const struct scenario *scenario, const char *path)
{
    for (size_t i = 0; i < scenario->unmet_count; i++)
        if (!strcmp(scenario->unmet[i].path, path))
            return &scenario->unmet[i];
    return NULL;
}

const char *scenario_unmet_text(const struct scenario_unmet *unmet, struct arena *arena)
{
    return arena_print(arena, "changes nothing here; it needs %s", unmet->needs);
}

/* A framework's defaults are told of together; NULL: all of them count. */
static const char *profile_text(const struct scenario *scenario, struct arena *arena)
{
    const char *text = NULL;
    for (size_t i = 0; i < scenario->unmet_count; i++)
        if (scenario->unmet[i].profile)
            text = arena_print(arena, "%s%s%s", text ? text : "", text ? ", " : "", scenario->unmet[i].path);
    return text ? arena_print(arena, "defaults of the framework that change nothing here: %s", text) : NULL;
}

/* All that is told of a scenario and its parts, count of them. */
struct telling {
    struct arena *arena;
    struct place *places;
    const char **texts;
    size_t count, capacity;
};

static void add_text(struct telling *t, struct place at, const char *text)
{
    if (t->count == t->capacity) {
        size_t capacity = t->capacity ? 2 * t->capacity : 16;
        struct place *places = arena_array(t->arena, capacity, sizeof *places);
        const char **texts = arena_array(t->arena, capacity, sizeof *texts);
        for (size_t i = 0; i < t->count; i++) {
            places[i] = t->places[i];
            texts[i] = t->texts[i];
        }
        t->places = places;
        t->texts = texts;
        t->capacity = capacity;
    }
    t->places[t->count] = at;
    t->texts[t->count++] = text;
}

/* A scenario of several jobs is like one of its parts in all else, and has nothing more to say than that. */
static void collect(struct telling *t, const struct scenario *scenario)
{
    bool told = false;
    for (size_t i = 0; i < scenario->part_count; i++) {
        collect(t, scenario->parts[i]);
        told |= scenario->parts[i]->unmet == scenario->unmet;
    }
    if (told)
        return;
    for (size_t i = 0; i < scenario->unmet_count; i++) {
        const struct scenario_unmet *unmet = &scenario->unmet[i];
        if (!unmet->profile)
            add_text(t, unmet->at, arena_print(t->arena, "%s %s", unmet->path, scenario_unmet_text(unmet, t->arena)));
    }
    const char *profile = profile_text(scenario, t->arena);
    if (profile)
        add_text(t, node_place(scenario->root, "framework"), profile);
}

/* What imports left open: told of by itself, and in files all of it. */
static void collect_imported(struct telling *t, const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->part_count; i++)
        collect_imported(t, scenario->parts[i]);
    const char *text = "";
    for (size_t i = 0; scenario->imported && !scenario->part_count && text; i++) {
        text = scenario_imported_text(scenario->imported, i, t->arena);
        if (text)
            add_text(t, (struct place){0}, text);
    }
}

void scenario_tell(const struct scenario *scenario, struct diag *diag)
{
    struct telling telling = {.arena = arena_create()};
    scenario_tell_imported(scenario, diag);
    collect(&telling, scenario);
    for (size_t i = 0; i < telling.count; i++)
        diag_note(diag, telling.places[i], "%s", telling.texts[i]);
    arena_destroy(telling.arena);
}

const char *const *scenario_remarks(const struct scenario *scenario, size_t *count, struct arena *arena)
{
    struct telling telling = {.arena = arena};
    collect_imported(&telling, scenario);
    collect(&telling, scenario);
    *count = telling.count;
    return telling.texts;
}

const char *scenario_need_words(const struct stagesim_workload *workload, const char *path, struct arena *arena)
{
    const char *text = NULL;
    for (size_t i = 0; !workload && i < OWN_NEEDS; i++)
        if (!strcmp(own_needs[i].path, path))
            text = need_words(own_needs[i].need.needs, arena);
    for (const struct stagesim_need *need = workload ? workload->needs : NULL; need && need->key; need++)
        if (!strcmp(path_of(workload, need->key, arena), path))
            text = text ? arena_print(arena, "%s; and %s", text, need_words(need->needs, arena))
                        : need_words(need->needs, arena);
    return text;
}
