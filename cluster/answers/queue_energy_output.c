/* SPDX-License-Identifier: Apache-2.0 */
/* What a queue draws and costs, for people and for programs. */
#include "base/arena.h"
#include "base/table.h"
#include "cluster/answers/queue_output.h"
#include "training/forecast_text.h"

void queue_energy_json(struct json_writer *json, const struct queue_energy *energy, double joules, double grams,
                       double cost)
{
    if (energy->known)
        json_number(json, "energy_j", joules);
    if (energy->carbon)
        json_number(json, "carbon_kg", grams / 1000);
    if (energy->priced)
        json_number(json, "price", cost);
}

void queue_energy_columns(struct table *table, const struct queue_energy *energy)
{
    if (energy->known)
        table_column(table, "energy", '>');
    if (energy->carbon)
        table_column(table, "kg of CO2", '>');
    if (energy->priced)
        table_column(table, "price", '>');
}

void queue_energy_cell(struct table *table, double joules)
{
    char text[READABLE_MAX];
    table_cell(table, "%s", readable_watt_hours(text, joules));
    table_value(table, joules);
}

void queue_energy_cells(struct table *table, const struct queue_energy *energy, double joules, double grams,
                        double cost)
{
    if (energy->known)
        queue_energy_cell(table, joules);
    if (energy->carbon)
        table_ratio(table, grams / 1000);
    if (energy->priced)
        table_ratio(table, cost);
}

void queue_month_json(struct json_writer *json, const struct queue_view *view)
{
    const struct queue_energy *energy = &view->figures->energy;
    const struct power_settings *power = &view->scenario->power;
    if (!energy->known && !energy->priced)
        return;
    json_object_begin(json, "energy", true);
    queue_energy_json(json, energy, energy->joules, energy->grams, energy->cost);
    if (energy->known)
        json_number(json, "free_energy_j", energy->free_joules);
    if (energy->carbon)
        json_number(json, "free_carbon_kg", energy->free_grams / 1000);
    if (energy->known)
        json_number(json, "mean_watts", energy->joules / view->figures->makespan);
    if (power->budget > 0)
        json_number(json, "budget_watts", power->budget);
    if (power->cap > 0)
        json_number(json, "cap_watts", power->cap);
    if (energy->priced && view->queue->currency)
        json_text(json, "currency", view->queue->currency);
    json_object_end(json);
}

void queue_energy_print(FILE *out, const struct queue_view *view)
{
    const struct queue_energy *energy = &view->figures->energy;
    const struct power_settings *power = &view->scenario->power;
    char text[READABLE_MAX], share[READABLE_MAX];
    struct arena *arena = arena_create();
    if (energy->known)
        fprintf(out, "energy %s, %s of it of nodes without a job", readable_watt_hours(text, energy->joules),
                readable_percent(share, energy->free_joules / energy->joules));
    if (energy->carbon)
        fprintf(out, "; %.6g kg of CO2, PUE %.4g", energy->grams / 1000, power->pue);
    if (energy->priced)
        fprintf(out, "%s%s", energy->known ? "; " : "", forecast_money(energy->cost, view->queue->currency, arena));
    if (power->budget > 0)
        fprintf(out, "; budget %s", readable_watts(text, power->budget));
    if (power->cap > 0)
        fprintf(out, "; cap %s a GPU", readable_watts(text, power->cap));
    if (energy->known || energy->priced)
        fputc('\n', out);
    arena_destroy(arena);
}

void queue_energy_tiles(struct queue_page *page, const struct queue_view *view, struct arena *arena)
{
    const struct queue_energy *energy = &view->figures->energy;
    char text[READABLE_MAX + 16];
    if (energy->known)
        queue_page_tile(page, readable_watt_hours(text, energy->joules), "energy of all nodes", arena);
    if (energy->known)
        queue_page_tile(page, readable_percent(text, energy->free_joules / energy->joules),
                        "of it of nodes without a job", arena);
    snprintf(text, sizeof text, "%.4g kg", energy->grams / 1000);
    if (energy->carbon)
        queue_page_tile(page, text, "carbon dioxide", arena);
    if (energy->priced)
        queue_page_tile(page, forecast_money(energy->cost, view->queue->currency, arena), "price of all nodes", arena);
}
