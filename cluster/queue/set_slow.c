/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/queue/set_slow.h"

#include "base/arena.h"
#include "cluster/queue/key_table.h"
#include "cluster/queue/set_speeds.h"
#include "cluster/queue/slow_points.h"
#include "simulator/engines/refine.h"

#include <math.h>
#include <stdlib.h>

/* Points of a kind of jobs below which parts of sets are simulated for more, and how often that is tried. Larger parts
 * are not simulated. */
enum { POINTS_FEW = 3, TRIES = 4, PART_MOST = 32, SAMPLES_FROM = 4 };
static const double part_operations = 5e4;  /* in an iteration of its slowest job */
static const double few_operations = 1e4;   /* the same of larger sets that are simulated as a whole */
static const double spare_operations = 1e5; /* and of all of these together */
/* The same where a load is so many times the largest that is known. */
static const double far_off = 1.5;

/* A class of sets: the slow-downs of its jobs, in their order. */
struct known_set {
    uint64_t *colours;
    double *slow; /* NULL: it could not be simulated */
    uint32_t count;
};

struct set_slow {
    struct platform *platform;
    uint64_t together, most;
    bool more;      /* larger ones may be simulated, too */
    double spent;   /* operations, for these */
    uint64_t large; /* sets of more than `together` jobs of classes that were not known */
    struct arena *arena;
    struct key_table set_of; /* by class */
    struct known_set *sets;
    size_t set_count, set_capacity;
    struct key_table tries_of; /* by kind */
    uint32_t *tries;
    size_t kind_count, kind_capacity;
    struct slow_points points;
    struct job_sets *parts;
    struct set_counts counts;
};

struct set_slow *set_slow_create(struct platform *platform, uint64_t together, bool more, uint64_t sets)
{
    struct set_slow *slow = array_zeroed(1, sizeof *slow);
    slow->platform = platform;
    slow->together = together;
    slow->more = more;
    slow->most = sets;
    slow->arena = arena_create();
    slow->parts = job_sets_create(platform);
    return slow;
}

void set_slow_destroy(struct set_slow *slow)
{
    job_sets_destroy(slow->parts);
    slow_points_finish(&slow->points);
    key_table_finish(&slow->set_of);
    key_table_finish(&slow->tries_of);
    free(slow->tries);
    free(slow->sets);
    arena_destroy(slow->arena);
    free(slow);
}

struct set_counts set_slow_counts(const struct set_slow *slow)
{
    struct set_counts counts = slow->counts;
    struct set_errors *const errors[] = {&counts.all, &counts.larger};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        double many = errors[i]->checked ? (double)errors[i]->checked : 1;
        errors[i]->bias /= many;
        errors[i]->error /= many;
    }
    return counts;
}

/* ---- simulations ---- */

static double estimate_of(const struct set_slow *slow, const struct set_job *job)
{
    return slow_points_estimate(&slow->points, job->type, job->count, job->load);
}

static void add_error(struct set_errors *errors, double error)
{
    errors->checked++;
    errors->bias += error;
    errors->error += fabs(error);
    errors->worst = fmax(errors->worst, fabs(error));
}

/* How far the estimates of a set's jobs would have been off. */
static void check_estimates(struct set_slow *slow, const struct job_set *set, const double *found)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const struct set_job *job = set->jobs[i];
        if (slow_points_known(&slow->points, job->type, job->count) < POINTS_FEW)
            continue;
        double error = estimate_of(slow, job) / found[i] - 1;
        add_error(&slow->counts.all, error);
        if (set->count > slow->together)
            add_error(&slow->counts.larger, error);
    }
}

static void note_points(struct set_slow *slow, const struct job_set *set, const double *found)
{
    for (uint32_t i = 0; i < set->count; i++)
        slow_points_add(&slow->points,
                        (struct slow_point){set->jobs[i]->type, set->jobs[i]->count, set->jobs[i]->load, found[i]});
}

