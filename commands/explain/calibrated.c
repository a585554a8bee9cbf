/* SPDX-License-Identifier: Apache-2.0 */
/* From an explained trace to a profile of one's own: what a sound run of the job would take is what the scenario is
 * calibrated with. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/table.h"
#include "commands/calibrate/calibrate_output.h"
#include "commands/explain/explain_parts.h"
#include "studies/calibrate/calibrate.h"

int explain_calibrate(const struct options *options, const struct explanation *e, double seconds)
{
    const char *measured = arena_print(e->arena, "%.9gs", seconds);
    const char *scenario = options->files[0];
    struct calibration_request request = {.scenarios = &scenario,
                                          .scenario_count = 1,
                                          .measured = &measured,
                                          .measured_count = 1,
                                          .sets = options->sets,
                                          .set_count = options->set_count,
                                          .plugins = options->plugins};
    struct calibration calibration;
    char text[READABLE_MAX];
    int code = calibrate(&request, e->arena, &calibration);
    if (code != EXIT_DONE)
        return code;
    code = calibration_write_profile(&calibration, "explain", options->calibrate, e->arena);
    if (code == EXIT_DONE && !options->quiet)
        diag_print(stderr, "%s: calibrated with %s, the step without what is wrong in this run\n", options->calibrate,
                   readable_seconds(text, seconds));
    return code;
}
