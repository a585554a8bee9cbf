/* SPDX-License-Identifier: Apache-2.0 */
/* What a workload is told of a GPU, and what share of its peaks it is to reach. */
#ifndef STAGESIM_WORKLOAD_DEVICE_H
#define STAGESIM_WORKLOAD_DEVICE_H

#include "abi/workload.h"
#include "workloads/transformer/efficiency.h"

/* In the order of struct stagesim_device.peak. */
enum device_precision { FP32, TF32, FP16, BF16, FP8, DEVICE_PRECISIONS };
/* "fp32", ...; NULL-terminated. */
extern const char *const device_precisions[DEVICE_PRECISIONS + 1];

/* flop/s in a precision, enum device_precision; 0: the platform gives none. Half precisions fall back on each other,
 * and all on the host's speed where the platform gives no peaks. */
double device_peak(const struct stagesim_device *device, unsigned precision);

/* Whether nothing tells two of them apart. */
bool device_same(const struct stagesim_device *a, const struct stagesim_device *b);

/* What the device reaches: `share` of its peak at any size where that is above 0, else by `table`, or where that is
 * NULL by the installed one of its model. False with the mistake reported. */
bool device_read_efficiency(struct stagesim_job *job, const struct stagesim_api *api,
                            const struct stagesim_device *device, double share, const char *table,
                            struct efficiency *efficiency);

#endif
