/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"
#include "base/csv.h"
#include "base/paths.h"
#include "simulator/collectives/msccl/msccl.h"
#include "simulator/collectives/msccl/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_round(const void *left, const void *right)
{
    const struct msccl_message *a = left, *b = right;
    return a->round != b->round ? (a->round > b->round) - (a->round < b->round)
           : a->from != b->from ? (a->from > b->from) - (a->from < b->from)
           : a->to != b->to     ? (a->to > b->to) - (a->to < b->to)
                                : (a->count > b->count) - (a->count < b->count);
}

/* Messages of one round between the same two GPUs, on several channels, are one flow. */
static void add_message(struct collective_own *own, const struct msccl_message *message, uint32_t chunks)
{
    struct collective_phase_flow flow = {.from = message->from,
                                         .to = message->to,
                                         .phase = message->round,
                                         .steps = 1,
                                         .share = (double)message->count / chunks};
    struct collective_phase_flow *last = own->count ? &own->flows[own->count - 1] : NULL;
    if (last && last->phase == flow.phase && last->from == flow.from && last->to == flow.to)
        last->share += flow.share;
    else
        own->flows[own->count++] = flow;
}

static const struct collective_algorithm *algorithm_of(const struct msccl_program *program,
                                                       struct msccl_messages *messages, struct arena *arena)
{
    struct collective_algorithm *algorithm = arena_alloc(arena, sizeof *algorithm);
    struct collective_own *own = arena_alloc(arena, sizeof *own);
    qsort(messages->items, messages->count, sizeof *messages->items, by_round);
    *own = (struct collective_own){
        .ranks = program->ranks,
        .refusal = arena_print(arena, "is a program for %u ranks", program->ranks),
        .protocol = program->protocol,
        .least = program->least,
        .most = program->most,
        .flows = arena_array(arena, messages->count, sizeof *own->flows),
    };
    for (size_t i = 0; i < messages->count; i++)
        add_message(own, &messages->items[i], program->chunks);
    *algorithm = (struct collective_algorithm){.name = path_name(program->name, ".xml", arena),
                                               .summary = "a program in MSCCL's XML",
                                               .source = program->name,
                                               .kinds = KIND(program->kind),
                                               .own = own};
    return algorithm;
}

const struct collective_algorithm *msccl_parse(const char *name, const char *text, size_t size, struct arena *arena,
                                               struct diag *diag)
{
    const struct collective_algorithm *algorithm = NULL;
    struct msccl_messages messages = {NULL, 0, 0};
    const struct msccl_program *program = msccl_read(name, text, size, arena, diag);
    if (program && msccl_run(program, arena, diag, &messages))
        algorithm = algorithm_of(program, &messages, arena);
    free(messages.items);
    return algorithm;
}

const struct collective_algorithm *msccl_load(const char *file, struct place at, struct arena *arena, struct diag *diag)
{
    size_t size;
    char *text = csv_load(file, MSCCL_FILE_MAX, &size);
    if (!text) {
        diag_trouble(diag, at, "%s: %s", file, strerror(errno));
        return NULL;
    }
    const struct collective_algorithm *algorithm = msccl_parse(arena_copy(arena, file), text, size, arena, diag);
    free(text);
    return algorithm;
}
