/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) of files: by it a report says which inputs it is about. */
#ifndef STAGESIM_SHA256_H
#define STAGESIM_SHA256_H

#include <stdbool.h>
#include <stddef.h>

enum { SHA256_TEXT = 65 };

/* 64 hexadecimal digits of a file's content; false when it cannot be read. */
bool sha256_of_file(const char *file, char text[SHA256_TEXT]);

#endif
