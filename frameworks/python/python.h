/* SPDX-License-Identifier: Apache-2.0 */
/* Configurations that are Python files, as far as they are data. Nothing is run: assignments, calls of constructors and
 * of the file's own functions, dictionaries, lists and arithmetic are followed as Python would. All else is a value
 * that is not known, and so is what it could have changed. */
#ifndef STAGESIM_FRAMEWORKS_PYTHON_H
#define STAGESIM_FRAMEWORKS_PYTHON_H

#include "base/document.h"

struct arena;
struct diag;

/* Longer files are refused. */
enum { PYTHON_BYTES_MAX = 1 << 20 };

/* The entry of a map that was made by a call: what was called. Arguments without a name are "0", "1", ... */
extern const char python_callee[];

struct python_request {
    const char *file, *text; /* ended by a zero, which `size` does not count */
    size_t size;
    const char *const *harmless; /* functions from elsewhere that change none of their arguments; ended by NULL */
    struct arena *arena;
    struct diag *diag;
};

struct python;

/* Follows the file's statements. NULL after a mistake was reported. All memory is the arena's. */
struct python *python_load(const struct python_request *request);

/* The file's names as a map. Constants (NAMES_IN_CAPITALS), modules and functions are left out. What is not known is a
 * NODE_REFUSED that was not reported yet: its `text` says why. Words such as torch.bfloat16, which come from elsewhere,
 * are scalars. NULL after a mistake was reported. */
const struct node *python_names(struct python *python);

/* The functions that can be called without arguments, in the order of the file, ended by NULL; names that begin with _
 * are left out. */
const char *const *python_functions(struct python *python);
/* What such a function returns. NULL after a mistake was reported. */
const struct node *python_call(struct python *python, const char *function);

#endif
