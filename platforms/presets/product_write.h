/* SPDX-License-Identifier: Apache-2.0 */
/* A node as a product's file, which preset_read reads. */
#ifndef STAGESIM_PRODUCT_WRITE_H
#define STAGESIM_PRODUCT_WRITE_H

#include "platforms/generate/generate.h"

/* Writes the design's node, fabric and collectives as a product of that name; notes become comments. False with the
 * fault filled where its devices are not of one kind. */
bool product_write(const struct design *design, const char *name, FILE *out, struct fault *fault);

#endif
