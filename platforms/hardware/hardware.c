/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/hardware/hardware.h"

#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/words/aliases.h"
#include "platforms/hardware/hardware_files.h"
#include "platforms/hardware/hardware_take.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* As `kind` has it. */
const char *const hardware_kind_names[] = {"product", "device", "wire", "card", "library", "network", "links", NULL};
const char *const confidence_names[] = {"H", "M", "L", NULL};

enum { TAKEN_MOST = 8 };

char confidence_letter(enum confidence confidence)
{
    return *confidence_names[confidence];
}

const void *hardware_kept_value(enum hardware kind, const struct node *value)
{
    bool shared = value->kind == NODE_SCALAR && hardware_is_own(value->at) && !getenv("STAGESIM_PLATFORMS");
    return shared ? hardware_kept(kind, value->text) : NULL;
}

static const struct node *refuse_name(enum hardware kind, const char *key, const char *name, struct place at,
                                      struct diag *diag)
{
    size_t count;
    const char *const *names = hardware_names(kind, &count);
    const char *near = alias_nearest(name, names, count);
    diag_error(diag, at, "%s: there is no %s '%.60s'%s%s%s", key, hardware_kind_names[kind], name,
               near ? "; did you mean '" : " (doc/hardware.md lists them)", near ? near : "", near ? "'?" : "");
    return NULL;
}

static const struct node *find(enum hardware kind, const char *key, const char *name, struct place at, unsigned taken,
                               struct diag *diag);

/* A definition with what it takes over from another one. */
static const struct node *complete(enum hardware kind, struct node *map, unsigned taken, struct diag *diag)
{
    const struct node *from = node_get(map, "from");
    if (kind == HARDWARE_PRODUCT)
        hardware_spread_cables(map, hardware_arena());
    if (!from)
        return map;
    if (from->kind != NODE_SCALAR || taken >= TAKEN_MOST) {
        diag_error(diag, from->at,
                   taken >= TAKEN_MOST ? "from: more than %d take over from each other, or one from itself"
                                       : "from: expected the name of one",
                   (int)TAKEN_MOST);
        return NULL;
    }
    const struct node *base = find(kind, "from", from->text, from->at, taken + 1, diag);
    return base ? hardware_take_over(base, map, hardware_arena()) : NULL;
}

/* A file has to say what it is; one that a user wrote is a product where it does not. */
static bool check_kind(enum hardware kind, const struct node *map, struct diag *diag)
{
    struct fields_reader reader = {.directory = ".", .arena = hardware_arena(), .diag = diag};
    const struct node *said = node_get(map, "kind");
    unsigned index = HARDWARE_PRODUCT;
    if (said && !fields_read_word(&reader, "kind", said, hardware_kind_names, &index))
        return false;
    if (index != (unsigned)kind)
        diag_error(diag, said ? said->at : map->at, "this is a %s; expected a %s", hardware_kind_names[index],
                   hardware_kind_names[kind]);
    return index == (unsigned)kind;
}

static const struct node *find(enum hardware kind, const char *key, const char *name, struct place at, unsigned taken,
                               struct diag *diag)
{
    bool known;
    struct node *map = hardware_load(kind, name, at, &known, diag);
    if (!known)
        return refuse_name(kind, key, name, at, diag);
    return map && check_kind(kind, map, diag) ? complete(kind, map, taken, diag) : NULL;
}

const struct node *hardware_find(enum hardware kind, const char *name, struct place at, struct diag *diag)
{
    return find(kind, hardware_kind_names[kind], name, at, 0, diag);
}

const struct node *hardware_find_file(enum hardware kind, const char *path, struct place at, struct diag *diag)
{
    struct node *map = hardware_load_file(path, at, diag);
    return map && check_kind(kind, map, diag) ? complete(kind, map, 0, diag) : NULL;
}

const struct node *hardware_value(enum hardware kind, const char *key, const struct node *value, struct diag *diag)
{
    if (value->kind == NODE_SCALAR && *value->text)
        return find(kind, key, value->text, value->at, 0, diag);
    if (value->kind == NODE_MAP)
        return complete(kind, node_copy(value, hardware_arena()), 0, diag);
    if (value->kind != NODE_REFUSED)
        diag_error(diag, value->at, "%s is %s; expected the name of a %s, or a map that describes one", key,
                   node_describe(value, hardware_arena()), hardware_kind_names[kind]);
    return NULL;
}

bool hardware_word(const char *key, const struct node *map, struct diag *diag)
{
    enum { LENGTH_MAX = 40 };
    const struct node *value = node_get(map, key);
    if (!value || value->kind != NODE_SCALAR)
        return true;
    bool good = isalpha((unsigned char)*value->text) && strlen(value->text) <= LENGTH_MAX;
    for (const char *at = value->text; *at; at++)
        good = good && (isalnum((unsigned char)*at) || *at == '-');
    if (!good)
        diag_error(diag, value->at, "%s is '%.60s'; expected a letter, then letters, digits and dashes, at most %d",
                   key, value->text, (int)LENGTH_MAX);
    return good;
}

/* Whether a dotted key's map comes earlier in the table. */
static bool is_read(const struct stagesim_field *fields, const struct stagesim_field *field, size_t length)
{
    for (; fields < field; fields++)
        if (strncmp(fields->key, field->key, length + 1) == 0)
            return true;
    return false;
}

bool hardware_read(enum hardware kind, const struct node *map, const struct stagesim_field *fields,
                   const char *const *others, void *target, struct diag *diag)
{
    enum { OTHERS_MAX = 96 };
    struct fields_reader reader = {.directory = ".", .arena = hardware_arena(), .diag = diag};
    const char *known[OTHERS_MAX + 1] = {"kind", "from"};
    size_t count = 2;
    unsigned errors = diag->errors;
    for (; others && *others && count < OTHERS_MAX; others++)
        known[count++] = *others;
    for (const struct stagesim_field *field = fields; field->key; field++) {
        const char *dot = strchr(field->key, '.');
        size_t length = dot ? (size_t)(dot - field->key) : 0;
        if (!dot || is_read(fields, field, length))
            continue;
        const char *name = arena_copy_part(hardware_arena(), field->key, length);
        struct fields_section inner = {name, false, fields};
        const struct node *value = node_get(map, name);
        fields_check_keys(&reader, &inner, NULL, value);
        fields_read(&reader, &inner, value, map->at, target);
        if (count < OTHERS_MAX)
            known[count++] = name;
    }
    struct fields_section outer = {hardware_kind_names[kind], true, fields};
    fields_check_keys(&reader, &outer, known, map);
    fields_read(&reader, &outer, map, map->at, target);
    return diag->errors == errors;
}
