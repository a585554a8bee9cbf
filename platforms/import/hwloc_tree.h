/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs, network interfaces and the PCI tree of a loaded hwloc topology; see hwloc.c. */
#ifndef STAGESIM_IMPORT_HWLOC_TREE_H
#define STAGESIM_IMPORT_HWLOC_TREE_H

#include "platforms/import/parts.h"

#include <hwloc.h>

struct reader {
    struct import *import;
    hwloc_topology_t topology;
    const struct import_options *options;
    struct fault *fault;
    hwloc_obj_t *objects; /* by place: what it stands for; a switch is its upstream port */
    size_t object_capacity;
};

/* Adds all GPUs and network interfaces with the places above them. False with the reader's fault filled. */
bool hwloc_tree_read(struct reader *reader);

/* The PCI device around an OS device, or NULL. */
hwloc_obj_t hwloc_tree_pci(hwloc_obj_t device);
/* The place that stands for an object, or NODE_NONE. */
uint32_t hwloc_tree_place(const struct reader *reader, hwloc_obj_t object);

#endif
