/* SPDX-License-Identifier: Apache-2.0 */
/* Where SQLite is not there: the files are recognised, and refused. */
#include "base/diagnostics.h"
#include "traces/nsight.h"

#include <string.h>

bool nsight_is(const char *head, size_t size)
{
    static const char magic[16] = "SQLite format 3";
    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

bool nsight_read(struct trace_reader *reader)
{
    diag_error(reader->diag, (struct place){reader->file, 0, 0},
               "it is a database of SQLite, and this stagesim was built without SQLite");
    return false;
}
