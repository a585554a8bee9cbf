/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of candidates add up, whether they are counted by mesh or one by one; what is left of a search is worked out
 * from known costs, of one step and of the whole; bounds say how many of those that wait will be timed. The scenario is
 * given by name. */
#include "studies/search/estimate.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>

static int failures;

static void expect(bool holds, const char *what, double got, double expected)
{
    if (holds)
        return;
    failures++;
    printf("%s: %.9g, expected %.9g\n", what, got, expected);
}

static void near(const char *what, double got, double expected)
{
    expect(fabs(got - expected) <= 1e-6 * fabs(expected), what, got, expected);
}

static void classes(const char *file)
{
    static const char *const settings[] = {"search.schedules=all", "search.tensor=[1,2,8]", "search.context=[1,2]",
                                           ("model={layers: 36, hidden: 4096, heads: 32, sequence: 2048, "
                                            "vocabulary: 51200}")};
    struct arena *arena = arena_create();
    struct scenario_set sets[4];
    for (int i = 0; i < 4; i++)
        sets[i] = (struct scenario_set){.text = settings[i]};
    struct diag diag = {.out = stderr};
    struct scenario_request request = {file, sets, 4, NULL, NULL};
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    struct search_space space;
    uint64_t counted[SEARCH_CLASSES], seen[SEARCH_CLASSES] = {0};
    if (!scenario || !search_space_create(&space, scenario, 16, arena, &diag)) {
        failures++;
        return;
    }
    search_space_classes(&space, scenario, counted);
    for (uint64_t i = 0; i < space.count; i++)
        seen[search_space_class(&space, scenario, i)]++;
    for (int i = 0; i < SEARCH_CLASSES; i++)
        expect(counted[i] == seen[i], "candidates of a class", (double)counted[i], (double)seen[i]);
    /* gpt-7.5b has 64 samples: 1 micro-batch of 8 on 8 replicas up to 16 stages x 64 */
    expect(seen[0] > 0 && seen[10] > 0 && seen[11] == 0, "the classes that there are", (double)seen[11], 0);
    expect(search_likely_cost(&space, scenario) > 1e-4 * (double)space.count, "likely cost", 0, 1);
    search_space_finish(&space);
    arena_destroy(arena);
}

/* 100 candidates of class 2 and 10 of class 5; none of class 6 is known yet. */
static void left(void)
{
    static struct search_spent spent;
    struct search_estimate estimate = {.total = {[2] = 100, [5] = 10}};
    expect(search_estimate_left(&estimate, &spent, 2, 0) < 0, "nothing is known", 0, -1);
    for (int i = 0; i < 40; i++)
        search_spent_add(&spent, 2, 0.1);
    for (int i = 0; i < 4; i++)
        search_spent_add(&spent, 5, 3);
    near("60 at 0.1 s and 6 at 3 s in 2 processes", search_estimate_left(&estimate, &spent, 2, 1.1), (6 + 18) / 2.0);
    estimate.total[6] = 5;
    near("and 5 at a tenth more than 3 s", search_estimate_left(&estimate, &spent, 2, 1.2), (6 + 18 + 16.5) / 2.0);
    estimate.total[6] = 0;
    for (int second = 0; second < 12; second++) { /* from now on a candidate of class 2 takes 1 s */
        search_spent_add(&spent, 2, 1);
        search_estimate_left(&estimate, &spent, 1, 3 + second);
    }
    near("48 at 1 s, as of late, and 6 at 3 s", search_estimate_left(&estimate, &spent, 1, 15.5), 48 + 18);
}

/* Looks take 0.1 s in class 1. Before anything is timed, timings take 7 times as much; then what they took. */
static void whole(void)
{
    static struct search_spent spent[2];
    struct search_forecast forecast = {.looks.total = {[1] = 100}, .timings.total = {[1] = 10}, .exposed = 4};
    struct search_rest rest = search_forecast_rest(&forecast, spent, 2, 0);
    expect(rest.seconds < 0, "nothing is known of the whole", rest.seconds, -1);
    for (int i = 0; i < 20; i++)
        search_spent_add(&spent[0], 1, 0.1);
    rest = search_forecast_rest(&forecast, spent, 2, 1);
    near("80 looks and 10 timings in 2 processes", rest.seconds, (8 + 7) / 2.0);
    expect(rest.least, "at least, before anything is timed", rest.least, true);
    for (int i = 0; i < 80; i++)
        search_spent_add(&spent[0], 1, 0.1);
    search_spent_add(&spent[1], 1, 3);
    rest = search_forecast_rest(&forecast, spent, 2, 2);
    near("9 timings in 2 processes, then 4 as long in one", rest.seconds, 9 * 3 / 2.0 + 4 * 3);
    expect(!rest.least, "all is known", rest.least, false);
    forecast.simulated = 3;
    rest = search_forecast_rest(&forecast, spent, 2, 3);
    expect(rest.least, "at least, as long as nothing was simulated", rest.least, true);
}

/* Of 40 candidates of class 0 that wait, 10 of which take 1 s, by their bounds, and the others more than what is as
 * large. */
static void waiting(const char *file)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[] = {
        {.text = "model={layers: 36, hidden: 4096, heads: 32, sequence: 2048, vocabulary: 51200}"}};
    struct diag diag = {.out = stderr};
    struct scenario_request request = {file, sets, 1, NULL, NULL};
    struct scenario *scenario = scenario_load(&request, arena, &diag);
    struct search_space space;
    static struct search_bounds bounds = {.kept = 10};
    static struct search_spent timings;
    struct search_forecast forecast = {0};
    static struct search_result results[40];
    if (!scenario || !search_space_create(&space, scenario, 16, arena, &diag)) {
        failures++;
        return;
    }
    struct search_table table = {.count = space.count < 40 ? space.count : 40, .results = results};
    for (uint64_t i = 0; i < table.count; i++)
        results[i] =
            (struct search_result){.status = SEARCH_WAITS, .work = i % 4 ? 1.5 : 1 + 1e-4 * (double)i, .peak_bytes = 1};
    struct search_waiting asked = {&table, &space, scenario, &bounds, 10, false, 1};
    search_forecast_timings(&forecast, &timings, &asked);
    uint64_t expected = 0;
    for (int i = 0; i < SEARCH_CLASSES; i++)
        expected += forecast.timings.total[i];
    expect(table.count == 40 && expected == 10, "those that bounds will not discard", (double)expected, 10);
    asked.exhaustive = true;
    asked.looked = 0.5;
    search_forecast_timings(&forecast, &timings, &asked);
    for (int i = 0; i < SEARCH_CLASSES; i++)
        expected += forecast.timings.total[i];
    expect(expected == 10 + 80, "all, and as many that were not looked at", (double)expected, 90);
    search_space_finish(&space);
    arena_destroy(arena);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    classes(arguments[1]);
    left();
    whole();
    waiting(arguments[1]);
    return failures > 0;
}
