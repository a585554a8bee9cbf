/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/document.h"
#include "simulator/scenario.h"
#include "simulator/scenario_tables.h"
#include "workloads/workload_table.h"

#include <stdio.h>
#include <string.h>

struct place scenario_place(const struct scenario *scenario, const char *path)
{
    return node_place(scenario->root, path);
}

struct place scenario_workload_place(const struct scenario *scenario, const char *key)
{
    const char *name = scenario->workload->name;
    char path[256];
    if (key && strchr(key, '.'))
        snprintf(path, sizeof path, "%s", key);
    else
        snprintf(path, sizeof path, "%s%s%s", name, key ? "." : "", key ? key : "");
    path[strcspn(path, ".")] = '\0';
    bool section = node_get(scenario->root, path);
    if (!section)
        return node_place(scenario->root, "workload");
    if (strlen(path) + 1 < sizeof path && key)
        path[strlen(path)] = '.';
    return node_place(scenario->root, path);
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

static void print_field(FILE *out, const char *prefix, const struct stagesim_field *field)
{
    fprintf(out, "| `%s%s` | ", prefix, field->key);
    if (field->names)
        print_words(out, field->names);
    else
        fprintf(out, "%s", fields_type_name(field->type));
    fprintf(out, " | ");
    print_cell(out, field->doc ? field->doc : "");
    fprintf(out, "%s |\n", field->required ? "; required" : "");
}

/* Between comments that doc/scenario.md has as well: the block that belongs there. */
static void print_section(FILE *out, const char *name, const char *prefix, const struct stagesim_field *fields)
{
    fprintf(out, "<!-- keys: %s -->\n| key | value | meaning |\n|---|---|---|\n", name);
    for (; fields->key; fields++) {
        print_field(out, strchr(fields->key, '.') ? "" : prefix, fields);
        char columns[96];
        snprintf(columns, sizeof columns, "%s%s[].", strchr(fields->key, '.') ? "" : prefix, fields->key);
        for (const struct stagesim_field *column = fields->rows ? fields->rows->fields : NULL; column && column->key; column++)
            print_field(out, columns, column);
    }
    fprintf(out, "<!-- end -->\n");
}

void scenario_print_keys(FILE *out)
{
    print_section(out, "scenario", "", root_fields);
    print_section(out, "parallel", "parallel.", parallel_fields);
    print_section(out, "batch", "batch.", batch_fields);
    print_section(out, "schedule", "schedule.", schedule_fields);
    print_section(out, "communication", "communication.", communication_fields);
    print_section(out, "output", "output.", output_fields);
    print_section(out, "search", "search.", search_section.fields);
    print_section(out, "simgrid", "", simgrid_fields);
    for (const struct stagesim_workload *const *workload = workload_table; *workload; workload++) {
        char prefix[80];
        snprintf(prefix, sizeof prefix, "%s.", (*workload)->name);
        if ((*workload)->fields)
            print_section(out, (*workload)->name, prefix, (*workload)->fields);
    }
}
