/* SPDX-License-Identifier: Apache-2.0 */
/* The section `power`: caps, budgets, states and carbon; doc/power.md. */
#include "base/arena.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <ctype.h>
#include <string.h>

#define WATTS_MOST 1e12

static const struct stagesim_field point_fields[] = {
    {"cap", STAGESIM_FIELD_WATTS, offsetof(struct power_point, cap), .required = true, .least = 1e-3,
     .most = WATTS_MOST, .doc = "watts that a GPU may draw"},
    {"speed", STAGESIM_FIELD_RATIO, offsetof(struct power_point, speed), .required = true, .least = 1e-3, .most = 1,
     .doc = "share of the speed that the job has without a cap"},
    {0},
};
static const struct stagesim_row_type point_type = {"a point of the table", point_fields, sizeof(struct power_point),
                                                    NULL};

static const struct stagesim_field intensity_fields[] = {
    {"time", STAGESIM_FIELD_TIME, offsetof(struct power_intensity, time), .required = true, .least = 0, .most = 1e10,
     .doc = "from when on it holds; the first row has 0s"},
    {"intensity", STAGESIM_FIELD_RATIO, offsetof(struct power_intensity, grams), .required = true, .least = 0,
     .most = 1e6, .doc = "grams of carbon dioxide for a kilowatt hour"},
    {0},
};
static const struct stagesim_row_type intensity_type = {"a step of the intensity", intensity_fields,
                                                        sizeof(struct power_intensity), NULL};

#define SETTING(name) offsetof(struct power_values, settings.name)

static const struct stagesim_field power_fields[] = {
    {"cap", STAGESIM_FIELD_WATTS, SETTING(cap), .least = 1e-3, .most = WATTS_MOST,
     .doc = "watts that each GPU may draw, such as 500W; default: as much as it draws"},
    {"budget", STAGESIM_FIELD_WATTS, SETTING(budget), .least = 1e-3, .most = WATTS_MOST,
     .doc = "watts that all devices of the platform may draw together, such as 2MW; default: as much as they draw"},
    {"idle", STAGESIM_FIELD_WATTS, SETTING(idle), .least = 0, .most = WATTS_MOST,
     .doc = "watts of a GPU that computes nothing; default: the platform's"},
    {"full", STAGESIM_FIELD_WATTS, SETTING(full), .least = 1e-3, .most = WATTS_MOST,
     .doc = "watts of a GPU that computes at its full clock; default: the platform's"},
    {"alpha", STAGESIM_FIELD_RATIO, SETTING(alpha), .least = 1, .most = 4,
     .doc = "exponent: the watts above idle are proportional to the clock to this power; default 3"},
    {"compute_bound", STAGESIM_FIELD_RATIO, SETTING(compute_bound), .least = 0, .most = 1,
     .doc = "share of the computing time that is proportional to 1 / clock; default: each operator of a model by "
            "whether arithmetic or memory limits it; 1 if times are given"},
    {"table", STAGESIM_FIELD_ROWS, offsetof(struct power_values, table), .rows = &point_type,
     .doc = "measured speed at caps, in place of the curve"},
    {"carbon", STAGESIM_FIELD_ROWS, offsetof(struct power_values, intensities), .rows = &intensity_type,
     .doc =
         "grams of carbon dioxide for a kilowatt hour: a number, 24 of them for the hours of a day, or a series over "
         "time"},
    {"carbon_start", STAGESIM_FIELD_TIME, SETTING(carbon_start), .least = 0, .most = 1e10,
     .doc = "when the job begins on the clock of the series; default 0s"},
    {"pue", STAGESIM_FIELD_RATIO, SETTING(pue), .least = 1, .most = 10,
     .doc = "power of the whole data centre over that of its devices; default 1"},
    {0},
};
const struct fields_section power_section = {"power", true, power_fields};

const struct power_values power_defaults = {
    .settings = {.idle = -1, .full = -1, .alpha = 3, .compute_bound = -1, .pue = 1}};

