/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that run side by side, and which of them are alike. */
#ifndef STAGESIM_CLASS_PART_H
#define STAGESIM_CLASS_PART_H

#include "platforms/platform.h"
#include "simulator/program/program.h"

/* A program on its hosts: one of those that run side by side. */
struct class_part {
    const struct program *program;
    const uint32_t *hosts; /* [rank]: of the platform */
    double begins;         /* seconds after the beginning */
};

/* Of all that decides what ranks of a part do, but for the routes between them and how fast their hosts are: the same
 * for parts that do the same, a hash of 64 bits as colours are. */
uint64_t class_part_colour(const struct class_part *part, const struct platform *platform);

#endif