/* Simulates a set, and remembers its class whatever comes out. */
static struct known_set *simulate(struct set_slow *slow, const struct job_set *set, uint64_t class)
{
    struct known_set known = {arena_array(slow->arena, set->count, sizeof *known.colours),
                              arena_array(slow->arena, set->count, sizeof *known.slow), set->count};
    const struct footprint **footprints = array_zeroed(set->count, sizeof(struct footprint *));
    for (uint32_t i = 0; i < set->count; i++) {
        footprints[i] = &set->jobs[i]->footprint;
        known.colours[i] = set->jobs[i]->colour;
    }
    enum set_speeds speeds = set_speeds_find(slow->platform, footprints, set->count, known.slow);
    free(footprints);
    if (speeds == SPEEDS_FOUND) {
        check_estimates(slow, set, known.slow);
        note_points(slow, set, known.slow);
        slow->counts.most = set->count > slow->counts.most ? set->count : slow->counts.most;
    } else {
        known.slow = NULL;
        *(speeds == SPEEDS_UNEVEN ? &slow->counts.uneven : &slow->counts.failed) += 1;
    }
    slow->sets = array_grow(slow->sets, &slow->set_capacity, slow->set_count + 1, sizeof *slow->sets);
    key_table_add(&slow->set_of, class, slow->set_count);
    slow->sets[slow->set_count] = known;
    return &slow->sets[slow->set_count++];
}

static uint64_t count_simulated(const struct set_slow *slow)
{
    const struct set_counts *counts = &slow->counts;
    return counts->simulated + counts->parts + counts->uneven + counts->failed;
}

static bool may_simulate(const struct set_slow *slow)
{
    return count_simulated(slow) < slow->most;
}

/* NULL: a class that is not known, and there may be no more simulations. */
static struct known_set *find_known(struct set_slow *slow, const struct job_set *set, uint64_t class, bool *is_new)
{
    size_t number = key_table_find(&slow->set_of, class);
    *is_new = number == KEY_UNKNOWN;
    if (!*is_new)
        return &slow->sets[number];
    return may_simulate(slow) ? simulate(slow, set, class) : NULL;
}

/* Jobs of one colour are each like another one of that colour. */
static void recall(const struct known_set *known, const struct job_set *set)
{
    bool *taken = array_zeroed(known->count, sizeof *taken);
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t like = 0;
        while (like + 1 < known->count && (taken[like] || known->colours[like] != set->jobs[i]->colour))
            like++;
        taken[like] = true;
        set->jobs[i]->slow = known->slow[like];
    }
    free(taken);
}

/* ---- estimates ---- */

static uint32_t *tries_of(struct set_slow *slow, const struct set_job *job)
{
    uint64_t kind = refine_mix(refine_mix(1, job->type), job->count);
    size_t number = key_table_find(&slow->tries_of, kind);
    if (number == KEY_UNKNOWN) {
        number = slow->kind_count++;
        key_table_add(&slow->tries_of, kind, number);
        slow->tries = array_grow(slow->tries, &slow->kind_capacity, slow->kind_count, sizeof *slow->tries);
        slow->tries[number] = 0;
    }
    return &slow->tries[number];
}

static int by_place(const void *left, const void *right)
{
    const struct set_job *const *a = left, *const *b = right;
    return (*a > *b) - (*a < *b);
}

/* Simulates a part of a set as if the others did not run. */
static void simulate_part(struct set_slow *slow, const struct job_set *part)
{
    struct set_job *copies = array_zeroed(part->count, sizeof *copies);
    struct set_job **jobs = array_zeroed(part->count, sizeof(struct set_job *));
    struct job_set found;
    bool is_new;
    for (uint32_t i = 0; i < part->count; i++) {
        copies[i] = *part->jobs[i];
        jobs[i] = &copies[i];
    }
    job_sets_find(slow->parts, jobs, part->count);
    while (job_sets_next(slow->parts, &found)) {
        const struct known_set *known = find_known(slow, &found, job_sets_class(slow->parts, &found), &is_new);
        slow->counts.parts += is_new && known && known->slow;
    }
    free(jobs);
    free(copies);
}

