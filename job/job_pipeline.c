/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule of the workload's pipeline: the plan, and whether there is room for what it lowers to. */
#include "job/job_parts.h"

#include "base/arena.h"
#include "base/room.h"
#include "schedules/plan/plan_file.h"
#include "schedules/plan/plan_weights.h"
#include "schedules/plan_store.h"
#include "simulator/collectives/assignment.h"
#include "simulator/program/program_check.h"
#include "workloads/pipeline/pipeline.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double mean(const double *values, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; values && i < count; i++)
        sum += values[i];
    return sum / count;
}

static uint32_t first_position(const struct stagesim_job *job, uint32_t worker)
{
    uint32_t position = 0;
    while (mesh_worker(&job->job->mesh, position) != worker)
        position++;
    return position;
}

/* [worker]: how long a message to the worker behind takes between the first replicas' hosts while nothing else is under
 * way. */
static const double *messages_to_next(const struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    uint32_t workers = job->scenario->workers;
    double bytes = 0, *seconds = arena_array(job->arena, workers, sizeof *seconds);
    for (uint32_t stage = 0; costs->message && stage < costs->stages; stage++)
        bytes = fmax(bytes, costs->message[stage]);
    for (uint32_t worker = 0; worker + 1 < workers; worker++)
        seconds[worker] = job_message_seconds(job, first_position(job, worker), first_position(job, worker + 1), bytes);
    return seconds;
}

/* The longest of them. */
static double longest_message(const struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    const double *seconds = messages_to_next(job, costs);
    double longest = 0;
    for (uint32_t worker = 0; worker + 1 < job->scenario->workers; worker++)
        longest = fmax(longest, seconds[worker]);
    return longest;
}

static bool report_mistake(void *user, const struct plan_mistake *mistake)
{
    struct stagesim_job *job = user;
    diag_error(job->diag, scenario_place(job->scenario, "schedule"), "%s", mistake->text);
    return job->diag->errors < 20; /* a broken generator makes as many mistakes as it makes slots */
}

/* Of the scenario's schedule; times are those of one worker's share, the mean over workers. */
const struct plan *job_make_plan(struct stagesim_job *job, const struct stagesim_pipeline *costs, bool part)
{
    const struct scenario *scenario = job->scenario;
    struct plan_reporter reporter = {report_mistake, job};
    if (scenario->schedule_file)
        return plan_check(job->plan, &reporter) ? job->plan : NULL;
    struct schedule_request request = scenario_schedule_request(scenario);
    double chunks = (double)costs->stages / scenario->workers;
    request.iterations = scenario->schedule->crosses ? job->crossing : 1;
    request.forward = mean(costs->forward, costs->stages) * chunks;
    request.backward = mean(costs->backward, costs->stages) * chunks;
    request.weight = mean(costs->weight, costs->stages) * chunks;
    struct plan_costs times = {.forward = costs->forward,
                               .backward = costs->backward,
                               .weight = costs->weight,
                               .block = costs->block,
                               .attention = {costs->attention, costs->attention_backward}};
    request.grain = costs->slice_grain;
    if (scenario->schedule->adapts || scenario->schedule->slices) {
        times.latency = longest_message(job, costs);
        times.hops = messages_to_next(job, costs);
        request.costs = &times;
    }
    const struct plan *plan = plan_store_take(scenario->plans, scenario->schedule, &request, &reporter, &job->own_plan);
    return plan && part && job->repetition && !job->uneven ? job_plan_part(job, plan, &request) : plan;
}

/* The plan, or one that has the same stages on the same workers. NULL where there is neither schedule nor file. */
static const struct plan *outline(struct stagesim_job *job)
{
    struct schedule_refusal refusal;
    if (job->plan || job->outline || !job->scenario->schedule)
        return job->plan ? job->plan : job->outline;
    const struct schedule *schedule = job->scenario->schedule;
    struct schedule_request request = scenario_schedule_request(job->scenario);
    const struct schedule_option *effort = schedule->searches ? schedule_find_option(schedule, "effort") : NULL;
    if (effort) /* where stages are does not depend on it */
        request.options[effort - schedule->options] = effort->least;
    if (schedule_fits(schedule, &request, &refusal))
        job->outline = schedule->plan(&request);
    return job->outline;
}

