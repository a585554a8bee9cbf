/* SPDX-License-Identifier: Apache-2.0 */
/* TOML 1.0 as the tree that YAML is read to: tables are maps, arrays lists, all else scalars. Strict: what the standard
 * refuses is refused with its place. Dates are left as text. */
#ifndef STAGESIM_READERS_TOML_H
#define STAGESIM_READERS_TOML_H

#include "base/document.h"

#include <stddef.h>

/* `text` ends in a zero, which `size` does not count. NULL after a mistake was reported. */
struct node *toml_parse(const char *file, const char *text, size_t size, struct arena *arena, struct diag *diag);

#endif
