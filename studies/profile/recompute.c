/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/profile/recompute.h"

#include "base/arena.h"

#include <string.h>

static bool is_checkpoint(const char *name)
{
    return !strcmp(name, "CheckpointFunctionBackward") || !strcmp(name, "UnifiedCheckpointFunctionBackward");
}

/* A backward that the engine runs within the checkpoint's. */
static bool is_backward(const char *name)
{
    return strstr(name, "evaluate_function") && !strstr(name, "CheckpointFunctionBackward");
}

/* Launches of a thread within one checkpoint's backward; operations of a thread are in the order of begin. */
static void mark(const struct recorded *recorded, size_t checkpoint, bool *marks)
{
    const struct recorded_operation *operations = recorded->operations, *around = &operations[checkpoint];
    double backward = around->begin; /* until then one runs */
    for (size_t i = checkpoint + 1;
         i < recorded->count && operations[i].stream == around->stream && operations[i].begin < around->end; i++) {
        const struct recorded_operation *it = &operations[i];
        bool host = it->kind == RECORDED_HOST;
        if (host && is_backward(recorded_name_of(recorded, it)) && it->end > backward)
            backward = it->end;
        if (it->kind != RECORDED_LAUNCH || it->begin < backward)
            continue;
        marks[i] = true;
    }
}

bool *recompute_launches(const struct recorded *recorded)
{
    bool *marks = NULL;
    for (size_t i = 0; i < recorded->count; i++) {
        const struct recorded_operation *it = &recorded->operations[i];
        if (it->kind != RECORDED_HOST || !is_checkpoint(recorded_name_of(recorded, it)))
            continue;
        marks = marks ? marks : array_zeroed(recorded->count, sizeof *marks);
        mark(recorded, i, marks);
    }
    return marks;
}