uint32_t job_stage_workers(struct stagesim_job *job, uint32_t stage, uint32_t *workers, uint32_t capacity)
{
    const struct plan *plan = outline(job);
    uint32_t count = 0;
    for (uint32_t pipeline = 0; plan && stage < plan->stages && pipeline < plan->pipelines; pipeline++) {
        uint32_t worker = plan->copies[pipeline * plan->stages + stage].worker;
        bool seen = false;
        for (uint32_t before = 0; before < pipeline && !seen; before++)
            seen = plan->copies[before * plan->stages + stage].worker == worker;
        if (!seen && count++ < capacity)
            workers[count - 1] = worker;
    }
    return count;
}

double job_recomputed(struct stagesim_job *job, uint32_t stage)
{
    const struct schedule *schedule = job->scenario->schedule;
    const struct plan *plan = job->plan || (schedule && schedule->recomputes) ? outline(job) : NULL;
    return plan && stage < plan->stages ? plan_recomputed(plan, stage) : 0;
}

bool job_weights_travel(struct stagesim_job *job)
{
    const struct plan *plan = outline(job);
    return plan && plan_travels(plan);
}

bool job_check_stages(struct stagesim_job *job, uint32_t stages)
{
    if (job->plan->stages == stages)
        return true;
    job_error(job, NULL, "the schedule cuts the model into %u stages, the workload gave costs for %u",
              job->plan->stages, stages);
    return false;
}

static void copy_staleness(struct stagesim_job *job)
{
    job->job->asynchronous = job->plan->asynchronous;
    if (!job->plan->asynchronous)
        return;
    uint32_t *staleness = arena_array(job->arena, job->plan->workers, sizeof *staleness);
    memcpy(staleness, job->plan->staleness, job->plan->workers * sizeof *staleness);
    job->job->staleness = staleness;
}

/* A schedule file says itself how many workers and micro-batches it is for. */
static bool check_plan_size(struct stagesim_job *job)
{
    const struct scenario *scenario = job->scenario;
    if (job->plan->workers != scenario->workers) {
        diag_error(job->diag, scenario_place(scenario, "parallel.pipeline"),
                   "the pipeline has %u worker%s, the schedule %s is for %u", scenario->workers,
                   scenario->workers == 1 ? "" : "s", scenario->schedule_name, job->plan->workers);
        return false;
    }
    uint32_t micro_batches = job->plan->micro_batches / job->plan->iterations / job->plan->slices;
    if (micro_batches != scenario->micro_batches) {
        diag_error(job->diag, scenario_place(scenario, "batch"),
                   "the batch gives %u micro-batches per replica, the schedule %s is for %u", scenario->micro_batches,
                   scenario->schedule_name, micro_batches);
        return false;
    }
    return true;
}

/* The plan of a schedule file is there before the workload asks for the number of stages. */
bool job_read_plan(struct stagesim_job *job)
{
    job->plan = plan_file_read(job->scenario->schedule_file, PYTORCH_TODAY, job->diag);
    job->own_plan = true;
    return job->plan && check_plan_size(job);
}

/* About how many operations a plan becomes: a slot is a computation, or one for each part, with a message out and one
 * in. */
static double expected_operations(const struct plan *plan, const struct stagesim_pipeline *costs, uint32_t repetitions)
{
    double operations = 0;
    for (uint32_t worker = 0; worker < plan->workers; worker++)
        for (size_t i = 0; i < plan->orders[worker].count; i++) {
            uint32_t stage = plan->orders[worker].slots[i].stage;
            operations += costs->fine && costs->part_counts ? 2 + costs->part_counts[stage] : 3;
        }
    return operations * repetitions;
}

bool job_refuse_operations(struct stagesim_job *job, double operations)
{
    uint64_t most = job->scenario->operations_max;
    if (!most || operations <= (double)most)
        return false;
    diag_error(job->diag, scenario_place(job->scenario, ""),
               "the job has about %.0f operations, more than the %llu that are evaluated", operations,
               (unsigned long long)most);
    return true;
}

/* Whether the job is larger than what is asked for. Where iterations cross each other, as many count as are run at the
 * most, whatever the plan spells out. */
