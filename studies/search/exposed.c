/* SPDX-License-Identifier: Apache-2.0 */
/* Exposed communication of the best layouts that were not simulated: it takes longer to find than a time, so it is not
 * asked of all. */
#include "base/arena.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "schedules/plan_store.h"
#include "simulator/engines/class_store.h"
#include "studies/evaluate.h"
#include "studies/search/search.h"
#include "studies/simulation.h"

#include <math.h>

/* What the layouts share. */
struct shared_stores {
    struct class_store *classes;
    struct plan_store *plans;
};

struct exposing {
    const struct search *search;
    uint32_t count;
};

/* False after a message: what was timed once can be timed again, but for memory. NAN: nothing takes time. */
static bool exposed_of(const struct search *search, uint64_t index, struct platform *platform,
                       const struct shared_stores *stores, struct diag *diag, double *share)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[SEARCH_SETS_MAX];
    size_t count = search_space_sets(&search->space, search->scenario, index, sets, arena);
    struct evaluation_request request = {search->scenario->request,
                                         sets,
                                         count,
                                         UINT64_MAX,
                                         .communication = true,
                                         .fits = true,
                                         .classes = stores->classes,
                                         .plans = stores->plans};
    struct evaluation evaluation;
    *share = NAN;
    bool timed = evaluate(&request, platform, arena, diag, &evaluation);
    if (timed && evaluation.report->iteration > 0)
        *share = evaluation.report->exposed / evaluation.report->iteration;
    arena_destroy(arena);
    return timed;
}

static int expose_all(void *user, struct platform *platform, FILE *results, struct diag *diag)
{
    const struct exposing *exposing = user;
    const struct search *search = exposing->search;
    struct shared_stores stores = {class_store_create(), plan_store_create()};
    bool exposed = true;
    for (uint32_t i = 0; i < exposing->count && exposed; i++) {
        uint64_t index = search->ranked[search->best[i]];
        double share = search->table.results[index].verified.exposed;
        if (!(search->table.results[index].verified.iteration > 0))
            exposed = exposed_of(search, index, platform, &stores, diag, &share);
        if (exposed)
            fwrite(&share, sizeof share, 1, results);
    }
    class_store_destroy(stores.classes);
    plan_store_destroy(stores.plans);
    return exposed ? EXIT_DONE : EXIT_FAILED;
}

int search_expose(struct search *search, uint32_t count, struct arena *arena)
{
    struct exposing exposing = {search, count < search->best_count ? count : search->best_count};
    struct simulation_visit visit = {search->scenario, expose_all, &exposing};
    search->exposed = arena_array(arena, (size_t)search->best_count + 1, sizeof *search->exposed);
    for (uint32_t i = 0; i < search->best_count; i++)
        search->exposed[i] = NAN;
    if (!exposing.count || interruption_noted())
        return EXIT_DONE;
    FILE *results;
    int code = simulation_visit(&visit, &results);
    for (uint32_t i = 0; results && code == EXIT_DONE && i < exposing.count; i++)
        if (fread(&search->exposed[i], sizeof *search->exposed, 1, results) != 1)
            break;
    if (results)
        fclose(results);
    return interruption_noted() ? EXIT_DONE : code;
}
