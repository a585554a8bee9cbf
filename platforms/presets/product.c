/* SPDX-License-Identifier: Apache-2.0 */
/* Products from their files. */
#include "abi/fields/fields.h"
#include "base/arena.h"
#include "base/paths.h"
#include "platforms/hardware/hardware.h"
#include "platforms/presets/fabric_shape.h"
#include "platforms/presets/library_read.h"
#include "platforms/presets/presets.h"

#include <string.h>

enum { DEVICES_MAX = 1024 };

/* Keys that are read as they stand. */
struct product_file {
    struct preset preset;
    uint64_t devices, pod, nodes_max;
    unsigned kind, confidence, shape;
    struct stagesim_texts notes, labels;
    const char *library, *network, *fabric_cable;
};

#define FIELD(member) offsetof(struct product_file, member)

static const char *const fabric_kinds[] = {"switched", "ring", "torus", "dragonfly", "mesh", NULL};

const struct stagesim_field product_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, FIELD(preset.name)},
    {"summary", STAGESIM_FIELD_TEXT, FIELD(preset.summary)},
    {"devices", STAGESIM_FIELD_COUNT, FIELD(devices), .required = true, .least = 1, .most = DEVICES_MAX},
    {"fewer_devices", STAGESIM_FIELD_FLAG, FIELD(preset.any_devices)},
    {"host_prefix", STAGESIM_FIELD_TEXT, FIELD(preset.prefix)},
    {"inside", STAGESIM_FIELD_TEXT, FIELD(preset.links)},
    {"outside", STAGESIM_FIELD_TEXT, FIELD(preset.network)},
    {"labels", STAGESIM_FIELD_TEXTS, FIELD(labels)},
    {"devices_forward", STAGESIM_FIELD_FLAG, FIELD(preset.plan.forwards)},
    {"fabric.name", STAGESIM_FIELD_TEXT, FIELD(preset.fabric.name), .required = true, .doc = "what texts call it"},
    {"fabric.kind", STAGESIM_FIELD_NAME, FIELD(kind), .required = true, .names = fabric_kinds},
    {"fabric.cable", STAGESIM_FIELD_TEXT, FIELD(fabric_cable)},
    {"fabric.hop", STAGESIM_FIELD_TIME, FIELD(preset.fabric.hop), .least = 0, .most = 10},
    {"fabric.pod", STAGESIM_FIELD_COUNT, FIELD(pod), .least = 1, .most = DESIGN_NODES_MAX},
    {"fabric.oversubscription", STAGESIM_FIELD_RATIO, FIELD(preset.fabric.oversubscription), .least = 1, .most = 1000},
    {"fabric.shape", STAGESIM_FIELD_NAME, FIELD(shape), .names = fabric_shape_names},
    {"fabric.nodes_max", STAGESIM_FIELD_COUNT, FIELD(nodes_max), .least = 1, .most = DESIGN_NODES_MAX},
    {"fabric.source", STAGESIM_FIELD_TEXT, FIELD(preset.fabric.source), .required = true,
     .doc = "where its figures are from"},
    {"fabric.confidence", STAGESIM_FIELD_NAME, FIELD(confidence), .required = true, .names = confidence_names},
    {"library", STAGESIM_FIELD_TEXT, FIELD(library)},
    {"network", STAGESIM_FIELD_TEXT, FIELD(network)},
    {"notes", STAGESIM_FIELD_TEXTS, FIELD(notes)},
    {0},
};

static bool report(struct diag *diag, const struct node *at, const char *text)
{
    diag_error(diag, at->at, "%s", text);
    return false;
}

/* ---- the parts of a product ---- */

const struct stagesim_field cable_fields[] = {{"links", STAGESIM_FIELD_RATIO, offsetof(struct plan_cable, links),
                                               .least = 1e-3, .most = 1000, .doc = "so many of the wire; default 1"},
                                              {0}};

static bool read_cable(struct plan_cable *cable, const struct node *map, struct diag *diag)
{
    const struct fields_reader reader = {.directory = ".", .arena = hardware_arena(), .diag = diag};
    const struct fields_section section = {"a cable", true, cable_fields};
    const struct node *wire = node_get(map, "wire");
    unsigned errors = diag->errors;
    *cable = (struct plan_cable){.role = map->key, .links = 1};
    if (map->kind != NODE_MAP || !wire)
        return report(diag, map, "expected the name of a wire, or a map such as {wire: nvlink4, links: 18}");
    fields_check_keys(&reader, &section, (const char *const[]){"wire", NULL}, map);
    fields_read(&reader, &section, map, map->at, cable);
    cable->wire = wire_value("wire", wire, diag);
    return diag->errors == errors;
}

