/* SPDX-License-Identifier: Apache-2.0 */
/* From an explained trace to a profile of one's own: what a sound run of the job would take is what the scenario is
 * calibrated with. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/paths.h"
#include "base/table.h"
#include "commands/calibrate/calibrate_output.h"
#include "commands/cli/result.h"
#include "commands/explain/explain_parts.h"
#include "studies/calibrate/calibrate.h"

struct writing {
    const struct calibration *calibration;
    const char *directory;
    struct arena *arena;
};

static bool write_profile(FILE *out, void *user, struct fault *fault)
{
    (void)fault;
    const struct writing *writing = user;
    calibration_write_profile(writing->calibration, writing->directory, out, writing->arena);
    return true;
}

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
    struct writing writing = {&calibration, path_directory(options->calibrate, e->arena), e->arena};
    code = result_write("explain", options->calibrate, write_profile, &writing);
    if (code == EXIT_DONE && !options->quiet)
        diag_print(stderr, "%s: calibrated with %s, the step without what is wrong in this run\n", options->calibrate,
                   readable_seconds(text, seconds));
    return code;
}
