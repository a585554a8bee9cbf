/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/explain/verdict.h"

#include "base/arena.h"
#include "base/table.h"

#include <math.h>

const char *const loss_names[LOSS_KINDS] = {
    [LOSS_GAPS] = "gaps in which nothing runs and nothing is waited for",
    [LOSS_PAUSES] = "pauses in single computations",
    [LOSS_RANKS] = "ranks that are slow all the time",
    [LOSS_MICRO_BATCHES] = "uneven micro-batches",
    [LOSS_STAGES] = "stages that are longer than others",
    [LOSS_FORWARD] = "forwards, against the model",
    [LOSS_BACKWARD] = "backwards, against the model",
    [LOSS_OTHER_COMPUTE] = "other computations, against the model",
    [LOSS_REST] = "other differences of computations",
    [LOSS_MESSAGES] = "messages that take longer than their size needs",
    [LOSS_COLLECTIVES] = "collectives that take longer than their size needs",
    [LOSS_CONTENTION] = "messages and collectives in each other's way",
    [LOSS_MESSAGE_SIZES] = "sizes of messages, against the model",
    [LOSS_COLLECTIVE_SIZES] = "sizes of collectives, against the model",
    [LOSS_EXTRA] = "work that the model does not have",
    [LOSS_ORDER] = "order and dependencies, against the model",
};

static const char *const advice[LOSS_KINDS] = {
    [LOSS_GAPS] = "look at what the host does there: launches, data loading, synchronisation, garbage collection",
    [LOSS_PAUSES] = "collect garbage on all ranks in the same step, and look for other work of the host at these times",
    [LOSS_RANKS] = "take that GPU out and check its clock, temperature and neighbours",
    [LOSS_MICRO_BATCHES] = "pack sequences into micro-batches of equal work",
    [LOSS_STAGES] = "move layers from that stage to others, and check its GPUs",
    [LOSS_FORWARD] = "compare the kernels of a forward with `stagesim kernel`",
    [LOSS_BACKWARD] =
        "compare the kernels of a backward with `stagesim kernel`, and whether activations are recomputed",
    [LOSS_OTHER_COMPUTE] = "look at the optimizer's kernels",
    [LOSS_REST] = "record more steps: what differs from one to the next is noise",
    [LOSS_MESSAGES] = "check that pair's link and what else uses it",
    [LOSS_COLLECTIVES] = "check the links of that group and what else uses them",
    [LOSS_CONTENTION] = "move ranks that talk most nearer to each other, or exchange gradients at another time",
    [LOSS_MESSAGE_SIZES] = "compare what a stage sends with the scenario's: precision, sequence, micro-batch",
    [LOSS_COLLECTIVE_SIZES] =
        "compare what is exchanged with the scenario's: precision of gradients, sharding, buckets",
    [LOSS_EXTRA] = "give the scenario what it lacks, or take it out of the job",
    [LOSS_ORDER] = "run the scenario's schedule",
};

bool loss_shown(const struct losses *losses, enum loss_kind kind)
{
    bool of_model = kind == LOSS_FORWARD || kind == LOSS_BACKWARD || kind == LOSS_OTHER_COMPUTE || kind == LOSS_EXTRA ||
                    kind == LOSS_ORDER || kind == LOSS_MESSAGE_SIZES || kind == LOSS_COLLECTIVE_SIZES ||
                    kind == LOSS_CONTENTION;
    return !isnan(losses->predicted) || !of_model;
}

enum loss_kind loss_worst(const struct losses *losses)
{
    enum loss_kind worst = LOSS_KINDS;
    for (int kind = 0; kind < LOSS_KINDS; kind++)
        if (losses->parts[kind].seconds > 0 &&
            (worst == LOSS_KINDS || losses->parts[kind].seconds > losses->parts[worst].seconds))
            worst = (enum loss_kind)kind;
    return worst;
}

static const char *first_sentence(const struct losses *losses, struct arena *arena)
{
    char measured[READABLE_MAX], even[READABLE_MAX];
    bool model = !isnan(losses->predicted);
    readable_seconds(measured, losses->measured);
    readable_seconds(even, model ? losses->predicted : losses->even);
    return model ? arena_print(arena, "A step takes %s, the scenario says %s.", measured, even)
                 : arena_print(arena, "A step takes %s, and %s when everything takes what its like take in this trace.",
                               measured, even);
}

const char *verdict_text(const struct losses *losses, struct arena *arena)
{
    enum loss_kind worst = loss_worst(losses);
    const char *first = first_sentence(losses, arena);
    static const double worth = 2e-3;
    const struct loss_part *part = worst == LOSS_KINDS ? NULL : &losses->parts[worst];
    if (!part || part->seconds < worth * losses->measured)
        return arena_print(arena, "%s No part of it is worth 0.2 %% of the step.", first);
    char cost[READABLE_MAX], share[READABLE_MAX], gain[READABLE_MAX];
    const char *gives = "";
    readable_seconds(cost, part->seconds);
    readable_percent(share, part->seconds / losses->measured);
    if (part->who_seconds > 0)
        gives = arena_print(arena, "mending that alone gives %s a step", readable_seconds(gain, part->who_seconds));
    else
        gives = arena_print(arena, "mending all of it gives %s a step", cost);
    return arena_print(
        arena, "%s Most of the difference, %s or %s of the step, are %s%s%s. Try this: %s; %s, by replay.", first, cost,
        share, loss_names[worst], part->who ? ": " : "", part->who ? part->who : "", advice[worst], gives);
}
