/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a struct from a section of the scenario, as a table of fields says. */
#ifndef STAGESIM_FIELDS_H
#define STAGESIM_FIELDS_H

#include "abi/workload.h"
#include "base/document.h"

#include <stdbool.h>

struct fields_reader {
    const char *directory; /* where relative paths start that no file holds (--set) */
    struct arena *arena;   /* for texts and lists */
    struct diag *diag;
    /* Dotted paths of keys, to say where one belongs, NULL-terminated: asked for when a key is not known. NULL: none
     * are known. */
    const char *const *(*paths)(void *user);
    void *user;
};

/* A section and the fields in it: those of `fields` whose key is "name.key", and where `owner` is set those whose key
 * has no dot. */
struct fields_section {
    const char *name;
    bool owner;
    const struct stagesim_field *fields;
};

/* Reads all fields of a section into `target`. `node` is the section's map, NULL or empty where the scenario has none;
 * missing required keys are then reported at `missing`. Bad values are reported with an example of a right one and
 * leave target as it was. Relative paths start at the file that holds them. */
void fields_read(const struct fields_reader *reader, const struct fields_section *section, const struct node *node,
                 struct place missing, void *target);
/* Reports every key of the section that is neither a field nor among `others` (NULL-terminated; NULL: none), with the
 * nearest known one. */
void fields_check_keys(const struct fields_reader *reader, const struct fields_section *section,
                       const char *const *others, const struct node *node);
/* Reports one unknown key; `what` holds it, `words` (count of them) would be known. */
void fields_report_unknown(const struct fields_reader *reader, const char *what, const struct node *node,
                           const char *const *words, size_t count);

/* The key of a field within the section, NULL when the field is in another one. */
const char *fields_key(const struct fields_section *section, const struct stagesim_field *field);
/* Whether the section has a field of that key. */
bool fields_known(const struct fields_section *section, const char *key);

/* One value, which is stored at the field's offset from the target. False after a mistake was reported. */
bool fields_read_value(const struct fields_reader *reader, const struct stagesim_field *field, const char *key,
                       const struct node *node, void *target);
/* The index of a word among NULL-terminated names. False after a mistake was reported, with the nearest name. */
bool fields_read_word(const struct fields_reader *reader, const char *key, const struct node *node,
                      const char *const *names, unsigned *index);

/* What a value of the type is, for documentation: "count", "time", ... */
const char *fields_type_name(enum stagesim_field_type type);
/* Bytes of the value in the struct. */
size_t fields_type_size(enum stagesim_field_type type);

#endif
