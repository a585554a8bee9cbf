/* SPDX-License-Identifier: Apache-2.0 */
#include "simulator/collectives/algorithm.h"

#include "simulator/program/program.h"

#include <string.h>

const struct collective_algorithm *const collective_algorithms[] = {
    &algorithm_ring,
    &algorithm_double_tree,
    &algorithm_in_network,
    &algorithm_switch_tree,
    &algorithm_torus,
    &algorithm_recursive_doubling,
    &algorithm_halving_doubling,
    &algorithm_hierarchical,
    &algorithm_chain,
    &algorithm_binomial,
    &algorithm_direct,
    &algorithm_pairwise,
    &algorithm_bruck,
    NULL,
};

const struct collective_algorithm *collective_algorithm_find(const char *name)
{
    for (const struct collective_algorithm *const *algorithm = collective_algorithms; *algorithm; algorithm++)
        if (strcmp((*algorithm)->name, name) == 0)
            return *algorithm;
    return NULL;
}

const char *collective_algorithm_refuses(const struct collective_algorithm *algorithm,
                                         const struct collective_shape *shape, enum stagesim_collective kind)
{
    if (!(algorithm->kinds & KIND(kind)))
        return "is not an algorithm for this collective";
    if (algorithm->own)
        return algorithm->own->ranks == shape->ranks ? NULL : algorithm->own->refusal;
    return algorithm->refuses ? algorithm->refuses(shape, kind) : NULL;
}

bool collective_algorithm_takes(const struct collective_algorithm *algorithm, double bytes)
{
    return !algorithm->own || (bytes >= algorithm->own->least && bytes <= algorithm->own->most);
}
