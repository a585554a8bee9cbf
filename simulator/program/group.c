/* SPDX-License-Identifier: Apache-2.0 */
/* Instances and members of a program's groups. */
#include "simulator/program/program.h"

#include <stdlib.h>

static bool spans(const struct group *group, unsigned axis)
{
    return group->axes >> axis & 1;
}

/* Product of the sizes of the replicated axes that the group spans, or of those that it does not span. */
static uint32_t replicated_product(const struct program *program, const struct group *group, bool spanned)
{
    uint32_t product = 1;
    for (unsigned i = 0; i < program->mesh->axis_count; i++) {
        const struct mesh_axis *axis = &program->mesh->axes[i];
        if (!axis->distinct && spans(group, i) == spanned)
            product *= axis->size;
    }
    return product;
}

uint32_t group_size(const struct program *program, const struct group *group)
{
    return replicated_product(program, group, true) * group->position_count;
}

uint32_t group_instances(const struct program *program, const struct group *group)
{
    return replicated_product(program, group, false);
}

uint32_t group_instance_of(const struct program *program, const struct group *group, uint32_t replica)
{
    uint32_t instance = 0, stride = 1;
    for (unsigned i = 0; i < program->mesh->axis_count; i++) {
        const struct mesh_axis *axis = &program->mesh->axes[i];
        if (axis->distinct)
            continue;
        if (!spans(group, i)) {
            instance += replica % axis->size * stride;
            stride *= axis->size;
        }
        replica /= axis->size;
    }
    return instance;
}

/* The replica with the given number among those of an instance. */
static uint32_t replica_of_member(const struct program *program, const struct group *group, uint32_t instance,
                                  uint32_t member)
{
    uint32_t replica = 0, stride = 1;
    for (unsigned i = 0; i < program->mesh->axis_count; i++) {
        const struct mesh_axis *axis = &program->mesh->axes[i];
        if (axis->distinct)
            continue;
        uint32_t *from = spans(group, i) ? &member : &instance;
        replica += *from % axis->size * stride;
        *from /= axis->size;
        stride *= axis->size;
    }
    return replica;
}

static int by_number(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

void group_ranks(const struct program *program, const struct group *group, uint32_t instance, uint32_t *ranks)
{
    uint32_t replicas = replicated_product(program, group, true), count = 0;
    for (uint32_t member = 0; member < replicas; member++)
        for (uint32_t i = 0; i < group->position_count; i++)
            ranks[count++] =
                mesh_rank(program->mesh, group->positions[i], replica_of_member(program, group, instance, member));
    qsort(ranks, count, sizeof *ranks, by_number);
}

uint32_t position_group_stream(const struct position *position, uint32_t group)
{
    uint32_t index = 0;
    while (position->streams[index].type != OPERATION_COLLECTIVE || position->streams[index].peer != group)
        index++;
    return index;
}
