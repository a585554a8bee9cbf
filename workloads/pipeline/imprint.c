/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/pipeline/imprint.h"

#include "workloads/pipeline/lowering.h"

#include "base/arena.h"

#include <string.h>

void imprint_add(struct imprint *imprint, uint64_t word)
{
    if (imprint->count == imprint->room) {
        size_t room = imprint->room ? 4 * imprint->room : 512;
        uint64_t *words = arena_array(imprint->arena, room, sizeof *words);
        if (imprint->count)
            memcpy(words, imprint->words, imprint->count * sizeof *words);
        imprint->words = words;
        imprint->room = room;
    }
    imprint->words[imprint->count++] = word;
}

void imprint_add_number(struct imprint *imprint, double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    imprint_add(imprint, word);
}

void imprint_add_text(struct imprint *imprint, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    imprint_add(imprint, text ? length : UINT64_MAX);
    for (size_t i = 0; i < length; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, text + i, length - i < sizeof word ? length - i : sizeof word);
        imprint_add(imprint, word);
    }
}

bool imprint_equal(const struct imprint *a, const struct imprint *b)
{
    return a->count == b->count && (!a->count || !memcmp(a->words, b->words, a->count * sizeof *a->words));
}

uint64_t imprint_hash(const struct imprint *imprint, uint64_t sum)
{
    for (size_t i = 0; i < imprint->count; i++) {
        sum = (sum ^ imprint->words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}

/* ---- costs ---- */

static void add_numbers(struct imprint *imprint, const double *numbers, uint32_t count)
{
    imprint_add(imprint, numbers != NULL);
    for (uint32_t i = 0; numbers && i < count; i++)
        imprint_add_number(imprint, numbers[i]);
}

/* Those behind the first one without bytes are not read. */
static void add_exchanges(struct imprint *imprint, const struct stagesim_exchanges *exchanges)
{
    for (unsigned i = 0; i < STAGESIM_EXCHANGES_MAX && exchanges->items[i].bytes > 0; i++) {
        const struct stagesim_exchange *exchange = &exchanges->items[i];
        imprint_add_number(imprint, exchange->bytes);
        imprint_add_number(imprint, exchange->buffers);
        imprint_add(imprint, (uint64_t)exchange->collective << 32 | (uint64_t)exchange->kind << 16 |
                                 (uint64_t)exchange->moment << 1 | exchange->hidden);
        imprint_add_text(imprint, exchange->axes);
    }
    imprint_add_number(imprint, 0);
}

static void add_part(struct imprint *imprint, const struct stagesim_part *part, const struct mesh *mesh, uint32_t sets)
{
    const double numbers[] = {part->forward,        part->backward,     part->weight,   part->forward_flops,
                              part->backward_flops, part->weight_flops, part->gradient, part->expert_gradient};
    uint32_t axes = 0;
    imprint_add(imprint, (uint64_t)part->layer << 32 | part->apart);
    add_numbers(imprint, numbers, sizeof numbers / sizeof *numbers);
    add_exchanges(imprint, &part->forward_exchanges);
    add_exchanges(imprint, &part->backward_exchanges);
    imprint_add_text(imprint, part->varies);
    if (part->varies && mesh_select(mesh, part->varies, &axes))
        add_numbers(imprint, part->factors, mesh_product(mesh, axes) * lowering_factor_sets(part->varies, sets));
}

static void add_parts(struct imprint *imprint, const struct stagesim_pipeline *costs, const struct mesh *mesh)
{
    for (uint32_t stage = 0; costs->parts && stage < costs->stages; stage++) {
        imprint_add(imprint, costs->part_counts[stage]);
        for (uint32_t i = 0; i < costs->part_counts[stage]; i++)
            add_part(imprint, &costs->parts[stage][i], mesh, costs->factor_sets);
    }
}

static void add_owned(struct imprint *imprint, const struct stagesim_pipeline *costs)
{
    imprint_add(imprint, costs->owned != NULL);
    for (uint32_t stage = 0; costs->owned && stage < costs->stages; stage++) {
        imprint_add(imprint, costs->owned_counts[stage]);
        for (uint32_t i = 0; i < costs->owned_counts[stage]; i++)
            add_numbers(imprint, (const double[]){costs->owned[stage][i].bytes, costs->owned[stage][i].repeats}, 2);
    }
}

static void add_mesh(struct imprint *imprint, const struct mesh *mesh)
{
    imprint_add(imprint, (uint64_t)mesh->axis_count << 32 | mesh->name_count);
    for (unsigned i = 0; i < mesh->axis_count; i++)
        imprint_add(imprint, (uint64_t)mesh->axes[i].size << 1 | mesh->axes[i].distinct);
    for (unsigned i = 0; i < mesh->name_count; i++) {
        imprint_add(imprint, mesh->names[i].axes);
        imprint_add_text(imprint, mesh->names[i].name);
    }
}

void pipeline_imprint(struct imprint *imprint, const struct stagesim_pipeline *costs, const struct mesh *mesh)
{
    const double *const arrays[] = {costs->forward,
                                    costs->backward,
                                    costs->weight,
                                    costs->block,
                                    costs->optimizer,
                                    costs->forward_flops,
                                    costs->backward_flops,
                                    costs->weight_flops,
                                    costs->message,
                                    costs->gradient_message,
                                    costs->gradient,
                                    costs->activation,
                                    costs->weight_activation,
                                    costs->parameter,
                                    costs->gathered,
                                    costs->optimizer_state,
                                    costs->gradient_memory,
                                    costs->buffers,
                                    costs->attention,
                                    costs->expert_gradient,
                                    costs->expert_gathered,
                                    costs->keys_values,
                                    costs->checkpoint,
                                    costs->attention_backward,
                                    costs->outer_bytes,
                                    costs->outer_before,
                                    costs->outer_after,
                                    costs->outer_gathered,
                                    costs->outer_expert_gathered};
    _Static_assert(sizeof(void *) != 8 || sizeof *costs == 408, "a new cost is part of the imprint, too");
    imprint_add(imprint, costs->stages);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        add_numbers(imprint, arrays[i], costs->stages);
    imprint_add(imprint, (uint64_t)costs->sharding << 16 | (uint64_t)costs->fine << 6 |
                             (uint64_t)costs->late_sync << 5 | (uint64_t)costs->keep_gathered << 4 |
                             (uint64_t)costs->late_gather << 3 | (uint64_t)costs->blocking_scatter << 2 |
                             (uint64_t)costs->late_replicas << 1 | (costs->gathers_ahead != NULL));
    imprint_add_number(imprint, costs->bucket);
    imprint_add_number(imprint, costs->slice_grain);
    imprint_add_number(imprint, costs->gather_bucket);
    imprint_add(imprint, costs->gather_pieces);
    imprint_add_number(imprint, costs->tied_gradient);
    imprint_add(imprint, (uint64_t)costs->factor_sets << 1 | costs->unsliced);
    for (uint32_t stage = 0; costs->gathers_ahead && stage < costs->stages; stage++)
        imprint_add(imprint, costs->gathers_ahead[stage]);
    imprint_add(imprint, (uint64_t)costs->outer_interval << 32 | costs->outer_delay);
    imprint_add_text(imprint, costs->outer_axes);
    imprint_add_text(imprint, costs->sync_axes);
    imprint_add_text(imprint, costs->shard_axes);
    imprint_add_text(imprint, costs->expert_axes);
    imprint_add_text(imprint, costs->first_expert_axes);
    add_parts(imprint, costs, mesh);
    add_owned(imprint, costs);
    add_mesh(imprint, mesh);
}
