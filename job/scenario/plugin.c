/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/plugin.h"

#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/paths.h"
#include "job/scenario/abi.h"
#include "workloads/workload_table.h"

#include <dlfcn.h>
#include <string.h>

enum { NAME_MAX_LENGTH = 64, WORKLOADS_MAX = 64 };

static bool is_word(const char *name)
{
    size_t length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") : 0;
    return length && length <= NAME_MAX_LENGTH && !name[length];
}

enum { BITS = 32 }; /* of a STAGESIM_FIELD_NAMES value */

static bool check_names(const struct stagesim_field *field, const char *path, struct fault *fault)
{
    size_t count = 0;
    if (field->type != STAGESIM_FIELD_NAME && field->type != STAGESIM_FIELD_NAMES)
        return true;
    while (field->names && field->names[count])
        count++;
    if (!count)
        return fault_set(fault, "%s: field '%s' has no names", path, field->key);
    return field->type == STAGESIM_FIELD_NAME || count <= BITS ||
           fault_set(fault, "%s: field '%s' has %zu names, more than the %d bits of its value", path, field->key, count,
                     BITS);
}

/* The value of a field lies within the `size` bytes of its struct. */
static bool check_field(const struct stagesim_field *field, size_t size, const char *path, struct fault *fault)
{
    if ((unsigned)field->type > STAGESIM_FIELD_RATIOS)
        return fault_set(fault, "%s: field '%s' has the unknown type %d", path, field->key, (int)field->type);
    if (field->offset > size || fields_type_size(field->type) > size - field->offset)
        return fault_set(fault, "%s: field '%s' lies outside the %zu bytes of parameters", path, field->key, size);
    return check_names(field, path, fault);
}

static bool check_rows(const struct stagesim_field *table, const char *path, struct fault *fault)
{
    const struct stagesim_row_type *type = table->rows;
    if (!type || !type->what || !type->fields || !type->size)
        return fault_set(fault, "%s: the table '%s' does not say what its rows are", path, table->key);
    for (const struct stagesim_field *field = type->fields; field->key; field++) {
        if (!*field->key || strchr(field->key, '.') || field->type == STAGESIM_FIELD_ROWS)
            return fault_set(fault, "%s: '%s' is no column of the table '%s'", path, field->key, table->key);
        if (!check_field(field, type->size, path, fault))
            return false;
    }
    return true;
}

/* What the reader of the scenario relies on; a table that breaks it would let a scenario write beyond the parameters.
 */
static bool check_fields(const struct stagesim_workload *workload, const char *path, struct fault *fault)
{
    for (const struct stagesim_field *field = workload->fields; field && field->key; field++) {
        size_t size = workload->parameters_size;
        const char *dot = strchr(field->key, '.');
        if (!*field->key || dot == field->key || (dot && (!dot[1] || strchr(dot + 1, '.'))))
            return fault_set(fault, "%s: '%s' is no field's key; expected 'key' or 'section.key'", path, field->key);
        if (!check_field(field, size, path, fault))
            return false;
        if (field->type == STAGESIM_FIELD_ROWS && !check_rows(field, path, fault))
            return false;
    }
    return true;
}

static bool check_workload(const struct stagesim_workload *workload, const char *path, struct fault *fault)
{
    if (!is_word(workload->name))
        return fault_set(fault, "%s: the workload has no name of lower-case letters, digits and '-'", path);
    if (!workload->build)
        return fault_set(fault, "%s: the workload '%s' has no build function", path, workload->name);
    return check_fields(workload, path, fault);
}

/* The workload in today's layout, NULL when it is none. abi and size come first: nothing else is looked at before both
 * are right. */
static const struct stagesim_workload *read_workload(const struct stagesim_workload *workload, const char *path,
                                                     struct arena *arena, struct fault *fault)
{
    struct fault why = {""};
    struct stagesim_workload *own = arena_alloc(arena, sizeof *own);
    if (workload->abi != STAGESIM_WORKLOAD_ABI)
        fault_set(fault, "%s was built for workload ABI %u, this stagesim has %u: build it again with this workload.h",
                  path, workload->abi, STAGESIM_WORKLOAD_ABI);
    else if (!abi_read(ABI_WORKLOAD, workload, workload->size, own, &why))
        fault_set(fault, "%s has %s", path, why.text);
    else if (check_workload(own, path, fault))
        return own;
    return NULL;
}

const struct stagesim_workload *plugin_load(const char *path, struct arena *arena, struct fault *fault)
{
    if (!path_check_readable(path, fault))
        return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *reason = dlerror();
        fault_set(fault, "cannot load the plug-in: %s", reason ? reason : path);
        return NULL;
    }
    const struct stagesim_workload *workload = dlsym(library, "stagesim_workload_plugin");
    if (!workload)
        fault_set(fault, "%s is no stagesim plug-in: it does not export 'stagesim_workload_plugin'", path);
    if (workload)
        workload = read_workload(workload, path, arena, fault);
    if (workload)
        return workload;
    dlclose(library);
    return NULL;
}

static const struct stagesim_workload *find_built_in(const char *name)
{
    for (const struct stagesim_workload *const *workload = workload_table; *workload; workload++)
        if (!strcmp((*workload)->name, name))
            return *workload;
    return NULL;
}

static void refuse_name(const char *name, struct fault *fault)
{
    const char *names[WORKLOADS_MAX];
    size_t count = 0;
    for (; workload_table[count] && count < WORKLOADS_MAX; count++)
        names[count] = workload_table[count]->name;
    const char *near = diag_nearest(name, names, count);
    if (near)
        fault_set(fault, "there is no workload '%.60s'; did you mean '%s'?", name, near);
    else
        fault_set(fault,
                  "there is no workload '%.60s'; 'stagesim list workloads' shows all, and a plug-in is named by its "
                  "path (./%.60s.so)",
                  name, name);
}

bool plugin_is_path(const char *text)
{
    size_t length = strlen(text);
    return strchr(text, '/') || (length > 3 && !strcmp(text + length - 3, ".so"));
}

const char *plugin_path(const char *text, const char *directory, struct arena *arena)
{
    if (find_built_in(text))
        return NULL;
    if (!plugin_is_path(text))
        return path_find_installed(INSTALLED_PLUGINS, text, ".so", arena);
    const char *path = path_resolve(directory, text, arena);
    /* Without a '/' dlopen would search the library path. */
    return strchr(path, '/') ? path : arena_print(arena, "./%s", path);
}

const struct stagesim_workload *plugin_find(const char *text, const char *directory, struct arena *arena,
                                            struct fault *fault)
{
    const struct stagesim_workload *workload = find_built_in(text);
    const char *path = workload ? NULL : plugin_path(text, directory, arena);
    if (path)
        return plugin_load(path, arena, fault);
    if (!workload)
        refuse_name(text, fault);
    return workload;
}
