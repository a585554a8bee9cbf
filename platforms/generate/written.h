/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and properties as they come back from the file that the generator writes: its digits are few, so a platform
 * that is made without a file takes the same roundings. */
#ifndef STAGESIM_WRITTEN_H
#define STAGESIM_WRITTEN_H

#include "platforms/generate/node.h"
#include "platforms/library.h"

/* Bytes per second; seconds. */
double written_bandwidth(double bytes_per_second);
double written_latency(double seconds);

/* The speed and the properties of a device, and the technology of its interface where that is not NULL; neither name
 * nor node. False with the fault filled where a property cannot be read back. */
bool written_host(struct platform_host *host, const struct node_part *device, const char *interface,
                  struct arena *arena, struct fault *fault);
/* Sets the properties of a library; library_complete is the caller's. */
bool written_library(struct platform_library *to, const struct platform_library *from, struct fault *fault);

#endif
