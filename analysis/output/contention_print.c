/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/contention_print.h"

static const char *type_name(uint8_t type)
{
    switch (type) {
    case OPERATION_COMPUTE:
        return "computation";
    case OPERATION_SEND:
        return "message";
    case OPERATION_COLLECTIVE:
        return "collective";
    default:
        return "delay";
    }
}

static void time_columns(struct table *table)
{
    table_columns(table, ">alone", ">with contention", ">added", NULL);
}

/* Differences that are mere rounding are none. */
static double added_to(double alone, double contended)
{
    return contended - alone > 1e-9 * alone ? contended - alone : 0;
}

static void time_cells(struct table *table, double alone, double contended)
{
    char text[READABLE_MAX];
    table_cell(table, "%s", readable_seconds(text, alone));
    table_cell(table, "%s", readable_seconds(text, contended));
    table_cell(table, "%s", readable_seconds(text, added_to(alone, contended)));
}

static void print_kinds(FILE *out, struct table_style style, const struct contention *contention)
{
    struct table *table = table_create();
    table_columns(table, "<seconds per rank", "<kind", ">count", NULL);
    time_columns(table);
    for (uint32_t i = 0; i < contention->kind_count; i++) {
        const struct contention_kind *kind = &contention->kinds[i];
        table_cell(table, "%s", type_name(kind->type));
        table_cell(table, "%s", kind_name(kind->kind));
        table_cell(table, "%llu", (unsigned long long)kind->count);
        time_cells(table, kind->alone, kind->contended);
    }
    table_finish(table, out, style);
}

static void links_cell(struct table *table, const struct contention_delay *delay)
{
    const struct contention_link *busiest = &delay->links[0];
    if (delay->link_count == 0)
        table_cell(table, "none");
    else if (delay->link_count == 1)
        table_cell(table, "%s (%llu)", busiest->name, (unsigned long long)busiest->others);
    else
        table_cell(table, "%.60s (%llu) and more", busiest->name, (unsigned long long)busiest->others);
}

static void print_delays(FILE *out, struct table_style style, const struct contention *contention)
{
    struct table *table = table_create();
    table_columns(table, "<most delayed", ">from rank", ">to", NULL);
    time_columns(table);
    table_column(table, "links shared (with other transfers)", '<');
    for (uint32_t i = 0; i < contention->delay_count; i++) {
        const struct contention_delay *delay = &contention->delays[i];
        table_cell(table, "%s", delay->text);
        table_cell(table, "%u", delay->rank);
        if (delay->peer == UINT32_MAX)
            table_cell(table, "group");
        else
            table_cell(table, "%u", delay->peer);
        time_cells(table, delay->alone, delay->contended);
        links_cell(table, delay);
    }
    table_finish(table, out, style);
}

void contention_print(FILE *out, struct table_style style, const struct report *report)
{
    const struct contention *contention = report->contention;
    char alone[READABLE_MAX], added[READABLE_MAX], line[128];
    double difference = added_to(contention->alone, contention->contended);
    snprintf(line, sizeof line, "\n%-18s %s added to %s\n", "contention", readable_seconds(added, difference),
             readable_seconds(alone, contention->alone));
    table_remarks(out, style.format, line);
    fputc('\n', out);
    print_kinds(out, style, contention);
    if (!contention->delay_count)
        return;
    fputc('\n', out);
    print_delays(out, style, contention);
}

static void write_times(struct json_writer *json, double alone, double contended)
{
    json_number(json, "analytic_s", alone);
    json_number(json, "contended_s", contended);
    json_number(json, "added_s", contended - alone);
}

static void write_delay(struct json_writer *json, const struct contention_delay *delay)
{
    json_object_begin(json, NULL, false);
    json_text(json, "operation", delay->text);
    json_text(json, "type", type_name(delay->peer == UINT32_MAX ? OPERATION_COLLECTIVE : OPERATION_SEND));
    json_integer(json, "rank", delay->rank);
    if (delay->peer != UINT32_MAX)
        json_integer(json, "peer", delay->peer);
    json_integer(json, "id", delay->id);
    write_times(json, delay->alone, delay->contended);
    json_array_begin(json, "links", false);
    for (uint32_t i = 0; i < delay->link_count; i++) {
        json_object_begin(json, NULL, false);
        json_text(json, "name", delay->links[i].name);
        json_integer(json, "others", delay->links[i].others);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

void contention_write(struct json_writer *json, const struct report *report)
{
    const struct contention *contention = report->contention;
    json_object_begin(json, "contention", true);
    write_times(json, contention->alone, contention->contended);
    json_array_begin(json, "operations", true);
    for (uint32_t i = 0; i < contention->kind_count; i++) {
        json_object_begin(json, NULL, false);
        json_text(json, "type", type_name(contention->kinds[i].type));
        json_text(json, "kind", kind_name(contention->kinds[i].kind));
        json_integer(json, "count", contention->kinds[i].count);
        write_times(json, contention->kinds[i].alone, contention->kinds[i].contended);
        json_object_end(json);
    }
    json_array_end(json);
    json_array_begin(json, "most_delayed", true);
    for (uint32_t i = 0; i < contention->delay_count; i++)
        write_delay(json, &contention->delays[i]);
    json_array_end(json);
    json_object_end(json);
}
