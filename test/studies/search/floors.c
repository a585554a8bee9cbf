/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of candidates that nobody has looked at is true of them: random dense transformers with random values of
 * keys that change what is computed, exchanged or legal. Of a space's candidates some note what they say of others, and
 * some are timed: no floor is above a time, and none says of a candidate that runs that it is illegal. Arguments: cases
 * [seed]; a failure names the seed of its case. */
#include "studies/search/floors.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/numbers/divisor.h"
#include "schedules/plan_store.h"
#include "simulator/engines/class_store.h"
#include "studies/evaluate.h"
#include "test/support/random_job.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SETS_MAX = 16, NOTED = 1000, JUDGED = 200 }; /* of a space at the most */

/* Keys with values; of each the first one is more frequent. */
static const char *const keys[][6] = {
    {"model.kv_heads", "16", "4", "2"},
    {"model.tied", "true", "false"},
    {"model.gated", "false", "true"},
    {"model.dropout", "true", "false"},
    {"model.sequence", "1024", "4096"},
    {"model.predictions", "0", "1"},
    {"model.window", "1024", "256"},
    {"model.norms", "2", "4"},
    {"transformer.attention", "flash", "standard"},
    {"transformer.granularity", "stage", "layer"},
    {"transformer.stage_outputs", "false", "true"},
    {"transformer.scatter_gather", "true", "false"},
    {"transformer.tensor_overlap", "false", "true"},
    {"transformer.tensor_overlap_hidden", "1", "0.5"},
    {"transformer.tensor_copies", "false", "true"},
    {"transformer.tensor_gathers", "same", "fp8"},
    {"transformer.shard_copies", "false", "true"},
    {"transformer.optimizer_unfused", "1", "30"},
    {"transformer.logits_bytes", "4", "16"},
    {"transformer.adapter_rank", "0", "16"},
    {"transformer.optimizer", "adam", "muon", "sgd"},
    {"transformer.gradients", "fp32", "same", "accumulated"},
    {"transformer.shard_ranks", "2"},
    {"transformer.reshard", "true", "false"},
    {"transformer.prefetch", "1", "0", "5"},
    {"transformer.gather_pieces", "1", "3"},
    {"transformer.bucket", "25MB", "1MB"},
    {"transformer.context_method", "all-gather", "ring", "all-to-all"},
    {"transformer.context_balance", "true", "false"},
    {"communication.overlap", "false", "true"},
    {"compute.precision", "bf16", "fp8"},
    {"compute.dispatch", "0s", "5us"},
    {"compute.launch", "0s", "10us"},
    {"compute.step", "0s", "5ms"},
    {"compute.unfused", "1", "2"},
    {"compute.efficiency", "0.5"},
    {"compute.kernels", "transformer-engine", "measured", "auto"},
    {"power.cap", "700W", "300W"},
    {"power.budget", "20kW", "6kW"},
    {"search.context", "1", "[1, 2]"},
    {"search.gpus", "16", "8", "[4, 16]", "12"},
    {"search.schedules", "[1f1b, interleaved, zb-h1]", "all", "[gpipe, chimera, 1f1b]"},
    {"search.recompute", "[none, full]", "[none, selective]", "operators", "[none, [full, none]]"},
    {"search.micro", "[1, 2]", "[1, 3]"},
    {"search.chunks", "2", "[2, 3]"},
    {"model.layers", "4", "5", "6", "7"},
    {"model.heads", "16", "12"},
    {"search.balance", "auto", "[even, auto]"},
    {"batch.global", "16", "24", "12"},
};
enum { KEYS = sizeof keys / sizeof *keys };

struct space_case {
    struct arena *arena;
    struct random random;
    struct scenario_set sets[SETS_MAX];
    struct scenario_request request;
    const struct scenario *scenario;
    struct platform *platform;
    struct search_space space;
    struct search_floors floors;
    struct plan_store *plans;
    struct class_store *classes;
};

static void draw_sets(struct space_case *c)
{
    uint32_t count = random_between(&c->random, 1, SETS_MAX - 1);
    c->request = (struct scenario_request){.file = SOURCE_ROOT "/test/studies/floors.yaml", .sets = c->sets};
    for (uint32_t i = 0; i < count; i++) {
        const char *const *key = keys[random_below(&c->random, KEYS)];
        uint32_t values = 0;
        while (values < 5 && key[values + 1])
            values++;
        c->sets[c->request.set_count++] = (struct scenario_set){
            .text = arena_print(c->arena, "%s=%s", key[0], key[1 + random_below(&c->random, values)])};
    }
}

