/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the accelerators on the market: the generator writes it into platforms, the importers fall back to
 * it where a topology file is silent. It comes from the files of platforms/hardware/devices, each with its source, and
 * from the user's own. */
#ifndef STAGESIM_DEVICE_H
#define STAGESIM_DEVICE_H

#include "abi/workload.h"
#include "platforms/hardware/hardware.h"
#include "platforms/platform.h"

struct device_model {
    const char *name;              /* value of the host property `model` */
    enum precision precision;      /* whose peak is the host's speed */
    double peak[PRECISIONS];       /* Tflop/s, dense; 0 where the device has no such unit */
    const char *memory;            /* with unit, as written into the property */
    double memory_bandwidth;       /* GB/s */
    double watts_idle, watts_full; /* 0 where unknown; then no energy property is written */
    unsigned nvlink_generation;    /* 0 without NVLink */
    unsigned nvlinks;              /* 0: as many as its generation has */
    unsigned pcie_generation;      /* 0 where the device is not on PCI Express */
    const char *switched, *direct; /* the collective library of nodes where a switch, or links, join such devices; NULL:
                                      none is known */
    const char *source;
    enum confidence confidence;
};

/* The keys of files of devices, and of `links`, for readers and the JSON Schema. */
extern const struct stagesim_field device_fields[], links_fields[];

/* What workloads are told of a host, at the speed at which its times hold. Borrows its model. */
struct stagesim_device device_of_host(const struct platform_host *host);

/* NULL when there is none of the name, or its file has mistakes. Lives as long as the process, as all that follow. */
const struct device_model *device_find(const char *name);
/* Of the value of a key in a data file: a name, or a map that describes one. NULL after a mistake was reported. */
const struct device_model *device_value(const char *key, const struct node *value, struct diag *diag);

/* Finds the device for a product name as drivers report it ("NVIDIA H200", "Tesla P100-SXM2-16GB") and, to tell
 * variants apart, the memory in bytes (0: unknown). NULL when none fits. */
const struct device_model *device_match(const char *product, double memory_bytes);

/* The device for NVIDIA's compute capability (70: V100, 80: A100, ...), the only description in NCCL's files; `nvlink`
 * tells whether the device has NVLink, which separates the SXM board from the PCIe card. NULL when none fits. */
const struct device_model *device_of_capability(unsigned capability, bool nvlink);

/* The device of PCI ids, or NULL. */
const struct device_model *device_of_pci(unsigned vendor, unsigned device);

/* NVLinks of a device; 0 when unknown. */
unsigned nvlink_count(const struct device_model *model);
/* GB/s that one NVLink of the generation carries per direction: the line rate, and what copies reach. 0 when unknown.
 */
double nvlink_raw(unsigned generation);
double nvlink_effective(unsigned generation);

/* GB/s of a PCI Express x16 slot of the generation per direction: line rate after encoding. */
double pcie_raw(unsigned generation);

/* "fp32", "tf32", ... */
const char *precision_name(enum precision precision);

#endif
