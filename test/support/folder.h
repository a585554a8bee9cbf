/* SPDX-License-Identifier: Apache-2.0 */
/* A folder of files made of one text: readers of several files are fuzzed with it. */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

enum { FOLDER_PATH = 64 };

/* Makes a folder in memory or $TMPDIR, in which the process works from now on, and fills it: the text is parts that end
 * at form feeds; the first line of each is the name of a file, which may have one '/'. Parts without a name of letters,
 * digits, '.', '-' and '_' are passed over. The path goes to `path`. */
void folder_fill(const void *text, size_t size, char path[FOLDER_PATH]);

/* Whether it has the file. */
bool folder_has(const char *path, const char *name);

/* A sum over the names and contents of all files in it. */
unsigned long long folder_sum(const char *path);

/* Removes it with all that is in it; the process works where it did before. */
void folder_remove(const char *path);

/* What the process writes to its standard streams goes to files in memory from now on until streams_release;
 * sanitizers go on to report to the user. */
void streams_catch(void);
void streams_release(void);
/* What was last caught on the standard error stream, its beginning. Not to be freed. */
const char *streams_errors(void);

#endif
