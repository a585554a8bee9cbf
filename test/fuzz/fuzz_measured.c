/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of measured tables. What it accepts is within its bounds, and comes back the same when it is
 * written as CSV. */
#include "platforms/measured.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const char *const names[] = {"all-reduce", "reduce-scatter", "all-gather", "all-to-all",
                                    "broadcast",  "reduce",         NULL,         "send-receive"};

static void write_and_read_again(const struct measured *measured, struct diag *diag)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    fprintf(out, "# collective: %s\n# ranks: %u\nsize_bytes,time_us\n", names[measured->kind], measured->ranks);
    for (size_t i = 0; i < measured->count; i++)
        fprintf(out, "%.17g,%.17g\n", measured->rows[i].bytes, measured->rows[i].seconds * 1e6);
    fclose(out);
    struct measured again;
    if (!measured_parse(&again, "again", text, size, diag) || again.kind != measured->kind ||
        again.ranks != measured->ranks || again.count != measured->count)
        abort();
    for (size_t i = 0; i < measured->count; i++)
        if (again.rows[i].bytes < measured->rows[i].bytes || again.rows[i].bytes > measured->rows[i].bytes)
            abort();
    measured_finish(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct diag diag = {.out = NULL};
    struct measured measured;
    bool good = measured_parse(&measured, "input", (const char *)data, size, &diag);
    if (good != (diag.errors == 0) || (good && (measured.ranks < 2 || !measured.count)))
        abort();
    for (size_t i = 0; good && i < measured.count; i++)
        if (!(measured.rows[i].bytes >= 1 && measured.rows[i].bytes <= 1e18 && measured.rows[i].seconds > 0))
            abort();
    if (good)
        write_and_read_again(&measured, &diag);
    measured_finish(&measured);
    return 0;
}
