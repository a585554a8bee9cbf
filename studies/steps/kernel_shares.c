/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/steps/kernel_shares.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

/* By so much kernels become slower, or faster where they are slow already: a power of two, so that nothing is lost by
 * it, and little, for where a computation waits for its host, slower kernels change nothing until the wait is over. */
static const double SLOWER = 0x1p-10;
/* Shares beyond 0 and 1 by more than this are no shares, by less they are roundings. */
static const double ROUNDING = 1e-6;

/* What the scenario says of the class: the workload's value of the key. */
static double said_of(const struct scenario *scenario, const char *key)
{
    const struct stagesim_field *field = scenario->workload->fields;
    while (strcmp(field->key, key) != 0)
        field++;
    double said;
    memcpy(&said, (const char *)scenario->parameters + field->offset, sizeof said);
    return said;
}

/* The job with slower kernels of a class: *more is by how much. NULL with the mistakes reported. */
static struct job *slower_job(const struct scenario *alone, const struct job *job, const char *key, struct arena *arena,
                              struct diag *diag, double *more)
{
    double said = said_of(alone, key);
    *more = said > 1 ? -SLOWER : SLOWER;
    const struct scenario_set set = {NULL, arena_print(arena, "%s=%.17g", key, said * (1 + *more))};
    struct scenario_request request = scenario_request_with(&alone->request, &set, 1, arena);
    struct scenario *scenario = scenario_load(&request, arena, diag);
    return scenario ? job_create(scenario, job->platform, 2, arena, diag) : NULL;
}

static bool same_operation(const struct operation *a, const struct operation *b)
{
    return a->type == b->type && a->kind == b->kind && a->part == b->part && a->is_block == b->is_block &&
           a->stage == b->stage && a->layer == b->layer && a->micro_batch == b->micro_batch &&
           a->pipeline == b->pipeline;
}

/* How much longer each computation takes, over what its kernels take `more`. False: these are not the same
 * computations. */
static bool compare(const struct program *even, const struct program *slow, double more, const size_t *first,
                    double *shares)
{
    for (uint32_t i = 0; i < even->mesh->positions; i++) {
        const struct position *position = &even->positions[i], *other = &slow->positions[i];
        if (position->operation_count != other->operation_count)
            return false;
        for (uint32_t id = 0; id < position->operation_count; id++) {
            const struct operation *operation = &position->operations[id];
            double seconds = operation_cost(even, operation)->seconds;
            if (!same_operation(operation, &other->operations[id]))
                return false;
            if (operation->type != OPERATION_COMPUTE || !(seconds > 0))
                continue;
            double share = (operation_cost(slow, &other->operations[id])->seconds / seconds - 1) / more;
            if (share < -ROUNDING || share > 1 + ROUNDING)
                return false;
            shares[first[i] + id] = share < ROUNDING ? 0 : fmin(share, 1);
        }
    }
    return true;
}

bool kernel_shares_find(const struct scenario *alone, const struct job *job, struct arena *arena, struct diag *diag,
                        const struct kernel_shares **shares, struct fault *fault)
{
    const struct program *program = job->program;
    struct kernel_shares *found = arena_alloc(arena, sizeof *found);
    size_t *first = arena_array(arena, (size_t)program->mesh->positions + 1, sizeof *first);
    for (uint32_t i = 0; i < program->mesh->positions; i++)
        first[i + 1] = first[i] + program->positions[i].operation_count;
    *found = (struct kernel_shares){.first = first};
    *shares = NULL;
    for (int kernel = 0; kernel < TAILS_KERNELS; kernel++) {
        if (!alone->tails.kernels[kernel])
            continue;
        double *of = arena_array(arena, first[program->mesh->positions] + 1, sizeof *of);
        const char *key = arena_print(arena, "compute.%s_time", tails_kernel_names[kernel]);
        double more;
        struct job *slower = slower_job(alone, job, key, arena, diag, &more);
        if (!slower)
            return false;
        if (!compare(program, slower->program, more, first, of))
            return fault_set(fault, "with slower kernels, which give shares to tails.%s, the job is another one",
                             tails_kernel_names[kernel]);
        found->of[kernel] = of;
        *shares = found;
    }
    return true;
}
