/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/idle/replay.h"

#include "base/arena.h"
#include "cluster/idle/node_set.h"
#include "cluster/idle/profiling.h"

#include <math.h>
#include <stdlib.h>

const char *const knowledge_names[] = {"curve", "linear", "profile", NULL};
const char *const objective_names[] = {"samples", "speed-up", NULL};
const char *const size_cause_names[] = {"left", "chosen", "profile", "ended", NULL};

enum { NOT_IDLE = -2, FREE = -1 };

/* A job that was taken in. */
struct active {
    uint32_t job;
    struct node_set nodes;
    double *objective; /* [most + 1]: a second, as it does run */
    double *believed;  /* the same as those who decide believe; NULL: they know nothing yet */
    double share;      /* node-seconds of an even share of the idle nodes, while it is here */
    struct profiling profiling;
};

struct state {
    const struct replay_request *request;
    struct replay *replay;
    struct arena *arena;
    double now;
    struct node_set free;
    uint32_t idle;          /* nodes */
    int32_t *owner;         /* [node]: a job, FREE or NOT_IDLE */
    double *since;          /* [node]: when its job got it */
    struct active **active; /* active_count of them, in the order in which they came */
    size_t active_count;
    uint32_t *order; /* jobs by submit time; those from `next` on are still to come */
    size_t next;
    double lost;  /* work, since the last decision */
    double *best; /* [node_count + 1]: what these jobs produce in a second at best */
};

static const struct idle_job *job_of(const struct state *state, const struct active *active)
{
    return &state->request->jobs[active->job];
}

static struct job_figures *figures_of(const struct state *state, const struct active *active)
{
    return &state->replay->jobs[active->job];
}

static double rate_of(const struct state *state, const struct active *active)
{
    return job_of(state, active)->curve.rate[active->nodes.count];
}

/* What a sample counts. */
static double weight_of(const struct state *state, const struct idle_job *job)
{
    if (state->request->policy.objective == OBJECTIVE_SAMPLES)
        return 1;
    return job->curve.least / job->curve.rate[job->curve.least];
}

/* ---- nodes ---- */

static void note_change(struct state *state, const struct active *active, uint32_t before, enum size_cause cause)
{
    struct replay *replay = state->replay;
    replay->changes =
        array_grow(replay->changes, &replay->capacity[1], replay->change_count + 1, sizeof *replay->changes);
    replay->changes[replay->change_count++] =
        (struct size_change){state->now, active->job, before, active->nodes.count, cause};
}

static void end_stay(struct state *state, uint32_t node, uint32_t job)
{
    struct replay *replay = state->replay;
    if (state->since[node] >= state->now)
        return;
    replay->stays = array_grow(replay->stays, &replay->capacity[2], replay->stay_count + 1, sizeof *replay->stays);
    replay->stays[replay->stay_count++] = (struct node_stay){node, job, state->since[node], state->now};
}

static void give(struct state *state, struct active *active)
{
    uint32_t node = node_set_take(&state->free);
    node_set_add(&active->nodes, node);
    state->owner[node] = (int32_t)active->job;
    state->since[node] = state->now;
}

static void take_back(struct state *state, struct active *active)
{
    uint32_t node = node_set_take(&active->nodes);
    node_set_add(&state->free, node);
    state->owner[node] = FREE;
    end_stay(state, node, active->job);
}

static void lose(struct state *state, const struct active *active, double seconds, double rate)
{
    state->lost += weight_of(state, job_of(state, active)) * seconds * rate;
    figures_of(state, active)->samples -= seconds * rate;
}

/* ---- events ---- */

static struct active *find_active(const struct state *state, uint32_t job)
{
    for (size_t i = 0; i < state->active_count; i++)
        if (state->active[i]->job == job)
            return state->active[i];
    return NULL;
}

static void nodes_leave(struct state *state, const struct idle_moment *moment)
{
    uint32_t *before = array_zeroed(state->active_count + 1, sizeof *before);
    for (size_t i = 0; i < state->active_count; i++)
        before[i] = state->active[i]->nodes.count;
    for (uint32_t i = 0; i < moment->left_count; i++) {
        uint32_t node = moment->left[i];
        if (state->owner[node] == FREE) {
            node_set_remove(&state->free, node);
        } else {
            end_stay(state, node, (uint32_t)state->owner[node]);
            node_set_remove(&find_active(state, (uint32_t)state->owner[node])->nodes, node);
        }
        state->owner[node] = NOT_IDLE;
    }
    state->idle -= moment->left_count;
    for (size_t i = 0; i < state->active_count; i++) {
        struct active *active = state->active[i];
        const struct idle_job *job = job_of(state, active);
        if (active->nodes.count == before[i])
            continue;
        lose(state, active, job->shrink, job->curve.rate[before[i]]);
        figures_of(state, active)->preempted++;
        figures_of(state, active)->nodes_lost += before[i] - active->nodes.count;
        state->replay->preemptions++;
        note_change(state, active, before[i], CAUSE_LEFT);
    }
    free(before);
}

