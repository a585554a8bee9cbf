/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/search/nearest.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/process/interruption.h"
#include "base/words/shell_word.h"
#include "studies/search/search.h"
#include "studies/simulation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What is looked at is worth so many slots, each a stage with a micro-batch: some seconds of a processor at the most. A
 * candidate itself is worth EACH; of its slots one in SHARED, for most have a plan that others have as well; those of
 * larger classes are refused before anything is built. */
enum { SLOTS_MAX = 12000000, EACH = 2000, SHARED = 16, CLASS_REFUSED = 22, JOBS_MAX = 16 };

static bool is_asked(const struct scenario *scenario, bool quiet)
{
#ifdef __EMSCRIPTEN__ /* a search is several processes */
    return false;
#endif
    return scenario->nearest == NEAREST_ON || (scenario->nearest == NEAREST_AUTO && scenario->report && !quiet);
}

static bool is_a_layout(const struct scenario *scenario)
{
    const char *workload = scenario->workload ? scenario->workload->name : "";
    return !scenario->kind && !scenario->schedule_file && !scenario->plugin && scenario->mesh.ranks > 1 &&
           (!strcmp(workload, "transformer") || !strcmp(workload, "layers"));
}

/* The job as it is, on the analytic engine; 0: not known. */
static double own_iteration(const struct scenario *scenario, struct arena *arena)
{
    struct scenario_set set = {NULL, "engine=analytic"};
    struct scenario_request changed = scenario_request_with(&scenario->request, &set, 1, arena);
    FILE *mistakes = tmpfile();
    struct diag silent = {0};
    changed.study = true;
    struct simulation_request request = {
        .scenario = scenario_load(&changed, arena, &silent), .quiet = true, .mistakes = mistakes};
    struct simulation_result result = {0};
    bool done = mistakes && request.scenario && simulate(&request, &result) == EXIT_DONE;
    double iteration = done ? result.rows[0].iteration : 0;
    gantt_destroy(result.gantt);
    if (mistakes)
        fclose(mistakes);
    return iteration;
}

static bool is_prime(uint64_t number)
{
    for (uint64_t i = 2; i * i <= number; i++)
        if (number % i == 0)
            return false;
    return number > 1;
}

/* Of how many candidates one is looked at. A prime number: so the chosen ones have all values of all dimensions. */
static uint32_t choose_step(const struct search *search)
{
    enum { LEAST_PRIME = 5 };
    uint64_t counts[SEARCH_CLASSES], step;
    double slots = 0;
    search_space_classes(&search->space, search->scenario, counts);
    for (int i = 0; i < SEARCH_CLASSES; i++)
        slots += (double)counts[i] * (EACH + (i < CLASS_REFUSED ? ldexp(1, i) / SHARED : 0));
    if (slots <= SLOTS_MAX)
        return 1;
    step = (uint64_t)ceil(slots / SLOTS_MAX);
    for (step = step > LEAST_PRIME ? step : LEAST_PRIME; !is_prime(step);)
        step++;
    return step < UINT32_MAX ? (uint32_t)step : UINT32_MAX;
}

/* An axis of one rank, which the job has as well. */
static bool says_nothing(const struct scenario *scenario, const char *set, struct arena *arena)
{
    static const char section[] = "parallel.";
    const char *axis = set + strlen(section), *equals = strchr(set, '=');
    return !strncmp(set, section, strlen(section)) && equals && !strcmp(equals, "=1") &&
           mesh_size(&scenario->mesh, arena_copy_part(arena, axis, (size_t)(equals - axis))) <= 1;
}

/* `stagesim run FILE --set ...`. */
static const char *command_of(const struct search *search, const struct scenario *scenario, uint64_t index,
                              struct arena *arena)
{
    struct scenario_set sets[SEARCH_SETS_MAX];
    size_t count = search_space_sets(&search->space, search->scenario, index, sets, arena);
    const char *text = arena_print(arena, "stagesim run %s", shell_word(scenario->file, arena));
    for (size_t i = 0; i < scenario->request.set_count; i++)
        if (strncmp(scenario->request.sets[i].text, "output.", 7) != 0 &&
            strncmp(scenario->request.sets[i].text, "search", 6) != 0)
            text = arena_print(arena, "%s --set %s", text, shell_word(scenario->request.sets[i].text, arena));
    for (size_t i = 0; i < count; i++)
        if (!says_nothing(scenario, sets[i].text, arena))
            text = arena_print(arena, "%s --set %s", text, shell_word(sets[i].text, arena));
    return text;
}

static void take_best(const struct search *search, const struct scenario *scenario, struct nearest *nearest,
                      struct arena *arena)
{
    uint64_t index = search->ranked[search->best[0]];
    const char *values[DIMENSIONS];
    search_space_values(&search->space, index, values, arena);
    nearest->layouts = (uint32_t)(search->table.count - search->untried);
    nearest->of = (uint32_t)search->table.count;
    nearest->best = search->table.results[index].iteration;
    nearest->layout = search_space_name(&search->space, index, arena);
    if (values[DIMENSION_schedules])
        nearest->layout = arena_print(arena, "%s, %s", nearest->layout, values[DIMENSION_schedules]);
    nearest->command = command_of(search, scenario, index, arena);
}

static void search_others(const struct scenario *scenario, struct nearest *nearest, struct arena *arena)
{
    struct search search;
    struct fault fault = {""};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const char *gpus = arena_print(arena, "search.gpus=%u", scenario->mesh.ranks);
    struct scenario_set sets[] = {{NULL, gpus}, {NULL, "search.objective=time"}, {NULL, "engine=analytic"}};
    struct scenario_request changed =
        scenario_request_with(&scenario->request, sets, sizeof sets / sizeof *sets, arena);
    struct diag silent = {0};
    changed.schedule = NULL;
    changed.study = true;
    const struct scenario *others = scenario_load(&changed, arena, &silent);
    struct search_request request = {.kept = 1,
                                     .jobs = processors < 1          ? 1
                                             : processors > JOBS_MAX ? JOBS_MAX
                                                                     : (unsigned)processors,
                                     .fastest = true,
                                     .one_of_many = true,
                                     .silent = true,
                                     .quiet = true,
                                     .shard = 1,
                                     .shards = 1};
    if (!others)
        return;
    bool found = search_create(&search, others, &request, arena) == EXIT_DONE;
    request.shards = found ? choose_step(&search) : 1;
    found = found && search_run(&search, &request) == EXIT_DONE && !search.stopped &&
            search_rank(&search, &request, arena, &fault) && search.best_count;
    if (found)
        take_best(&search, scenario, nearest, arena);
    search_finish(&search);
}

struct nearest nearest_find(const struct scenario *scenario, bool quiet, const struct nearest *like,
                            struct arena *arena)
{
    struct nearest nearest = {0};
    bool awaited = interruption_is_awaited();
    if (!is_asked(scenario, quiet) || !is_a_layout(scenario))
        return nearest;
    if (like)
        nearest = *like;
    nearest.own = own_iteration(scenario, arena);
    if (!(nearest.own > 0))
        nearest.layouts = 0;
    else if (!like)
        search_others(scenario, &nearest, arena);
    if (!awaited) {
        interruption_forget();
        interruption_end();
    }
    return nearest;
}