static bool refuse_size(struct stagesim_job *job, const struct stagesim_pipeline *costs, uint32_t repetitions)
{
    uint32_t spelt = job->plan->iterations, run = spelt > 1 ? 2 * job->scenario->workers + 1 : 1;
    bool part = job->repetition && job->repetition->more; /* each micro-batch has as many slots as the others */
    double whole = part ? (double)job->scenario->micro_batches / job->plan->micro_batches : 1;
    return job_refuse_operations(job, expected_operations(job->plan, costs, repetitions) / spelt * run * whole);
}

/* Before anything is built. Bytes are those of an operation while a program is built, or with one rank's times. */
static bool check_room(struct stagesim_job *job, const struct stagesim_pipeline *costs, uint32_t repetitions)
{
    enum { OPERATION_BYTES = 60 };
    double operations = expected_operations(job->plan, costs, repetitions), room = room_bytes();
    uint32_t iterations = repetitions * job->plan->iterations;
    if (operations <= PROGRAM_OPERATIONS_MAX && operations * OPERATION_BYTES <= room)
        return true;
    const char *what = arena_print(
        job->arena, "%u micro-batches through %u stages in %u iteration%s are about %.0f operations",
        job->scenario->micro_batches, job->plan->stages, iterations, iterations == 1 ? "" : "s", operations);
    struct place place = scenario_place(job->scenario, "batch");
    if (operations > PROGRAM_OPERATIONS_MAX)
        diag_error(job->diag, place, "%s; at most %.0f are possible", what, PROGRAM_OPERATIONS_MAX);
    else
        diag_error(job->diag, place, "%s, which take %.1f GiB of memory; there are %.1f GiB to be had", what,
                   operations * OPERATION_BYTES / 0x1p30, room / 0x1p30);
    return false;
}

/* Weights of a stage in so many pieces that each is an operation worth having. */
static bool check_gathers(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    enum { PIECES_MAX = 1 << 16 };
    const double *gathered = costs->gathered ? costs->gathered : costs->parameter;
    bool fine = job_expect(job, costs->gather_pieces <= PIECES_MAX, "weights are gathered in %u pieces; at most %d",
                           costs->gather_pieces, (int)PIECES_MAX);
    for (uint32_t stage = 0; costs->gathers_ahead && stage < costs->stages; stage++)
        fine &= job_expect(job, costs->gathers_ahead[stage] <= STAGESIM_AHEAD_MAX,
                           "weights of stage %u are gathered %u layers ahead; at most %d are possible", stage,
                           costs->gathers_ahead[stage], (int)STAGESIM_AHEAD_MAX);
    for (uint32_t stage = 0; gathered && costs->gather_bucket != 0 && stage < costs->stages; stage++)
        fine &= job_expect(job, costs->gather_bucket * PIECES_MAX >= gathered[stage],
                           "weights of stage %u, %g bytes, in pieces of %g: more than %d pieces", stage,
                           gathered[stage], costs->gather_bucket, (int)PIECES_MAX);
    return fine;
}

/* Halves of backwards and slots that run as one cost as much as the mean micro-batch. */
static void tell_joined(struct stagesim_job *job)
{
    uint32_t joined = 0, all = 0;
    for (uint32_t worker = 0; worker < job->plan->workers; worker++)
        for (size_t i = 0; i < job->plan->orders[worker].count; i++) {
            const struct slot *slot = &job->plan->orders[worker].slots[i];
            joined += slot->joined || slot->part != PART_WHOLE || slot->kind == SLOT_RECOMPUTE;
            all++;
        }
    if (joined)
        job_tell(job, "schedule",
                 "micro-batches are not alike, but what runs as one, in halves or again takes as long as the mean of "
                 "them: %u of %u slots",
                 joined, all);
}

/* Where micro-batches are not alike, or nobody knows what their slices are. */
static bool check_micro_batches(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    if (job->uneven)
        tell_joined(job);
    if (costs->unsliced && job->plan->slices > 1)
        diag_error(
            job->diag, scenario_place(job->scenario, "schedule"),
            "%s cuts sequences into slices, of which the work is not known where they hold several documents, or "
            "tokens that a tower makes of images or sound",
            job->scenario->schedule_name);
    return !costs->unsliced || job->plan->slices <= 1;
}

