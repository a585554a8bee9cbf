/* SPDX-License-Identifier: Apache-2.0 */
/* Writes every output file of the worked example into the directory given: for outputs.py. Options: the number of replicas
 * and whether all but the first are folded away. */
#include "analysis/chrome_trace.h"
#include "analysis/operations_csv.h"
#include "analysis/output.h"
#include "analysis/paje.h"
#include "analysis/summary.h"
#include "test/analysis/worked_example.h"

#include <stdlib.h>
#include <string.h>

static void fold(struct timeline *timeline)
{
    for (uint32_t rank = 2; rank < timeline->program->mesh->ranks; rank++)
        timeline->index_of[rank] = rank % 2;
    timeline->rank_count = 2;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    struct fault fault = {""};
    uint32_t replicas = (uint32_t)atoi(argv[2]);
    struct worked_example *example = worked_example_create(replicas, 1e6);
    if (!strcmp(argv[3], "folded"))
        fold(example->timeline);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    struct trace_source source = {example->timeline, &example->platform, example->run.hosts, !strcmp(argv[3], "all")};
    struct output *output = output_create(argv[1], &fault);
    summary_write(output_open(output, "summary.json", &fault), report);
    operations_csv_write(output_open(output, "operations.csv", &fault), &source);
    critical_path_csv_write(output_open(output, "critical-path.csv", &fault), &source);
    slack_csv_write(output_open(output, "slack.csv", &fault), &source);
    paje_write(output_open(output, "timeline.paje", &fault), &source);
    chrome_trace_write(output_open(output, "timeline.chrome.json", &fault), &source);
    bool fine = output_commit(output, &fault);
    example->timeline->rank_count = example->mesh.ranks;
    worked_example_destroy(example);
    if (!fine)
        fprintf(stderr, "%s\n", fault.text);
    return !fine;
}
