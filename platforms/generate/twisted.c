/* SPDX-License-Identifier: Apache-2.0 */
/* Tori of k x k x 2k and k x 2k x 2k whose short sides are closed with a shift: who leaves one at its end comes back k
 * further along every long side (Camara et al., Twisted torus topologies for enhanced interconnection networks, IEEE
 * TPDS 2010; Jouppi et al., TPU v4, ISCA 2023). Routes are shortest; of several, pairs take different ones, so that
 * links are nearly equally full. They are listed one by one, for SimGrid's tori have no shift. */
#include "platforms/generate/layout.h"
#include "platforms/generate/xml.h"

#include <math.h>
#include <stdlib.h>

enum { SIDES = 3, TURNS = 3, WAYS_MAX = 64 };

struct way {
    int along[SIDES]; /* steps along each side, backwards where negative */
};

static int short_side(const uint32_t *sizes)
{
    return (int)fmin(fmin(sizes[0], sizes[1]), sizes[2]);
}

static bool is_short(const uint32_t *sizes, unsigned side)
{
    return (int)sizes[side] == short_side(sizes);
}

/* The chip at a place that may lie outside the box. */
static uint32_t chip_at(const uint32_t *sizes, const int *place)
{
    int inside[SIDES], k = short_side(sizes), shift = 0;
    for (unsigned side = 0; side < SIDES; side++)
        if (is_short(sizes, side))
            shift += (int)floor((double)place[side] / k) * k;
    for (unsigned side = 0; side < SIDES; side++) {
        int size = (int)sizes[side], at = place[side] + (is_short(sizes, side) ? 0 : shift);
        inside[side] = (at % size + size) % size;
    }
    return (uint32_t)inside[0] + sizes[0] * ((uint32_t)inside[1] + sizes[1] * (uint32_t)inside[2]);
}

static void place_of(const uint32_t *sizes, uint32_t chip, int *place)
{
    place[0] = (int)(chip % sizes[0]);
    place[1] = (int)(chip / sizes[0] % sizes[1]);
    place[2] = (int)(chip / sizes[0] / sizes[1]);
}

/* The shortest ways from the chip at `from` to that at `to`. */
static uint32_t find_ways(const uint32_t *sizes, const int *from, const int *to, struct way *ways)
{
    uint32_t count = 0;
    int best = 1 << 30, k = short_side(sizes), all = 2 * TURNS + 1;
    for (int turn = 0; turn < all * all * all; turn++) {
        int turns[SIDES] = {turn % all - TURNS, turn / all % all - TURNS, turn / all / all - TURNS}, length = 0,
            shift = 0;
        struct way way;
        for (unsigned side = 0; side < SIDES; side++)
            shift += is_short(sizes, side) ? turns[side] * k : 0;
        for (unsigned side = 0; side < SIDES; side++) {
            way.along[side] =
                to[side] - from[side] + turns[side] * (int)sizes[side] - (is_short(sizes, side) ? 0 : shift);
            length += abs(way.along[side]);
        }
        if (length < best)
            count = 0;
        best = length < best ? length : best;
        if (length == best && count < WAYS_MAX)
            ways[count++] = way;
    }
    return count;
}

/* One side after the other. */
static void write_way(FILE *out, const struct design *design, const int *from, const struct way *way)
{
    const uint32_t *sizes = design->fabric.dimensions;
    int at[SIDES] = {from[0], from[1], from[2]};
    for (unsigned side = 0; side < SIDES; side++)
        for (int step = 0; step < abs(way->along[side]); step++) {
            bool ahead = way->along[side] > 0;
            at[side] -= !ahead;
            xml_link_on_route(out, design->fabric.wire->name, chip_at(sizes, at), side, ahead);
            at[side] += ahead;
        }
}

static void write_routes(FILE *out, const struct design *design, uint32_t chips)
{
    const uint32_t *sizes = design->fabric.dimensions;
    for (uint32_t a = 0; a < chips; a++)
        for (uint32_t b = 0; b < chips; b++) {
            struct way ways[WAYS_MAX];
            int from[SIDES], to[SIDES];
            place_of(sizes, a, from);
            place_of(sizes, b, to);
            uint32_t count = a == b ? 0 : find_ways(sizes, from, to, ways);
            if (count == 0)
                continue;
            fprintf(out, "    <route src=\"%s-%u\" dst=\"%s-%u\" symmetrical=\"NO\">", design->prefix, a,
                    design->prefix, b);
            write_way(out, design, from, &ways[(7 * a + 3 * b) % count]);
            fputs("</route>\n", out);
        }
}

void twisted_write(FILE *out, const struct design *design)
{
    const struct wire *wire = design->fabric.wire;
    uint32_t chips = node_device_count(design->node) * design->nodes;
    fputs("  <zone id=\"cluster\" routing=\"Full\">\n", out);
    layout_write_library(out, design);
    layout_write_single_hosts(out, design, chips);
    for (uint32_t chip = 0; chip < chips; chip++)
        for (unsigned side = 0; side < SIDES; side++)
            xml_link(out, wire->name, chip, side, wire->effective * 1e9, wire->latency);
    write_routes(out, design, chips);
    fputs("  </zone>\n", out);
}
