/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes what reads an output directory back. An input that begins with '{' is a summary.json; any other is
 * operations.csv, critical-path.csv and memory.csv of a run of two workers, separated by form feeds. What they accept
 * is drawn. */
#include "analysis/output/report_html.h"
#include "analysis/output/saved/saved_operations.h"
#include "analysis/output/saved/saved_summary.h"
#include "analysis/output/summary.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/arena.h"
#include "test/support/memory_file.h"

#include <stdlib.h>
#include <string.h>

enum { BOXES_DRAWN = 200 }; /* drawing more takes longer than reading finds mistakes */

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void fuzz_summary(const char *text, size_t size, struct arena *arena, struct diag *diag)
{
    char name[MEMORY_FILE_NAME];
    int descriptor = memory_file(text, size, name);
    struct report *report = saved_summary_read(name, arena, diag);
    close(descriptor);
    if (!report != (diag->errors > 0))
        abort();
    if (!report)
        return;
    struct fault fault = {""};
    struct gantt *gantt = gantt_create("", "", GANTT_SECONDS);
    report_html(diag->out, report, gantt, &fault);
    summary_write(diag->out, report);
    gantt_destroy(gantt);
}

/* Text up to the next form feed. */
static size_t take(const char **text, const char *end, const char **part)
{
    const char *feed = *text < end ? memchr(*text, '\f', (size_t)(end - *text)) : NULL;
    *part = *text;
    size_t size = (size_t)((feed ? feed : end) - *text);
    *text = feed ? feed + 1 : end;
    return size;
}

static void fuzz_operations(const char *text, size_t size, struct diag *diag)
{
    struct worker_report workers[2] = {{.position = 0}, {.position = 1, .rank = 1, .simulated_rank = 1}};
    struct report report = {
        .run = {.workload = "stages"}, .ranks = 2, .workers = workers, .worker_count = 2, .stages = 4};
    report.pipeline_workers = 2;
    const char *end = text + size;
    struct saved_texts texts = {
        .operations_file = "operations.csv", .critical_file = "critical-path.csv", .memory_file = "memory.csv"};
    texts.operations_size = take(&text, end, &texts.operations);
    texts.critical_size = take(&text, end, &texts.critical);
    texts.memory_size = take(&text, end, &texts.memory);
    struct gantt *gantt = saved_operations_gantt(&texts, &report, diag);
    if (!gantt != (diag->errors > 0))
        abort();
    struct fault fault = {""};
    if (gantt && gantt->box_count <= BOXES_DRAWN)
        picture_timeline(gantt, CANVAS_SVG, NULL, diag->out, &fault);
    gantt_destroy(gantt);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct diag diag = {.out = fopen("/dev/null", "w")};
    struct arena *arena = arena_create();
    if (size && data[0] == '{')
        fuzz_summary((const char *)data, size, arena, &diag);
    else
        fuzz_operations((const char *)data, size, &diag);
    arena_destroy(arena);
    fclose(diag.out);
    return 0;
}
