/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the readers of training logs. What they accept has steps that count, with a finite positive mean. */
#include "base/arena.h"
#include "frameworks/logs/training_log.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct arena *arena = arena_create();
    struct diag diag = {.out = NULL};
    char *text = malloc(size + !size); /* ends where the input does */
    for (size_t i = 0; i < size; i++)
        text[i] = (char)data[i];
    const struct training_log *log = training_log_parse("log", text, size, arena, &diag);
    free(text);
    if (!log != (diag.errors > 0))
        abort();
    size_t steps = 0;
    for (int sort = 0; log && sort < LOG_SORTS; sort++)
        steps += log->counts[sort];
    if (log && (!log->counts[LOG_KEPT] || steps != log->count || !(log->mean > 0) || !isfinite(log->mean) ||
                !isfinite(log->spread) || !isfinite(log->bytes.value) || log->first_line > log->last_line))
        abort();
    arena_destroy(arena);
    return 0;
}