static void nodes_join(struct state *state, const struct idle_moment *moment)
{
    for (uint32_t i = 0; i < moment->joined_count; i++) {
        node_set_add(&state->free, moment->joined[i]);
        state->owner[moment->joined[i]] = FREE;
    }
    state->idle += moment->joined_count;
}

/* What an even share of dedicated nodes would have produced in the time that the job was here. */
static void end_presence(struct state *state, struct active *active)
{
    struct job_figures *figures = figures_of(state, active);
    const struct idle_job *job = job_of(state, active);
    double here = state->now - figures->began;
    if (here > 0)
        figures->dedicated = here * curve_between(&job->curve, active->share / here);
}

/* Up to rounding: less than the clock can tell, too. */
static bool is_done(const struct state *state, const struct active *active)
{
    const struct idle_job *job = job_of(state, active);
    double left = job->samples - figures_of(state, active)->samples, rate = rate_of(state, active);
    return job->samples > 0 && (left <= 1e-12 * job->samples || (rate > 0 && state->now + left / rate <= state->now));
}

static bool jobs_end(struct state *state)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->active_count; i++) {
        struct active *active = state->active[i];
        if (!is_done(state, active)) {
            state->active[kept++] = active;
            continue;
        }
        uint32_t before = active->nodes.count;
        while (active->nodes.count)
            take_back(state, active);
        figures_of(state, active)->ended = state->now;
        end_presence(state, active);
        state->replay->finished++;
        note_change(state, active, before, CAUSE_ENDED);
    }
    bool any = kept < state->active_count;
    state->active_count = kept;
    return any;
}

static double *objective_of(const struct state *state, const struct idle_job *job, const struct curve *curve)
{
    double weight = weight_of(state, job);
    double *objective = arena_array(state->arena, curve->most + (size_t)1, sizeof *objective);
    for (uint32_t nodes = 0; nodes <= curve->most; nodes++)
        objective[nodes] = weight * curve->rate[nodes];
    return objective;
}

static void take_in(struct state *state, uint32_t number)
{
    const struct idle_job *job = &state->request->jobs[number];
    struct active *active = arena_alloc(state->arena, sizeof *active);
    active->job = number;
    active->nodes = node_set_create(state->request->node_count, state->arena);
    active->objective = active->believed = objective_of(state, job, &job->curve);
    if (job->knowledge == LINEAR) {
        struct curve line = curve_linear(&job->curve, state->arena);
        active->believed = objective_of(state, job, &line);
    } else if (job->knowledge == PROFILED) {
        active->believed = NULL;
        active->profiling = profiling_create(&state->request->policy, state->arena);
    }
    state->replay->jobs[number].began = state->now;
    state->active[state->active_count++] = active;
}

static bool jobs_come(struct state *state)
{
    bool any = false;
    while (state->next < state->request->job_count && state->active_count < state->request->policy.running &&
           state->request->jobs[state->order[state->next]].submit <= state->now) {
        take_in(state, state->order[state->next++]);
        any = true;
    }
    return any;
}

static struct choice_job choice_job_of(const struct state *state, const struct active *active, const double *objective)
{
    const struct idle_job *job = job_of(state, active);
    return (struct choice_job){objective,           job->curve.least, job->curve.most,
                               active->nodes.count, job->grow,        job->shrink};
}

static void find_best(struct state *state)
{
    struct arena *scratch = arena_create();
    struct choice_job *jobs = arena_array(scratch, state->active_count + 1, sizeof *jobs);
    for (size_t i = 0; i < state->active_count; i++)
        jobs[i] = choice_job_of(state, state->active[i], state->active[i]->objective);
    choice_best(jobs, state->active_count, state->request->node_count, state->best, scratch);
    arena_destroy(scratch);
}

/* ---- decisions ---- */

