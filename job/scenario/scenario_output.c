/* SPDX-License-Identifier: Apache-2.0 */
/* output: traces, pictures, the report. */
#include "base/arena.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <string.h>

static void read_paper(struct loader *loader, const struct output_values *values)
{
    struct paper_mistake mistake;
    struct scenario *scenario = loader->scenario;
    scenario->drawn_iterations = (uint32_t)values->picture_iterations;
    if (scenario->iterations < scenario->drawn_iterations)
        scenario->iterations = scenario->drawn_iterations;
    if (!paper_size_read(values->picture_width, values->font_size, &scenario->paper, &mistake))
        diag_error(loader->fields.diag,
                   node_place(loader->root, mistake.font ? "output.font_size" : "output.picture_width"), "%s",
                   mistake.text);
}

void scenario_read_output_keys(struct loader *loader)
{
    struct output_values values = {0};
    const struct node *node = node_get(loader->root, "output");
    fields_check_keys(&loader->fields, &output_section, NULL, node);
    fields_read(&loader->fields, &output_section, node, loader->root->at, &values);
    loader->scenario->traces = values.traces;
    loader->scenario->pictures = values.pictures;
    read_paper(loader, &values);
    loader->scenario->report = values.report;
    loader->scenario->nearest = (enum scenario_nearest)values.nearest;
    loader->scenario->all_replicas = values.replicas == 1;
}

/* The values are checked here and handed on as they were written. */
