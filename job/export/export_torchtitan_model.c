/* SPDX-License-Identifier: Apache-2.0 */
/* Which of torchtitan's models a shape is. */
#include "frameworks/torchtitan_models.h"
#include "job/export/export.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(name)                                                                                                    \
    {                                                                                                                  \
#name, offsetof(struct transformer_model, name), false                                                         \
    }
#define FLAG(name)                                                                                                     \
    {                                                                                                                  \
#name, offsetof(struct transformer_model, name), true                                                          \
    }

/* What tells shapes apart. */
static const struct field {
    const char *name;
    size_t offset;
    bool flag;
} fields[] = {COUNT(layers),     COUNT(hidden),         COUNT(heads),      COUNT(kv_heads),     COUNT(head_size),
              COUNT(ffn),        COUNT(vocabulary),     COUNT(positions),  COUNT(window),       COUNT(experts),
              COUNT(top_k),      COUNT(shared_experts), COUNT(expert_ffn), COUNT(dense_layers), COUNT(expert_period),
              COUNT(query_rank), COUNT(kv_rank),        COUNT(rope_size),  COUNT(value_size),   COUNT(expert_groups),
              COUNT(top_groups), FLAG(gated),           FLAG(tied),        FLAG(biases),        FLAG(qkv_biases),
              FLAG(qk_norm),     FLAG(sinks),           FLAG(router_bias), FLAG(shared_gate)};

enum { FIELDS = sizeof fields / sizeof *fields };

static uint64_t *count_of(struct transformer_model *model, const struct field *field)
{
    return (uint64_t *)((char *)model + field->offset);
}

static bool *flag_of(struct transformer_model *model, const struct field *field)
{
    return (bool *)((char *)model + field->offset);
}

static void set_field(struct transformer_model *model, const char *name, size_t length, const char *value)
{
    for (size_t i = 0; i < FIELDS; i++) {
        if (strlen(fields[i].name) != length || strncmp(fields[i].name, name, length) != 0)
            continue;
        if (fields[i].flag)
            *flag_of(model, &fields[i]) = !strncmp(value, "true", 4);
        else
            *count_of(model, &fields[i]) = strtoull(value, NULL, 10);
    }
}

static void set_shape(struct transformer_model *model, const char *shape)
{
    while (*shape) {
        size_t key = strcspn(shape, " "), value = strcspn(shape + key + 1, " ");
        set_field(model, shape, key, shape + key + 1);
        shape += key + 1 + value;
        shape += *shape == ' ';
    }
}

static bool is_model(const struct export_job *job, const struct torchtitan_model *known)
{
    struct transformer_model model = {0}, own = job->model;
    set_shape(&model, torchtitan_common);
    set_shape(&model, known->shape);
    transformer_model_complete(&model);
    bool same = own.norm == NORM_RMS;
    for (size_t i = 0; i < FIELDS; i++)
        same &= fields[i].flag ? *flag_of(&model, &fields[i]) == *flag_of(&own, &fields[i])
                               : *count_of(&model, &fields[i]) == *count_of(&own, &fields[i]);
    return same;
}

const struct torchtitan_model *export_torchtitan_model(const struct export_job *job)
{
    const struct torchtitan_model *known = torchtitan_models;
    while (known->name && !is_model(job, known))
        known++;
    return known->name ? known : NULL;
}

const char *export_torchtitan_converter(const struct export_job *job, bool python)
{
    switch ((enum transformer_scaling)job->parameters->scaling) {
    case SCALING_MX:
        return python ? "MXFP8LinearConverter" : "quantize.linear.mx";
    case SCALING_NV:
        return python ? "NVFP4LinearConverter" : "nvfp4";
    default:
        return python ? "Float8LinearConverter" : "float8";
    }
}
