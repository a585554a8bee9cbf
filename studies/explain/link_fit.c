/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/link_fit.h"

#include "base/arena.h"
#include "base/exit_code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 6, REWEIGHTS = 30, FEW = 5 };

/* The change by which a transfer's time is told apart: it stays with the same narrowest link. */
static const double small = 0.01;
/* Of a transfer's time, what one kind of links makes of it, so that it tells of them; what latency makes, so that it
 * tells of that; and how many times as much of one as of another, so that these two tell latency from rate. */
static const double most_of_it = 0.5, some_of_it = 0.02, other_size = 4;
/* Contention that does not count; a step of the fit that is none. */
static const double no_contention = 0.005, settled = 1e-4;

struct fitting {
    const struct scenario *scenario;
    const struct recorded *trace;
    const struct link_source *source;
    double *alone;       /* [operation] */
    uint32_t *transfers; /* operations of the trace that count */
    size_t count;
    double *now, *slower, *later; /* [transfer]: alone, with links as they are fitted so far; with a little less rate,
                                     or more latency, of one kind */
    struct told *told;            /* of those that tell of a kind */
    double *ratios;
    struct link_fit *fit;
    struct arena *arena;
};

/* What a transfer says of one kind of links, as shares of its time. */
struct told {
    double rate, latency; /* what is in proportion to one over the rate, to the latency */
    double missing;       /* what it took beyond what is fitted */
};

/* ---- kinds of links ---- */

static int find_kinds(struct fitting *fitting)
{
    const char *names[LINK_KINDS_MAX];
    const struct scenario *scenario = fitting->scenario;
    int code = link_kinds_list(scenario, names, &fitting->fit->count, fitting->arena);
    for (size_t i = 0; i < fitting->fit->count; i++)
        fitting->fit->levels[i] =
            (struct link_level){.kind = names[i],
                                .rate = 1,
                                .latency = 1,
                                .low = NAN,
                                .high = NAN,
                                .before = link_kinds_factor(scenario, names[i], WHAT_IF_BANDWIDTH),
                                .latency_before = link_kinds_factor(scenario, names[i], WHAT_IF_LATENCY)};
    return code;
}

/* ---- transfers ---- */

/* Of a collective one member counts: all end together. */
static bool is_first_member(const struct recorded *trace, const struct recorded_operation *operation, uint32_t *firsts)
{
    uint32_t rank = recorded_rank_of(trace, operation);
    if (operation->kind != RECORDED_COLLECTIVE || operation->group == RECORDED_NONE)
        return true;
    if (firsts[operation->group] == RECORDED_NONE)
        firsts[operation->group] = rank;
    return firsts[operation->group] == rank;
}

/* A rank moves data. */
struct busy {
    uint32_t rank, operation;
    double begin, end;
};

static int by_begin(const void *left, const void *right)
{
    const struct busy *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->begin < b->begin || a->begin > b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->operation > b->operation) - (a->operation < b->operation);
}

