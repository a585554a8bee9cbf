/* SPDX-License-Identifier: Apache-2.0 */
#include "training/progress.h"

#include "base/arena.h"

#include <math.h>

enum { PURPOSE_SAVE = 1 };

const char *const training_part_names[] = {"steps",     "start",    "evaluation",  "checkpoint", "lost",
                                           "detection", "waiting",  "replacement", "restart",    "load",
                                           "slow",      "replicas", NULL};

static double after(double every, double done)
{
    return isfinite(every) ? (floor(done / every) + 1) * every : INFINITY;
}

/* From a state with `done` work on. */
static void set_marks(struct progress *progress)
{
    const struct training_plan *plan = progress->plan;
    progress->phase = PART_STEPS;
    progress->pending = false;
    progress->next_save = progress->done + plan->interval;
    progress->next_far = plan->near ? progress->safe_far + plan->far_interval : progress->next_save;
    progress->next_evaluation = after(plan->evaluate_every, progress->done);
}

void progress_begin(struct progress *progress, const struct training_plan *plan, uint64_t run_seed,
                    struct training_run *run, struct training_diary *log)
{
    *progress = (struct progress){
        .plan = plan, .run = run, .log = log, .draws = draws_of(run_seed, PURPOSE_SAVE, 0), .slow = 1, .share = 1};
    set_marks(progress);
}

static void write_down(struct training_diary *log, const struct training_span *span)
{
    struct training_span *last = log->count ? &log->spans[log->count - 1] : NULL;
    if (span->from >= log->end || !(span->to > span->from))
        return;
    if (last && last->part == span->part && last->cause == span->cause && !(last->to < span->from)) {
        last->to = span->to;
        return;
    }
    log->spans = array_grow(log->spans, &log->capacity, log->count + 1, sizeof *log->spans);
    log->spans[log->count++] = *span;
}

void progress_blame(struct progress *progress, const struct failure_component *cause, double seconds)
{
    size_t place = cause ? (size_t)(cause - progress->plan->components) : 0;
    if (cause)
        progress->run->causes[place < TRAINING_CAUSES ? place : TRAINING_CAUSES - 1] += seconds;
}

void progress_count(struct progress *progress, enum training_part part, double from, double to,
                    const struct failure_component *cause)
{
    progress->run->parts[part] += to - from;
    progress_blame(progress, cause, to - from);
    if (progress->log)
        write_down(progress->log, &(struct training_span){from, to, part, cause});
}

/* Steps: what they take at full speed counts as steps until some are lost; the rest has its own causes. */
static void count_steps(struct progress *progress, double from, double to, double work)
{
    double missing = (to - from) * (1 - progress->share);
    progress->run->computed += work;
    progress->run->parts[PART_REPLICAS] += missing;
    progress->run->parts[PART_SLOW] += progress->slow > 1 ? to - from - missing - work : 0;
    progress_blame(progress, progress->slow > 1 ? progress->cause : NULL, to - from - missing - work);
    if (progress->log)
        write_down(progress->log, &(struct training_span){from, to,
                                                          progress->slow > 1    ? PART_SLOW
                                                          : progress->share < 1 ? PART_REPLICAS
                                                                                : PART_STEPS,
                                                          progress->slow > 1 ? progress->cause : NULL});
}

static void settle(struct progress *progress, double now)
{
    if (!progress->pending || progress->pending_at > now)
        return;
    progress->pending = false;
    progress->safe = progress->pending_work;
    if (progress->pending_far)
        progress->safe_far = progress->pending_work;
}

/* Whether the state as it is goes to storage when it is saved. */
static bool goes_far(const struct progress *progress)
{
    const struct training_plan *plan = progress->plan;
    return !plan->near || progress->done >= progress->next_far - 1e-9 * plan->far_interval ||
           progress->done >= plan->work;
}

/* What the steps behind take longer while it is written: all of it is counted where it is saved. */
static double slowed_by(const struct progress *progress, bool far)
{
    const struct training_plan *plan = progress->plan;
    return progress->done >= plan->work ? 0 : far ? plan->slowed : plan->slowed_near;
}

static void end_save(struct progress *progress, double now)
{
    const struct training_plan *plan = progress->plan;
    bool far = goes_far(progress);
    settle(progress, now); /* the one before, which may have been written meanwhile */
    progress->run->checkpoints++;
    progress->pending = true;
    progress->pending_far = far;
    progress->pending_work = progress->done;
    double write = distribution_draw(far ? plan->write : plan->write_near, &progress->draws);
    progress->pending_at = now + fmax(0, write - slowed_by(progress, far));
    progress->next_save = progress->done + plan->interval;
    if (far)
        progress->next_far = progress->done + (plan->near ? plan->far_interval : plan->interval);
    settle(progress, now);
}

static void begin_phase(struct progress *progress, enum training_part phase, double now, double seconds)
{
    progress->phase = phase;
    progress->phase_end = now + seconds;
}

/* Several rounds of steps and a checkpoint in one, where each is like the other: saves a year of checkpoints after
 * every step. */
