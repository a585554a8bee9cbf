/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a report against the example worked by hand, and against arithmetic on variations of it. */
#include "analysis/figures/critical_path.h"
#include "analysis/figures/frame.h"
#include "test/support/worked_example.h"

#include <criterion/criterion.h>
#include <math.h>

static const double exact = 1e-12;

#define near(actual, expected)                                                                                         \
    cr_assert_float_eq(actual, expected, exact, "%.17g is not %.17g", (double)(actual), (double)(expected))

static double sum_of(const double *causes)
{
    double sum = 0;
    for (int i = 0; i < CAUSES; i++)
        sum += causes[i];
    return sum;
}

Test(report, worked_by_hand)
{
    struct worked_example *example = worked_example_create(1, 0);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->iteration, 9.2);
    near(report->makespan, 9.2);
    near(report->bubble, 1 - 6 / 9.2);
    near(report->causes[CAUSE_FILL], 1.1 / 2 / 9.2);
    near(report->causes[CAUSE_DRAIN], 2.1 / 2 / 9.2);
    near(report->causes[CAUSE_RECEIVE], 3.2 / 2 / 9.2);
    near(report->causes[CAUSE_COLLECTIVE], 0);
    near(report->causes[CAUSE_DEPENDENCY], 0);
    near(sum_of(report->causes), report->bubble);
    near(report->over_ideal, 9.2 / 6 - 1);
    near(report->span_max, 1 - 6 / 9.2);
    near(report->bubble_min, 1 - 6 / 9.2);
    near(report->bubble_max, 1 - 6 / 9.2);
    near(report->exposed, 0.25);
    near(report->overlapped, 0.15);
    near(report->peak_in_flight, 2);
    worked_example_destroy(example);
}

Test(report, workers_of_the_worked_example)
{
    struct worked_example *example = worked_example_create(1, 0);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    cr_assert_eq(report->worker_count, 2);
    const struct worker_report *first = &report->workers[0], *second = &report->workers[1];
    near(first->busy, 6);
    near(second->busy, 6);
    near(first->span, 9.2);
    near(second->span, 6);
    near(first->causes[CAUSE_RECEIVE] * 9.2, 3.2);
    near(first->causes[CAUSE_FILL] + first->causes[CAUSE_DRAIN], 0);
    near(second->causes[CAUSE_FILL] * 9.2, 1.1);
    near(second->causes[CAUSE_DRAIN] * 9.2, 2.1);
    near(second->causes[CAUSE_RECEIVE], 0);
    near(first->peak_in_flight, 2);
    near(second->peak_in_flight, 1);
    near(first->peak_bytes, 121);
    near(second->peak_bytes, 111);
    cr_assert_str_eq(second->host, "gpu-1");
    near(report->capacity_bytes, 120);
    cr_assert_not(report->fits);
    worked_example_destroy(example);
}

Test(report, critical_path_of_the_worked_example)
{
    struct worked_example *example = worked_example_create(1, 0);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->critical_length, 9.2);
    near(report->critical_compute, 9.0);
    near(report->critical_receive, 0.2);
    near(report->critical_collective, 0);
    near(report->critical_delay, 0);
    const struct frame *frame = frame_create(example->timeline, example->arena);
    const struct critical_path *path = critical_path_create(frame, example->arena);
    /* F0, its message, F0 B0 F1 B1 of worker 1, the message, B1 of worker 0 */
    static const struct critical_step expected[] = {{0, 0}, {1, 4}, {1, 0}, {1, 1}, {1, 2}, {1, 3}, {0, 7}, {0, 3}};
    cr_assert_eq(path->step_count, 8);
    for (size_t i = 0; i < 8; i++) {
        cr_assert_eq(path->steps[i].entry, expected[i].entry, "step %zu", i);
        cr_assert_eq(path->steps[i].id, expected[i].id, "step %zu", i);
    }
    worked_example_destroy(example);
}

/* By hand: on the path 0; F1 of worker 0 (ends 2, its message is needed at 4.1, arrives 2.1): 2.0; B0 of worker 0
 * (ends 6.2, B1 starts 7.2): 1.0; messages as what they lead to. */
