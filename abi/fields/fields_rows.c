/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in a section: lists of maps, or CSV files, whose rows are read as the same maps. */
#include "abi/fields/fields_rows.h"

#include "base/arena.h"
#include "base/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64 };

/* Whether a column's values may be lists. */
static bool takes_lists(const struct stagesim_row_type *type, const char *name)
{
    const struct stagesim_field *field = type->fields;
    while (strcmp(field->key, name) != 0)
        field++;
    switch (field->type) {
    case STAGESIM_FIELD_TIMES:
    case STAGESIM_FIELD_BYTES_LIST:
    case STAGESIM_FIELD_NAMES:
    case STAGESIM_FIELD_COUNTS:
    case STAGESIM_FIELD_RATIOS:
    case STAGESIM_FIELD_TEXTS:
        return true;
    default:
        return false;
    }
}

/* The parts of a cell between semicolons, as a list in place of the text. */
static void split_cell(struct node *cell, struct arena *arena)
{
    char *text = arena_copy(arena, cell->text);
    cell->kind = NODE_LIST;
    cell->text = NULL;
    for (char *part = text; part;) {
        char *end = strchr(part, ';');
        if (end)
            *end = '\0';
        struct node *value = arena_alloc(arena, sizeof *value);
        *value = (struct node){.kind = NODE_SCALAR, .at = cell->at, .text = part + strspn(part, " ")};
        node_append(cell, value);
        part = end ? end + 1 : NULL;
    }
}

/* A row as a map, without the columns that are empty; NULL after a mistake was reported. */
static struct node *make_row(struct csv *csv, const struct csv_columns *columns, const struct stagesim_row_type *type,
                             struct arena *arena)
{
    struct node *row = arena_alloc(arena, sizeof *row);
    *row = (struct node){.kind = NODE_MAP, .at = csv_place(csv, 0)};
    row->at.column = 1;
    for (size_t i = 0; i < columns->count; i++) {
        struct csv_field field = csv_get(csv, i);
        if (!field.text || (!field.size && !field.quoted))
            continue;
        if (memchr(field.text, '\0', field.size)) {
            csv_mistake(csv, i, "the text holds a NUL character");
            return NULL;
        }
        struct node *value = arena_alloc(arena, sizeof *value);
        struct place at = csv_place(csv, i);
        *value = (struct node){.kind = NODE_SCALAR,
                               .at = at,
                               .key = columns->names[i],
                               .key_at = at,
                               .text = csv_text(field, arena),
                               .quoted = field.quoted};
        if (strchr(value->text, ';') && takes_lists(type, columns->names[i]))
            split_cell(value, arena);
        node_append(row, value);
    }
    return row;
}

/* Required columns first, as csv_open wants them. */
static size_t list_columns(const struct stagesim_row_type *type, const char **names, size_t *required)
{
    size_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (const struct stagesim_field *field = type->fields; field->key && count < COLUMNS_MAX; field++)
            if (field->required == !pass)
                names[count++] = field->key;
        *required = pass ? *required : count;
    }
    return count;
}

struct node *fields_parse_rows(const char *name, const char *text, size_t size, const struct stagesim_row_type *type,
                               struct arena *arena, struct diag *diag)
{
    const char *names[COLUMNS_MAX];
    struct csv_columns columns = {.names = names, .what = type->what, .comments = true, .page = "doc/scenario.md"};
    columns.count = list_columns(type, names, &columns.required);
    unsigned errors = diag->errors;
    const char *file = arena_copy(arena, name);
    struct csv *csv = csv_open(file, text, size, &columns, diag, NULL);
    struct node *list = arena_alloc(arena, sizeof *list);
    *list = (struct node){.kind = NODE_LIST, .at = {.file = file}};
    while (csv && csv_next(csv)) {
        struct node *row = make_row(csv, &columns, type, arena);
        if (row)
            node_append(list, row);
    }
    csv_close(csv);
    return diag->errors == errors ? list : NULL;
}

struct node *fields_load_rows(const char *file, const struct stagesim_row_type *type, struct place at,
                              struct arena *arena, struct diag *diag)
{
    size_t size;
    char *text = csv_load(file, DOCUMENT_BYTES_MAX, &size);
    struct node *list = NULL;
    if (text)
        list = fields_parse_rows(file, text, size, type, arena, diag);
    else
        diag_trouble(diag, at, "cannot read '%s': %s", file, strerror(errno));
    free(text);
    return list;
}