static bool read_cables(struct node_plan *plan, const struct node *map, struct diag *diag)
{
    const struct node *cables = node_get(map, "cables");
    bool good = true;
    if (!cables)
        return true;
    if (cables->kind != NODE_MAP)
        return report(diag, cables, "cables: expected a map such as {nvlink: nvlink4, card: ndr}");
    struct plan_cable *all = arena_array(hardware_arena(), cables->count + 1, sizeof *all);
    for (const struct node *cable = cables->first; cable; cable = cable->next)
        good &= read_cable(&all[plan->cable_count++], cable, diag);
    plan->cables = all;
    return good;
}

static bool read_plan(struct product_file *file, const struct node *map, struct diag *diag)
{
    struct node_plan *plan = &file->preset.plan;
    const struct node *device = node_get(map, "device"), *steps = node_get(map, "node");
    plan->devices = (uint32_t)file->devices;
    plan->labels = file->labels.texts;
    plan->label_count = file->labels.count;
    plan->device = device ? device_value("device", device, diag) : NULL;
    plan->steps = steps;
    bool good = read_cables(plan, map, diag);
    if (!device)
        report(diag, map, "product has no 'device'; expected the name of one, or a map that describes it");
    if (plan->label_count && plan->label_count < plan->devices)
        good = report(diag, node_get(map, "labels"), "labels: there are fewer than devices");
    if (steps && steps->kind != NODE_LIST)
        return report(diag, steps, "node: expected a list of steps (doc/hardware.md)");
    return good && plan->device;
}

/* Builds the node once for the mistakes of its steps. */
static bool try_plan(const struct node_plan *plan, const struct node *map, struct diag *diag)
{
    if (hardware_is_own(map->at)) /* tests have built them */
        return true;
    struct arena *arena = arena_create();
    bool good = node_plan_build(plan, plan->devices, arena, diag) != NULL;
    arena_destroy(arena);
    return good;
}

static bool read_fabric(struct product_file *file, const struct node *map, struct diag *diag)
{
    struct fabric *fabric = &file->preset.fabric;
    const struct node *fabric_map = node_get(map, "fabric");
    struct fault fault = {""};
    fabric->kind = (enum fabric_kind)file->kind;
    fabric->confidence = (enum confidence)file->confidence;
    fabric->pod = (uint32_t)file->pod;
    file->preset.nodes_max = (uint32_t)file->nodes_max;
    if (fabric->kind == FABRIC_SWITCHED && (file->fabric_cable || !fabric->pod))
        return report(diag, fabric_map,
                      "a switched fabric has a 'pod', the nodes around a leaf switch, and no 'cable'");
    if (fabric->kind != FABRIC_SWITCHED && !file->fabric_cable)
        return report(diag, fabric_map,
                      "fabric has no 'cable'; expected the name in 'cables' of what joins neighbours");
    for (size_t i = 0; file->fabric_cable && i < file->preset.plan.cable_count; i++)
        if (strcmp(file->preset.plan.cables[i].role, file->fabric_cable) == 0)
            fabric->wire = &file->preset.plan.cables[i].wire->wire;
    if (file->fabric_cable && !fabric->wire)
        return report(diag, node_get(fabric_map, "cable"), "fabric.cable is not among 'cables'");
    if (!fabric_shape_find(fabric_shape_names[file->shape], fabric->kind, (uint32_t)file->devices, &file->preset.shape,
                           &fault))
        return report(diag, fabric_map, fault.text);
    return true;
}

static bool read_collectives(struct product_file *file, const struct node *map, struct diag *diag)
{
    struct preset *preset = &file->preset;
    if (file->library)
        preset->library = design_library_find(file->library, node_get(map, "library")->at, diag);
    if (file->network)
        preset->on_network = design_network_find(file->network, node_get(map, "network")->at, diag);
    return (!file->library || preset->library) && (!file->network || preset->on_network);
}

/* ---- texts ---- */

/* Whether the file itself has the key, and not one that it takes over from. */
static bool is_own(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, key);
    return value && value->at.file && map->at.file && strcmp(value->at.file, map->at.file) == 0;
}

struct node_graph *preset_node(const struct preset *preset, uint32_t devices, struct arena *arena)
{
    struct diag silent = {0};
    return node_plan_build(&preset->plan, devices, arena, &silent);
}

static const char *outside_text(const struct preset *preset, struct arena *arena)
{
    const struct node_graph *node = preset_node(preset, preset->devices, arena);
    uint32_t port = node ? node_port(node) : NODE_NONE, count = 0;
    const char *name = "";
    for (uint32_t i = 0; node && i < node->cable_count; i++)
        if (node->cables[i].ends[0] == port || node->cables[i].ends[1] == port) {
            name = node->cables[i].wire->name;
            count++;
        }
    for (size_t i = 0; i < preset->plan.cable_count; i++)
        if (strcmp(preset->plan.cables[i].wire->wire.name, name) == 0)
            name = preset->plan.cables[i].wire->name;
    return count ? arena_print(arena, "%u x %s", count, name) : "none";
}

