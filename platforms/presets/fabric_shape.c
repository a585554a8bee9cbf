/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/fabric_shape.h"

#include <stdio.h>
#include <string.h>

/* TPU v3: the most nearly square a x b. */
static bool shape_square(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    uint32_t chips = nodes * 4;
    for (uint32_t y = 32; y > 0; y--)
        if (y * y <= chips && chips % y == 0 && chips / y <= 32) {
            fabric->dimensions[0] = chips / y, fabric->dimensions[1] = y;
            return true;
        }
    return fault_set(fault, "%u nodes are %u chips, which fill no rectangle of at most 32 x 32 chips: try %u nodes",
                     nodes, chips, nodes > 256 ? 256 : nodes / 8 * 8 + 8);
}

/* TPU v4: cubes of 4 x 4 x 4 chips joined to the most nearly cubic box; a half, a quarter or an eighth of one. */
static bool shape_cubes(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    uint32_t cubes = nodes / 16, best = 0;
    if (nodes == 2 || nodes == 4 || nodes == 8) {
        fabric->dimensions[0] = nodes >= 4 ? 4 : 2, fabric->dimensions[1] = nodes == 8 ? 4 : 2;
        fabric->dimensions[2] = 2;
        return true;
    }
    if (nodes % 16)
        return fault_set(fault,
                         "a torus of cubes comes in 2, 4 or 8 nodes and in whole cubes of 4 x 4 x 4 chips, 16 nodes "
                         "each: try %u nodes",
                         nodes < 8 ? (nodes < 2 ? 2 : nodes / 3 * 4) : nodes / 16 * 16 + 16);
    for (uint32_t a = 1; a * a * a <= cubes; a++)
        for (uint32_t b = a; cubes % a == 0 && a * b * b <= cubes; b++)
            if (cubes / a % b == 0 && a * 1000 + b > best) {
                best = a * 1000 + b;
                fabric->dimensions[0] = 4 * (cubes / a / b), fabric->dimensions[1] = 4 * b,
                fabric->dimensions[2] = 4 * a;
            }
    return true;
}

/* Aries: 4 nodes to a blade, up to 16 blades to a chassis, 6 chassis to a group; as few groups and then chassis as hold
 * the nodes with none left over. SimGrid joins group i to blade i of another group, so a chassis has no fewer blades
 * than there are groups. */
static bool shape_aries(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    uint32_t *size = fabric->dimensions, width = nodes < 4 ? nodes : 4, blades = nodes / width;
    for (uint32_t groups = 1; nodes % width == 0 && groups <= 16; groups++)
        for (uint32_t chassis = 1; chassis <= 6; chassis++) {
            uint32_t each = blades / (groups * chassis);
            if (blades % (groups * chassis) || each > 16 || (groups > 1 && each < groups))
                continue;
            size[0] = groups, size[1] = chassis, size[2] = each, size[3] = width;
            return true;
        }
    return fault_set(fault,
                     "%u nodes fill no dragonfly of equal groups (4 nodes to a blade, at most 16 blades to a chassis, "
                     "6 chassis to a group, 16 "
                     "groups): try a multiple of 64, or of 384 above 384",
                     nodes);
}

/* Two lengths of sides, one twice the other, and few enough chips that their routes can be listed. */
static bool check_twist(const uint32_t *sizes, const char *text, struct fault *fault)
{
    enum { LISTED_MAX = 256 };
    uint32_t least = sizes[0] < sizes[1] ? sizes[0] : sizes[1], twice = 0, once = 0;
    least = sizes[2] < least ? sizes[2] : least;
    for (unsigned i = 0; i < 3; i++) {
        once += sizes[i] == least;
        twice += sizes[i] == 2 * least;
    }
    if (once + twice < 3 || twice == 0)
        return fault_set(fault, "a torus of %s: sides that are twisted are k x k x 2k or k x 2k x 2k", text);
    if (sizes[0] * sizes[1] * sizes[2] > LISTED_MAX)
        return fault_set(fault, "a torus of %s: routes of twisted ones are listed one by one, for at most %d chips",
                         text, LISTED_MAX);
    return true;
}

bool fabric_shape_read(const char *text, const char *preset, struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    enum { CUBE = 4, CHIPS = 4 }; /* chips on a side, and of a node */
    size_t digits = strspn(text, "0123456789x");
    bool twisted = strcmp(text + digits, "_twisted") == 0;
    uint32_t size[3];
    int end = 0;
    if (fabric->kind != FABRIC_TORUS || !fabric->dimensions[2])
        return fault_set(fault, "%s has no shape to be chosen: its fabric is: %s", preset, fabric->name);
    if ((text[digits] && !twisted) || sscanf(text, "%3ux%3ux%3u%n", &size[0], &size[1], &size[2], &end) != 3 ||
        (size_t)end != digits)
        return fault_set(fault, "'%s' is no shape of a torus; expected three sizes such as 4x4x8, or 4x4x8_twisted",
                         text);
    for (unsigned i = 0; i < 3; i++)
        if (size[i] < CUBE || size[i] % CUBE)
            return fault_set(fault,
                             "a torus of %s: optical switches join whole cubes of 4 x 4 x 4 chips; expected "
                             "multiples of 4",
                             text);
    uint64_t chips = (uint64_t)nodes * CHIPS;
    if (size[0] * size[1] * size[2] != chips)
        return fault_set(fault, "a torus of %s has %u chips, and %u nodes have %llu", text, size[0] * size[1] * size[2],
                         nodes, (unsigned long long)chips);
    memcpy(fabric->dimensions, size, sizeof size);
    fabric->twisted = twisted;
    return !twisted || check_twist(size, text, fault);
}

static bool shape_ring(struct fabric *fabric, uint32_t nodes, struct fault *fault)
{
    if (nodes < 3)
        return fault_set(fault, "a ring has at least 3 nodes");
    fabric->dimensions[0] = nodes;
    return true;
}

static const struct {
    const char *name;
    fabric_shape *shape;
    enum fabric_kind kind;
    uint32_t devices; /* of a node */
} rules[] = {{"square", shape_square, FABRIC_TORUS, 4},
             {"cubes", shape_cubes, FABRIC_TORUS, 4},
             {"ring", shape_ring, FABRIC_TORUS, 1},
             {"aries", shape_aries, FABRIC_DRAGONFLY, 1}};

const char *const fabric_shape_names[] = {"none", "square", "cubes", "ring", "aries", NULL};

bool fabric_shape_find(const char *name, enum fabric_kind kind, uint32_t devices, fabric_shape **shape,
                       struct fault *fault)
{
    *shape = NULL;
    bool shaped = kind == FABRIC_TORUS || kind == FABRIC_DRAGONFLY;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rules[i].name, name) != 0)
            continue;
        if (rules[i].kind != kind || rules[i].devices != devices)
            return fault_set(fault, "shape %s is of a %s with %u device%s in a node", name,
                             rules[i].kind == FABRIC_TORUS ? "torus" : "dragonfly", rules[i].devices,
                             rules[i].devices == 1 ? "" : "s");
        *shape = rules[i].shape;
        return true;
    }
    return !shaped || fault_set(fault, "a torus or dragonfly has a shape; expected square, cubes, ring or aries");
}
