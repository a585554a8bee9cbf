/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/table.h"

#include "base/files/scratch.h"

#include <string.h>
#include <unistd.h>

bool search_table_create(struct search_table *table, uint64_t count, struct fault *fault)
{
    *table = (struct search_table){.count = count, .reasons = -1};
    table->results = scratch_map(count * sizeof *table->results, fault);
    table->reasons_end = table->results ? scratch_map(sizeof *table->reasons_end, fault) : NULL;
    table->reasons = table->reasons_end ? scratch_file(fault) : -1;
    return table->reasons >= 0;
}

void search_table_finish(struct search_table *table)
{
    scratch_unmap(table->results, table->count * sizeof *table->results);
    scratch_unmap((void *)table->reasons_end, sizeof *table->reasons_end);
    if (table->reasons >= 0)
        close(table->reasons);
    *table = (struct search_table){.reasons = -1};
}

void search_table_put_reason(struct search_table *table, struct search_result *result, const char *reason)
{
    size_t length = strlen(reason);
    length = length < SEARCH_REASON_MAX - 1 ? length : SEARCH_REASON_MAX - 1;
    uint64_t at = atomic_fetch_add(table->reasons_end, length);
    ssize_t written = pwrite(table->reasons, reason, length, (off_t)at);
    result->reason = at;
    result->reason_length = (uint8_t)(written == (ssize_t)length ? length : 0);
}

void search_table_get_reason(const struct search_table *table, const struct search_result *result,
                             char reason[SEARCH_REASON_MAX])
{
    ssize_t length = pread(table->reasons, reason, result->reason_length, (off_t)result->reason);
    reason[length > 0 ? length : 0] = '\0';
}