static const char *inside_text(const struct preset *preset, struct arena *arena)
{
    const struct plan_cable *first = preset->plan.cables;
    return preset->plan.cable_count && strcmp(first->role, "card") != 0
               ? arena_print(arena, "%.6g x %s", first->links, first->wire->name)
               : "none";
}

/* Where a file changes what it takes over, the texts of its base would lie. */
static void set_texts(struct preset *preset, const struct node *map)
{
    struct arena *arena = hardware_arena();
    const struct node *cables = node_get(map, "cables"), *from = node_get(map, "from");
    bool other = is_own(map, "node") || is_own(map, "devices"), inner = other, card = other;
    for (const struct node *cable = cables ? cables->first : NULL; cable; cable = cable->next)
        if (cable->key_at.file && map->at.file && strcmp(cable->key_at.file, map->at.file) == 0) {
            bool is_card = strcmp(cable->key, "card") == 0;
            card |= is_card;
            inner |= !is_card;
        }
    if (!preset->name || !is_own(map, "name"))
        preset->name = path_name(map->at.file ? map->at.file : "product", ".yaml", arena);
    if (!preset->summary || !is_own(map, "summary"))
        preset->summary =
            from ? arena_print(arena, "%s, which takes over from %s", preset->name, from->text) : preset->name;
    if (!preset->links || (inner && !is_own(map, "inside")))
        preset->links = inside_text(preset, arena);
    if (!preset->network || (card && !is_own(map, "outside")))
        preset->network = outside_text(preset, arena);
    if (!preset->prefix)
        preset->prefix = "gpu";
}

static void set_notes(struct preset *preset, const struct stagesim_texts *notes)
{
    const char **lines = arena_array(hardware_arena(), notes->count + 1, sizeof *lines);
    for (size_t i = 0; i < notes->count; i++)
        lines[i] = notes->texts[i];
    preset->notes = notes->count ? lines : NULL;
}

/* ---- products by name ---- */

static struct preset *read_product(const struct node *map, struct diag *diag)
{
    static const char *const others[] = {"device", "cables", "node", NULL};
    if (!map)
        return NULL;
    struct product_file *file = arena_alloc(hardware_arena(), sizeof *file);
    file->preset.fabric.oversubscription = 1;
    bool good = hardware_read(HARDWARE_PRODUCT, map, product_fields, others, file, diag);
    good &= hardware_word("name", map, diag);
    good &= hardware_word("host_prefix", map, diag);
    good &= read_plan(file, map, diag);
    good &= read_collectives(file, map, diag);
    if (!good || !try_plan(&file->preset.plan, map, diag) || !read_fabric(file, map, diag))
        return NULL;
    struct preset *preset = &file->preset;
    preset->device = preset->plan.device->name;
    preset->devices = preset->plan.devices;
    set_texts(preset, map);
    set_notes(preset, &file->notes);
    return preset;
}

/* What is looked for: a file by its path, or one that is found by its name. */
static bool is_file(const char *name)
{
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0);
}

/* The files that were read since there were `before`. */
static void set_files(struct preset *preset, size_t before)
{
    size_t count;
    const char *const *all = hardware_users_files(&count);
    const char **files = arena_array(hardware_arena(), count - before + 1, sizeof *files);
    for (size_t i = before; i < count; i++)
        files[preset->file_count++] = all[i];
    preset->files = files;
}

const struct preset *preset_read(const char *name, struct place at, struct diag *diag)
{
    const struct preset *kept = hardware_kept(HARDWARE_PRODUCT, name);
    size_t before;
    if (kept || (!is_file(name) && !hardware_has(HARDWARE_PRODUCT, name)))
        return kept;
    hardware_users_files(&before);
    struct preset *preset = read_product(is_file(name) ? hardware_find_file(HARDWARE_PRODUCT, name, at, diag)
                                                       : hardware_find(HARDWARE_PRODUCT, name, at, diag),
                                         diag);
    if (!preset)
        return NULL;
    set_files(preset, before);
    hardware_keep(HARDWARE_PRODUCT, name, preset);
    return preset;
}

const struct preset *const *preset_table(size_t *count, struct diag *diag)
{
    size_t names;
    const char *const *all = hardware_names(HARDWARE_PRODUCT, &names);
    const struct preset **presets = arena_array(hardware_arena(), names + 1, sizeof *presets);
    *count = 0;
    for (size_t i = 0; i < names; i++) {
        const struct preset *preset = preset_read(all[i], (struct place){0}, diag);
        if (preset)
            presets[(*count)++] = preset;
    }
    return presets;
}
