/* SPDX-License-Identifier: Apache-2.0 */
#include "test/support/shapes.h"

void shapes_for_each(uint32_t ranks, void (*check)(const struct collective_algorithm *algorithm,
                                                   const struct collective_shape *shape, enum stagesim_collective kind))
{
    struct collective_shape shapes[512];
    size_t count = 0;
    shapes[count++] = (struct collective_shape){.ranks = ranks};
    shapes[count++] = (struct collective_shape){.ranks = ranks, .reduces = true};
    for (uint32_t size = 2; size < ranks; size++)
        if (ranks % size == 0)
            shapes[count++] = (struct collective_shape){.ranks = ranks, .node_size = size};
    for (uint32_t size = 3; size < ranks; size++)
        if (ranks % size == 0)
            shapes[count++] = (struct collective_shape){.ranks = ranks, .node_size = size, .reduces_within = true};
    for (uint32_t x = 1; x <= ranks; x++)
        for (uint32_t y = 1; x * y <= ranks; y++)
            if (ranks % (x * y) == 0 && x >= y && y >= ranks / x / y)
                shapes[count++] = (struct collective_shape){.ranks = ranks, .dimensions = {x, y, ranks / x / y}};
    for (const struct collective_algorithm *const *algorithm = collective_algorithms; *algorithm; algorithm++)
        for (size_t i = 0; i < count; i++) {
            const struct collective_shape *shape = &shapes[i];
            if ((shape->dimensions[0] && *algorithm != &algorithm_torus) ||
                (shape->reduces && *algorithm != &algorithm_in_network) ||
                (shape->reduces_within && *algorithm != &algorithm_switch_tree))
                continue;
            for (int kind = 0; kind < STAGESIM_COLLECTIVES; kind++)
                if (!collective_algorithm_refuses(*algorithm, shape, (enum stagesim_collective)kind))
                    check(*algorithm, shape, (enum stagesim_collective)kind);
        }
}
