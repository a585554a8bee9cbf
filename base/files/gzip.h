/* SPDX-License-Identifier: Apache-2.0 */
/* A stream whose bytes are compressed on their way to another one (RFC 1952). The same bytes go in, the same come out:
 * no time, no name. */
#ifndef STAGESIM_GZIP_H
#define STAGESIM_GZIP_H

#include <stdbool.h>
#include <stdio.h>

/* For writing; `out` is borrowed and stays open. NULL when there is no memory. The caller ends it with fclose, which
 * writes what is left; trouble of `out` stays on both. */
FILE *gzip_open(FILE *out);

#endif
