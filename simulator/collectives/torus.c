/* SPDX-License-Identifier: Apache-2.0 */
/* Torus of two or three dimensions: the data is cut into as many parts as a rank has links, one for each dimension and
 * direction. Each part is reduce-scattered by rings along its own dimension first, then along the others, and gathered
 * the same way back; at any time every part uses other links. P. Sack, W. Gropp, Collective algorithms for multiported
 * torus networks, ACM TOPC 1 (2015). */
#include "simulator/collectives/algorithm.h"

/* Dimensions of more than one rank. */
struct torus {
    uint32_t size[TORUS_DIMENSIONS], stride[TORUS_DIMENSIONS];
    uint32_t count, longest, ranks;
};

static struct torus torus_of(const struct collective_shape *shape)
{
    struct torus torus = {.ranks = 1};
    for (uint32_t i = TORUS_DIMENSIONS; i-- > 0;) {
        uint32_t size = shape->dimensions[i];
        if (size > 1) {
            torus.size[torus.count] = size;
            torus.stride[torus.count++] = torus.ranks;
            torus.longest = size > torus.longest ? size : torus.longest;
            torus.ranks *= size;
        }
    }
    return torus;
}

static const char *refuses(const struct collective_shape *shape, enum stagesim_collective kind)
{
    (void)kind;
    struct torus torus = torus_of(shape);
    return torus.count && torus.ranks == shape->ranks
               ? NULL
               : "needs ranks that fill a torus (platform property collective_torus)";
}

/* Share of the size in what a part sends in each step of its stage. */
static double block_share(const struct torus *torus, uint32_t start, uint32_t stage)
{
    double share = 0.5 / torus->count;
    for (uint32_t i = 0; i <= stage; i++)
        share /= torus->size[(start + i) % torus->count];
    return share;
}

static double seconds(const struct collective_shape *shape, enum stagesim_collective kind, double bytes,
                      const struct collective_costs *costs)
{
    (void)kind;
    struct torus torus = torus_of(shape);
    double sum = 0;
    for (uint32_t stage = 0; stage < torus.count; stage++)
        for (uint32_t step = 0; step < torus.longest - 1; step++) {
            double largest = 0; /* parts along shorter dimensions have finished the stage */
            for (uint32_t start = 0; start < torus.count; start++) {
                double share = block_share(&torus, start, stage);
                if (step < torus.size[(start + stage) % torus.count] - 1 && share > largest)
                    largest = share;
            }
            sum += 2 * (costs->alpha + bytes * largest * costs->beta) + bytes * largest * costs->gamma;
        }
    return sum;
}

static uint32_t coordinate(const struct torus *torus, uint32_t rank, uint32_t dimension)
{
    return rank / torus->stride[dimension] % torus->size[dimension];
}

static uint32_t neighbour(const struct torus *torus, uint32_t rank, uint32_t dimension, bool forward)
{
    uint32_t size = torus->size[dimension], here = coordinate(torus, rank, dimension);
    uint32_t there = (here + (forward ? 1 : size - 1)) % size;
    return rank - here * torus->stride[dimension] + there * torus->stride[dimension];
}

/* One ring step of one part at one rank: the blocks that agree with the rank in the dimensions done before and are at
 * `place` in the dimension of this stage. */
static void add_step(const struct torus *torus, struct collective_steps *steps, uint32_t round, uint32_t rank,
                     uint32_t part, uint32_t stage, uint32_t place, bool reduces)
{
    uint32_t start = part / 2, dimension = (start + stage) % torus->count;
    uint32_t to = neighbour(torus, rank, dimension, part % 2 == 0);
    bool first = true;
    for (uint32_t block = 0; block < torus->ranks; block++) {
        bool carried = coordinate(torus, block, dimension) == place;
        for (uint32_t i = 0; i < stage && carried; i++)
            carried = coordinate(torus, block, (start + i) % torus->count) ==
                      coordinate(torus, rank, (start + i) % torus->count);
        if (!carried)
            continue;
        if (first)
            steps_add(steps, round, rank, to, reduces, part * torus->ranks + block, 1);
        else
            steps_join(steps, part * torus->ranks + block, 1);
        first = false;
    }
}

static void add_stage(const struct torus *torus, struct collective_steps *steps, uint32_t first_round, uint32_t part,
                      uint32_t stage, bool reduces)
{
    uint32_t dimension = (part / 2 + stage) % torus->count, size = torus->size[dimension];
    for (uint32_t step = 0; step < size - 1; step++)
        for (uint32_t rank = 0; rank < torus->ranks; rank++) {
            uint32_t here = coordinate(torus, rank, dimension), behind = step + reduces;
            uint32_t place = part % 2 == 0 ? (here + 2 * size - behind) % size : (here + behind) % size;
            add_step(torus, steps, first_round + step, rank, part, stage, place, reduces);
        }
}

static void steps(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_steps *steps)
{
    (void)kind;
    struct torus torus = torus_of(shape);
    uint32_t parts = 2 * torus.count, length = torus.longest - 1;
    steps_cut(steps, parts * torus.ranks, parts * torus.ranks);
    for (uint32_t stage = 0; stage < torus.count; stage++)
        for (uint32_t part = 0; part < parts; part++) {
            add_stage(&torus, steps, stage * length, part, stage, true);
            add_stage(&torus, steps, (2 * torus.count - 1 - stage) * length, part, stage, false);
        }
}

static void flows(const struct collective_shape *shape, enum stagesim_collective kind, struct collective_flows *flows)
{
    (void)kind;
    struct torus torus = torus_of(shape);
    for (uint32_t phase = 0; phase < 2 * torus.count; phase++) {
        uint32_t stage = phase < torus.count ? phase : 2 * torus.count - 1 - phase;
        for (uint32_t part = 0; part < 2 * torus.count; part++) {
            uint32_t dimension = (part / 2 + stage) % torus.count, count = torus.size[dimension] - 1;
            for (uint32_t rank = 0; rank < torus.ranks; rank++)
                collective_flows_add(flows, phase, rank, neighbour(&torus, rank, dimension, part % 2 == 0),
                                     count * block_share(&torus, part / 2, stage), count);
        }
    }
}

const struct collective_algorithm algorithm_torus = {
    .name = "torus",
    .summary = "rings along all dimensions and directions of a torus at once",
    .source = "Sack, Gropp 2015",
    .kinds = KIND(STAGESIM_ALL_REDUCE),
    .automatic = true,
    .refuses = refuses,
    .seconds = seconds,
    .steps = steps,
    .flows = flows,
};
