/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/levers.h"

#include "base/arena.h"
#include "studies/evaluate.h"

#include <stdlib.h>
#include <string.h>

enum { LEVERS_MAX = 12, OPERATIONS_MAX = 200000, SETS_MAX = 8, TOGETHER_MAX = 4 };

/* Changes of one family exclude each other. */
enum family { RECOMPUTE, SEQUENCE, ZERO, SCHEDULE, MICRO, FAMILIES };

/* Values as --set takes them. */
struct change {
    const char *sets[SETS_MAX];
    unsigned families; /* a bit for each that it is of */
};

struct levers {
    const struct scenario *scenario;
    struct platform *platform;
    struct report *report;
    struct arena *arena; /* of what stays */
};

static const struct change plain_changes[] = {
    {{"schedule.recompute=selective"}, 1 << RECOMPUTE},
    {{"schedule.recompute=full"}, 1 << RECOMPUTE},
    {{"layers.checkpoints=2"}, 1 << RECOMPUTE},
    {{"layers.checkpoints=8"}, 1 << RECOMPUTE},
    {{"transformer.sequence_parallel=true"}, 1 << SEQUENCE},
    {{"transformer.zero=1"}, 1 << ZERO},
    {{"transformer.zero=2"}, 1 << ZERO},
    {{"transformer.zero=3"}, 1 << ZERO},
};
enum { PLAIN_CHANGES = sizeof plain_changes / sizeof *plain_changes };

static size_t set_count(const struct change *change)
{
    size_t count = 0;
    while (count < SETS_MAX && change->sets[count])
        count++;
    return count;
}

static struct change both(const struct change *a, const struct change *b)
{
    struct change sum = *a;
    size_t count = set_count(a), more = set_count(b);
    for (size_t i = 0; i < more && count < SETS_MAX; i++)
        sum.sets[count++] = b->sets[i];
    sum.families |= b->families;
    return sum;
}

/* The largest memory of a rank with a change; 0 where the scenario cannot be changed so. Everything but the answer goes
 * back. */
static double peak_with(const struct levers *l, const struct change *change)
{
    struct arena *arena = arena_create();
    struct diag silent = {0};
    struct scenario_set sets[SETS_MAX];
    size_t count = set_count(change);
    for (size_t i = 0; i < count; i++)
        sets[i] = (struct scenario_set){.text = change->sets[i]};
    struct evaluation_request request = {l->scenario->request, sets, count, 2 * OPERATIONS_MAX};
    if (change->families >> SCHEDULE & 1)
        request.scenario.schedule = NULL; /* the change names one */
    struct job_outline outline;
    struct evaluation evaluation;
    double peak = 0;
    struct evaluation_request any_size = request;
    any_size.operations_max = 0;
    if (evaluate_outline(&any_size, l->platform, JOB_BOUND_WORK, arena, &silent, &outline)) {
        if (outline.known)
            peak = outline.peak_bytes;
        else if (evaluate(&request, l->platform, arena, &silent, &evaluation))
            peak = evaluation.report->peak_bytes;
    }
    arena_destroy(arena);
    return peak;
}

static bool helps(const struct levers *l, double peak)
{
    return peak > 0 && peak < l->report->peak_bytes;
}

static bool fits(const struct levers *l, double peak)
{
    return helps(l, peak) && peak <= l->report->capacity_bytes;
}

static void add_lever(const struct levers *l, const struct change *change, double peak)
{
    const char *setting = change->sets[0];
    for (size_t i = 1; i < set_count(change); i++)
        setting = arena_print(l->arena, "%s and %s", setting, change->sets[i]);
    if (helps(l, peak) && l->report->lever_count < LEVERS_MAX)
        l->report->levers[l->report->lever_count++] = (struct lever){setting, peak, fits(l, peak)};
}

/* ---- single changes ---- */

/* Another schedule, without options of the one before, but with what it computes again, if all stages do the same. */
static struct change other_schedule(const struct levers *l, const char *name)
{
    bool again = !l->scenario->recompute_count && l->scenario->recompute != RECOMPUTE_NONE;
    const char *how = scenario_recompute_text(l->scenario, l->arena);
    return (struct change){{arena_print(l->arena, "schedule=%s", name),
                            again ? arena_print(l->arena, "schedule.recompute=%s", how) : NULL},
                           1 << SCHEDULE};
}