static uint32_t rank_numbered(const struct recorded *trace, uint32_t number)
{
    uint32_t low = 0, high = (uint32_t)trace->rank_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (trace->ranks[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < trace->rank_count && trace->ranks[low].number == number ? low : RECORDED_NONE;
}

static struct busy *list_busy(const struct fitting *fitting, size_t *count)
{
    const struct recorded *trace = fitting->trace;
    struct busy *busy = array_zeroed(2 * trace->count + 1, sizeof *busy);
    *count = 0;
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct recorded_operation *operation = &trace->operations[i];
        bool sends = operation->kind == RECORDED_SEND;
        if ((!sends && operation->kind != RECORDED_COLLECTIVE) || !(fitting->source->own[i] > 0))
            continue;
        struct busy own = {recorded_rank_of(trace, operation), i, operation->end - fitting->source->own[i],
                           operation->end};
        busy[(*count)++] = own;
        own.rank = sends ? rank_numbered(trace, operation->peer) : RECORDED_NONE;
        if (own.rank != RECORDED_NONE)
            busy[(*count)++] = own;
    }
    if (*count)
        qsort(busy, *count, sizeof *busy, by_begin);
    return busy;
}

/* [operation]: whether another transfer of one of its ranks is under way while it is; the caller frees it. */
static bool *find_crowded(const struct fitting *fitting)
{
    size_t count;
    struct busy *busy = list_busy(fitting, &count);
    bool *crowded = array_zeroed(fitting->trace->count, sizeof *crowded);
    double last = -INFINITY; /* end of those before on the rank */
    for (size_t i = 0; i < count; i++) {
        const struct busy *own = &busy[i];
        double grace = no_contention * (own->end - own->begin);
        bool next = i + 1 < count && own[1].rank == own->rank;
        if (!i || own[-1].rank != own->rank)
            last = -INFINITY;
        if (last > own->begin + grace || (next && own[1].begin < own->end - grace))
            crowded[own->operation] = true;
        last = fmax(last, own->end);
    }
    free(busy);
    return crowded;
}

/* Those that others are not in the way of. */
static void list_transfers(struct fitting *fitting)
{
    const struct recorded *trace = fitting->trace;
    uint32_t *firsts = array_zeroed(trace->group_count, sizeof *firsts);
    bool *crowded = find_crowded(fitting);
    for (size_t i = 0; i < trace->group_count; i++)
        firsts[i] = RECORDED_NONE;
    for (uint32_t i = 0; i < trace->count; i++) {
        const struct recorded_operation *operation = &trace->operations[i];
        double alone = fitting->alone[i];
        if ((operation->kind != RECORDED_SEND && operation->kind != RECORDED_COLLECTIVE) ||
            !(fitting->source->own[i] > 0) || !(alone > 0) || crowded[i] || !is_first_member(trace, operation, firsts))
            continue;
        /* NAN: an engine without contention, or the recorded time */
        if (!(fabs(fitting->source->shared[i] - alone) > no_contention * alone))
            fitting->transfers[fitting->count++] = i;
    }
    free(crowded);
    free(firsts);
}

/* ---- the scenario with other links ---- */

static void add_link(struct what_if *links, size_t *count, const char *kind, enum what_if_figure figure, double factor)
{
    if (factor < 1 || factor > 1)
        links[(*count)++] =
            (struct what_if){.text = kind, .target = kind, .figure = figure, .factor = factor, .share = 1};
}

/* What the transfers take with the links as they are fitted so far, one of them changed (SIZE_MAX: none). */
static int ask(const struct fitting *fitting, size_t level, double rate, double latency, double *seconds)
{
    struct scenario scenario = *fitting->scenario;
    struct what_if *links =
        arena_array(fitting->arena, scenario.link_count + (size_t)2 * LINK_KINDS_MAX, sizeof *links);
    if (scenario.link_count)
        memcpy(links, scenario.links, scenario.link_count * sizeof *links);
    for (size_t i = 0; i < fitting->fit->count; i++) {
        const struct link_level *own = &fitting->fit->levels[i];
        add_link(links, &scenario.link_count, own->kind, WHAT_IF_BANDWIDTH, own->rate * (i == level ? rate : 1));
        add_link(links, &scenario.link_count, own->kind, WHAT_IF_LATENCY, own->latency * (i == level ? latency : 1));
    }
    scenario.links = links;
    int code = fitting->source->alone(&scenario, fitting->trace, fitting->alone);
    for (size_t i = 0; i < fitting->count; i++)
        seconds[i] = fitting->alone[fitting->transfers[i]];
    return code;
}

/* ---- the fit ---- */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Those of whose time that kind of links makes the most; how many. */
static size_t list_told(const struct fitting *fitting)
{
    size_t count = 0;
    for (size_t i = 0; i < fitting->count; i++) {
        double now = fitting->now[i];
        struct told told = {(fitting->slower[i] / now - 1) / (1 / (1 - small) - 1),
                            (fitting->later[i] / now - 1) / small,
                            fitting->source->own[fitting->transfers[i]] / now - 1};
        if (told.rate + told.latency > most_of_it)
            fitting->told[count++] = told;
    }
    return count;
}

/* Whether rate and latency are told apart: by transfers of other sizes. */
static bool tells_latency(const struct told *told, size_t count)
{
    double least = INFINITY, most = 0, share = 0;
    for (size_t i = 0; i < count; i++) {
        double ratio = told[i].latency / fmax(told[i].rate, 1e-9);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        share = fmax(share, told[i].latency);
    }
    return share > some_of_it && most > other_size * least;
}

/* By which share of itself latency would have to be more, beside the rate: least absolute deviations, by squares with
 * weights. */
static double solve_latency(const struct told *told, size_t count)
{
    double x = 0, y = 0;
    for (int round = 0; round < REWEIGHTS; round++) {
        double aa = 0, ab = 0, bb = 0, am = 0, bm = 0;
        for (size_t i = 0; i < count; i++) {
            const struct told *t = &told[i];
            double weight = round ? 1 / fmax(fabs(t->missing - t->rate * x - t->latency * y), 1e-6) : 1;
            aa += weight * t->rate * t->rate;
            ab += weight * t->rate * t->latency;
            bb += weight * t->latency * t->latency;
            am += weight * t->rate * t->missing;
            bm += weight * t->latency * t->missing;
        }
        double determinant = aa * bb - ab * ab;
        if (!(determinant > 1e-12 * aa * bb))
            return 0;
        x = (am * bb - bm * ab) / determinant;
        y = (aa * bm - ab * am) / determinant;
    }
    return y;
}

/* What each transfer that is mostly rate says that one over the rate would have to be, over what it is: ascending in
 * `ratios`; how many. */
static size_t list_ratios(const struct fitting *fitting, size_t told, double later)
{
    size_t count = 0;
    for (size_t i = 0; i < told; i++) {
        const struct told *own = &fitting->told[i];
        if (own->rate > most_of_it)
            fitting->ratios[count++] = 1 + (own->missing - own->latency * later) / own->rate;
    }
    if (count)
        qsort(fitting->ratios, count, sizeof *fitting->ratios, by_value);
    return count;
}

static double middle(const double *sorted, size_t count)
{
    return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

/* Between which of its values, as many from either end, a median lies in at least 8 of 10 cases. */
static void bound(const double *sorted, size_t count, double *low, double *high)
{
    static const double errors = 1.2816 / 2; /* of a binomial distribution, over the root of the number */
    double half = errors * sqrt((double)count);
    size_t first = (size_t)fmax(floor((double)count / 2 - half - 0.5), 0);
    *low = count < FEW ? NAN : sorted[first];
    *high = count < FEW ? NAN : sorted[count - 1 - first];
}

static double within(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

static void set_rate(const struct fitting *fitting, struct link_level *level)
{
    double before = level->rate, low, high, least = scenario_link_bounds.rate_least / level->before,
           most = link_kinds_most(fitting->scenario, level->kind, fitting->arena) / level->before;
    double slowness = middle(fitting->ratios, level->rate_count);
    bound(fitting->ratios, level->rate_count, &low, &high);
    level->rate = slowness > 0 ? within(before / slowness, least, most) : most;
    level->at_limit = level->rate >= most;
    level->low = isnan(low) ? NAN : within(before / high, least, most);
    level->high = isnan(low) ? NAN : low > 0 ? within(before / low, least, most) : most;
}

/* How far a kind's figures move, as a share of themselves, goes to *moved if it is more. */
static int fit_level(struct fitting *fitting, size_t number, double *moved)
{
    struct link_level *level = &fitting->fit->levels[number], before = *level;
    int code = ask(fitting, SIZE_MAX, 1, 1, fitting->now);
    code = code == EXIT_DONE ? ask(fitting, number, 1 - small, 1, fitting->slower) : code;
    code = code == EXIT_DONE ? ask(fitting, number, 1, 1 + small, fitting->later) : code;
    if (code != EXIT_DONE)
        return code;
    size_t told = list_told(fitting);
    double later = 0;
    level->latency_count = tells_latency(fitting->told, told) ? told : 0;
    if (level->latency_count)
        later = solve_latency(fitting->told, told);
    level->latency = within(before.latency * (1 + later), scenario_link_bounds.latency_least / before.latency_before,
                            scenario_link_bounds.latency_most / before.latency_before);
    level->rate_count = list_ratios(fitting, told, level->latency / before.latency - 1);
    if (level->rate_count)
        set_rate(fitting, level);
    *moved = fmax(*moved, fmax(fabs(level->rate / before.rate - 1), fabs(level->latency / before.latency - 1)));
    return code;
}

static int fit_round(struct fitting *fitting, bool first, double *moved)
{
    int code = EXIT_DONE;
    *moved = 0;
    for (size_t i = 0; i < fitting->fit->count && code == EXIT_DONE; i++)
        if (first || fitting->fit->levels[i].rate_count || fitting->fit->levels[i].latency_count)
            code = fit_level(fitting, i, moved);
    return code;
}

int link_fit_find(const struct scenario *scenario, const struct recorded *trace, const struct link_source *source,
                  struct arena *arena, struct link_fit *fit)
{
    struct fitting fitting = {.scenario = scenario, .trace = trace, .source = source, .fit = fit, .arena = arena};
    double moved = 1;
    *fit = (struct link_fit){.count = 0};
    fitting.alone = arena_array(arena, trace->count + 1, sizeof *fitting.alone);
    fitting.transfers = arena_array(arena, trace->count + 1, sizeof *fitting.transfers);
    fitting.now = arena_array(arena, trace->count + 1, sizeof *fitting.now);
    fitting.slower = arena_array(arena, trace->count + 1, sizeof *fitting.slower);
    fitting.later = arena_array(arena, trace->count + 1, sizeof *fitting.later);
    fitting.told = arena_array(arena, trace->count + 1, sizeof *fitting.told);
    fitting.ratios = arena_array(arena, trace->count + 1, sizeof *fitting.ratios);
    int code = source->alone(scenario, trace, fitting.alone);
    if (code == EXIT_DONE)
        list_transfers(&fitting);
    if (code == EXIT_DONE && fitting.count)
        code = find_kinds(&fitting);
    for (int round = 0; round < ROUNDS && code == EXIT_DONE && moved > settled; round++)
        code = fit_round(&fitting, !round, &moved);
    size_t kept = 0;
    for (size_t i = 0; i < fit->count; i++)
        if (fit->levels[i].rate_count || fit->levels[i].latency_count)
            fit->levels[kept++] = fit->levels[i];
    fit->count = kept;
    return code;
}
