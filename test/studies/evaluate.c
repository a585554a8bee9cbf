/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a job before it is built agrees with what is seen when it runs, on random transformers under every
 * schedule: the outline's memory is the report's, its bounds are never above the time. What follows from a shorter job
 * is what the whole one gives, all figures that people are shown included, and the time alone, which columns of
 * replicas say, is the report's. Arguments: cases [seed]; a failure names the seed of its case. */
#include "studies/evaluate.h"

#include "base/arena.h"
#include "job/job.h"
#include "schedules/plan_store.h"
#include "simulator/engines/class_store.h"
#include "simulator/engines/simgrid/bridge.h"
#include "simulator/run/folded_run.h"
#include "studies/describe.h"
#include "studies/shortened_report.h"
#include "test/studies/shown.h"
#include "test/support/random_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETS_MAX = 48, GPUS = 16 };

struct draw {
    struct random random;
    struct scenario_set sets[SETS_MAX];
    size_t count;
    struct arena *arena;
};

static void set(struct draw *draw, const char *text)
{
    draw->sets[draw->count++] = (struct scenario_set){.text = text};
}

static void set_number(struct draw *draw, const char *key, uint32_t value)
{
    set(draw, arena_print(draw->arena, "%s=%u", key, value));
}

/* One of a NULL-terminated list. */
static void set_word(struct draw *draw, const char *key, const char *const *words)
{
    uint32_t count = 0;
    while (words[count])
        count++;
    set(draw, arena_print(draw->arena, "%s=%s", key, words[random_below(&draw->random, count)]));
}

static const struct schedule *draw_schedule(struct draw *draw)
{
    uint32_t count = 0;
    while (schedule_table[count])
        count++;
    const struct schedule *schedule = schedule_table[random_below(&draw->random, count)];
    return schedule->shares_output ? draw_schedule(draw) : schedule; /* transformers refuse those */
}

static const char *schedule_text(struct draw *draw)
{
    static const char *const recomputes[] = {"none", "selective", "full"};
    const struct schedule *schedule = draw_schedule(draw);
    const char *text = arena_print(draw->arena, "schedule={name: %s, recompute: %s", schedule->name,
                                   recomputes[random_below(&draw->random, 3)]);
    for (const struct schedule_option *option = schedule->options; option && option->key; option++) {
        if (random_chance(&draw->random, 0.5))
            continue;
        uint32_t words = 0;
        while (option->names && option->names[words])
            words++;
        text = words ? arena_print(draw->arena, "%s, %s: %s", text, option->key,
                                   option->names[random_below(&draw->random, words)])
                     : arena_print(draw->arena, "%s, %s: %u", text, option->key, random_between(&draw->random, 1, 4));
    }
    return arena_print(draw->arena, "%s}", text);
}

static void draw_model(struct draw *draw)
{
    static const char *const flags[] = {"true", "false", NULL}, *const attentions[] = {"flash", "standard", NULL};
    set_number(draw, "model.layers", 4 * random_between(&draw->random, 1, 12));
    set_number(draw, "model.hidden", 512 << random_below(&draw->random, 4));
    set_word(draw, "model.tied", flags);
    set_word(draw, "transformer.attention", attentions);
    if (random_chance(&draw->random, 0.3)) {
        set(draw, "model.experts=8");
        set_number(draw, "model.top_k", random_between(&draw->random, 1, 2));
        set_word(draw, "transformer.expert_imbalance", (const char *const[]){"1", "1.5", NULL});
        set_word(draw, "transformer.expert_overlap", flags);
        set_word(draw, "parallel.expert", (const char *const[]){"1", "2", NULL});
    }
}

