/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/program/stretch.h"

#include "base/arena.h"

#include <string.h>

/* Behind the program's own costs come copies of all of them for each pair of factors. */
enum { OWN, COMPUTATION, OPTIMIZER };

static bool same(double a, double b)
{
    return !(a < b) && !(a > b);
}

/* [position]: the number of its pair of factors; returns how many there are. */
static uint32_t number_pairs(const double *factors, const double *others, uint32_t count, uint32_t *numbers)
{
    uint32_t pairs = 0;
    for (uint32_t position = 0; position < count; position++) {
        uint32_t before = 0;
        while (before < position &&
               !(same(factors[before], factors[position]) && same(others[before], others[position])))
            before++;
        numbers[position] = before < position ? numbers[before] : pairs++;
    }
    return pairs;
}

static void copy_costs(struct program *program, uint32_t own, uint32_t block, double factor)
{
    for (uint32_t i = 0; i < own; i++) {
        program->costs[block * own + i] = program->costs[i];
        program->costs[block * own + i].seconds *= factor;
        program->variation_of[block * own + i] = program->variation_of[i];
        program->pairs_of[block * own + i] = program->pairs_of[i];
    }
}

static void point_at(struct position *position, uint32_t own, uint32_t pair)
{
    for (uint32_t i = 0; i < position->operation_count; i++) {
        struct operation *operation = &position->operations[i];
        if (operation->type == OPERATION_COMPUTE)
            operation->cost += own * (2 * pair + (operation->kind == STAGESIM_OPTIMIZER ? OPTIMIZER : COMPUTATION));
    }
}

void program_stretch(struct program *program, const double *factors, const double *optimizer_factors,
                     struct arena *arena)
{
    uint32_t positions = program->mesh->positions, own = program->cost_count;
    uint32_t *numbers = arena_array(arena, (size_t)positions + 1, sizeof *numbers), known = 0;
    uint32_t pairs = number_pairs(factors, optimizer_factors, positions, numbers);
    size_t all = (size_t)own * (OWN + 1 + 2 * (size_t)pairs);
    struct stagesim_cost *costs = arena_array(arena, all + 1, sizeof *costs);
    uint32_t *variation_of = arena_array(arena, all + 1, sizeof *variation_of);
    uint32_t *pairs_of = arena_array(arena, all + 1, sizeof *pairs_of);
    memcpy(costs, program->costs, own * sizeof *costs);
    memcpy(variation_of, program->variation_of, own * sizeof *variation_of);
    memcpy(pairs_of, program->pairs_of, own * sizeof *pairs_of);
    program->costs = costs;
    program->variation_of = variation_of;
    program->pairs_of = pairs_of;
    program->cost_count = (uint32_t)all;
    for (uint32_t position = 0; position < positions; position++) {
        uint32_t pair = numbers[position];
        if (pair == known) {
            copy_costs(program, own, 2 * pair + COMPUTATION, factors[position]);
            copy_costs(program, own, 2 * pair + OPTIMIZER, optimizer_factors[position]);
            known++;
        }
        point_at(&program->positions[position], own, pair);
    }
}
