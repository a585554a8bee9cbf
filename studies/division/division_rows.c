/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/division/division_rows.h"

#include "base/arena.h"
#include "base/bulk.h"
#include "base/number_text.h"
#include "job/write/scenario_write.h"

#include <stdlib.h>

/* The dimensions of `split` by type. Parts are numbered with the samples outermost, the output channels innermost. */
static const char *const dimensions[PARTITION_TYPES] = {"sample", "in", "out"};

static enum partition_type type_of(const struct partition *partition, uint32_t level, uint32_t layer)
{
    return partition ? partition->level[level].types[layer] : PARTITION_SAMPLES;
}

/* Of a group; where there are several kinds, level 0 has those of each kind beside each other. */
static double share_of(const struct division_study *study, const struct partition *partition, uint32_t level,
                       uint32_t group)
{
    uint32_t kind = 0, each = study->device_count / study->ways[0];
    if (!partition || level > 0 || study->kind_count == 1)
        return 1.0 / study->ways[level];
    for (uint32_t devices = study->counts[0]; group * each >= devices; devices += study->counts[kind])
        kind++;
    return partition->level[0].shares[kind];
}

/* Where a device's part is along each dimension: its groups on the levels that divide the dimension, as digits. */
static void find_place(const struct division_study *study, const struct partition *partition, uint32_t layer,
                       uint32_t device, uint32_t place[PARTITION_TYPES])
{
    for (int type = 0; type < PARTITION_TYPES; type++)
        place[type] = 0;
    for (uint32_t level = 0, each = study->device_count; level < study->levels; level++) {
        uint32_t *at = &place[type_of(partition, level, layer)];
        each /= study->ways[level];
        *at = study->ways[level] * *at + device / each % study->ways[level];
    }
}

static void write_number(FILE *out, double value)
{
    char text[NUMBER_TEXT_MAX];
    fwrite(text, 1, number_write(text, value), out);
}

static void write_devices(FILE *out, const struct division_study *study, const struct partition *partition,
                          uint32_t layer, const uint32_t degrees[PARTITION_TYPES])
{
    uint32_t count = study->device_count, *ranks = array_zeroed(count, sizeof *ranks);
    for (uint32_t device = 0; device < count; device++) {
        uint32_t place[PARTITION_TYPES];
        find_place(study, partition, layer, device, place);
        ranks[(place[0] * degrees[1] + place[1]) * degrees[2] + place[2]] = study->ranks[device];
    }
    fputs(", devices: [", out);
    for (uint32_t k = 0; k < count; k++) {
        fputs(k ? ", " : "", out);
        write_number(out, ranks[k]);
    }
    fputs("]", out);
    free(ranks);
}

/* The share of each part along a dimension is the product of those on the levels that divide it. */
static void write_shares(FILE *out, const struct division_study *study, const struct partition *partition,
                         uint32_t layer, enum partition_type type, uint32_t degree)
{
    for (uint32_t part = 0; part < degree; part++) {
        double share = 1;
        uint32_t rest = degree;
        for (uint32_t level = 0; level < study->levels; level++)
            if (type_of(partition, level, layer) == type) {
                rest /= study->ways[level];
                share *= share_of(study, partition, level, part / rest % study->ways[level]);
            }
        fputs(part ? ", " : "", out);
        write_number(out, share);
    }
}

/* Of all divided dimensions, one behind the other. */
static void write_all_shares(FILE *out, const struct division_study *study, const struct partition *partition,
                             uint32_t layer, const uint32_t degrees[PARTITION_TYPES])
{
    const char *before = ", shares: [";
    for (int type = 0; type < PARTITION_TYPES; type++)
        if (degrees[type] > 1) {
            fputs(before, out);
            write_shares(out, study, partition, layer, type, degrees[type]);
            before = ", ";
        }
    fputs("]", out);
}

static bool is_unequal(const struct division_study *study, const struct partition *partition)
{
    bool unequal = false;
    for (uint32_t kind = 1; partition && kind < study->kind_count; kind++)
        unequal |= partition->level[0].shares[kind] != partition->level[0].shares[0];
    return unequal;
}

void division_write_row(FILE *out, const struct division_study *study, const struct partition *partition,
                        uint32_t layer)
{
    uint32_t degrees[PARTITION_TYPES] = {1, 1, 1};
    for (uint32_t level = 0; level < study->levels; level++)
        degrees[type_of(partition, level, layer)] *= study->ways[level];
    fputs("{layer: ", out);
    scenario_write_text(out, study->layers[layer], false);
    for (int type = 0; type < PARTITION_TYPES; type++)
        if (degrees[type] > 1) {
            fputs(", ", out);
            fputs(dimensions[type], out);
            fputs(": ", out);
            write_number(out, degrees[type]);
        }
    write_devices(out, study, partition, layer, degrees);
    if (is_unequal(study, partition))
        write_all_shares(out, study, partition, layer, degrees);
    fputs("}", out);
}

const char *division_list(const struct division_study *study, const struct partition *partition, struct arena *arena)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = memory_stream_open(&text, &size);
    for (uint32_t layer = 0; layer < study->layer_count; layer++) {
        fputs(layer ? ", " : "[", out);
        division_write_row(out, study, partition, layer);
    }
    fputs("]", out);
    memory_stream_close(out);
    const char *list = arena_copy(arena, text);
    free(text);
    return list;
}
