/* SPDX-License-Identifier: Apache-2.0 */
/* Classes of candidates add up, whether they are counted by mesh or one by one; what is left of a search is worked out
 * from known costs. The scenario is given by name. */
#include "studies/search_estimate.h"

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
    near("and 5 at twice 3 s", search_estimate_left(&estimate, &spent, 2, 1.2), (6 + 18 + 30) / 2.0);
    estimate.total[6] = 0;
    for (int second = 0; second < 12; second++) { /* from now on a candidate of class 2 takes 1 s */
        search_spent_add(&spent, 2, 1);
        search_estimate_left(&estimate, &spent, 1, 3 + second);
    }
    near("48 at 1 s, as of late, and 6 at 3 s", search_estimate_left(&estimate, &spent, 1, 15.5), 48 + 18);
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 2;
    classes(arguments[1]);
    left();
    return failures > 0;
}
