/* SPDX-License-Identifier: Apache-2.0 */
/* Many files through one stream: for a child process, which may write only to what was open before it was forked, while
 * its parent learns afterwards which files there are. */
#ifndef STAGESIM_PARTS_H
#define STAGESIM_PARTS_H

#include "base/files/output.h"

enum { PARTS_NAME_MAX = 64 };

/* A file follows, "name" or "sub-directory/name", of less than PARTS_NAME_MAX characters; then its bytes, and its end.
 * Write errors stay on the stream. */
void parts_begin(FILE *out, const char *name);
void parts_put(FILE *out, const void *bytes, size_t size);
void parts_end(FILE *out);

/* From the stream's start on, each file into a set of output files, below `directory` ("" or "NAME/"). False with the
 * fault filled. */
bool parts_unpack(FILE *in, struct output *output, const char *directory, struct fault *fault);

#endif