/* Operations in an iteration of its slowest job. */
static double count_operations(const struct job_set *set)
{
    double longest = 0, operations = 0;
    for (uint32_t i = 0; i < set->count; i++)
        longest = fmax(longest, set->jobs[i]->iteration);
    for (uint32_t i = 0; i < set->count; i++)
        operations += set->jobs[i]->footprint.traffic->operations * longest / set->jobs[i]->iteration;
    return operations;
}

/* Whether it is cheap enough to be simulated for the sake of others. */
static bool is_cheap(const struct job_set *part)
{
    return part->count <= PART_MOST && count_operations(part) <= part_operations;
}

/* Looks for more points of a job's kind. */
static void learn(struct set_slow *slow, const struct job_sets *finder, const struct job_set *set, struct set_job *job)
{
    uint32_t *tries = tries_of(slow, job);
    if (*tries >= TRIES || !may_simulate(slow) ||
        (slow_points_known(&slow->points, job->type, job->count) >= POINTS_FEW &&
         job->load <= far_off * slow_points_largest(&slow->points, job->type, job->count)))
        return;
    ++*tries;
    struct job_set part = {array_zeroed(set->count, sizeof(struct set_job *)), 0};
    job_sets_part(finder, job, (uint32_t)slow->together, &part);
    if (!is_cheap(&part))
        job_sets_part(finder, job, 2, &part);
    qsort(part.jobs, part.count, sizeof(struct set_job *), by_place);
    if (is_cheap(&part))
        simulate_part(slow, &part);
    free(part.jobs);
}

static void estimate(struct set_slow *slow, const struct job_sets *finder, const struct job_set *set)
{
    slow->counts.estimated++;
    for (uint32_t i = 0; i < set->count; i++)
        learn(slow, finder, set, set->jobs[i]);
    for (uint32_t i = 0; i < set->count; i++) {
        set->jobs[i]->slow = estimate_of(slow, set->jobs[i]);
        slow->counts.guessed += !slow->points.count;
    }
}

/* Where nothing says otherwise, a set of more jobs is simulated where it has few operations, as long as half of the
 * simulations are left for others; and of all that would be estimated the 4th, 8th, 16th and so on where that is cheap,
 * so that it is known how far estimates of such sets are off. */
static bool is_worthwhile(struct set_slow *slow, const struct job_set *set)
{
    uint64_t number = ++slow->large;
    double operations = count_operations(set);
    bool few = operations <= few_operations && count_simulated(slow) < slow->most / 2;
    bool sampled = number >= SAMPLES_FROM && !(number & (number - 1)) && operations <= part_operations;
    if (set->count > PART_MOST || (!few && !sampled) || slow->spent + operations > spare_operations)
        return false;
    slow->spent += operations;
    return true;
}

void set_slow_find(struct set_slow *slow, const struct job_sets *finder, const struct job_set *set)
{
    struct set_counts *counts = &slow->counts;
    struct known_set *known = NULL;
    bool is_new = false;
    counts->sets++;
    counts->largest = set->count > counts->largest ? set->count : counts->largest;
    bool small = set->count <= slow->together;
    uint64_t class = small || slow->more ? job_sets_class(finder, set) : 0;
    bool larger =
        !small && slow->more && (key_table_find(&slow->set_of, class) != KEY_UNKNOWN || is_worthwhile(slow, set));
    if (small || larger)
        known = find_known(slow, set, class, &is_new);
    if (known && known->slow) {
        *(is_new ? &counts->simulated : &counts->known) += 1;
        recall(known, set);
    } else {
        estimate(slow, finder, set);
    }
    for (uint32_t i = 0; i < set->count; i++)
        counts->slowest = fmax(counts->slowest, set->jobs[i]->slow);
}