static void draw_layout(struct draw *draw)
{
    static const char *const flags[] = {"true", "false", NULL}, *const balances[] = {"even", "auto", NULL};
    static const char *const grains[] = {"stage", "stage", "layer", NULL}, *const zeros[] = {"0", "1", "2", "3", NULL};
    uint32_t pipeline = 1u << random_below(&draw->random, 4), left = GPUS / pipeline;
    uint32_t tensor = 1u << random_below(&draw->random, 3);
    tensor = tensor < left ? tensor : left;
    left /= tensor;
    uint32_t context = random_chance(&draw->random, 0.2) && left > 1 ? 2 : 1;
    set_number(draw, "parallel.pipeline", pipeline);
    set_number(draw, "parallel.tensor", tensor);
    set_number(draw, "parallel.context", context);
    set_number(draw, "parallel.data", left / context);
    set_number(draw, "batch.micro", 1u << random_below(&draw->random, 3));
    bool many = random_chance(&draw->random, 0.3);
    uint32_t rounds = many ? random_between(&draw->random, 7, 24) : random_between(&draw->random, 1, 6);
    set_number(draw, "batch.micro_batches", pipeline * rounds + (many ? random_below(&draw->random, 4) : 0));
    set_word(draw, "transformer.balance", balances);
    set_word(draw, "transformer.granularity", grains);
    if (random_chance(&draw->random, 0.2)) { /* only weights that are gathered are asked for ahead */
        set(draw, "transformer.zero=3");
        set_word(draw, "transformer.prefetch", (const char *const[]){"0", "2", "5", "16", NULL});
    } else
        set_word(draw, "transformer.zero", zeros);
    set_word(draw, "transformer.reshard", flags);
    set_word(draw, "communication.overlap", flags);
    set_word(draw, "transformer.scatter_gather", flags);
    if (tensor > 1 && random_chance(&draw->random, 0.5)) {
        set(draw, "transformer.sequence_parallel=true");
        set_word(draw, "transformer.tensor_overlap", flags);
    }
    if (random_chance(&draw->random, 0.3))
        set_number(draw, "iterations", random_between(&draw->random, 2, 5));
    if (random_chance(&draw->random, 0.3))
        set_word(draw, "memory.reserve", (const char *const[]){"6%", "90%", NULL});
    set(draw, schedule_text(draw));
}

/* Operations that are evaluated. */
static uint64_t draw_limit(struct draw *draw)
{
    return random_chance(&draw->random, 0.1) ? random_between(&draw->random, 2000, 50000) : 1000000;
}

enum outcome { BAD, ILLEGAL, UNKNOWN, FINE };

/* Cases whose times follow from a shorter job, those in which columns of replicas say them, and those in which columns
 * of a part of the job do; and what cases share. */
struct counts {
    unsigned shortened, columns, parts, exposed, shown;
    struct {
        unsigned cases;
        double work, order;   /* bounds over times, added up; 0 where nothing is known */
    } bounds[2];              /* of one iteration, of several */
    struct plan_store *plans; /* that evaluations of the time alone share */
    struct class_store *classes;
};

/* A bound is known, where it has to be, and not above the time. */
static bool is_bound(double bound, const struct report *report, bool needed)
{
    return bound <= report->iteration && (bound > 0 || !needed);
}

/* Sums in another order. Of several iterations there is no bound of any order, and where parameters are gathered before
 * each use and nothing steps none at all; the report's bubble says how much of a bound is work. */
