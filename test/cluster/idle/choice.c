/* SPDX-License-Identifier: Apache-2.0 */
/* The exact choice against all there are, and the others against it. */
#include "cluster/idle/choice.h"

#include "base/arena.h"
#include "test/support/random_job.h"

#include <criterion/criterion.h>

enum { JOBS_MOST = 4, SIZE_MOST = 5 };

struct small {
    struct choice_job jobs[JOBS_MOST];
    double objective[JOBS_MOST][SIZE_MOST + 1];
    struct choice choice;
    uint32_t sizes[JOBS_MOST];
};

/* Curves that need not rise, bounds, present sizes, and costs. */
static void draw(struct small *small, struct random *random)
{
    small->choice = (struct choice){.jobs = small->jobs,
                                    .count = random_between(random, 1, JOBS_MOST),
                                    .nodes = random_below(random, 13),
                                    .forward = random_between(random, 1, 40),
                                    .grow_new = random_chance(random, 0.3),
                                    .sizes = small->sizes};
    uint32_t left = small->choice.nodes;
    for (size_t i = 0; i < small->choice.count; i++) {
        uint32_t least = random_between(random, 1, 3), most = random_between(random, least, SIZE_MOST);
        uint32_t now = random_below(random, (left < most ? left : most) + 1);
        for (uint32_t size = 0; size <= most; size++)
            small->objective[i][size] = size < least ? 0 : random_unit(random) * 10;
        small->jobs[i] = (struct choice_job){small->objective[i],     least, most, now, random_below(random, 20),
                                             random_below(random, 20)};
        left -= now;
    }
}

static double worth(const struct choice *choice, const uint32_t *sizes)
{
    double sum = 0;
    for (size_t i = 0; i < choice->count; i++)
        sum += choice_value(choice, &choice->jobs[i], sizes[i]);
    return sum;
}

static bool allowed(const struct choice *choice, const uint32_t *sizes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < choice->count; i++) {
        if (sizes[i] > choice->jobs[i].most || (sizes[i] && sizes[i] < choice->jobs[i].least))
            return false;
        sum += sizes[i];
    }
    return sum <= choice->nodes;
}

/* Of every combination of sizes. */
static double best_of_all(const struct choice *choice)
{
    double best = -1e300;
    uint32_t sizes[JOBS_MOST] = {0};
    for (uint32_t code = 0; code < 6 * 6 * 6 * 6; code++) {
        uint32_t rest = code;
        for (size_t i = 0; i < JOBS_MOST; i++, rest /= 6)
            sizes[i] = rest % 6;
        if (allowed(choice, sizes) && worth(choice, sizes) > best)
            best = worth(choice, sizes);
    }
    return best;
}

Test(choice, optimal_is_the_best_of_all)
{
    struct random random = {7};
    unsigned beaten[3] = {0};
    for (int i = 0; i < 3000; i++) {
        struct arena *arena = arena_create();
        struct small small;
        draw(&small, &random);
        double best = best_of_all(&small.choice);
        for (size_t k = 0; chooser_table[k]; k++) {
            chooser_table[k]->choose(&small.choice, arena);
            cr_assert(allowed(&small.choice, small.sizes), "%s, case %d", chooser_table[k]->name, i);
            double reached = worth(&small.choice, small.sizes);
            if (k == 0)
                cr_assert_float_eq(reached, best, 1e-9, "case %d: %.12g, best %.12g", i, reached, best);
            else
                beaten[k - 1] += reached < best - 1e-9;
            cr_assert_leq(reached, best + 1e-9);
        }
        arena_destroy(arena);
    }
    for (size_t k = 0; k < 3; k++)
        cr_assert(beaten[k] > 0, "%s is never beaten", chooser_table[k + 1]->name);
}

/* Two jobs from nothing on four nodes. The first one's first node is worth 6, all four 20; the second one's two are
 * worth 13. Greedy takes what gains most for each node, 13 / 2, and is left with 13 + 6 = 19 and a spare node. */
Test(choice, greedy_is_not_exact)
{
    static const double steep[] = {0, 6, 6, 6, 20}, short_one[] = {0, 0, 13};
    const struct choice_job jobs[] = {{steep, 1, 4, 0, 5, 5}, {short_one, 2, 2, 0, 5, 5}};
    uint32_t sizes[2];
    struct choice choice = {jobs, 2, 4, 1, false, sizes};
    struct arena *arena = arena_create();
    chooser_greedy.choose(&choice, arena);
    cr_assert_float_eq(worth(&choice, sizes), 19, 1e-12);
    chooser_optimal.choose(&choice, arena);
    cr_assert(sizes[0] == 4 && sizes[1] == 0);
    cr_assert_float_eq(worth(&choice, sizes), 20, 1e-12);
    arena_destroy(arena);
}

/* Seven nodes, three jobs of at most four. */
Test(choice, simple_ones)
{
    static const double line[] = {0, 1, 2, 3, 4};
    const struct choice_job jobs[] = {{line, 1, 4, 0, 0, 0}, {line, 1, 4, 0, 0, 0}, {line, 3, 4, 0, 0, 0}};
    uint32_t sizes[3];
    struct choice choice = {jobs, 3, 7, 1, false, sizes};
    struct arena *arena = arena_create();
    chooser_first.choose(&choice, arena);
    cr_assert(sizes[0] == 4 && sizes[1] == 3 && sizes[2] == 0);
    chooser_equal.choose(&choice, arena); /* 2, 2 and too few; the other 3 go to the first ones */
    cr_assert(sizes[0] == 4 && sizes[1] == 3 && sizes[2] == 0);
    choice.nodes = 9;
    chooser_equal.choose(&choice, arena);
    cr_assert(sizes[0] == 3 && sizes[1] == 3 && sizes[2] == 3);
    arena_destroy(arena);
}

/* A choice that is worth the same as another one takes fewer nodes; growing must pay within the time that it lasts. */
Test(choice, forward_time)
{
    static const double flat[] = {0, 10, 10}, rising[] = {0, 10, 18};
    uint32_t size;
    struct choice_job job = {flat, 1, 2, 1, 2, 1};
    struct choice choice = {&job, 1, 2, 30, false, &size};
    struct arena *arena = arena_create();
    chooser_optimal.choose(&choice, arena);
    cr_assert_eq(size, 1);
    job.objective = rising; /* two nodes add 8 a second and cost 2 * 10: worth it from 2.5 s on */
    for (int late = 0; late < 2; late++) {
        choice.forward = late ? 2.6 : 2.4;
        chooser_optimal.choose(&choice, arena);
        cr_assert_eq(size, late ? 2 : 1);
    }
    choice.grow_new = true; /* 2 * 18: from 4.5 s on */
    for (int late = 0; late < 2; late++) {
        choice.forward = late ? 4.6 : 4.4;
        chooser_optimal.choose(&choice, arena);
        cr_assert_eq(size, late ? 2 : 1);
    }
    arena_destroy(arena);
}
