/* SPDX-License-Identifier: Apache-2.0 */
/* What the importers share; see import.h. */
#ifndef STAGESIM_IMPORT_PARTS_H
#define STAGESIM_IMPORT_PARTS_H

#include "platforms/import/import.h"

/* Most of anything in one node: larger numbers are mistakes, and would make the search for routes slow. */
enum { IMPORT_GPUS_MAX = 256, IMPORT_PLACES_MAX = 4096 };

/* The new item, zeroed; NULL with the fault filled when there are too many. */
struct import_place *import_add_place(struct import *import, enum import_place_kind kind, uint32_t parent, double wire,
                                      const char *bus, struct fault *fault);
struct import_gpu *import_add_gpu(struct import *import, uint32_t place, struct fault *fault);
struct import_nic *import_add_nic(struct import *import, uint32_t place, struct fault *fault);
void import_add_numa(struct import *import, uint32_t index, double memory);

/* Matrix entries between GPUs; the matrix is made on the first call, so all GPUs have to be known. */
void import_link(struct import *import, uint32_t from, uint32_t to, double raw);

/* What a quick pass over an XML file tells before a library gets to see it. */
struct xml_facts {
    char root[64], version[16];
    unsigned units, numa_nodes, pci_devices; /* objects of type PU, NUMANode, PCIDev in hwloc's files */
};

/* False with the fault filled when the text is no well-formed XML, defines entities, nests more than 200 deep, or (in
 * hwloc's files) has an index or a set out of all proportion. */
bool xml_scan(const char *name, const char *text, size_t size, struct xml_facts *facts, struct fault *fault);

bool import_hwloc_text(struct import *import, const char *name, const char *text, size_t size,
                       const struct xml_facts *facts, const struct import_options *options, struct fault *fault);
bool import_hwloc_here(struct import *import, const struct import_options *options, struct fault *fault);
bool import_nccl_text(struct import *import, const char *name, const char *text, size_t size, struct fault *fault);

/* Whether a text has the matrix that the tool prints. */
bool import_is_nvidia_topo(const char *text, size_t size, struct arena *arena);
bool import_is_rocm_topo(const char *text, size_t size, struct arena *arena);
bool import_nvidia_topo(struct import *import, const char *name, const char *text, size_t size,
                        const struct import_options *options, struct fault *fault);
bool import_rocm_topo(struct import *import, const char *name, const char *text, size_t size, struct fault *fault);

/* Models, rates and the node, from what was read. */
bool import_build(struct import *import, const char *name, const struct import_options *options, struct fault *fault);
/* The row of the table for what is known of a GPU, or NULL. */
const struct device_model *import_model(const struct import_gpu *gpu);
/* NVLink and xGMI corrected and completed from the tables of models; called by import_build. */
void import_complete_links(struct import *import);

/* A network interface by its PCI ids: line rate of a port in GB/s, 0 when not one that training would use. */
struct nic_model {
    uint16_t vendor, device;
    double rate;
    const char *name;
    const struct wire *wire; /* latency, and the share of the rate that is reached */
};
const struct nic_model *nic_find(uint16_t vendor, uint16_t device);
/* A row without a rate, for interfaces of which only the rate is known. */
const struct nic_model *nic_generic(void);

/* What devices reach between the sockets of a processor, GB/s, with its name; `vendor` and `model` as the system gives
 * them (either may be NULL), family and number 0 when unknown. 0 when the processor is not known. */
double socket_link_of(const char *vendor, const char *model, unsigned family, unsigned number, const char **name);

#endif