/* The job that is being measured, one at a time: `size` nodes are its. */
static struct active *profile(struct state *state, uint32_t *size)
{
    const struct idle_policy *policy = &state->request->policy;
    for (size_t i = 0; i < state->active_count; i++) {
        struct active *active = state->active[i];
        const struct idle_job *job = job_of(state, active);
        if (active->believed)
            continue;
        *size = profiling_size(&active->profiling, policy, job, state->now, active->nodes.count, state->idle);
        if (!active->profiling.done)
            return *size ? active : NULL;
        struct curve curve = profiling_curve(&active->profiling, policy, job, state->arena);
        active->believed = objective_of(state, job, &curve);
    }
    *size = 0;
    return NULL;
}

/* sizes[active] */
static void choose_sizes(struct state *state, uint32_t *sizes, const struct active **profiled, struct arena *scratch)
{
    const struct idle_policy *policy = &state->request->policy;
    struct choice_job *jobs = arena_array(scratch, state->active_count, sizeof *jobs);
    size_t *index = arena_array(scratch, state->active_count, sizeof *index), count = 0;
    uint32_t *chosen = arena_array(scratch, state->active_count, sizeof *chosen), pinned = 0;
    *profiled = profile(state, &pinned);
    for (size_t i = 0; i < state->active_count; i++) {
        const struct active *active = state->active[i];
        sizes[i] = active == *profiled ? pinned : 0;
        if (!active->believed)
            continue;
        index[count] = i;
        jobs[count++] = choice_job_of(state, active, active->believed);
    }
    struct choice choice = {jobs, count, state->idle - pinned, policy->forward, policy->grow_new, chosen};
    if (count)
        policy->chooser->choose(&choice, scratch);
    for (size_t k = 0; k < count; k++)
        sizes[index[k]] = chosen[k];
}

static void resize(struct state *state, struct active *active, uint32_t size, enum size_cause cause)
{
    const struct idle_job *job = job_of(state, active);
    uint32_t before = active->nodes.count;
    if (size < before) {
        lose(state, active, job->shrink, job->curve.rate[before]);
        figures_of(state, active)->shrunk++;
        while (active->nodes.count > size)
            take_back(state, active);
    } else {
        lose(state, active, job->grow, job->curve.rate[state->request->policy.grow_new ? size : before]);
        figures_of(state, active)->grown++;
        while (active->nodes.count < size)
            give(state, active);
    }
    state->replay->rescales++;
    note_change(state, active, before, cause);
}

/* Shrinks, then grows, so that nodes are there. */
static void apply(struct state *state, const uint32_t *sizes, const struct active *profiled,
                  struct replay_decision *decision)
{
    for (int grows = 0; grows < 2; grows++)
        for (size_t i = 0; i < state->active_count; i++) {
            struct active *active = state->active[i];
            enum size_cause cause = active == profiled ? CAUSE_PROFILE : CAUSE_CHOSEN;
            if (grows ? sizes[i] <= active->nodes.count : sizes[i] >= active->nodes.count)
                continue;
            resize(state, active, sizes[i], cause);
            *(grows ? &decision->grown : &decision->shrunk) += 1;
        }
}

static void decide(struct state *state, const struct idle_moment *moment)
{
    struct replay *replay = state->replay;
    struct arena *scratch = arena_create();
    uint32_t *sizes = arena_array(scratch, state->active_count, sizeof *sizes);
    const struct active *profiled;
    struct replay_decision decision = {.time = state->now,
                                       .idle = state->idle,
                                       .left = moment ? moment->left_count : 0,
                                       .joined = moment ? moment->joined_count : 0,
                                       .running = (uint32_t)state->active_count,
                                       .best = state->best[state->idle]};
    choose_sizes(state, sizes, &profiled, scratch);
    apply(state, sizes, profiled, &decision);
    decision.lost = state->lost;
    state->lost = 0;
    decision.used = state->idle - state->free.count;
    for (size_t i = 0; i < state->active_count; i++)
        decision.rate += state->active[i]->objective[state->active[i]->nodes.count];
    replay->decisions =
        array_grow(replay->decisions, &replay->capacity[0], replay->decision_count + 1, sizeof *replay->decisions);
    replay->decisions[replay->decision_count++] = decision;
    arena_destroy(scratch);
}

/* ---- time ---- */

static void pass_time(struct state *state, double to)
{
    struct replay *replay = state->replay;
    double time = to - state->now;
    uint64_t useful = 0;
    for (size_t i = 0; i < state->active_count; i++)
        useful += job_of(state, state->active[i])->curve.most;
    double share = state->active_count ? fmin(state->idle, (double)useful) / (double)state->active_count : 0;
    for (size_t i = 0; i < state->active_count; i++) {
        struct active *active = state->active[i];
        struct job_figures *figures = figures_of(state, active);
        double gain = rate_of(state, active) * time;
        figures->samples += gain;
        figures->gross += gain;
        figures->node_time += active->nodes.count * time;
        figures->profiling += active->profiling.runs ? time : 0;
        active->share += share * time;
    }
    replay->idle_time += state->idle * time;
    replay->used_time += (state->idle - state->free.count) * time;
    replay->best += state->best[state->idle] * time;
    state->now = to;
}

