/* SPDX-License-Identifier: Apache-2.0 */
/* Platforms for tests: a full mesh of private links. */
#ifndef STAGESIM_TEST_MESH_PLATFORM_H
#define STAGESIM_TEST_MESH_PLATFORM_H

#include <stdint.h>

/* Writes a platform of `hosts` hosts of 1 Gf, every ordered pair joined by a link of its own, to a new temporary file;
 * returns its name, which the caller frees after unlinking it. */
char *mesh_platform_write(uint32_t hosts, double latency_seconds, double bytes_per_second);

#endif
