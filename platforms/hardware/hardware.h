/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware as data: products, devices, cables, network cards, collective libraries and networks are YAML files, one
 * each (doc/hardware.md). stagesim's own are embedded; a user's file may take over from any of them (`from`) and say
 * only what differs. What was read once stays in memory until the process ends. */
#ifndef STAGESIM_HARDWARE_H
#define STAGESIM_HARDWARE_H

#include "abi/workload.h"
#include "base/diagnostics.h"
#include "base/document.h"

#include <stdbool.h>
#include <stddef.h>

struct arena;

enum hardware {
    HARDWARE_PRODUCT,
    HARDWARE_DEVICE,
    HARDWARE_WIRE,
    HARDWARE_CARD,
    HARDWARE_LIBRARY,
    HARDWARE_NETWORK,
    HARDWARE_LINKS,
    HARDWARE_KINDS
};

/* As `kind` has them in files; NULL-terminated. */
extern const char *const hardware_kind_names[];

/* H: read in the cited source; M: a vendor's figure from memory or a secondary source; L: an estimate. */
enum confidence { CONFIDENCE_H, CONFIDENCE_M, CONFIDENCE_L };
/* 'H', 'M' or 'L'. */
char confidence_letter(enum confidence confidence);
/* The words of a field for it: an `unsigned` that is enum confidence. */
extern const char *const confidence_names[];

/* Memory of what is read, as long as the process. */
struct arena *hardware_arena(void);

/* The names of a kind: stagesim's in the order of lists, then the user's of $STAGESIM_PLATFORMS in alphabetical order;
 * *count of them. */
const char *const *hardware_names(enum hardware kind, size_t *count);
/* Whether there is a file of that name; it may have mistakes. */
bool hardware_has(enum hardware kind, const char *name);

/* Whether a place is in a file that stagesim comes with. */
bool hardware_is_own(struct place at);
/* The user's file of that path (which is copied) is read. */
void hardware_note_file(const char *path);
/* The paths of the user's files in the order in which they were read; *count of them. Valid until the next is read. */
const char *const *hardware_users_files(size_t *count);
/* The map that a definition comes to with all that it takes over. `at`: who asks, for messages and for what lies beside
 * that file; line 0: nobody's file. NULL after a mistake was reported. */
const struct node *hardware_find(enum hardware kind, const char *name, struct place at, struct diag *diag);
/* The same of a file by its path, which must hold a definition of that kind. */
const struct node *hardware_find_file(enum hardware kind, const char *path, struct place at, struct diag *diag);
/* The same of a value in a file: a name, or a map with the definition itself. `key` is the value's, for messages. */
const struct node *hardware_value(enum hardware kind, const char *key, const struct node *value, struct diag *diag);

/* Fills a struct from a definition. Keys with a dot are in maps of their own. `others`: keys that the caller reads
 * (NULL-terminated; NULL: none). False after a mistake was reported. */
bool hardware_read(enum hardware kind, const struct node *map, const struct stagesim_field *fields,
                   const char *const *others, void *target, struct diag *diag);
/* Whether a text may be part of names in a platform: a letter, then letters, digits and dashes, at most 40. Reports
 * where not. */
bool hardware_word(const char *key, const struct node *map, struct diag *diag);

/* What was made of a definition: NULL where nothing was kept. The name is copied. */
const void *hardware_kept(enum hardware kind, const char *name);
/* The same of a value that is a name in one of stagesim's own files, where names mean the same to all. */
const void *hardware_kept_value(enum hardware kind, const struct node *value);
void hardware_keep(enum hardware kind, const char *name, const void *made);
/* Frees all that was read, and so all that was made of it. */
void hardware_forget(void);

#endif
