/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/search/search_view.h"

#include "analysis/band/band.h"
#include "base/arena.h"
#include "base/table.h"
#include "studies/describe.h"
#include "studies/search/training.h"

#include <math.h>
#include <string.h>

const struct search_result *search_result_at(const struct search *search, uint64_t rank)
{
    return &search->table.results[search->ranked[rank]];
}

const struct search_result *search_best(const struct search *search, uint32_t number)
{
    return search_result_at(search, search->best[number]);
}

bool search_repeats(const struct search *search, uint64_t rank)
{
    const struct search_result *result = search_result_at(search, rank),
                               *before = rank ? search_result_at(search, rank - 1) : NULL;
    return before && before->iteration == result->iteration && before->peak_bytes == result->peak_bytes &&
           search_value(search, before, false) == search_value(search, result, false);
}

bool search_counts_energy(const struct search *search)
{
    return search->objective == OBJECTIVE_ENERGY || search->objective == OBJECTIVE_ENERGY_DELAY;
}

const char *search_quantile_name(const struct search *search)
{
    return search_step_share(search->scenario) > 0 ? search_objective_names[search->objective] : NULL;
}

double search_step_shown(const struct search_result *result)
{
    return result->verified.iteration > 0 ? result->verified.step : result->step;
}

const struct search_training *search_training_shown(const struct search_result *result)
{
    return result->verified.iteration > 0 ? &result->verified.training : &result->training;
}

const char *search_first_words(const struct search *search)
{
    static const char *const words[SEARCH_OBJECTIVES] = {[OBJECTIVE_TIME] = "The fastest",
                                                         [OBJECTIVE_ENERGY] = "The one with least energy",
                                                         [OBJECTIVE_ENERGY_DELAY] =
                                                             "The one with least energy times time",
                                                         [OBJECTIVE_P50] = "The one with the shortest median step",
                                                         [OBJECTIVE_P95] = "The one with the shortest p95 of steps",
                                                         [OBJECTIVE_P99] = "The one with the shortest p99 of steps",
                                                         [OBJECTIVE_DAYS] = "The soonest done",
                                                         [OBJECTIVE_PRICE] = "The cheapest to train",
                                                         [OBJECTIVE_GOODPUT] = "The one with most goodput"};
    return words[search->objective];
}

double search_time(const struct search_result *result)
{
    return result->verified.iteration > 0 ? result->verified.iteration : result->iteration;
}

double search_bubble(const struct search_result *result)
{
    return result->verified.iteration > 0 ? result->verified.bubble : result->bubble;
}

double search_at_time(const struct search_result *result, double figure)
{
    return search_time(result) > 0 ? figure * result->iteration / search_time(result) : figure;
}

const char *search_dimension_name(enum search_dimension dimension)
{
    return dimension == DIMENSION_schedules ? "schedule" : search_dimensions[dimension].key;
}

bool search_dimension_is_number(const struct search *search, enum search_dimension dimension)
{
    return !scenario_dimension_words(search->scenario, dimension) && dimension != DIMENSION_schedules;
}

bool search_is_exposed_known(const struct search *search, uint32_t number)
{
    return search->exposed && !isnan(search->exposed[number]);
}

uint64_t search_passed(const struct search *search)
{
    return search->passed[SEARCH_BY_WORK] + search->passed[SEARCH_BY_ORDER];
}

struct memory_outlook search_outlook(const struct search *search, const struct search_result *result)
{
    double reserve = search->scenario->reserve;
    return memory_band_outlook(&search->memory_band, result->peak_bytes, result->capacity_bytes / (1 - reserve),
                               reserve);
}

/* What one of the best has other than the first. */
static enum band_change change_of(const struct search *search, uint32_t number)
{
    struct arena *arena = arena_create();
    const char *one[DIMENSIONS], *other[DIMENSIONS];
    bool schedule = false, layout = false;
    search_space_values(&search->space, search->ranked[search->best[0]], one, arena);
    search_space_values(&search->space, search->ranked[search->best[number]], other, arena);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++) {
        bool differs = search->space.shown[i] && strcmp(one[i] ? one[i] : "", other[i] ? other[i] : "") != 0;
        schedule |= differs && i == DIMENSION_schedules;
        layout |= differs && i != DIMENSION_schedules;
    }
    arena_destroy(arena);
    return schedule && layout ? BAND_OTHER : schedule ? BAND_SCHEDULE : layout ? BAND_LAYOUT : BAND_OTHER;
}