static struct evaluation_request ask(const struct space_case *c, uint64_t index, struct scenario_set sets[],
                                     struct arena *arena)
{
    size_t count = search_space_sets(&c->space, c->scenario, index, sets, arena);
    return (struct evaluation_request){c->scenario->request, sets, count, 1000000, .plans = c->plans,
                                       .classes = c->classes};
}

static void note(const struct space_case *c, uint64_t index)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[SEARCH_SETS_MAX];
    struct evaluation_request request = ask(c, index, sets, arena);
    struct diag silent = {0};
    struct job_outline outline;
    if (evaluate_outline(&request, c->platform, JOB_BOUND_WORK, arena, &silent, &outline))
        search_floors_note(&c->floors, index, &outline);
    arena_destroy(arena);
}

/* Whether the floor is true; how close it is to the time is added up. */
static bool judge(const struct space_case *c, uint64_t index, double *close)
{
    struct arena *arena = arena_create();
    struct scenario_set sets[SEARCH_SETS_MAX];
    struct evaluation_request request = ask(c, index, sets, arena);
    struct diag silent = {0};
    struct evaluation evaluation;
    double floor = search_floors_bound(&c->floors, index);
    bool runs = evaluate(&request, c->platform, arena, &silent, &evaluation);
    bool good = !runs || floor <= evaluation.report->iteration;
    *close += isinf(floor) ? !runs : runs ? floor / evaluation.report->iteration : 0;
    if (!good) {
        printf("floor %.9g, time %.9g:", floor, evaluation.report->iteration);
        for (size_t i = 0; i < request.change_count; i++)
            printf(" %s", sets[i].text);
        printf("\n");
    }
    arena_destroy(arena);
    return good;
}

/* -1: no scenario. */
static int try_case(uint64_t seed, double *close)
{
    struct space_case c = {.arena = arena_create(), .random = {seed}};
    struct diag silent = {0};
    struct fault fault = {""};
    const char *why = NULL;
    int wrong = -1;
    draw_sets(&c);
    c.scenario = scenario_load(&c.request, c.arena, &silent);
    c.platform = c.scenario ? platform_source_native(&c.scenario->platform, c.arena, &why, &fault) : NULL;
    if (c.platform && search_space_create(&c.space, c.scenario, c.platform->host_count, c.arena, &silent) &&
        search_floors_create(&c.floors, c.scenario, &c.space, &fault)) {
        c.plans = plan_store_create();
        c.classes = class_store_create();
        uint64_t count = c.space.count, step = 1 + random_below(&c.random, (uint32_t)count);
        uint64_t noted = count < NOTED ? count : NOTED, judged = count < JUDGED ? count : JUDGED;
        while (common_divisor(step, count) > 1)
            step++;
        wrong = 0;
        for (uint64_t i = 0; i < noted; i++)
            note(&c, i * step % count);
        for (uint64_t i = 0; i < judged; i++)
            wrong += !judge(&c, (count - 1 - i) * step % count, close);
        *close /= (double)judged;
        if (wrong > 0) {
            printf("seed %llu:", (unsigned long long)seed);
            for (size_t i = 0; i < c.request.set_count; i++)
                printf(" --set '%s'", c.sets[i].text);
            printf("\n");
        }
        plan_store_destroy(c.plans);
        class_store_destroy(c.classes);
        search_floors_finish(&c.floors);
        search_space_finish(&c.space);
    }
    arena_destroy(c.arena);
    return wrong;
}

int main(int argc, char **argv)
{
    uint64_t cases = argc > 1 ? strtoull(argv[1], NULL, 10) : 20, first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    unsigned good = 0, bad = 0;
    double close = 0;
    setenv("STAGESIM_EFFICIENCY", SOURCE_ROOT "/workloads/efficiency", 1);
    for (uint64_t seed = first; seed < first + cases; seed++) {
        double own = 0;
        int wrong = try_case(seed, &own);
        good += wrong == 0;
        bad += wrong > 0;
        close += wrong >= 0 ? own : 0;
    }
    double mean = close / fmax(1, good + bad);
    printf("%u spaces are good, %u are not, of %llu; floors are %.3f of the times\n", good, bad,
           (unsigned long long)cases, mean);
    return bad > 0 || 3 * good < cases || mean < 0.1;
}