/* The next end of a job or of a profiling run, or arrival of a job that is taken in; INFINITY: none. */
static double next_event(const struct state *state)
{
    double next = INFINITY;
    for (size_t i = 0; i < state->active_count; i++) {
        const struct active *active = state->active[i];
        const struct idle_job *job = job_of(state, active);
        double rate = rate_of(state, active);
        if (job->samples > 0 && rate > 0)
            next = fmin(next, state->now + fmax(0, job->samples - figures_of(state, active)->samples) / rate);
        if (active->profiling.runs)
            next = fmin(next, active->profiling.ends);
    }
    if (state->next < state->request->job_count && state->active_count < state->request->policy.running)
        next = fmin(next, fmax(state->now, state->request->jobs[state->order[state->next]].submit));
    return next;
}

/* ---- the whole ---- */

struct arrival {
    double submit;
    uint32_t job;
};

static int by_submit(const void *left, const void *right)
{
    const struct arrival *a = left, *b = right;
    if (a->submit != b->submit)
        return a->submit < b->submit ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

static void order_jobs(struct state *state)
{
    size_t count = state->request->job_count;
    struct arrival *arrivals = array_zeroed(count + 1, sizeof *arrivals);
    for (uint32_t job = 0; job < count; job++)
        arrivals[job] = (struct arrival){state->request->jobs[job].submit, job};
    qsort(arrivals, count, sizeof *arrivals, by_submit);
    for (size_t i = 0; i < count; i++)
        state->order[i] = arrivals[i].job;
    free(arrivals);
}

static void add_up(struct state *state)
{
    struct replay *replay = state->replay;
    for (size_t job = 0; job < state->request->job_count; job++) {
        double weight = weight_of(state, &state->request->jobs[job]);
        replay->work += weight * replay->jobs[job].samples;
        replay->gross += weight * replay->jobs[job].gross;
        replay->dedicated += weight * replay->jobs[job].dedicated;
    }
}

static void finish(struct state *state)
{
    for (size_t i = 0; i < state->active_count; i++) {
        struct active *active = state->active[i];
        for (uint32_t node = 0; node < state->request->node_count; node++)
            if (node_set_has(&active->nodes, node))
                end_stay(state, node, active->job);
        end_presence(state, active);
    }
    add_up(state);
}

static void run(struct state *state)
{
    const struct idle_moments *moments = state->request->moments;
    size_t next = 0;
    while (state->now < moments->duration || next < moments->count) {
        double event = fmin(next_event(state), moments->duration);
        const struct idle_moment *moment = next < moments->count ? &moments->items[next] : NULL;
        if (moment && moment->time > event)
            moment = NULL;
        pass_time(state, moment ? moment->time : event);
        if (!moment && event >= moments->duration)
            return;
        if (moment) {
            next++;
            nodes_leave(state, moment);
            nodes_join(state, moment);
        }
        bool ended = jobs_end(state), came = jobs_come(state);
        if (ended || came)
            find_best(state);
        if (state->active_count || ended)
            decide(state, moment);
    }
}

struct replay *replay_run(const struct replay_request *request, struct arena *arena)
{
    struct replay *replay = array_zeroed(1, sizeof *replay);
    struct state state = {.request = request,
                          .replay = replay,
                          .arena = arena,
                          .free = node_set_create(request->node_count, arena),
                          .owner = arena_array(arena, request->node_count, sizeof *state.owner),
                          .since = arena_array(arena, request->node_count, sizeof *state.since),
                          .active = arena_array(arena, request->job_count, sizeof(struct active *)),
                          .order = arena_array(arena, request->job_count, sizeof *state.order),
                          .best = arena_array(arena, request->node_count + (size_t)1, sizeof *state.best)};
    replay->duration = request->moments->duration;
    replay->jobs = array_zeroed(request->job_count, sizeof *replay->jobs);
    for (size_t job = 0; job < request->job_count; job++)
        replay->jobs[job].began = replay->jobs[job].ended = INFINITY;
    for (uint32_t node = 0; node < request->node_count; node++)
        state.owner[node] = NOT_IDLE;
    order_jobs(&state);
    run(&state);
    finish(&state);
    return replay;
}
