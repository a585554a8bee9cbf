/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/choice_run.h"

#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/guard.h"
#include "base/process/interruption.h"
#include "studies/choice.h"
#include "studies/simulation.h"

#include <stdlib.h>

/* Beside the platform. */
static int rank(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    struct choice_ranking *ranking = array_zeroed(1, sizeof *ranking);
    (void)diag; /* what cannot be run is no candidate */
    choice_rank(user, platform, ranking);
    bool written = fwrite(ranking, sizeof *ranking, 1, results) == 1;
    free(ranking);
    return written ? EXIT_DONE : EXIT_FAILED;
}

/* Simulates a candidate; false where that fails. */
static bool time_it(const struct scenario *scenario, struct choice_figures *figures)
{
    struct simulation_request request = {.scenario = scenario, .quiet = true, .mistakes = tmpfile()};
    struct simulation_result result;
    if (!request.mistakes)
        return false;
    bool done = simulate(&request, &result) == EXIT_DONE;
    if (done) {
        const struct comparison_row *row = &result.rows[result.row_count - 1];
        figures->iteration = row->iteration;
        gantt_destroy(result.gantt);
        free(result.parts);
    }
    fclose(request.mistakes);
    return done;
}

static struct scenario *confirm(const struct scenario *scenario, const struct choice_ranking *ranking,
                                struct arena *arena)
{
    uint32_t count = 0;
    struct choice_candidate *list = choice_list(scenario, arena, &count);
    struct scenario *best = NULL;
    struct choice_figures least = {.number = 0};
    struct diag silent = {0};
    for (uint32_t i = 0; i < ranking->count && !interruption_noted(); i++) {
        struct choice_figures figures = ranking->figures[i];
        if (best && !choice_is_better(&figures, &least))
            break; /* contention makes nothing faster */
        struct scenario *chosen = choice_load(scenario, &list[figures.number], arena, &silent);
        guard_doing("choosing a schedule for %s: %u of at most %u simulated", scenario->name, i, ranking->count);
        if (!chosen || (scenario->engine != ENGINE_ANALYTIC && !time_it(chosen, &figures)))
            continue;
        if (!best || choice_is_better(&figures, &least)) {
            best = chosen;
            least = figures;
        }
    }
    return best;
}

struct scenario *choice_make(struct scenario *scenario, struct arena *arena, int *code)
{
    FILE *results = NULL;
    *code = EXIT_DONE;
    if (!choice_is_open(scenario))
        return scenario;
    struct choice_ranking *ranking = arena_alloc(arena, sizeof *ranking);
    *code = simulation_visit(&(struct simulation_visit){scenario, rank, scenario}, &results);
    bool read = *code == EXIT_DONE && results && fread(ranking, sizeof *ranking, 1, results) == 1;
    if (results)
        fclose(results);
    if (*code != EXIT_DONE)
        return NULL;
    struct scenario *chosen = read ? confirm(scenario, ranking, arena) : NULL;
    return chosen ? chosen : scenario;
}
