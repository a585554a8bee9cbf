/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/profile.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const profile_keys[PROFILE_PARTS] = {
    [PROFILE_COMPUTE] = "computation",  [PROFILE_TRANSFER] = "communication",
    [PROFILE_WAITING] = "waiting",      [PROFILE_COPIES] = "copies",
    [PROFILE_LOADING] = "data-loading", [PROFILE_SYNC] = "synchronisation",
    [PROFILE_GARBAGE] = "garbage",      [PROFILE_HOST] = "host",
    [PROFILE_LAUNCH] = "launch",        [PROFILE_BETWEEN] = "between",
    [PROFILE_UNKNOWN] = "unknown",
};

const char *const profile_names[PROFILE_PARTS] = {
    [PROFILE_COMPUTE] = "computation",
    [PROFILE_TRANSFER] = "communication that nothing hides",
    [PROFILE_WAITING] = "waiting for other ranks",
    [PROFILE_COPIES] = "copies of memory",
    [PROFILE_LOADING] = "idle: the host loads data",
    [PROFILE_SYNC] = "idle: the host waits for the device",
    [PROFILE_GARBAGE] = "idle: the host collects garbage",
    [PROFILE_HOST] = "idle: the host is not there yet",
    [PROFILE_LAUNCH] = "idle: launches under way",
    [PROFILE_BETWEEN] = "idle: between what is launched",
    [PROFILE_UNKNOWN] = "idle: not known why",
};

const char *const profile_advice[PROFILE_PARTS] = {
    [PROFILE_COMPUTE] = "look at the kernels that take most, below",
    [PROFILE_TRANSFER] = "overlap it with computation, or send less",
    [PROFILE_WAITING] = "find out why the rank that comes last is late",
    [PROFILE_COPIES] = "keep these tensors where they are used",
    [PROFILE_LOADING] = "more workers of the data loader, or pinned and prefetched batches",
    [PROFILE_SYNC] = "take .item(), .cpu() and explicit synchronisation out of the step",
    [PROFILE_GARBAGE] = "collect garbage at chosen steps, on all ranks at once",
    [PROFILE_HOST] = "launch less: CUDA graphs, torch.compile, fused operators, larger micro-batches",
    [PROFILE_LAUNCH] = "let the host run ahead: fewer synchronisations, CUDA graphs",
    [PROFILE_BETWEEN] = "fewer, larger kernels, and fewer waits between streams",
    [PROFILE_UNKNOWN] = "record the host as well",
};

/* ---- steps ---- */

static const char step_name[] = "ProfilerStep#";

static void find_steps(const struct recorded *recorded, uint32_t rank, struct moments *steps)
{
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (recorded_rank_of(recorded, operation) != rank)
            continue;
        if (operation->kind == RECORDED_ANNOTATION &&
            !strncmp(recorded_name_of(recorded, operation), step_name, sizeof step_name - 1))
            moments_add(steps, operation->begin, operation->end);
        if (recorded_works(operation)) {
            first = fmin(first, operation->begin);
            last = fmax(last, operation->end);
        }
    }
    if (!steps->count)
        moments_add(steps, first, last);
}

/* ---- what runs ---- */

struct busy {
    struct moments compute, transfer, communication, copies;
};

static void find_busy(const struct recorded *recorded, const struct meetings *meetings, uint32_t rank,
                      struct busy *busy)
{
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!recorded_works(operation) || recorded_rank_of(recorded, operation) != rank)
            continue;
        double begin = operation->begin, end = operation->end;
        if (operation->kind == RECORDED_COMPUTE) {
            moments_add(&busy->compute, begin, end);
        } else if (operation->kind == RECORDED_MEMORY) {
            moments_add(&busy->copies, begin, end);
        } else {
            moments_add(&busy->communication, begin, end);
            moments_add(&busy->transfer, isnan(meetings->latest[i]) ? begin : fmin(meetings->latest[i], end), end);
        }
    }
    moments_unite(&busy->compute);
    moments_unite(&busy->transfer);
    moments_unite(&busy->communication);
    moments_unite(&busy->copies);
}

static void split_rank(const struct recorded *recorded, const struct meetings *meetings, uint32_t rank,
                       struct profile *profile)
{
    struct profile_rank *own = &profile->ranks[rank];
    struct moments steps = {0};
    struct busy busy = {0};
    find_steps(recorded, rank, &steps);
    own->steps = (uint32_t)steps.count;
    for (size_t i = 0; i < steps.count; i++) {
        double length = steps.intervals[i].end - steps.intervals[i].start;
        profile->shortest = fmin(profile->shortest, length);
        profile->longest = fmax(profile->longest, length);
    }
    moments_unite(&steps);
    double whole = moments_length(&steps);
    find_busy(recorded, meetings, rank, &busy);
    own->parts[PROFILE_COMPUTE] = moments_take(&steps, &busy.compute);
    own->parts[PROFILE_TRANSFER] = moments_take(&steps, &busy.transfer);
    own->parts[PROFILE_WAITING] = moments_take(&steps, &busy.communication);
    own->parts[PROFILE_COPIES] = moments_take(&steps, &busy.copies);
    profile_split_idle(recorded, rank, &steps, own->parts);
    own->seconds = own->steps ? whole / own->steps : 0;
    for (int part = 0; part < PROFILE_PARTS; part++)
        own->parts[part] /= own->steps ? own->steps : 1;
    moments_finish(&steps);
    moments_finish(&busy.compute);
    moments_finish(&busy.transfer);
    moments_finish(&busy.communication);
    moments_finish(&busy.copies);
}

/* ---- kernels ---- */

static int by_seconds(const void *left, const void *right)
{
    const struct profile_kernel *a = left, *b = right;
    if (a->seconds != b->seconds)
        return a->seconds > b->seconds ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static void find_kernels(const struct recorded *recorded, struct arena *arena, struct profile *profile)
{
    struct profile_kernel *all = arena_array(arena, recorded->name_count + 1, sizeof *all);
    double steps = 0;
    for (uint32_t rank = 0; rank < recorded->rank_count; rank++)
        steps += profile->ranks[rank].steps;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *operation = &recorded->operations[i];
        if (!recorded_works(operation))
            continue;
        struct profile_kernel *kernel = &all[operation->name];
        kernel->name = operation->name;
        kernel->kind = operation->kind;
        kernel->calls++;
        kernel->seconds += (operation->end - operation->begin) / steps;
        kernel->bytes += operation->bytes / steps;
    }
    for (size_t i = 0; i < recorded->name_count; i++)
        if (all[i].calls)
            all[profile->kernel_count++] = all[i];
    if (profile->kernel_count)
        qsort(all, profile->kernel_count, sizeof *all, by_seconds);
    profile->kernels = all;
}

void profile_find(const struct recorded *recorded, const struct meetings *meetings, struct arena *arena,
                  struct profile *profile)
{
    uint32_t ranks = (uint32_t)recorded->rank_count;
    *profile = (struct profile){.shortest = INFINITY};
    profile->ranks = arena_array(arena, ranks + 1u, sizeof *profile->ranks);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        split_rank(recorded, meetings, rank, profile);
        const struct profile_rank *own = &profile->ranks[rank];
        profile->step_count = own->steps > profile->step_count ? own->steps : profile->step_count;
        profile->seconds += own->seconds / ranks;
        for (int part = 0; part < PROFILE_PARTS; part++)
            profile->parts[part] += own->parts[part] / ranks;
    }
    find_kernels(recorded, arena, profile);
}