static enum outcome compare(const struct job_outline *outline, const struct report *report, uint64_t seed)
{
    bool memory = fabs(outline->peak_bytes - report->peak_bytes) <= 1e-9 * report->peak_bytes;
    bool sliced = schedule_find(report->run.schedule)->slices; /* in more than one slice: a bound of any order only */
    bool repeated = report->iterations > 1;
    bool bounds = is_bound(outline->any, report, !repeated) && is_bound(outline->work, report, !sliced && !repeated) &&
                  is_bound(outline->order, report, outline->work > 0);
    bool judged = outline->fits == report->fits && outline->capacity_bytes == report->capacity_bytes;
    if (memory && bounds && judged)
        return FINE;
    fprintf(stderr,
            "seed %llu: outline %.17g bytes, work %.9g s, order %.9g s, any %.9g s; report %.17g bytes, %.9g s\n",
            (unsigned long long)seed, outline->peak_bytes, outline->work, outline->order, outline->any,
            report->peak_bytes, report->iteration);
    return BAD;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* Against the same with all micro-batches and all ranks. */
static enum outcome compare_whole(struct draw *draw, const struct evaluation_request *request,
                                  struct platform *platform, const struct report *report, uint64_t seed)
{
    struct diag silent = {0};
    struct evaluation whole;
    struct evaluation_request every = *request;
    set(draw, "steady=off");
    set(draw, "fold=off");
    every.change_count = draw->count;
    if (!evaluate(&every, platform, draw->arena, &silent, &whole) || whole.report->run.steady.cycles)
        return BAD;
    const struct report *a = report, *b = whole.report;
    bool same = is_near(a->iteration, b->iteration) && is_near(a->samples_per_s, b->samples_per_s) &&
                is_near(a->tokens_per_s, b->tokens_per_s) && is_near(a->mfu, b->mfu) && is_near(a->hfu, b->hfu) &&
                is_near(a->model_flops_per_s_per_gpu, b->model_flops_per_s_per_gpu) &&
                is_near(a->training_s, b->training_s) && is_near(a->peak_bytes, b->peak_bytes) &&
                is_near(a->peak_in_flight, b->peak_in_flight) && a->fits == b->fits &&
                is_near(1 - a->bubble, 1 - b->bubble) && is_near(1 - a->bubble_min, 1 - b->bubble_min) &&
                is_near(1 - a->bubble_max, 1 - b->bubble_max) && a->micro_batches == b->micro_batches;
    if (!same)
        fprintf(stderr, "seed %llu: %.17g s, bubble %.17g, %.17g bytes; all micro-batches: %.17g s, %.17g, %.17g\n",
                (unsigned long long)seed, a->iteration, a->bubble, a->peak_bytes, b->iteration, b->bubble,
                b->peak_bytes);
    return same ? FINE : BAD;
}

/* What a part of the job says is what its columns say that go through all of it, to the last bit. */
static bool compare_part(const struct draw *draw, const struct evaluation_request *request, struct platform *platform,
                         const struct evaluation *light, struct counts *counts, uint64_t seed)
{
    struct diag silent = {0};
    struct evaluation whole;
    struct draw longer = *draw;
    struct evaluation_request every = *request;
    set(&longer, "steady=off");
    every.changes = longer.sets;
    every.change_count = longer.count;
    counts->parts++;
    if (!evaluate(&every, platform, draw->arena, &silent, &whole) || whole.part)
        return false;
    const struct report *all = whole.report, *part = light->report;
    bool same = part->iteration <= all->iteration && part->iteration >= all->iteration && part->bubble <= all->bubble &&
                part->bubble >= all->bubble && part->micro_batches == all->micro_batches &&
                light->stream_ends <= whole.stream_ends && light->stream_ends >= whole.stream_ends;
    if (!same)
        fprintf(stderr, "seed %llu: a part %.17g s, bubble %.17g; the whole %.17g s, %.17g\n", (unsigned long long)seed,
                part->iteration, part->bubble, all->iteration, all->bubble);
    return same;
}

/* Against the same where only the time is asked for, which columns of replicas say where they can: these are counted,
 * apart where they go through the whole job and where there is more than one of them. */
static enum outcome compare_time(const struct draw *draw, const struct evaluation_request *request,
                                 struct platform *platform, const struct report *report, struct counts *counts,
                                 uint64_t seed)
{
    struct diag silent = {0};
    struct evaluation light;
    struct evaluation_request quick = *request;
    quick.fits = true;
    quick.plans = counts->plans;
    quick.classes = counts->classes;
    if (!evaluate(&quick, platform, draw->arena, &silent, &light))
        return BAD;
    const struct report *a = light.report, *b = report;
    counts->columns += a->activities == 0;
    bool same = is_near(a->iteration, b->iteration) && is_near(a->samples_per_s, b->samples_per_s) &&
                is_near(a->tokens_per_s, b->tokens_per_s) && is_near(a->mfu, b->mfu) && is_near(a->hfu, b->hfu) &&
                is_near(a->training_s, b->training_s) && is_near(1 - a->bubble, 1 - b->bubble) &&
                a->micro_batches == b->micro_batches && a->fits;
    if (!same)
        fprintf(stderr, "seed %llu: time alone %.17g s, bubble %.17g; %.17g s, %.17g\n", (unsigned long long)seed,
                a->iteration, a->bubble, b->iteration, b->bubble);
    return same && (!light.part || compare_part(draw, &quick, platform, &light, counts, seed)) ? FINE : BAD;
}

/* Communication that nothing hides, which columns of replicas say where they can, against the ranks' timelines. */
static enum outcome compare_exposed(const struct draw *draw, const struct evaluation_request *request,
                                    struct platform *platform, struct counts *counts, uint64_t seed)
{
    struct diag silent = {0};
    struct evaluation light, watched;
    struct evaluation_request asking = *request;
    asking.communication = true;
    if (!evaluate(&asking, platform, draw->arena, &silent, &watched))
        return BAD;
    asking.fits = true;
    asking.plans = counts->plans;
    asking.classes = counts->classes;
    if (!evaluate(&asking, platform, draw->arena, &silent, &light))
        return BAD;
    double a = light.report->exposed, b = watched.report->exposed;
    bool same = fabs(a - b) <= 1e-9 * watched.report->iteration;
    counts->exposed += light.report->activities == 0 && b > 0;
    if (!same)
        fprintf(stderr, "seed %llu: exposed %.17g s of %.17g s, columns say %.17g\n", (unsigned long long)seed, b,
                watched.report->iteration, a);
    return same ? FINE : BAD;
}

/* ---- all figures ---- */

/* The run of a program with all micro-batches and all ranks. */
static struct timeline *run_whole(const struct job *job, bool transfers_free, struct arena *arena)
{
    struct fault fault = {""};
    struct folded_run run;
    struct engine_job timed = {
        .program = job->program, .platform = job->platform, .hosts = job->hosts, .transfers_free = transfers_free};
    return folded_run(&engine_analytic, &timed, false, arena, &run, &fault) ? run.timeline : NULL;
}

static struct report *report_whole(const struct scenario *scenario, struct platform *platform, struct arena *arena)
{
    struct diag silent = {0};
    struct run_description description;
    struct job *job = job_create(scenario, platform, 1, arena, &silent);
    struct timeline *timeline = job ? run_whole(job, false, arena) : NULL;
    struct timeline *free_transfers = timeline ? run_whole(job, true, arena) : NULL;
    if (!free_transfers)
        return NULL;
    job_describe(job, &description);
    description.printed = true;
    struct idle_timelines timelines = {.free = free_transfers, .alone = timeline};
    const struct frame *frame = frame_create(timeline, arena);
    struct report *report = report_of_frame(&description, frame, platform, arena);
    report->idle = idle_split_of(frame, &timelines, arena);
    timeline_destroy(free_transfers);
    timeline_destroy(timeline);
    return report;
}

/* The scenario's figures as people are shown them. */
static enum outcome compare_shown(struct draw *draw, const struct evaluation_request *request,
                                  struct platform *platform, struct counts *counts, uint64_t seed)
{
    struct diag silent = {0};
    double operations = 0;
    struct scenario_request changed =
        scenario_request_with(&request->scenario, request->changes, request->change_count, draw->arena);
    struct scenario *scenario = scenario_load(&changed, draw->arena, &silent);
    struct shortened_report_request shorter = {scenario, platform, NULL, true};
    const struct report *a = shortened_report(&shorter, draw->arena, &operations), *b = NULL;
    if (!a)
        return FINE;
    counts->shown++;
    struct evaluation_request asking = *request;
    struct evaluation exposing;
    asking.communication = true;
    if (!(b = report_whole(scenario, platform, draw->arena)) ||
        !evaluate(&asking, platform, draw->arena, &silent, &exposing))
        return BAD;
    return shown_are_same(a, b, exposing.report->exposed, seed) ? FINE : BAD;
}

/* How close bounds are. */
static void count_bounds(struct counts *counts, const struct job_outline *outline, const struct report *report)
{
    bool repeated = report->iterations > 1;
    if (!repeated && outline->work <= 0)
        return;
    counts->bounds[repeated].cases++;
    counts->bounds[repeated].work += outline->work / report->iteration;
    counts->bounds[repeated].order += outline->order / report->iteration;
}

static enum outcome check_case(uint64_t seed, struct platform *platform, struct counts *counts)
{
    struct arena *arena = arena_create();
    struct draw draw = {.random = {seed}, .arena = arena};
    struct diag silent = {0};
    struct job_outline outline;
    struct evaluation evaluation;
    draw_model(&draw);
    draw_layout(&draw);
    struct evaluation_request request = {
        {.file = SOURCE_ROOT "/test/studies/random.yaml"}, draw.sets, draw.count, draw_limit(&draw)};
    enum outcome outcome = ILLEGAL;
    bool legal = evaluate_outline(&request, platform, JOB_BOUND_ANY, arena, &silent, &outline);
    bool runs = evaluate(&request, platform, arena, &silent, &evaluation);
    if (legal != runs)
        outcome = BAD;
    else if (legal && !outline.known)
        outcome = UNKNOWN;
    else if (legal)
        outcome = compare(&outline, evaluation.report, seed);
    if (outcome == FINE)
        outcome = compare_time(&draw, &request, platform, evaluation.report, counts, seed);
    if (outcome == FINE)
        outcome = compare_exposed(&draw, &request, platform, counts, seed);
    bool shortened = outcome == FINE && evaluation.report->run.steady.cycles > 0;
    if (outcome == FINE && (shortened || seed % 4 == 0)) {
        counts->shortened += shortened;
        if (shortened)
            outcome = compare_shown(&draw, &request, platform, counts, seed);
        if (outcome == FINE)
            outcome = compare_whole(&draw, &request, platform, evaluation.report, seed);
    }
    if (legal != runs) {
        fprintf(stderr, "seed %llu: legal %d, runs %d\n", (unsigned long long)seed, legal, runs);
        for (size_t i = 0; i < draw.count; i++)
            fprintf(stderr, "  %s\n", draw.sets[i].text);
    } else if (outcome == FINE) {
        count_bounds(counts, &outline, evaluation.report);
    }
    if (outcome == BAD)
        for (size_t i = 0; i < draw.count; i++)
            fprintf(stderr, "  --set '%s'\n", draw.sets[i].text);
    arena_destroy(arena);
    return outcome;
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000, first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    struct arena *arena = arena_create();
    struct fault fault = {""};
    setenv("STAGESIM_EFFICIENCY", SOURCE_ROOT "/workloads/efficiency", 1);
    struct platform *platform = bridge_load(SOURCE_ROOT "/platforms/dgx-a100-2.xml", arena, &fault);
    unsigned counts[FINE + 1] = {0};
    struct counts shortcuts = {.plans = plan_store_create(), .classes = class_store_create()};
    printf("1..9\n");
    for (uint64_t seed = first; platform && seed < first + cases; seed++)
        counts[check_case(seed, platform, &shortcuts)]++;
    printf("%sok 1 - %u cases agree, %u do not\n", counts[BAD] || !platform ? "not " : "", counts[FINE], counts[BAD]);
    printf("%sok 2 - most cases are legal: %u illegal, %u without an outline\n",
           2 * (counts[FINE] + counts[UNKNOWN]) < cases && cases > 10 ? "not " : "", counts[ILLEGAL], counts[UNKNOWN]);
    for (int repeated = 0; repeated < 2; repeated++) {
        double known = fmax(shortcuts.bounds[repeated].cases, 1);
        double work = shortcuts.bounds[repeated].work / known, order = shortcuts.bounds[repeated].order / known;
        printf("%sok %d - bounds of %s are close: by work %.3f, by order %.3f of the time\n",
               cases >= 100 && (work < 0.5 || order < 0.6) ? "not " : "", 3 + repeated,
               repeated ? "several iterations" : "one iteration", work, order);
    }
    printf("%sok 5 - times of %u cases follow from a shorter job\n",
           cases >= 1000 && 200 * shortcuts.shortened < cases ? "not " : "", shortcuts.shortened);
    printf("%sok 6 - columns of replicas say the time of %u cases\n",
           cases >= 1000 && 2 * shortcuts.columns < counts[FINE] ? "not " : "", shortcuts.columns);
    printf("%sok 7 - all figures of %u cases follow from a shorter job\n",
           cases >= 1000 && 200 * shortcuts.shown < cases ? "not " : "", shortcuts.shown);
    printf("%sok 8 - a part says the time of %u cases\n",
           cases >= 1000 && 8 * shortcuts.parts < counts[FINE] ? "not " : "", shortcuts.parts);
    printf("%sok 9 - columns say what communication of %u cases is exposed\n",
           cases >= 1000 && 10 * shortcuts.exposed < counts[FINE] ? "not " : "", shortcuts.exposed);
    plan_store_destroy(shortcuts.plans);
    class_store_destroy(shortcuts.classes);
    arena_destroy(arena);
    return counts[BAD] || !platform;
}