Test(report, slack_of_the_worked_example)
{
    static const double expected[2][8] = {{0, 2, 1, 0, 0, 2, 1, 0}, {0, 0, 0, 0, 0, 2, 1, 0}};
    struct worked_example *example = worked_example_create(1, 0);
    double **slack = slack_create(frame_create(example->timeline, example->arena));
    cr_assert_not_null(slack);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t id = 0; id < 8; id++)
            near(slack[rank][id], expected[rank][id]);
    slack_destroy(slack);
    worked_example_destroy(example);
}

Test(report, bytes_and_links)
{
    struct worked_example *example = worked_example_create(3, 5e6);
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->sent_bytes, 3 * 4 * 5e6);
    cr_assert_eq(report->link_count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        near(report->links[i].bytes, 1e7);
        near(report->links[i].utilization, 1e7 / (9.2 * 1e9));
        cr_assert_eq(report->links[i].name[5], '0' + (char)i, "equal links come by name");
    }
    near(report->exposed, 0.25);
    worked_example_destroy(example);
}

/* The last replica comes 0.3 s later as a whole: it gives the workers, and the others drain. */
Test(report, the_last_replica_gives_the_workers)
{
    struct worked_example *example = worked_example_create(2, 0);
    for (uint32_t rank = 2; rank < 4; rank++)
        for (uint32_t id = 0; id < 8; id++) {
            struct moment *moment = &example->timeline->moments[rank][id];
            *moment = (struct moment){moment->start + 0.3, moment->data_start + 0.3, moment->end + 0.3};
        }
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    near(report->iteration, 9.5);
    cr_assert_eq(report->workers[0].rank, 2);
    cr_assert_eq(report->workers[1].rank, 3);
    near(report->workers[0].causes[CAUSE_FILL], 0.3 / 9.5);
    near(report->causes[CAUSE_FILL], (1.1 + 0.3 + 1.4) / 4 / 9.5);
    near(report->causes[CAUSE_DRAIN], (0.3 + 2.4 + 2.1) / 4 / 9.5);
    near(sum_of(report->causes), report->bubble);
    worked_example_destroy(example);
}

/* Replicas that another one stands for weigh as much as those that were simulated. */
Test(report, folded_replicas_count)
{
    struct worked_example *whole = worked_example_create(4, 7), *folded = worked_example_create(4, 7);
    struct timeline *timeline = folded->timeline;
    for (uint32_t rank = 2; rank < 8; rank++)
        timeline->index_of[rank] = rank % 2;
    timeline->rank_count = 2;
    const struct report *a = report_create(&whole->run, whole->timeline, &whole->platform, whole->arena);
    const struct report *b = report_create(&folded->run, timeline, &folded->platform, folded->arena);
    cr_assert_eq(b->represented_ranks, 6);
    near(b->bubble, a->bubble);
    near(b->exposed, a->exposed);
    near(b->sent_bytes, a->sent_bytes);
    near(b->links[7].bytes, a->links[7].bytes);
    for (int i = 0; i < CAUSES; i++)
        near(b->causes[i], a->causes[i]);
    timeline->rank_count = 8;
    worked_example_destroy(folded);
    worked_example_destroy(whole);
}

/* Nothing takes any time: no division by it. */
Test(report, a_program_of_no_time)
{
    struct worked_example *example = worked_example_create(1, 0);
    for (uint32_t rank = 0; rank < 2; rank++)
        for (uint32_t id = 0; id < 8; id++)
            example->timeline->moments[rank][id] = (struct moment){0, 0, 0};
    const struct report *report = report_create(&example->run, example->timeline, &example->platform, example->arena);
    cr_assert_eq(report->iteration, 0);
    cr_assert_eq(report->bubble, 0);
    cr_assert(isnan(report->over_ideal)); /* nothing is computed */
    cr_assert_eq(sum_of(report->causes), 0);
    cr_assert_eq(report->samples_per_s, 0);
    worked_example_destroy(example);
}

/* The first operation of a rank is the last of all: the path goes over it, as over any other. */
Test(report, the_first_operation_may_end_last)
{
    struct worked_example *example = worked_example_create(1, 0);
    struct moment *first = &example->timeline->moments[1][0];
    first->end = 20;
    const struct frame *frame = frame_create(example->timeline, example->arena);
    const struct critical_path *path = critical_path_create(frame, example->arena);
    near(path->length, 20);
    cr_assert(path->step_count > 0);
    cr_assert_eq(path->steps[path->step_count - 1].entry, 1);
    cr_assert_eq(path->steps[path->step_count - 1].id, 0);
    worked_example_destroy(example);
}
