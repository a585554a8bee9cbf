/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/device.h"

#include <string.h>

const char *const device_precisions[DEVICE_PRECISIONS + 1] = {"fp32", "tf32", "fp16", "bf16", "fp8", NULL};

double device_peak(const struct stagesim_device *device, unsigned precision)
{
    bool any = false;
    for (int i = 0; i < DEVICE_PRECISIONS; i++)
        any |= device->peak[i] > 0;
    if (!any || device->peak[precision] > 0)
        return any ? device->peak[precision] : device->speed;
    if (precision == FP16 || precision == BF16)
        return device->peak[FP16 + BF16 - precision];
    return 0;
}

bool device_same(const struct stagesim_device *a, const struct stagesim_device *b)
{
    bool same = a->speed == b->speed && a->memory_bandwidth == b->memory_bandwidth;
    for (int i = 0; i < DEVICE_PRECISIONS; i++)
        same &= a->peak[i] == b->peak[i];
    return same && (a->model && b->model ? strcmp(a->model, b->model) == 0 : a->model == b->model);
}

bool device_read_efficiency(struct stagesim_job *job, const struct stagesim_api *api,
                            const struct stagesim_device *device, double share, const char *table,
                            struct efficiency *efficiency)
{
    struct fault fault = {""};
    if (share > 0) {
        efficiency_constant(efficiency, share);
        return true;
    }
    if (!table && device->model)
        table = api->efficiency_table(job, device->model);
    if (!table) {
        api->error(job, NULL,
                   "there is no efficiency table for the device '%s' of the platform; give compute.efficiency or "
                   "compute.table",
                   device->model ? device->model : "(without a model)");
        return false;
    }
    if (efficiency_read(table, efficiency, &fault))
        return true;
    (fault.trouble ? api->trouble : api->error)(job, "compute.table", "%s", fault.text);
    return false;
}
