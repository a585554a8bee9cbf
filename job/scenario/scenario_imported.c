/* SPDX-License-Identifier: Apache-2.0 */
#include "job/scenario/scenario_imported.h"

#include "base/arena.h"
#include "job/scenario/scenario_parts.h"
#include "job/scenario/scenario_tables.h"

#include <string.h>

enum { TOLD_MOST = 8, KINDS = 3 };

static const struct stagesim_field imported_fields[] = {
    {"from", STAGESIM_FIELD_TEXT, offsetof(struct scenario_imported, from),
     .doc = "the files that `stagesim import` read, and whose they are"},
    {"not_modelled", STAGESIM_FIELD_TEXTS, offsetof(struct scenario_imported, not_modelled),
     .doc = "their options that change time or memory, but that no key of a scenario can express"},
    {"not_known", STAGESIM_FIELD_TEXTS, offsetof(struct scenario_imported, not_known),
     .doc = "their keys of which stagesim does not know whether they matter"},
    {"assumed", STAGESIM_FIELD_TEXTS, offsetof(struct scenario_imported, assumed),
     .doc = "`KEY: why` for each value that no file gives; ignored if the command line gives KEY"},
    {0},
};

const struct fields_section imported_section = {"imported", true, imported_fields};

static const char *const labels[KINDS] = {"not modelled", "not known", "assumed"};

static const struct stagesim_texts *list_of(const struct scenario_imported *imported, unsigned kind)
{
    const struct stagesim_texts *const lists[KINDS] = {&imported->not_modelled, &imported->not_known,
                                                       &imported->assumed};
    return lists[kind];
}

/* ---- reading ---- */

/* Whether the command line gives the key that a text begins with. */
static bool is_typed(const struct loader *loader, const char *text)
{
    const char *key = arena_print(loader->fields.arena, "%.*s", (int)strcspn(text, ": ("), text);
    const struct node *node = node_find(loader->root, key);
    return node && node->at.line == 0 && node->at.file && node->at.file[0] == '-';
}

static void drop_typed(const struct loader *loader, struct stagesim_texts *assumed)
{
    const char **kept = arena_array(loader->fields.arena, assumed->count + 1, sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; i < assumed->count; i++)
        if (!is_typed(loader, assumed->texts[i]))
            kept[count++] = assumed->texts[i];
    *assumed = (struct stagesim_texts){count, kept};
}

static const char *summarize(const struct scenario_imported *imported, struct arena *arena)
{
    const char *text = "";
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (list_of(imported, kind)->count)
            text =
                arena_print(arena, "%s%s%zu %s", text, *text ? ", " : "", list_of(imported, kind)->count, labels[kind]);
    return arena_print(arena, "%s%s%s", imported->from ? imported->from : "", imported->from ? ": " : "",
                       *text ? text : "all of it is known and modelled");
}

void scenario_read_imported(struct loader *loader)
{
    struct scenario_imported *imported = arena_alloc(loader->fields.arena, sizeof *imported);
    const struct node *node = node_get(loader->root, imported_section.name);
    fields_check_keys(&loader->fields, &imported_section, NULL, node);
    fields_read(&loader->fields, &imported_section, node, loader->root->at, imported);
    if (!node || node_is_empty(node))
        return;
    drop_typed(loader, &imported->assumed);
    imported->summary = summarize(imported, loader->fields.arena);
    loader->scenario->imported = imported;
}

/* ---- telling ---- */

const char *scenario_imported_text(const struct scenario_imported *imported, size_t index, struct arena *arena)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct stagesim_texts *list = list_of(imported, kind);
        if (index < list->count)
            return arena_print(arena, "imported, %s: %s", labels[kind], list->texts[index]);
        index -= list->count;
    }
    return NULL;
}

static void tell(const struct scenario_imported *imported, const struct diag *diag)
{
    diag_print(diag->out, "note: imported from %s\n", imported->summary);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct stagesim_texts *list = list_of(imported, kind);
        for (size_t i = 0; i < list->count && i < TOLD_MOST; i++)
            diag_print(diag->out, "  %-12s %s\n", labels[kind], list->texts[i]);
        if (list->count > TOLD_MOST)
            diag_print(diag->out, "  %-12s %zu more, in the scenario's section imported\n", labels[kind],
                       list->count - TOLD_MOST);
    }
}

void scenario_tell_imported(const struct scenario *scenario, const struct diag *diag)
{
    for (size_t i = 0; i < scenario->part_count; i++) {
        bool again = false;
        for (size_t before = 0; before < i; before++)
            again |= !strcmp(scenario->parts[before]->file, scenario->parts[i]->file);
        if (!again && scenario->parts[i]->imported)
            tell(scenario->parts[i]->imported, diag);
    }
    if (scenario->imported && !scenario->part_count)
        tell(scenario->imported, diag);
}
