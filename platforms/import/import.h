/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the topology of a real node, as hwloc (`lstopo --of xml`), NCCL (NCCL_TOPO_DUMP_FILE), `nvidia-smi topo -m` or
 * `rocm-smi --showtopo` wrote it, and turns it into a node that the generator can copy. Says of everything whether it
 * was measured, taken from a table, or assumed. */
#ifndef STAGESIM_IMPORT_H
#define STAGESIM_IMPORT_H

#include "base/diagnostics.h"
#include "platforms/generate/node.h"

struct import_options {
    unsigned pcie_generation, pcie_lanes; /* where a file gives no link speed; 0: the model's, or Gen3 x16 */
    bool partitions;                      /* a device that is partitioned becomes one host for each partition */
    const struct device_model *model;     /* what GPUs are that the file does not name; NULL: not known */
    const struct wire *network;           /* the interface to assume where a node has none; NULL: none */
};

enum import_origin { IMPORT_MEASURED, IMPORT_TABLE, IMPORT_ASSUMED, IMPORT_LEFT_OUT };

struct import_finding {
    enum import_origin origin;
    const char *text;
};

enum import_place_kind { IMPORT_SOCKET, IMPORT_SWITCH, IMPORT_GPU, IMPORT_NIC };

/* A part of the tree of PCI Express below the processors. */
struct import_place {
    enum import_place_kind kind;
    uint32_t parent; /* place; NODE_NONE for sockets */
    double wire;     /* GB/s to the parent, line rate: the larger of the readings at its two ends; 0 unknown */
    const char *bus; /* "0000:06:00.0"; of a switch its upstream port; NULL for sockets */
};

struct import_gpu {
    uint32_t place;
    const char *name;                 /* "nvml0", or the bus id */
    const char *product;              /* as the driver calls it, or NULL */
    const struct device_model *model; /* of the table, or an assumed one; never NULL after import_build */
    uint16_t vendor, device;          /* PCI ids; 0 unknown */
    unsigned capability;              /* NVIDIA's compute capability times ten; 0 unknown */
    double memory;                    /* bytes; 0 unknown */
    unsigned partitions;              /* at least 1 */
    uint32_t numa;                    /* index as the system counts, NODE_NONE unknown */
    bool has_nvlink;                  /* the file lists one */
    double switch_bandwidth;          /* GB/s raw over NVLink to NVSwitches */
    double socket_bandwidth;          /* GB/s raw over NVLink to the socket */
};

struct import_nic {
    uint32_t place;
    const char *name; /* "mlx5_0", or the bus id */
    uint16_t vendor, device;
    uint32_t numa;
    bool down;
    bool unrated; /* files of the kind never have rates: `network` says what interfaces are, if nothing else does */
    double rate;  /* GB/s raw; 0 until import_build finds it in a table */
};

struct import_numa {
    uint32_t index; /* as the system counts */
    double memory;  /* bytes */
};

struct import {
    struct arena *arena;
    const char *source;    /* "hwloc 2.13.0 XML", ... */
    const char *product;   /* of the machine, or NULL */
    const char *processor; /* as the system calls it, or NULL */
    uint32_t place_count, gpu_count, nic_count, numa_count, finding_count;
    struct import_place *places; /* parents before children */
    struct import_gpu *gpus;     /* in the order of their bus ids, which is the order of ranks */
    struct import_nic *nics;
    struct import_numa *numas;
    struct import_finding *findings;
    double *links;          /* GB/s raw from GPU a to GPU b: links[a * gpu_count + b]; NULL without a matrix */
    bool links_unrated;     /* the file says which pairs have links, not how many or how fast */
    bool links_replaced;    /* not read but taken from a table or assumed, and a finding says so */
    const char *link_class; /* "nvlink" or "xgmi" */
    double socket_link;     /* GB/s effective between sockets, 0 unknown */
    const char *socket_source;
    struct node_graph *node; /* the result of import_build */
};

/* A file of the size of a topology as text with a zero at its end, in the arena. NULL with the fault filled. */
char *import_load(const char *path, size_t *size, struct arena *arena, struct fault *fault);
/* Reads a text and tells the formats apart by content; `name` is for messages, text[size] has to be 0. Everything lives
 * in the arena. NULL with the fault filled: the text begins with FILE, or FILE:LINE:COLUMN where known. */
struct import *import_text(const char *name, const char *text, size_t size, const struct import_options *options,
                           struct arena *arena, struct fault *fault);
/* The machine that this runs on. */
struct import *import_this_machine(const struct import_options *options, struct arena *arena, struct fault *fault);

/* An import without anything in it, for findings. */
struct import *import_create(const char *source, struct arena *arena);
__attribute__((format(printf, 3, 4))) void import_find(struct import *import, enum import_origin origin,
                                                       const char *format, ...);

/* "measured", "table", "assumed", "left out". */
const char *import_origin_name(enum import_origin origin);

#endif