/* Outer steps are taken between iterations, by the one worker that has a stage. */
static bool check_outer(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    const struct plan *plan = job->plan;
    uint32_t axes;
    if (!costs->outer_axes)
        return true;
    if (!job_expect(job, costs->outer_interval > 0 && costs->outer_delay <= costs->outer_interval,
                    "outer steps of %u iterations with a delay of %u", costs->outer_interval, costs->outer_delay) ||
        !job_expect(job, mesh_select(&job->job->mesh, costs->outer_axes, &axes), "the axes '%.60s' are not cut there",
                    costs->outer_axes))
        return false;
    if (plan->pipelines == 1 && plan->iterations == 1 && !plan->steps_each && !plan_travels(plan))
        return true;
    diag_error(job->diag, scenario_place(job->scenario, "schedule"),
               "%s: islands of replicas agree between iterations, and each stage is on one worker; expected another "
               "schedule",
               job->scenario->schedule_name);
    return false;
}

/* A workload that knows its layers has the output layer in its last stage. */
static bool check_output(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    if (!job->plan->barriers || !costs->parts)
        return true;
    diag_error(
        job->diag, scenario_place(job->scenario, "schedule"),
        "%s: workers share the output layer, but the last stage of the workload %s has it; expected the workload "
        "stages, or another schedule, with transformer.balance: auto",
        job->scenario->schedule_name, job->scenario->workload->name);
    return false;
}

bool job_plan_pipeline(struct stagesim_job *job, const struct stagesim_pipeline *costs)
{
    if (!scenario_check_pipeline(job->scenario, job->diag))
        return false;
    job->uneven = costs->factor_sets > 1;
    const struct plan *plan = job_make_plan(job, costs, true);
    if (!plan)
        return false;
    job->plan = plan;
    if (!check_micro_batches(job, costs))
        return false;
    if (!job_check_stages(job, costs->stages))
        return false;
    uint32_t ways = job->scenario->recompute_count;
    if (ways && ways != job->plan->stages) {
        diag_error(job->diag, scenario_place(job->scenario, "schedule.recompute"),
                   "recompute: %u values for %u stages; expected one for each", ways, job->plan->stages);
        return false;
    }
    if (costs->sharding >= STAGESIM_SHARD_GRADIENTS && job->plan->pipelines > 1) {
        diag_error(job->diag, scenario_place(job->scenario, "schedule"),
                   "%s holds every stage on several workers; gradients and parameters can be sharded (zero: 2, 3) only "
                   "where one worker does",
                   job->scenario->schedule_name);
        return false;
    }
    if (!check_outer(job, costs) || !check_output(job, costs))
        return false;
    if (plan_travels(job->plan) && job->scenario->messages == MESSAGES_BLOCKING) {
        diag_error(job->diag, scenario_place(job->scenario, "communication.messages"),
                   "%s hands weights on beside the computing; messages are queued or pipelined, not blocking",
                   job->scenario->schedule_name);
        return false;
    }
    if (!job_expect(job, pipeline_exchanges_fit(costs), "a stage has more than %d different exchanges in one direction",
                    (int)STAGESIM_EXCHANGES_MAX) ||
        !check_gathers(job, costs))
        return false;
    copy_staleness(job);
    uint32_t repetitions = job->plan->iterations > 1 ? 1 : job->scenario->iterations;
    if (refuse_size(job, costs, repetitions) || !check_room(job, costs, repetitions))
        return false;
    struct pipeline_request request = {.plan = job->plan,
                                       .costs = costs,
                                       .repetitions = repetitions,
                                       .blocking = job->scenario->messages == MESSAGES_BLOCKING};
    if (job->scenario->bounded && repetitions == 1)
        job_bound(job, costs);
    if (job->scenario->keeps_order && job->plan->iterations == 1 && !job->plan->recomputed)
        job_keep_order(job, costs, longest_message(job, costs));
    if (job->sketch)
        job_sketch(job, costs);
    else
        pipeline_lower(&request, &job->job->mesh, job->builder);
    return true;
}
