/* SPDX-License-Identifier: Apache-2.0 */
/* Writes every output file of the worked example into the directory given, for outputs.py. Further arguments: the
 * number of replicas, and "whole", "folded" (all but the first are represented), "folded-all" (and written out) or
 * "hostile" (names). */
#include "analysis/output/operations_csv.h"
#include "analysis/output/summary.h"
#include "analysis/output/traces/chrome_trace.h"
#include "analysis/output/traces/paje.h"
#include "base/files/output.h"
#include "test/support/worked_example.h"

#include <stdlib.h>
#include <string.h>

static void fold(struct timeline *timeline)
{
    for (uint32_t rank = 2; rank < timeline->program->mesh->ranks; rank++)
        timeline->index_of[rank] = rank % 2;
    timeline->rank_count = 2;
}

static void rename_hosts(struct platform *platform)
{
    for (uint32_t i = 0; i < platform->host_count; i++) {
        platform->hosts[i].name = "a,\"b\"\n\xff";
        platform->hosts[i].node = "\"node\\";
    }
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    struct fault fault = {""};
    uint32_t replicas = (uint32_t)atoi(argv[2]);
    struct worked_example *example = worked_example_create(replicas, 1e6);
    if (!strncmp(argv[3], "folded", 6))
        fold(example->timeline);
    if (!strcmp(argv[3], "hostile"))
        rename_hosts(&example->platform);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    struct trace_source source = {example->timeline, &example->platform, example->run.hosts,
                                  !strcmp(argv[3], "folded-all")};
    struct output *output = output_create(argv[1], &fault);
    if (!output)
        return 1;
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
