/* SPDX-License-Identifier: Apache-2.0 */
/* From an explained trace to a profile of one's own: what a sound run of the job would take is what the scenario is
 * calibrated with. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/paths.h"
#include "base/table.h"
#include "commands/calibrated/calibrated_profile.h"
#include "commands/explain/explain_parts.h"
#include "commands/explain/explain_run.h"
#include "studies/calibrate/calibrate.h"

#include <math.h>

/* How the transfers did. NULL: nothing is known of them. */
static const char *links_text(const struct sound_step *sound, struct arena *arena)
{
    const char *messages = isnan(sound->messages) ? "" : arena_print(arena, "messages %.4g", sound->messages);
    const char *collectives =
        isnan(sound->collectives) ? "" : arena_print(arena, "collectives %.4g", sound->collectives);
    if (!*messages && !*collectives)
        return NULL;
    return arena_print(arena, "links: %s%s%s times what they take alone", messages,
                       *messages && *collectives ? ", " : "", collectives);
}

/* A difference of a latency that is none. */
static const double nothing = 1e-3;

static bool tells_latency(const struct link_level *level)
{
    return level->latency_count && fabs(level->latency - 1) > nothing;
}

/* The share of the rate with where it lies, and the factor on the latency, of a kind of links. */
static void add_level(struct calibration *calibration, const struct link_level *level, bool unseen, struct arena *arena)
{
    const char *others = unseen ? "; transfers of ranks that are missing may have been in the way" : "";
    const char *sure = isnan(level->low) ? "too few to say how sure it is"
                                         : arena_print(arena, "%.4g to %.4g in 8 of 10 cases",
                                                       level->low * level->before, level->high * level->before);
    if (level->rate_count)
        calibration->links[calibration->link_count++] =
            arena_print(arena, "%s=%.6g  # of the platform's rate, fitted to %zu transfer%s; %s%s%s", level->kind,
                        level->rate * level->before, level->rate_count, readable_plural(level->rate_count), sure,
                        level->at_limit ? "; at its limit" : "", others);
    if (tells_latency(level))
        calibration->links[calibration->link_count++] = arena_print(
            arena, "%s.latency=%.6g  # of the platform's latency, fitted to %zu transfer%s", level->kind,
            level->latency * level->latency_before, level->latency_count, readable_plural(level->latency_count));
}

/* Whether the fit has the same figure of the same kind, on top of that change. */
static bool is_fitted(const struct link_fit *fit, const struct what_if *change)
{
    for (size_t i = 0; i < fit->count; i++)
        if (!strcmp(fit->levels[i].kind, change->target))
            return change->figure == WHAT_IF_LATENCY ? tells_latency(&fit->levels[i]) : fit->levels[i].rate_count;
    return false;
}

/* Those of the profile that the scenario starts from count as well: changes of one link multiply. False where the
 * scenario itself has some, before which a profile's do not count. */
static bool add_links(struct calibration *calibration, const struct scenario *scenario, const struct link_fit *fit,
                      struct arena *arena)
{
    static const char key[] = "communication.links";
    size_t most = scenario->link_count + 2 * fit->count;
    if (scenario->link_count && scenario_is_own(scenario, key))
        return false;
    calibration->links = arena_array(arena, most + 1, sizeof *calibration->links);
    for (size_t i = 0; i < scenario->link_count && fit->count; i++)
        if (!is_fitted(fit, &scenario->links[i]))
            calibration->links[calibration->link_count++] = scenario->links[i].text;
    for (size_t i = 0; i < fit->count; i++)
        add_level(calibration, &fit->levels[i], fit->unseen, arena);
    return true;
}

/* Whether links reach something else than the scenario says. */
static bool links_differ(const struct link_fit *fit)
{
    static const double near = 0.01;
    for (size_t i = 0; i < fit->count; i++)
        if ((fit->levels[i].rate_count && fabs(fit->levels[i].rate - 1) > near) ||
            (fit->levels[i].latency_count && fabs(fit->levels[i].latency - 1) > near))
            return true;
    return false;
}

/* "; links: nic 0.8, nvlink 0.93". */
static const char *levels_text(const struct link_fit *fit, struct arena *arena)
{
    const char *text = "";
    for (size_t i = 0; i < fit->count; i++)
        if (fit->levels[i].rate_count)
            text = arena_print(arena, "%s%s %s at %.4g", text, *text ? "," : "; links:", fit->levels[i].kind,
                               fit->levels[i].rate * fit->levels[i].before);
    return text;
}

/* The step as the first of the runs that a calibration asks for: with the host's gaps, for other runs have them, too.
 * What tables say of links counts before what the trace says. */
static int calibrate_run(const struct explanation *e, const struct sound_step *sound)
{
    const struct explain_run *run = e->run;
    struct calibration_request request = *run->beside;
    const char **measured = arena_array(e->arena, request.measured_count + 1, sizeof *measured);
    measured[0] = arena_print(e->arena, "%.9gs", sound->computing + sound->gaps);
    for (size_t i = 0; i < request.measured_count; i++)
        measured[i + 1] = request.measured[i];
    request.scenarios = &run->scenario;
    request.scenario_count = 1;
    request.measured = measured;
    request.measured_count++;
    int code = calibrate(&request, e->arena, run->calibration);
    if (code != EXIT_DONE)
        return code;
    if (run->calibration->count > 1 && !run->calibration->table_count && links_differ(&sound->links)) {
        diag_print(
            stderr,
            "%s: error: links of this trace reach other rates than the scenario's, with which the runs beside it "
            "were timed%s; expected a profile of the trace alone (explain --calibrate), and that as framework of "
            "the scenario of the runs\n",
            e->files[0], levels_text(&sound->links, e->arena));
        return EXIT_BAD_INPUT;
    }
    run->calibration->rows[0].source = path_name(e->files[0], "", e->arena);
    run->calibration->remark = links_text(sound, e->arena);
    if (!run->calibration->table_count)
        add_links(run->calibration, e->scenario, &sound->links, e->arena);
    return EXIT_DONE;
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
    if (e->run)
        return calibrate_run(e, sound);
    char text[READABLE_MAX], more[READABLE_MAX];
    int code = calibrate(&request, e->arena, &calibration);
    if (code != EXIT_DONE)
        return code;
    bool gaps = calibration_add_step(&calibration, sound->gaps);
    calibration.remark = links_text(sound, e->arena);
    bool links = add_links(&calibration, e->scenario, &sound->links, e->arena);
    code = calibration_write_profile(&calibration, "explain", options->calibrate, e->arena);
    calibration_finish(&calibration);
    if (code == EXIT_DONE && !options->quiet)
        diag_print(stderr, "%s: calibrated with operators of %s a step%s%s%s\n", options->calibrate,
                   readable_seconds(text, sound->computing), gaps ? " and gaps of " : "",
                   gaps ? readable_seconds(more, sound->gaps) : "",
                   links ? levels_text(&sound->links, e->arena) : "; links stay what the scenario says they reach");
    return code;
}
