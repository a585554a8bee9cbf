/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/memory_csv.h"

#include "base/text_writer.h"

void memory_csv_write(FILE *out, const struct report *report, const struct gantt *gantt)
{
    struct text_writer *text = text_writer_create(out);
    text_string(text, "rank,position,time_s,bytes,in_flight\n");
    for (size_t i = 0; i < gantt->level_count; i++) {
        const struct gantt_level *level = &gantt->levels[i];
        if (i + 1 == gantt->level_count || level[1].row != level->row)
            continue;
        const struct worker_report *worker = &report->workers[level->row];
        const double figures[] = {level->time, level->bytes, level->in_flight};
        text_integer(text, worker->rank);
        text_char(text, ',');
        text_integer(text, worker->position);
        for (size_t k = 0; k < 3; k++) {
            text_char(text, ',');
            text_number(text, figures[k]);
        }
        text_char(text, '\n');
    }
    text_writer_destroy(text);
}