/* As many samples in smaller micro-batches. */
static struct change smaller(const struct levers *l, uint64_t micro)
{
    uint64_t samples = l->scenario->micro_batch_size * l->scenario->micro_batches;
    return (struct change){{arena_print(l->arena, "batch.micro=%llu", (unsigned long long)micro),
                            arena_print(l->arena, "batch.micro_batches=%llu", (unsigned long long)(samples / micro))},
                           1 << MICRO};
}

static uint64_t next_smaller(uint64_t micro)
{
    return micro % 2 == 0 ? micro / 2 : micro > 1;
}

/* The largest that fits, or the smallest that there is. */
static void try_smaller(const struct levers *l)
{
    double peak = 0;
    struct change change = {{NULL}, 0};
    for (uint64_t micro = next_smaller(l->scenario->micro_batch_size); micro > 0 && !fits(l, peak);
         micro = next_smaller(micro)) {
        change = smaller(l, micro);
        peak = peak_with(l, &change);
        if (micro == 1)
            break;
    }
    if (change.sets[0])
        add_lever(l, &change, peak);
}

/* ---- several at once ---- */

enum { CHOICES_MAX = PLAIN_CHANGES + 5 };

/* All changes, of which several may be made together. */
static size_t list_choices(const struct levers *l, struct change *out)
{
    size_t count = PLAIN_CHANGES;
    memcpy(out, plain_changes, sizeof plain_changes);
    out[count++] = other_schedule(l, "1f1b");
    out[count++] = other_schedule(l, "v-half");
    uint64_t micro = l->scenario->micro_batch_size, half = next_smaller(micro);
    if (half)
        out[count++] = smaller(l, half);
    if (half > 1)
        out[count++] = smaller(l, 1);
    return count;
}

/* Of what fits that which saves least, otherwise that which saves most. */
static bool is_better(const struct levers *l, double peak, double best)
{
    if (fits(l, peak) != fits(l, best))
        return fits(l, peak);
    return fits(l, peak) ? peak > best : peak < best;
}

/* Adds to `change`, with which a rank needs `peak`, the change that serves best. False: none does. */
static bool add_best(const struct levers *l, const struct change *choices, size_t count, struct change *change,
                     double *peak)
{
    struct change found = {{NULL}, 0};
    double best = *peak;
    for (size_t i = 0; i < count; i++) {
        if (choices[i].families & change->families)
            continue;
        struct change trial = both(change, &choices[i]);
        double with = peak_with(l, &trial);
        if (with > 0 && with < *peak && is_better(l, with, best)) {
            found = trial;
            best = with;
        }
    }
    if (!found.sets[0])
        return false;
    *change = found;
    *peak = best;
    return true;
}

/* Where no change alone is enough: the one that saves most, and others to it until the job fits. */
static void try_together(const struct levers *l)
{
    struct change choices[CHOICES_MAX], change = {{NULL}, 0};
    size_t count = list_choices(l, choices), made = 0;
    double peak = l->report->peak_bytes;
    while (made < TOGETHER_MAX && !fits(l, peak) && add_best(l, choices, count, &change, &peak))
        made++;
    if (made > 1)
        add_lever(l, &change, peak);
}

/* ---- all ---- */

static int by_peak(const void *left, const void *right)
{
    const struct lever *a = left, *b = right;
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes ? -1 : 1;
    return strcmp(a->setting, b->setting);
}

void levers_find(const struct scenario *scenario, struct platform *platform, double operations, struct report *report,
                 struct arena *arena)
{
    struct levers l = {scenario, platform, report, arena};
    if (report->fits || operations > OPERATIONS_MAX)
        return;
    report->levers = arena_array(arena, LEVERS_MAX, sizeof *report->levers);
    for (size_t i = 0; i < PLAIN_CHANGES; i++)
        add_lever(&l, &plain_changes[i], peak_with(&l, &plain_changes[i]));
    static const char *const schedules[] = {"1f1b", "v-half"};
    for (int i = 0; i < 2; i++) {
        struct change change = other_schedule(&l, schedules[i]);
        add_lever(&l, &change, peak_with(&l, &change));
    }
    try_smaller(&l);
    bool enough = false;
    for (unsigned i = 0; i < report->lever_count; i++)
        enough |= report->levers[i].fits;
    if (!enough && report->lever_count)
        try_together(&l);
    if (report->lever_count)
        qsort(report->levers, report->lever_count, sizeof *report->levers, by_peak);
}