static double leap(struct progress *progress, double now, double until)
{
    const struct training_plan *plan = progress->plan;
    double interval = plan->interval, speed = progress->share / progress->slow;
    const struct distribution *write = plan->near ? plan->write_near : plan->write;
    if (progress->log || plan->save->kind != DISTRIBUTION_FIXED || write->kind != DISTRIBUTION_FIXED ||
        progress->next_save - progress->done < interval * (1 - 1e-9) || write->a > interval / speed)
        return now;
    double most = fmin(fmin(plan->work, progress->next_evaluation), plan->near ? progress->next_far : INFINITY);
    double save = plan->save->a + (plan->near ? plan->slowed_near : plan->slowed);
    double round = interval / speed + save;
    double rounds = floor(fmin((until - now) / round, (most - progress->done) / interval)) - 1;
    if (!(rounds >= 2))
        return now;
    progress->done += rounds * interval;
    count_steps(progress, now, now + rounds * interval / speed, rounds * interval);
    progress_count(progress, PART_CHECKPOINT, 0, rounds * save, NULL);
    progress->run->checkpoints += (uint32_t)(rounds - 1);
    settle(progress, now + rounds * round);
    progress->safe = progress->done - interval; /* the last but one is written, and the last one on its way */
    if (!plan->near)
        progress->safe_far = progress->safe;
    end_save(progress, now + rounds * round);
    return now + rounds * round;
}

/* Steps until the next thing to do, or `until`. */
static double compute(struct progress *progress, double now, double until)
{
    const struct training_plan *plan = progress->plan;
    double speed = progress->share / progress->slow;
    double mark = fmin(fmin(progress->next_save, progress->next_evaluation), plan->work);
    double reached = now + fmax(0, mark - progress->done) / speed;
    if (reached > until) {
        count_steps(progress, now, until, (until - now) * speed);
        progress->done += (until - now) * speed;
        return until;
    }
    count_steps(progress, now, reached, fmax(0, mark - progress->done));
    progress->done = fmax(mark, progress->done);
    settle(progress, reached);
    bool end = progress->done >= plan->work;
    if (isinf(plan->interval) && end) {
        progress->safe = progress->done;
    } else if (end || progress->done >= progress->next_save) {
        if (progress->pending && !end) /* the one before is still being written */
            progress->next_save = progress->done + (progress->pending_at - reached) * speed;
        else
            begin_phase(progress, PART_CHECKPOINT, reached,
                        distribution_draw(plan->save, &progress->draws) + slowed_by(progress, goes_far(progress)));
    } else {
        progress->next_evaluation += plan->evaluate_every;
        begin_phase(progress, PART_EVALUATION, reached, plan->evaluate);
    }
    return reached;
}

/* Saving or evaluating goes on. */
static double stand(struct progress *progress, double now, double until)
{
    double end = fmin(progress->phase_end, until);
    progress_count(progress, progress->phase, now, end, NULL);
    if (progress->phase_end <= until) {
        bool saved = progress->phase == PART_CHECKPOINT;
        progress->phase = PART_STEPS;
        if (saved)
            end_save(progress, end);
    }
    return end;
}

/* All steps are done, and only the last state is on its way. */
static double write_last(struct progress *progress, double now, double until)
{
    double end = fmin(progress->pending_at, until);
    progress_count(progress, PART_CHECKPOINT, now, end, NULL);
    return end;
}

double progress_advance(struct progress *progress, double now, double until, bool *finished)
{
    settle(progress, now);
    while (now < until && progress->safe < progress->plan->work) {
        if (progress->phase != PART_STEPS)
            now = stand(progress, now, until);
        else if (progress->pending && progress->pending_work >= progress->plan->work)
            now = write_last(progress, now, until);
        else
            now = compute(progress, leap(progress, now, until), until);
        settle(progress, now);
    }
    *finished = progress->safe >= progress->plan->work;
    return now;
}

void progress_return(struct progress *progress, double work, const struct failure_component *cause)
{
    progress_blame(progress, cause, fmax(0, progress->done - work));
    progress->done = fmin(progress->done, work);
    progress->safe = fmin(progress->safe, work);
    progress->safe_far = fmin(progress->safe_far, work);
    set_marks(progress);
}

void progress_stop(struct progress *progress, double now, bool far, const struct failure_component *cause)
{
    settle(progress, now);
    progress_return(progress, far ? progress->safe_far : progress->safe, cause);
}

void progress_pause(struct progress *progress, double now)
{
    double step = progress->plan->step;
    settle(progress, now);
    double saved = progress->pending ? progress->pending_work : progress->safe;
    if (progress->phase == PART_CHECKPOINT)
        progress->next_save = progress->done;
    else if (progress->phase == PART_EVALUATION)
        progress->next_evaluation = progress->done;
    else
        progress->done = fmax(saved, floor(progress->done / step) * step);
    progress->phase = PART_STEPS;
}

void progress_keep(struct progress *progress, double now)
{
    settle(progress, now);
    progress->safe = progress->safe_far = progress->done;
    set_marks(progress);
}
