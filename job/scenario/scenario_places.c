/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/document.h"
#include "job/scenario/scenario.h"
#include "job/scenario/scenario_tables.h"
#include "platforms/settings.h"
#include "workloads/workload_table.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct place scenario_place(const struct scenario *scenario, const char *path)
{
    return node_place(scenario->root, path);
}

bool scenario_is_own(const struct scenario *scenario, const char *path)
{
    const struct node *node = node_find(scenario->root, path);
    for (size_t i = 0; node && i < scenario->framework_count;
         i++) /* what came from a profile has a place in its file */
        if (node->at.file && !strcmp(node->at.file, scenario->framework_files[i]))
            return false;
    return node != NULL;
}

enum { PATH_SIZE = 256 };

/* The dotted path of a key in the workload's table. */
static void whole_path(const struct scenario *scenario, const char *key, char path[PATH_SIZE])
{
    if (key && strchr(key, '.'))
        snprintf(path, PATH_SIZE, "%s", key);
    else
        snprintf(path, PATH_SIZE, "%s%s%s", scenario->workload->name, key ? "." : "", key ? key : "");
}

struct place scenario_workload_place(const struct scenario *scenario, const char *key)
{
    char path[PATH_SIZE];
    whole_path(scenario, key, path);
    path[strcspn(path, ".")] = '\0';
    bool section = node_get(scenario->root, path);
    if (!section)
        return node_place(scenario->root, "workload");
    if (strlen(path) + 1 < sizeof path && key)
        path[strlen(path)] = '.';
    return node_place(scenario->root, path);
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where the word begins in the text, or NULL. */
static const char *find_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *found = text; length && (found = strstr(found, word)); found++)
        if ((found == text || !is_word(found[-1])) && !is_word(found[length]))
            return found;
    return NULL;
}

/* The dotted path of a value given by --set and its place; false when something else has replaced it. */
static bool place_of_set(const struct scenario *scenario, const struct scenario_set *set, char path[PATH_SIZE],
                         struct place *place)
{
    snprintf(path, PATH_SIZE, "%.*s", (int)strcspn(set->text, "="), set->text);
    if ((set->option && strcmp(set->option, "--set") != 0) || !node_find(scenario->root, path))
        return false;
    *place = node_place(scenario->root, path);
    return place->line == 0;
}

struct place scenario_blame(const struct scenario *scenario, const char *key, const char *message)
{
    struct place own = scenario_workload_place(scenario, key), found = own;
    char about[PATH_SIZE], path[PATH_SIZE];
    const char *earliest = NULL;
    whole_path(scenario, key, about);
    if (own.line == 0 || !key || (!strcmp(own.file, scenario->file) && node_find(scenario->root, about)))
        return own;
    for (size_t i = 0; i < scenario->request.set_count; i++) {
        struct place at;
        if (!place_of_set(scenario, &scenario->request.sets[i], path, &at))
            continue;
        const char *dot = strrchr(path, '.'), *word = find_word(message, dot ? dot + 1 : path);
        bool beside = !strncmp(path, about, strcspn(about, ".") + 1);
        if (word ? !earliest || word < earliest : !earliest && beside)
            found = at;
        if (word && (!earliest || word < earliest))
            earliest = word;
    }
    return found;
}

/* A '|' would end a table's cell. */
static void print_cell(FILE *out, const char *text)
{
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '|' ? "\\" : "", *text);
}

static void print_words(FILE *out, const char *const *names)
{
    for (size_t i = 0; names[i]; i++)
        fprintf(out, "%s`%s`", i ? ", " : "", names[i]);
}

/* `needs` NULL: nothing. */
static void print_field(FILE *out, const char *prefix, const struct stagesim_field *field, const char *needs)
{
    fprintf(out, "| `%s%s` | ", prefix, field->key);
    if (field->names)
        print_words(out, field->names);
    else
        fprintf(out, "%s", fields_type_name(field->type));
    fprintf(out, " | ");
    print_cell(out, field->doc ? field->doc : "");
    fprintf(out, "%s", field->required ? "; required" : "");
    if (needs)
        fprintf(out, "; needs %s", needs);
    fputs(" |\n", out);
}

/* Between comments that doc/scenario.md has as well: the block that belongs there. */
static void print_section(FILE *out, const char *name, const char *prefix, const struct stagesim_field *fields,
                          const struct stagesim_workload *workload)
{
    struct arena *arena = arena_create();
    fprintf(out, "<!-- keys: %s -->\n| key | value | meaning |\n|---|---|---|\n", name);
    for (; fields->key; fields++) {
        const char *before = strchr(fields->key, '.') ? "" : prefix,
                   *path = arena_print(arena, "%s%s", before, fields->key);
        print_field(out, before, fields, scenario_need_words(workload, path, arena));
        char columns[96];
        snprintf(columns, sizeof columns, "%s%s[].", strchr(fields->key, '.') ? "" : prefix, fields->key);
        for (const struct stagesim_field *column = fields->rows ? fields->rows->fields : NULL; column && column->key;
             column++)
            print_field(out, columns, column, NULL);
    }
    fprintf(out, "<!-- end -->\n");
    arena_destroy(arena);
}

void scenario_print_keys(FILE *out)
{
    print_section(out, "scenario", "", root_fields, NULL);
    print_section(out, "platform", "platform.", platform_fields, NULL);
    print_section(out, "parallel", "parallel.", parallel_fields, NULL);
    print_section(out, "batch", "batch.", batch_fields, NULL);
    print_section(out, "schedule", "schedule.", schedule_fields, NULL);
    struct arena *arena = arena_create();
    print_section(out, "communication", "communication.", communication_fields_create(NULL, arena), NULL);
    arena_destroy(arena);
    print_section(out, "memory", "memory.", memory_section.fields, NULL);
    print_section(out, "imported", "imported.", imported_section.fields, NULL);
    print_section(out, "power", "power.", power_section.fields, NULL);
    print_section(out, "training", "training.", training_section.fields, NULL);
    print_section(out, "failures", "failures.", failures_section.fields, NULL);
    print_section(out, "checkpoint", "checkpoint.", checkpoint_section.fields, NULL);
    print_section(out, "tails", "tails.", tails_section.fields, NULL);
    print_section(out, "output", "output.", output_fields, NULL);
    print_section(out, "search", "search.", search_section.fields, NULL);
    print_section(out, "plan", "plan.", plan_section.fields, NULL);
    print_section(out, "prices", "prices.", prices_section.fields, NULL);
    print_section(out, "simgrid", "", simgrid_settings, NULL);
    for (const struct stagesim_workload *const *workload = workload_table; *workload; workload++) {
        char prefix[80];
        snprintf(prefix, sizeof prefix, "%s.", (*workload)->name);
        if ((*workload)->fields)
            print_section(out, (*workload)->name, prefix, (*workload)->fields, *workload);
    }
}
