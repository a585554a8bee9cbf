/* SPDX-License-Identifier: Apache-2.0 */
/* Imports of nodes for tests, and hwloc files written for them. */
#ifndef TEST_SUPPORT_IMPORTS_H
#define TEST_SUPPORT_IMPORTS_H

#include "base/arena.h"
#include "platforms/import/import.h"

/* No options. */
extern const struct import_options imported_plain;
struct import *imported_text(const char *text, const struct import_options *options, struct arena *arena);
struct import *imported_file(const char *path, const struct import_options *options, struct arena *arena,
                             struct fault *fault);
bool imported_near(double value, double expected);
bool imported_finding(const struct import *import, enum import_origin origin, const char *part);
const struct import_place *imported_gpu_place(const struct import *import, uint32_t gpu);
/* How many switches two places have above them in common. */
uint32_t imported_switches(const struct import *import, uint32_t a, uint32_t b);
/* A machine of two packages with a PCI tree; `devices` goes below the first package's host bridge. */
const char *hwloc_text(const char *version, const char *devices, const char *matrix, struct arena *arena);
/* PCI devices for it. */
const char *hwloc_gpu(unsigned bus, unsigned index, const char *product, const char *inner, double speed,
                      struct arena *arena);
const char *hwloc_two_gpus(const char *product, double speed, struct arena *arena);
/* The matrix of NVLink's rates between two GPUs. */
const char *hwloc_matrix_of_two(unsigned rate, struct arena *arena);

#endif
