/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/search_parts.h"

#include "base/arena.h"
#include "base/exit_code.h"

#include <stdlib.h>
#include <string.h>

uint32_t search_parts_missing(const struct search *search, uint32_t shards, bool *missing)
{
    uint32_t count = 0;
    memset(missing, 0, shards * sizeof *missing);
    for (uint64_t i = 0; i < search->table.count; i++) {
        enum search_status status = (enum search_status)search->table.results[i].status;
        bool open = status == SEARCH_UNTRIED || status == SEARCH_WAITS;
        count += open && !missing[i % shards];
        missing[i % shards] |= open;
    }
    return count;
}

int search_parts_check(const struct search *search)
{
    uint32_t shards = search->merged_shards ? search->merged_shards : 1;
    bool *missing = array_zeroed(shards, sizeof *missing);
    uint32_t count = search_parts_missing(search, shards, missing), first = 0;
    while (count && !missing[first])
        first++;
    free(missing);
    if (!count)
        return EXIT_DONE;
    fprintf(
        stderr,
        "stagesim: %u of %u parts are not there or not complete, the first is %u/%u; run it (again, with --resume)\n",
        count, shards, first + 1, shards);
    return EXIT_BAD_INPUT;
}
