/* SPDX-License-Identifier: Apache-2.0 */
/* Transformers along x, y, z and data: ordered by AxoNN's communication model or by the analytic engine. */
#include "commands/layouts/layouts_output.h"
#include "commands/layouts/method.h"

#include <stdlib.h>

enum { TOP_DEFAULT = 10, SHOWN = 20 }; /* rows shown with --top 0 */

static int find_and_print(const struct options *options, const struct scenario *scenario, enum layouts_method method)
{
    struct layout_table table;
    unsigned top = options->top == OPTIONS_NOT_GIVEN ? TOP_DEFAULT : options->top;
    int code = layouts_find(scenario, method, top, &table);
    if (code == EXIT_DONE && table.count)
        layouts_print(stdout, &table, method, top ? top : SHOWN, options->format);
    fflush(stdout);
    if (table.stopped)
        fprintf(stderr, "stopped early: %zu layouts were evaluated, %zu of them simulated\n", table.count,
                table.simulated);
    free(table.rows);
    return code;
}

static int run_axonn(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    (void)arena;
    return find_and_print(options, scenario, LAYOUTS_AXONN);
}

static int run_analytic(const struct options *options, const struct scenario *scenario, struct arena *arena)
{
    (void)arena;
    return find_and_print(options, scenario, LAYOUTS_ANALYTIC);
}

const struct layout_method layout_method_axonn = {
    .name = "axonn", .workload = "transformer", .takes = "fk", .run = run_axonn};
const struct layout_method layout_method_analytic = {
    .name = "analytic", .workload = "transformer", .takes = "fk", .run = run_analytic};
