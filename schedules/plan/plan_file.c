/* SPDX-License-Identifier: Apache-2.0 */
#include "schedules/plan/plan_file.h"

#include "base/csv.h"
#include "schedules/plan/plan_pytorch.h"
#include "schedules/plan/plan_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_SIZE_MAX = 256 << 20 };

enum column {
    WORKER,
    KIND,
    STAGE,
    MICRO_BATCH,
    PIPELINE,
    PART,
    INDEX,
    SLICE,
    SHARE,
    EVEN,
    BRAIDED,
    TRANSFER,
    START,
    END,
    COLUMNS
};

static const char *const column_names[COLUMNS] = {"worker",  "kind",     "stage", "micro_batch", "pipeline",
                                                  "part",    "index",    "slice", "share",       "even",
                                                  "braided", "transfer", "start", "end"};

/* ---- rows ---- */

static bool read_kind(struct csv *csv, uint8_t *kind)
{
    struct csv_field field = csv_get(csv, KIND);
    for (*kind = SLOT_FORWARD; *kind <= SLOT_OUTPUT_GRADIENT; (*kind)++)
        if (field.size == 1 && field.text[0] == slot_letter(*kind))
            return true;
    return csv_mistake(csv, KIND,
                       "'%s' is no kind of slot; expected F (forward), B (backward), W (weight gradient) or another "
                       "letter of doc/schedule-file.md",
                       csv_excerpt(field).text);
}

static bool read_part(struct csv *csv, uint8_t *part)
{
    struct csv_field field = csv_get(csv, PART);
    *part = field.size == 0 ? PART_WHOLE : csv_is(field, "a") ? PART_A : PART_B;
    return field.size == 0 || csv_is(field, "a") || csv_is(field, "b") ||
           csv_mistake(csv, PART, "part is empty, a or b, not '%s'", csv_excerpt(field).text);
}

/* Of a column that may be absent or empty. */
static bool read_flag(struct csv *csv, enum column column, bool *flag)
{
    uint32_t value = 0;
    bool good = !csv_has(csv, column) || !csv_get(csv, column).size || csv_integer(csv, column, 1, &value);
    *flag = value;
    return good;
}

static bool read_slice(struct csv *csv, struct plan_row *row)
{
    bool good = read_flag(csv, EVEN, &row->even);
    if (csv_has(csv, SLICE) && csv_get(csv, SLICE).size)
        good &= csv_integer(csv, SLICE, ROW_NUMBER_MAX, &row->slice);
    if (!csv_has(csv, SHARE) || !csv_get(csv, SHARE).size)
        return good;
    if (!csv_number(csv, SHARE, &row->share))
        return false;
    bool output = row->kind >= SLOT_OUTPUT; /* a share of a forward's time, which may be longer */
    if (row->share > 0 && (row->share <= 1 || output))
        return good;
    if (output)
        return csv_mistake(csv, SHARE, "a share of a forward's time is above 0, not '%s'",
                           csv_excerpt(csv_get(csv, SHARE)).text);
    return csv_mistake(csv, SHARE, "a share is above 0 and at most 1, not '%s'", csv_excerpt(csv_get(csv, SHARE)).text);
}

/* The time of a stash's transfer, of a column that may be absent or empty. */
static bool read_transfer(struct csv *csv, struct plan_row *row)
{
    if (!csv_has(csv, TRANSFER) || !csv_get(csv, TRANSFER).size)
        return true;
    if (!csv_number(csv, TRANSFER, &row->transfer))
        return false;
    return row->transfer > 0 || csv_mistake(csv, TRANSFER, "a transfer takes more than 0, not '%s'",
                                            csv_excerpt(csv_get(csv, TRANSFER)).text);
}

static void read_row(struct csv *csv, struct plan_rows *rows)
{
    struct plan_row row = {.line = csv_line(csv), .column = 1};
    bool good = csv_integer(csv, WORKER, ROW_NUMBER_MAX, &row.worker);
    good &= read_kind(csv, &row.kind);
    good &= csv_integer(csv, STAGE, ROW_NUMBER_MAX, &row.stage);
    good &= csv_integer(csv, MICRO_BATCH, ROW_MICRO_BATCH_MAX, &row.micro_batch);
    if (csv_has(csv, PIPELINE))
        good &= csv_integer(csv, PIPELINE, ROW_NUMBER_MAX, &row.pipeline);
    if (csv_has(csv, PART))
        good &= read_part(csv, &row.part);
    if (csv_has(csv, INDEX))
        good &= csv_integer(csv, INDEX, UINT32_MAX, &row.index);
    good &= read_slice(csv, &row);
    good &= read_flag(csv, BRAIDED, &row.braided);
    good &= read_transfer(csv, &row);
    if (good)
        plan_rows_add(rows, &row);
}

static void read_text(struct plan_rows *rows, const char *text, size_t size)
{
    static const struct csv_columns columns = {column_names, COLUMNS, PIPELINE,
                                               "a schedule", false,   "doc/schedule-file.md"};
    unsigned before = rows->diag->errors;
    struct csv *csv = csv_open(rows->name, text, size, &columns, rows->diag, NULL);
    if (!csv)
        return; /* rows cannot be understood without their columns */
    rows->blocks = csv_has(csv, INDEX);
    while (csv_next(csv))
        read_row(csv, rows);
    csv_close(csv);
    if (!rows->count && rows->diag->errors == before)
        diag_error(
            rows->diag, (struct place){rows->name, 0, 0},
            "there is no slot in this file; it wants a line worker,kind,stage,micro_batch and then one row a slot");
}

struct plan *plan_file_parse(const char *name, const char *text, size_t size, enum pytorch_dialect dialect,
                             struct diag *diag)
{
    if (plan_pytorch_recognise(text, size))
        return plan_pytorch_parse(name, text, size, dialect, diag);
    struct plan_rows rows = {.name = name, .unit = "rows", .diag = diag};
    unsigned before = diag->errors;
    read_text(&rows, text, size);
    struct plan *plan = diag->errors == before ? plan_rows_build(&rows) : NULL;
    plan_rows_finish(&rows);
    return plan;
}

/* ---- files ---- */

struct plan *plan_file_read(const char *path, enum pytorch_dialect dialect, struct diag *diag)
{
    size_t size = 0;
    char *text = csv_load(path, FILE_SIZE_MAX, &size);
    if (!text) {
        if (errno == EFBIG)
            diag_error(diag, (struct place){path, 0, 0}, "the schedule is larger than %d MiB", FILE_SIZE_MAX >> 20);
        else
            diag_error(diag, (struct place){path, 0, 0}, "the schedule cannot be read: %s", strerror(errno));
        return NULL;
    }
    struct plan *plan = plan_file_parse(path, text, size, dialect, diag);
    free(text);
    return plan;
}
