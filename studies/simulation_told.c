/* SPDX-License-Identifier: Apache-2.0 */
/* What people are told of a run. It goes back with the figures, and is printed by the process that asked for them: only
 * that knows whether they stand, or the run is made again with more iterations. */
#include "analysis/figures/report.h"
#include "analysis/output/run_print.h"
#include "base/bulk.h"
#include "base/diagnostics.h"
#include "studies/simulation_run.h"

#include <stdlib.h>

void run_tell_begin(struct run *run)
{
    run->told = open_memstream(&run->told_text, &run->told_size);
    if (!run->told)
        die_of_memory(1);
}

static void tell_of(FILE *out, const struct report *report)
{
    const char *order = report->run.schedule ? report->run.schedule : report->run.workload;
    if (report->capacity_bytes > 0 && !report->fits) {
        diag_print(out, "note: %s/%s does not fit in memory: a rank needs %.4g GiB", report->run.scenario_name, order,
                   report->peak_bytes / 0x1p30);
        memory_capacity_print(out, report);
        putc('\n', out);
    }
    if (report->run.asynchronous)
        diag_print(
            out, "note: %s is asynchronous: it trains on stale weights and is not equivalent to synchronous training\n",
            order);
}

void run_tell(struct run *run, const struct report *report)
{
    tell_of(run->told, report);
    fflush(run->told);
    run_hand_over_told(run->self->results, run->told_text, run->told_size);
}

void run_hand_over_told(FILE *results, const char *told, size_t size)
{
    fwrite(&size, sizeof size, 1, results);
    fwrite(told, 1, size, results);
}

void run_tell_end(struct run *run)
{
    fclose(run->told);
    free(run->told_text);
}
