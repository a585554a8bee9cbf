/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of kernel models and of measured kernels: the input is a folder with models.csv and rows.csv. What
 * is accepted gives a positive time for every measured kernel, and none is outside of what was measured. */
#include "test/support/folder.h"
#include "workloads/kernels/kernel_time.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_row(const struct kernel_table *table, const struct kernel_model *model, const struct kernel_row *row)
{
    struct kernel_shape shape = {.kind = model->kind, .type = model->type, .stage = model->stage};
    struct kernel_time time;
    shape.groups = exp2(row->size[0]);
    shape.m = exp2(row->size[1]);
    shape.n = exp2(row->size[2]);
    shape.k = exp2(row->size[3]);
    if (!kernel_time(table, &shape, model->source, &time) || time.outside || !time.near_count || !(time.modelled > 0) ||
        !(time.seconds > 0) || !isfinite(time.seconds))
        abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    char path[FOLDER_PATH];
    struct kernel_table table;
    struct fault fault = {""};
    folder_fill(data, size, path);
    bool good = kernel_table_read("models.csv", "rows.csv", &table, &fault);
    if (good != !fault.text[0] || (good && !table.model_count))
        abort();
    for (unsigned i = 0; good && i < table.model_count; i++)
        for (unsigned k = 0; k < table.models[i].row_count && k < 16; k++)
            check_row(&table, &table.models[i], &table.models[i].rows[k]);
    if (good)
        kernel_table_finish(&table);
    folder_remove(path);
    return 0;
}