/* How sure the order of the best is, from published pairs. */
static void put_agreement(FILE *out, const struct search *search, double more)
{
    uint32_t alike = 0;
    double first = search_time(search_best(search, 0));
    if (search->objective != OBJECTIVE_TIME || !scenario_has_band(search->scenario) || more < BAND_LEAST_APART)
        return;
    fputs("; ", out);
    band_say_agreement(out, 1 + more, change_of(search, 1));
    for (uint32_t i = 1; i < search->best_count; i++)
        alike += !band_agree(fmax(search_time(search_best(search, i)) / first, 1), change_of(search, i)).sure;
    if (alike)
        fprintf(out, ", and %u of the %u best cannot be told from the first", alike, search->best_count);
}

void search_verdict(FILE *out, const struct search *search)
{
    const struct search_result *first = search_best(search, 0), *second = search_best(search, 1);
    struct arena *arena = arena_create();
    const char *one[DIMENSIONS], *other[DIMENSIONS], *separator = "";
    char left[READABLE_MAX], right[READABLE_MAX];
    search_space_values(&search->space, search->ranked[search->best[0]], one, arena);
    search_space_values(&search->space, search->ranked[search->best[1]], other, arena);
    static const char *const better[SEARCH_OBJECTIVES] = {[OBJECTIVE_TIME] = "faster than the second",
                                                          [OBJECTIVE_ENERGY] = "better than the second in energy",
                                                          [OBJECTIVE_ENERGY_DELAY] =
                                                              "better than the second in energy times time",
                                                          [OBJECTIVE_P50] = "faster than the second in p50",
                                                          [OBJECTIVE_P95] = "faster than the second in p95",
                                                          [OBJECTIVE_P99] = "faster than the second in p99",
                                                          [OBJECTIVE_DAYS] = "sooner done than the second",
                                                          [OBJECTIVE_PRICE] = "cheaper than the second",
                                                          [OBJECTIVE_GOODPUT] = "better than the second in goodput"};
    static const char *const same[SEARCH_OBJECTIVES] = {[OBJECTIVE_TIME] = "as fast as the second",
                                                        [OBJECTIVE_ENERGY] = "as good as the second in energy",
                                                        [OBJECTIVE_ENERGY_DELAY] =
                                                            "as good as the second in energy times time",
                                                        [OBJECTIVE_P50] = "as fast as the second in p50",
                                                        [OBJECTIVE_P95] = "as fast as the second in p95",
                                                        [OBJECTIVE_P99] = "as fast as the second in p99",
                                                        [OBJECTIVE_DAYS] = "done as soon as the second",
                                                        [OBJECTIVE_PRICE] = "as cheap as the second",
                                                        [OBJECTIVE_GOODPUT] = "as good as the second in goodput"};
    double more = search_value(search, second, true) / search_value(search, first, true) - 1;
    if (more < BAND_LEAST_APART)
        fprintf(out, "%s: ", same[search->objective]);
    else
        fprintf(out, "%.2g %% %s: ", 100 * more, better[search->objective]);
    for (enum search_dimension i = 0; i < DIMENSIONS; i++)
        if (search->space.shown[i] && strcmp(one[i] ? one[i] : "", other[i] ? other[i] : "") != 0) {
            fprintf(out, "%s%s %s for %s", separator, search_dimension_name(i), one[i] ? one[i] : "none",
                    other[i] ? other[i] : "none");
            separator = ", ";
        }
    fprintf(out, "; bubble %s for %s", readable_percent(left, search_bubble(first)),
            readable_percent(right, search_bubble(second)));
    if (search_is_exposed_known(search, 0) && search_is_exposed_known(search, 1))
        fprintf(out, ", exposed communication %s for %s", readable_percent(left, search->exposed[0]),
                readable_percent(right, search->exposed[1]));
    fprintf(out, ", memory %s for %s", readable_binary_bytes(left, first->peak_bytes),
            readable_binary_bytes(right, second->peak_bytes));
    put_agreement(out, search, more);
    arena_destroy(arena);
}

const char *search_schedule_name(const struct search *search, uint64_t at, struct arena *arena)
{
    const char *values[DIMENSIONS];
    search_space_values(&search->space, search->ranked[at], values, arena);
    return values[DIMENSION_schedules];
}

const char *search_asynchronous(const struct search *search, uint32_t top)
{
    struct arena *arena = arena_create();
    const char *found = NULL;
    for (uint32_t number = 0; number < top && number < search->best_count && !found; number++) {
        const char *name = search_schedule_name(search, search->best[number], arena);
        const struct schedule *schedule = name ? schedule_find(name) : NULL;
        found = schedule && schedule->asynchronous ? schedule->name : NULL;
    }
    arena_destroy(arena);
    return found;
}

const char *search_layout_name(const struct search *search, uint64_t at, struct arena *arena)
{
    return search_space_name(&search->space, search->ranked[at], arena);
}
