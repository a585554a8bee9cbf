/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/saved/kept_fields.h"

#include "base/arena.h"
#include "base/diagnostics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct node *kept_load(const char *path, struct kept_file *file)
{
    static const struct document_kind kind = {.top = NODE_MAP,
                                              .bytes_max = (size_t)256 << 20,
                                              .expected = "what `stagesim run -o` writes",
                                              .second = "it holds one run"};
    const struct node *root = document_load_kind(&kind, path, (struct place){.file = path}, file->arena, file->diag);
    return root && root->kind == NODE_MAP ? root : NULL;
}

void kept_refuse(struct kept_file *file, const struct node *node, const char *expected)
{
    if (file->good)
        diag_error(file->diag, node->at, "%s: %s; expected %s, as `stagesim run -o` writes it", file->name,
                   node_describe(node, file->arena), expected);
    file->good = false;
}

const char *kept_text(struct kept_file *file, const struct node *node, const struct node *parent)
{
    if (node && node->kind == NODE_SCALAR)
        return node->text;
    kept_refuse(file, node ? node : parent, "a text");
    return "";
}

double kept_number(struct kept_file *file, const struct node *node, const struct node *parent)
{
    const char *text = kept_text(file, node, parent);
    char *end;
    double number = strtod(text, &end);
    if (end != text && !*end && isfinite(number))
        return number;
    if (file->good)
        kept_refuse(file, node ? node : parent, "a number");
    return 0;
}

uint32_t kept_count(struct kept_file *file, const struct node *node, const struct node *parent)
{
    double number = kept_number(file, node, parent);
    if (number >= 0 && number < UINT32_MAX && number == floor(number))
        return (uint32_t)number;
    kept_refuse(file, node ? node : parent, "a whole number");
    return 0;
}

const struct node *kept_list(struct kept_file *file, const struct node *map, const char *key)
{
    static const struct node empty = {.kind = NODE_LIST};
    const struct node *list = node_get(map, key);
    if (list && list->kind == NODE_LIST)
        return list;
    kept_refuse(file, list ? list : map, "a list");
    return &empty;
}

const struct node *kept_next(const struct node *node)
{
    return node ? node->next : NULL;
}

/* ---- tables ---- */

void kept_table_write(struct json_writer *json, const struct table *table, bool aligned)
{
    char title[TABLE_CELL_MAX + 2];
    json_array_begin(json, "columns", false);
    for (size_t i = 0; i < table_column_count(table); i++) {
        snprintf(title, sizeof title, "%c%s", table_align(table, i), table_title(table, i));
        json_text(json, NULL, aligned ? title : title + 1);
    }
    json_array_end(json);
    json_array_begin(json, "rows", true);
    for (size_t row = 0; row < table_row_count(table); row++) {
        json_array_begin(json, NULL, false);
        for (size_t i = 0; i < table_column_count(table); i++) {
            json_array_begin(json, NULL, false);
            json_text(json, NULL, table_text(table, row, i));
            if (!isnan(table_number(table, row, i)))
                json_number(json, NULL, table_number(table, row, i));
            json_array_end(json);
        }
        json_array_end(json);
    }
    json_array_end(json);
}

static bool is_repeated(const struct table *table, const char *title)
{
    char shown[TABLE_CELL_MAX];
    snprintf(shown, sizeof shown, "%s", title);
    diag_clean(shown, sizeof shown);
    size_t i = 0;
    while (i < table_column_count(table) && strcmp(table_title(table, i), shown) != 0)
        i++;
    return i < table_column_count(table);
}

static void read_columns(struct kept_file *file, const struct node *columns, bool aligned, struct table *table)
{
    for (const struct node *column = columns->first; column && file->good; column = column->next) {
        const char *title = kept_text(file, column, columns);
        char align = column == columns->first ? '<' : '>';
        bool sound = !aligned || *title == '<' || *title == '>';
        if (aligned && sound)
            align = *title++;
        if (!sound || is_repeated(table, title) || table_column_count(table) == TABLE_COLUMNS_MAX)
            kept_refuse(file, column, "1 to 24 titles, each another one");
        if (file->good)
            table_column(table, title, align);
    }
    if (!columns->count)
        kept_refuse(file, columns, "1 to 24 titles");
}

static void read_cells(struct kept_file *file, const struct node *row, struct table *table)
{
    size_t cells = 0;
    for (const struct node *cell = row->first; cell && file->good; cell = cell->next, cells++) {
        if (cell->kind != NODE_LIST || cells == table_column_count(table)) {
            kept_refuse(file, cell, "a cell for each column");
            return;
        }
        table_cell(table, "%s", kept_text(file, cell->first, cell));
        if (cell->count > 1)
            table_value(table, kept_number(file, cell->first->next, cell));
    }
    if (cells != table_column_count(table))
        kept_refuse(file, row, "a cell for each column");
}

void kept_table_read(struct kept_file *file, const struct node *map, bool aligned, struct table *table)
{
    read_columns(file, kept_list(file, map, "columns"), aligned, table);
    for (const struct node *row = kept_list(file, map, "rows")->first; row && file->good; row = row->next)
        read_cells(file, row, table);
}
