/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured beside runs: tables of collectives, from which the rates of links follow, and of operators. */
#include "base/arena.h"
#include "base/document.h"
#include "base/exit_code.h"
#include "base/paths.h"
#include "base/quantity.h"
#include "base/text/ends.h"
#include "studies/calibrate/calibrate_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_BYTES = 1 << 16, SOURCE_SETS = 2 };

/* ---- what a file is ---- */

/* The first line that is no comment and not empty begins with the word. */
static bool begins_with(const char *text, const char *word)
{
    while (*text == '#' || *text == '\n' || *text == '\r') {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return !strncmp(text, word, strlen(word));
}

/* A profile of kernels, or a job's timeline. */
static bool is_trace(const char *file, const char *head)
{
    static const char gzip[] = "\x1f\x8b";
    return text_ends_in(file, ".et") || text_ends_in(file, ".json") || !strncmp(head, gzip, 2) ||
           strstr(head, "\"traceEvents\"") || begins_with(head, "rank,host,") || begins_with(head, "%EventDef") ||
           !strncmp(head, "SQLite format 3", 15);
}

/* A training's log may begin with what nccl-tests said of the nodes. */
static bool has_steps(const char *file)
{
    struct arena *arena = arena_create();
    struct diag silent = {0};
    bool steps = training_log_read(file, arena, &silent) != NULL;
    arena_destroy(arena);
    return steps;
}

enum calibration_sort calibration_sort_of(const char *measured)
{
    struct quantity_reason reason;
    double seconds;
    FILE *file = quantity_parse(QUANTITY_TIME, measured, &seconds, &reason) ? NULL : fopen(measured, "rbe");
    if (!file)
        return CALIBRATION_RUN;
    static char head[HEAD_BYTES];
    head[fread(head, 1, sizeof head - 1, file)] = '\0';
    fclose(file);
    bool table = strstr(head, "busbw") && !has_steps(measured);
    return table || begins_with(head, "size_bytes") ? CALIBRATION_COLLECTIVES
           : begins_with(head, "what,size,value")   ? CALIBRATION_OPERATORS
           : is_trace(measured, head)               ? CALIBRATION_TRACE
           : begins_with(head, "kind,micro_batch")  ? CALIBRATION_LAYERS
                                                    : CALIBRATION_RUN;
}

/* ---- reading ---- */

struct sources {
    struct calibration_request *request;
    struct calibration *calibration;
    struct scenario *scenario; /* the first one, whose platform tables are of */
    struct scenario_set *sets; /* the request's, and what is found */
    struct arena *arena;
    struct diag diag;
};

static void sort_one(struct sources *s, const char *file, const char **runs, size_t *count)
{
    struct calibration *c = s->calibration;
    switch (calibration_sort_of(file)) {
    case CALIBRATION_COLLECTIVES:
        measured_load(&c->tables[c->table_count++], file, &s->diag);
        break;
    case CALIBRATION_OPERATORS:
        if (c->operators)
            diag_error(&s->diag, (struct place){file, 0, 0}, "%s is a table of operators, too; expected one",
                       c->operators);
        c->operators = file;
        break;
    case CALIBRATION_LAYERS:
        diag_error(
            &s->diag, (struct place){file, 0, 0},
            "times of one model's layers leave nothing to fit; expected them as compute.profile of the scenario, "
            "or a table of operators (tools/profile-layers --table)");
        break;
    case CALIBRATION_TRACE:
        diag_error(&s->diag, (struct place){file, 0, 0}, "a trace is of one job; expected its scenario, and no other");
        break;
    case CALIBRATION_RUN:
        runs[(*count)++] = file;
        break;
    }
}

/* A profile's value does not count before the scenario's own. */
static void check_own(struct sources *s, const struct scenario *scenario, const char *key)
{
    if (scenario_is_own(scenario, key))
        diag_error(&s->diag, scenario_place(scenario, key),
                   "%s is given here, before which a profile's does not count; expected a scenario without it", key);
}

/* What tables are to settle must not be settled in a scenario. */
static void check_scenario(struct sources *s, const struct scenario *scenario)
{
    static const char *const keys[] = {"compute.table", "compute.profile", "compute.efficiency", "compute.kernels"};
    if (s->calibration->table_count)
        check_own(s, scenario, "communication.links");
    for (size_t i = 0; i < sizeof keys / sizeof *keys && s->calibration->operators; i++)
        check_own(s, scenario, keys[i]);
}

static void load_first(struct sources *s)
{
    const struct calibration_request *r = s->request;
    struct calibration *c = s->calibration;
    if (!r->scenario_count) {
        diag_error(&s->diag, (struct place){c->table_count ? c->tables[0].file : c->operators, 0, 0},
                   "no scenario says what platform this is of; expected one");
        return;
    }
    for (size_t i = 0; i < r->scenario_count; i++) {
        struct scenario_request request = {r->scenarios[i], r->sets, r->set_count, NULL, r->plugins};
        struct scenario *scenario = scenario_load(&request, s->arena, &s->diag);
        if (scenario)
            check_scenario(s, scenario);
        if (!i)
            s->scenario = scenario;
    }
    if (!s->scenario)
        return;
    const struct node *framework = node_get(s->scenario->root, "framework");
    c->base = s->scenario->framework_file;
    c->base_name = c->base && framework ? framework->text : NULL;
}

/* A path that a value of the scenario can have, whose paths start elsewhere. */
static const char *absolute(const char *file, struct arena *arena)
{
    char *found = realpath(file, NULL);
    const char *path = arena_copy(arena, found ? found : file);
    free(found);
    return path;
}

/* ---- what it says, as values of all scenarios ---- */

static void add_set(struct sources *s, const char *text)
{
    s->sets[s->request->set_count++] = (struct scenario_set){.text = text};
}

/* The names of the tables, for remarks. */
static const char *table_names(const struct sources *s)
{
    const char *text = "";
    for (size_t i = 0; i < s->calibration->table_count; i++)
        text = arena_print(s->arena, "%s%s%s", text, i ? ", " : "",
                           path_name(s->calibration->tables[i].file, "", s->arena));
    return text;
}

/* Links of the profile that the scenario starts from, whose kind is not fitted, stay. */
static bool is_fitted(const struct reach *reach, const struct what_if *link)
{
    for (size_t i = 0; i < reach->count; i++)
        if (link->figure == WHAT_IF_BANDWIDTH && !strcmp(reach->levels[i].kind, link->target))
            return true;
    return false;
}

static void add_links(struct sources *s)
{
    struct calibration *c = s->calibration;
    const char *names = table_names(s), *set = "";
    c->links = arena_array(s->arena, s->scenario->link_count + LINK_KINDS_MAX, sizeof *c->links);
    for (size_t i = 0; i < s->scenario->link_count; i++)
        if (!is_fitted(&c->reach, &s->scenario->links[i])) {
            c->links[c->link_count++] = s->scenario->links[i].text;
            set = arena_print(s->arena, "%s%s%s", set, *set ? ", " : "", s->scenario->links[i].text);
        }
    for (size_t i = 0; i < c->reach.count; i++) {
        const struct reach_level *level = &c->reach.levels[i];
        const char *value = arena_print(s->arena, "%s=%.6g", level->kind, level->rate * level->before);
        const char *sure = isnan(level->low) || isnan(level->high)
                               ? "too few to say how sure it is"
                               : arena_print(s->arena, "%.4g to %.4g in 8 of 10 cases", level->low * level->before,
                                             level->high * level->before);
        c->links[c->link_count++] =
            arena_print(s->arena, "%s  # of the platform's rate, fitted to %zu rows of %s; %s%s", value, level->rows,
                        names, sure, level->at_limit ? "; at its limit" : "");
        set = arena_print(s->arena, "%s%s%s", set, *set ? ", " : "", value);
    }
    if (c->link_count)
        add_set(s, arena_print(s->arena, "communication.links=[%s]", set));
}

static int fit_links(struct sources *s)
{
    struct calibration *c = s->calibration;
    int code = reach_find(s->scenario, c->tables, c->table_count, s->arena, &c->reach);
    if (code != EXIT_DONE)
        return code;
    if (!c->reach.count) {
        diag_error(&s->diag, (struct place){c->tables[0].file, 0, 0},
                   "no row says what links reach: of none do links that can be changed make most of the time; expected "
                   "sizes from 16 MiB on, and a platform of stagesim's own");
        return EXIT_BAD_INPUT;
    }
    add_links(s);
    return EXIT_DONE;
}

int calibration_read_sources(struct calibration_request *request, struct calibration *c, struct arena *arena)
{
    struct sources s = {.request = request, .calibration = c, .arena = arena, .diag = {.out = stderr}};
    const char **runs = arena_array(arena, request->measured_count, sizeof *runs);
    size_t count = 0;
    c->tables = arena_array(arena, request->measured_count, sizeof *c->tables);
    for (size_t i = 0; i < request->measured_count; i++)
        sort_one(&s, request->measured[i], runs, &count);
    s.sets = arena_array(arena, request->set_count + SOURCE_SETS, sizeof *s.sets);
    if (request->set_count)
        memcpy(s.sets, request->sets, request->set_count * sizeof *s.sets);
    if (!s.diag.errors && (c->table_count || c->operators))
        load_first(&s);
    request->measured = runs;
    request->measured_count = count;
    request->sets = s.sets;
    int code = s.diag.errors ? s.diag.trouble ? EXIT_FAILED : EXIT_BAD_INPUT : EXIT_DONE;
    if (code == EXIT_DONE && c->operators)
        add_set(&s, arena_print(arena, "compute.table=%s", absolute(c->operators, arena)));
    if (code == EXIT_DONE && c->table_count)
        code = fit_links(&s);
    diag_rest(&s.diag);
    return code;
}
