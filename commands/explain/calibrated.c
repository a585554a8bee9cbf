/* SPDX-License-Identifier: Apache-2.0 */
/* From an explained trace to a profile of one's own: what a sound run of the job would take is what the scenario is
 * calibrated with. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/table.h"
#include "commands/calibrate/calibrate_output.h"
#include "commands/explain/explain_parts.h"
#include "studies/calibrate/calibrate.h"

#include <math.h>

/* What no value of a profile says: how the links did. NULL: nothing is known of them. */
static const char *links_text(const struct sound_step *sound, struct arena *arena)
{
    const char *messages = isnan(sound->messages) ? "" : arena_print(arena, "messages %.4g", sound->messages);
    const char *collectives =
        isnan(sound->collectives) ? "" : arena_print(arena, "collectives %.4g", sound->collectives);
    if (!*messages && !*collectives)
        return NULL;
    return arena_print(arena, "links: %s%s%s times what they take alone; `stagesim platform fit` settles networks",
                       messages, *messages && *collectives ? ", " : "", collectives);
}

int explain_calibrate(const struct options *options, const struct explanation *e, const struct sound_step *sound)
{
    const char *measured = arena_print(e->arena, "%.9gs", sound->computing);
    const char *scenario = options->files[0];
    struct calibration_request request = {.scenarios = &scenario,
                                          .scenario_count = 1,
                                          .measured = &measured,
                                          .measured_count = 1,
                                          .sets = options->sets,
                                          .set_count = options->set_count,
                                          .plugins = options->plugins};
    struct calibration calibration;
    char text[READABLE_MAX], more[READABLE_MAX];
    int code = calibrate(&request, e->arena, &calibration);
    if (code != EXIT_DONE)
        return code;
    bool gaps = calibration_add_step(&calibration, sound->gaps);
    calibration.remark = links_text(sound, e->arena);
    code = calibration_write_profile(&calibration, "explain", options->calibrate, e->arena);
    if (code == EXIT_DONE && !options->quiet)
        diag_print(stderr, "%s: calibrated with operators of %s a step%s%s%s%s\n", options->calibrate,
                   readable_seconds(text, sound->computing), gaps ? " and gaps of " : "",
                   gaps ? readable_seconds(more, sound->gaps) : "", calibration.remark ? "; " : "",
                   calibration.remark ? calibration.remark : "");
    return code;
}
