/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/abi.h"

#include <string.h>

enum { LAYOUTS_MAX = 9 };

/* Every size that a struct has had under this STAGESIM_WORKLOAD_ABI, today's last. A struct that grows gets an entry;
 * offsets of its members stay as they are (test/job/scenario/abi.c). */
static const struct {
    const char *name;
    size_t sizes[LAYOUTS_MAX];
} layouts[ABI_STRUCTS] = {
    [ABI_WORKLOAD] = {"struct stagesim_workload",
                      {offsetof(struct stagesim_workload, shape), offsetof(struct stagesim_workload, needs),
                       sizeof(struct stagesim_workload)}},
    [ABI_FIGURES] = {"struct stagesim_figures",
                     {offsetof(struct stagesim_figures, bounds_known),
                      offsetof(struct stagesim_figures, pipeline_layout), offsetof(struct stagesim_figures, kernels),
                      offsetof(struct stagesim_figures, choices), offsetof(struct stagesim_figures, tower_seconds),
                      sizeof(struct stagesim_figures)}},
    [ABI_PIPELINE] = {"struct stagesim_pipeline",
                      {offsetof(struct stagesim_pipeline, sync_axes), offsetof(struct stagesim_pipeline, attention),
                       offsetof(struct stagesim_pipeline, gathers_ahead),
                       offsetof(struct stagesim_pipeline, tied_gradient), offsetof(struct stagesim_pipeline, owned),
                       offsetof(struct stagesim_pipeline, outer_axes),
                       offsetof(struct stagesim_pipeline, first_expert_axes),
                       offsetof(struct stagesim_pipeline, gradient_message), sizeof(struct stagesim_pipeline)}},
    [ABI_PACE] = {"struct stagesim_pace", {sizeof(struct stagesim_pace)}},
};

size_t abi_size(enum abi_struct which)
{
    size_t size = 0;
    for (size_t i = 0; i < LAYOUTS_MAX && layouts[which].sizes[i]; i++)
        size = layouts[which].sizes[i];
    return size;
}

bool abi_read(enum abi_struct which, const void *theirs, size_t size, void *ours, struct fault *fault)
{
    size_t today = abi_size(which);
    for (size_t i = 0; i < LAYOUTS_MAX && layouts[which].sizes[i]; i++)
        if (layouts[which].sizes[i] == size) {
            memset(ours, 0, today);
            memcpy(ours, theirs, size);
            return true;
        }
    if (size > today)
        return fault_set(
            fault,
            "a %s of %zu bytes, more than the %zu that this stagesim knows: use a newer stagesim, or build "
            "the plug-in again with this workload.h",
            layouts[which].name, size, today);
    return fault_set(fault,
                     "a %s of %zu bytes, which no version had (today's has %zu): build the plug-in again with this "
                     "workload.h",
                     layouts[which].name, size, today);
}