struct fields_section power_section_create(const struct node *node, struct arena *arena)
{
    const struct node *carbon = node_get(node, "carbon");
    const struct node *first = carbon && carbon->kind == NODE_LIST ? carbon->first : carbon;
    bool numbers = first && first->kind == NODE_SCALAR &&
                   (isdigit((unsigned char)*first->text) || *first->text == '-') && !strchr(first->text, '/') &&
                   !strstr(first->text, ".csv");
    struct stagesim_field *fields = arena_alloc(arena, sizeof power_fields);
    memcpy(fields, power_fields, sizeof power_fields);
    for (struct stagesim_field *field = fields; field->key; field++)
        if (numbers && !strcmp(field->key, "carbon"))
            *field = (struct stagesim_field){"carbon", STAGESIM_FIELD_RATIOS, offsetof(struct power_values, carbon),
                                             .least = 0, .most = 1e6};
    return (struct fields_section){power_section.name, true, fields};
}

static void take_table(struct loader *loader, const struct stagesim_rows *rows, struct power_settings *settings)
{
    settings->table = rows->rows;
    settings->table_count = rows->count;
    for (size_t i = 1; i < rows->count; i++)
        if (!(settings->table[i].cap > settings->table[i - 1].cap)) {
            diag_error(loader->fields.diag, node_entry_place(loader->root, "power.table", i),
                       "table: row %zu has the cap %.10g W behind %.10g W; expected ascending caps", i + 1,
                       settings->table[i].cap, settings->table[i - 1].cap);
            return;
        }
}

/* A number holds always, 24 of them from the hours on. */
static void take_hours(struct loader *loader, const struct stagesim_list *hours, struct power_settings *settings)
{
    struct power_intensity *rows = arena_array(loader->fields.arena, hours->count, sizeof *rows);
    for (size_t i = 0; i < hours->count; i++)
        rows[i] = (struct power_intensity){3600.0 * (double)i, hours->values[i]};
    settings->carbon = rows;
    settings->carbon_count = hours->count;
    settings->series = hours->count > 1;
    if (hours->count != 1 && hours->count != 24)
        diag_error(loader->fields.diag, node_place(loader->root, "power.carbon"),
                   "carbon is a list of %zu numbers; expected one number, or 24, one for each hour of a day",
                   hours->count);
}

static void take_carbon(struct loader *loader, const struct power_values *values, struct power_settings *settings)
{
    if (values->carbon.count) {
        take_hours(loader, &values->carbon, settings);
        return;
    }
    settings->carbon = values->intensities.rows;
    settings->carbon_count = values->intensities.count;
    settings->series = values->intensities.count > 0;
    for (size_t i = 0; i < settings->carbon_count; i++) {
        const struct power_intensity *row = &settings->carbon[i];
        if (i ? row->time > row[-1].time : row->time <= 0)
            continue;
        diag_error(loader->fields.diag, node_entry_place(loader->root, "power.carbon", i),
                   i ? "carbon: row %zu is at %.10g s, not after the row before it; expected ascending times"
                     : "carbon: row %zu is at %.10g s; expected 0s, the first time",
                   i + 1, row->time);
        return;
    }
}

void scenario_read_power(struct loader *loader)
{
    struct power_values values = power_defaults;
    const struct node *node = node_get(loader->root, power_section.name);
    struct fields_section section = power_section_create(node, loader->fields.arena);
    unsigned errors = loader->fields.diag->errors;
    fields_check_keys(&loader->fields, &section, NULL, node);
    fields_read(&loader->fields, &section, node, loader->root->at, &values);
    struct power_settings *settings = &loader->scenario->power;
    *settings = values.settings;
    settings->given = node && !node_is_empty(node);
    if (loader->fields.diag->errors != errors)
        return;
    take_table(loader, &values.table, settings);
    take_carbon(loader, &values, settings);
    if (settings->full >= 0 && settings->full <= settings->idle)
        diag_error(loader->fields.diag, node_place(loader->root, "power.full"),
                   "full is %.10g W and idle %.10g W; expected more at full load", settings->full, settings->idle);
}
