/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/explain/json_parts.h"
#include "commands/explain/profile_parts.h"

#include <math.h>

static void put_parts(struct json_writer *json, const char *key, const double parts[PROFILE_PARTS])
{
    json_object_begin(json, key, false);
    for (int part = 0; part < PROFILE_PARTS; part++)
        json_number(json, profile_keys[part], parts[part]);
    json_object_end(json);
}

static void put_replay(struct json_writer *json, const struct profile_explanation *e)
{
    if (!e->replay.done)
        return;
    json_object_begin(json, "replay", false);
    json_number(json, "step", e->replay.seconds);
    for (int part = 0; part < KERNEL_PARTS; part++)
        if (kernel_part_shown(&e->replay, part))
            json_number(json, kernel_part_keys[part], e->replay.parts[part]);
    json_object_end(json);
}

static void put_layers(struct json_writer *json, const struct profile_explanation *e)
{
    json_array_begin(json, "layers", true);
    for (size_t i = 0; i < e->layers.count; i++) {
        const struct layer_row *row = &e->layers.rows[i];
        json_object_begin(json, NULL, false);
        json_integer(json, "times", row->times);
        json_integer(json, "kernels", row->kernels);
        json_text(json, "longest_kernel", e->recorded->names[row->name]);
        json_number(json, "seconds", row->seconds);
        json_number(json, "slowest", row->slowest);
        json_integer(json, "slowest_at", row->slowest_at);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_ranks(struct json_writer *json, const struct profile_explanation *e)
{
    json_array_begin(json, "ranks", true);
    for (uint32_t i = 0; i < e->recorded->rank_count; i++) {
        json_object_begin(json, NULL, false);
        json_integer(json, "rank", e->recorded->ranks[i].number);
        json_integer(json, "steps", e->profile.ranks[i].steps);
        json_number(json, "step_s", e->profile.ranks[i].seconds);
        json_number(json, "late_s", e->meetings.lateness[i]);
        json_number(json, "clock_shift_s", e->recorded->ranks[i].shift);
        put_parts(json, "parts", e->profile.ranks[i].parts);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_kernels(struct json_writer *json, const struct profile_explanation *e)
{
    json_array_begin(json, "kernels", true);
    for (size_t i = 0; i < e->profile.kernel_count; i++) {
        const struct profile_kernel *kernel = &e->profile.kernels[i];
        json_object_begin(json, NULL, false);
        json_text(json, "name", e->recorded->names[kernel->name]);
        json_integer(json, "calls", kernel->calls);
        json_number(json, "step_s", kernel->seconds);
        json_number(json, "step_bytes", kernel->bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_axes(struct json_writer *json, const struct profile_explanation *e)
{
    json_array_begin(json, "mesh", true);
    for (int axis = 0; axis < AXES; axis++) {
        const struct axis_found *found = &e->axes.found[axis];
        if (!found->size)
            continue;
        json_object_begin(json, NULL, false);
        json_text(json, "axis", axes_names[axis]);
        json_integer(json, "size", found->size);
        if (found->stride)
            json_integer(json, "stride", found->stride);
        json_flag(json, "told", found->told);
        json_integer(json, "calls", found->calls);
        json_number(json, "bytes", found->bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

void profile_json(const struct profile_explanation *e, FILE *out)
{
    struct json_writer json = json_writer_init(out);
    explain_json_begin(&json, e->files, e->file_count, e->recorded);
    json_integer(&json, "world", e->recorded->world);
    put_axes(&json, e);
    json_number(&json, "measured_s", e->profile.seconds);
    put_parts(&json, "parts", e->profile.parts);
    if (e->predicted) {
        json_number(&json, "predicted_s", e->expected.seconds);
        put_parts(&json, "predicted_parts", e->expected.parts);
    }
    put_replay(&json, e);
    put_layers(&json, e);
    json_integer(&json, "collectives_met", e->meetings.met);
    put_ranks(&json, e);
    put_kernels(&json, e);
    operators_json(&json, e);
    explain_json_end(&json, e->verdict, e->recorded, out);
}
