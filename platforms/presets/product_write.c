/* SPDX-License-Identifier: Apache-2.0 */
/* Every part and every cable is a step of its own: what a topology file says has no pattern that one could rely on. */
#include "platforms/presets/product_write.h"

#include "base/arena.h"
#include "platforms/device.h"

#include <math.h>
#include <string.h>

/* One role of `cables`: a kind of wire, bundled so often. */
struct role {
    const struct wire *wire;
    double links;
    char name[64];
};

struct writing {
    FILE *out;
    const struct design *design;
    struct role *roles;
    uint32_t role_count;
};

/* A line with a text in double quotes. */
static void write_quoted(FILE *out, const char *before, const char *text)
{
    fprintf(out, "%s\"", before);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fputc('\\', out);
        fputc(c < 0x20 || c == 0x7f ? '?' : c, out);
    }
    fputs("\"\n", out);
}

static void write_text(FILE *out, unsigned indent, const char *key, const char *text)
{
    fprintf(out, "%*s%s: ", (int)indent, "", key);
    write_quoted(out, "", text);
}

static double links_of(const struct node_cable *cable)
{
    return cable->bandwidth / (cable->wire->effective * 1e9);
}

static bool same_wire(const struct wire *a, const struct wire *b)
{
    return a == b || (strcmp(a->name, b->name) == 0 && a->raw == b->raw && a->effective == b->effective &&
                      a->latency == b->latency && strcmp(a->source, b->source) == 0);
}

/* The role of a cable, a new one where it is the first of its kind. */
static const struct role *role_of(struct writing *writing, const struct node_cable *cable)
{
    uint32_t named = 0;
    for (uint32_t i = 0; i < writing->role_count; i++) {
        struct role *role = &writing->roles[i];
        if (same_wire(role->wire, cable->wire) && fabs(role->links / links_of(cable) - 1) < 1e-12)
            return role;
        named += strcmp(role->wire->name, cable->wire->name) == 0;
    }
    struct role *role = &writing->roles[writing->role_count++];
    *role = (struct role){.wire = cable->wire, .links = links_of(cable)};
    if (named)
        snprintf(role->name, sizeof role->name, "%.40s-%u", cable->wire->name, named + 1);
    else
        snprintf(role->name, sizeof role->name, "%.40s", cable->wire->name);
    return role;
}

static void write_cables(struct writing *writing)
{
    FILE *out = writing->out;
    fputs("cables:\n", out);
    for (uint32_t i = 0; i < writing->role_count; i++) {
        const struct role *role = &writing->roles[i];
        const struct wire *wire = role->wire;
        fprintf(out, "  %s:\n    links: %.17g\n    wire:\n      name: %s\n      link: %s\n", role->name, role->links,
                role->name, wire->name);
        if (wire->raw > 0)
            fprintf(out, "      raw: %.17gGBps\n", wire->raw);
        fprintf(out, "      effective: %.17gGBps\n      latency: %.17gs\n", wire->effective, wire->latency);
        write_text(out, 6, "source", wire->source);
        fprintf(out, "      confidence: %c\n", confidence_letter(wire->confidence));
    }
}

static void write_device(struct writing *writing, const struct device_model *model, const char *memory)
{
    FILE *out = writing->out;
    bool known = hardware_has(HARDWARE_DEVICE, model->name) && device_find(model->name) == model; /* it has a file */
    if (known && !memory) {
        fprintf(out, "device: %s\n", model->name);
        return;
    }
    fputs("device:\n", out);
    write_text(out, 2, "name", model->name);
    if (known)
        fprintf(out, "  from: %s\n", model->name);
    if (memory || model->memory)
        fprintf(out, "  memory: %s\n", memory ? memory : model->memory);
    if (!known) {
        const char *separator = "";
        fprintf(out, "  precision: %s\n  peak: {", precision_name(model->precision));
        for (int i = 0; i < PRECISIONS; i++)
            if (model->peak[i] > 0) {
                fprintf(out, "%s%s: %.17gTf", separator, precision_name((enum precision)i), model->peak[i]);
                separator = ", ";
            }
        fputs("}\n", out);
        if (model->memory_bandwidth > 0)
            fprintf(out, "  memory_bandwidth: %.17gGBps\n", model->memory_bandwidth);
        if (model->watts_full > 0)
            fprintf(out, "  power: {idle: %.17gW, full: %.17gW}\n", model->watts_idle, model->watts_full);
        if (model->nvlink_generation)
            fprintf(out, "  nvlink: %u\n", model->nvlink_generation);
        if (model->nvlinks)
            fprintf(out, "  nvlinks: %u\n", model->nvlinks);
        if (model->pcie_generation)
            fprintf(out, "  pcie: %u\n", model->pcie_generation);
    }
    write_text(out, 2, "source", model->source);
    fprintf(out, "  confidence: %c\n", confidence_letter(model->confidence));
}

/* "device 3", "switch9", "port". */
static const char *part_text(const struct node_graph *node, uint32_t part, char text[32])
{
    static const char *const kinds[] = {"device ", "switch", "socket", "port"};
    enum node_part_kind kind = node->parts[part].kind;
    if (kind == NODE_PORT)
        return kinds[kind];
    snprintf(text, 32, "%s%u", kinds[kind], part);
    return text;
}

/* The devices that leave the node by a cable. */
static void write_exits(FILE *out, const struct node_graph *node, uint32_t cable)
{
    const char *separator = ", exit_of: [";
    for (uint32_t i = 0; i < node_device_count(node); i++)
        if (node->parts[i].exit == cable) {
            fprintf(out, "%s%u", separator, i);
            separator = ", ";
        }
    if (separator[2] != 'e')
        fputs("]", out);
}

static void write_steps(struct writing *writing)
{
    static const char *const words[] = {"", "switch", "socket", "port"};
    const struct node_graph *node = writing->design->node;
    FILE *out = writing->out;
    char from[32], to[32];
    fputs("node:\n", out);
    for (uint32_t i = node_device_count(node); i < node->part_count; i++)
        fprintf(out, "  - {add: %s, as: %s}\n", words[node->parts[i].kind], part_text(node, i, from));
    for (uint32_t i = 0; i < node->cable_count; i++) {
        const struct node_cable *cable = &node->cables[i];
        fprintf(out, "  - {join: [%s, %s], cable: %s", part_text(node, cable->ends[0], from),
                part_text(node, cable->ends[1], to), role_of(writing, cable)->name);
        write_exits(out, node, i);
        fputs("}\n", out);
    }
}

static bool check_devices(const struct node_graph *node, struct fault *fault)
{
    for (uint32_t i = 1; i < node_device_count(node); i++) {
        const struct node_part *first = &node->parts[0], *part = &node->parts[i];
        bool same = strcmp(part->model->name, first->model->name) == 0 && !part->memory == !first->memory &&
                    (!part->memory || strcmp(part->memory, first->memory) == 0) && part->forwards == first->forwards;
        if (!same)
            return fault_set(fault,
                             "devices 0 and %u differ, and a product has one kind: write a platform, -o NAME.xml", i);
    }
    return true;
}

static void write_labels(FILE *out, const struct node_graph *node)
{
    for (uint32_t i = 0; i < node_device_count(node); i++)
        if (!node->parts[i].label || !*node->parts[i].label)
            return;
    fputs("labels:\n", out);
    for (uint32_t i = 0; i < node_device_count(node); i++) {
        write_quoted(out, "  - ", node->parts[i].label);
    }
}

static void write_fabric(FILE *out, const struct fabric *fabric)
{
    fputs("fabric:\n", out);
    write_text(out, 2, "name", fabric->name);
    fprintf(out, "  kind: switched\n  hop: %.17gs\n  pod: %u\n  oversubscription: %.17g\n", fabric->hop, fabric->pod,
            fabric->oversubscription);
    write_text(out, 2, "source", fabric->source);
    fprintf(out, "  confidence: %c\n", confidence_letter(fabric->confidence));
}

bool product_write(const struct design *design, const char *name, FILE *out, struct fault *fault)
{
    const struct node_graph *node = design->node;
    struct arena *arena = arena_create();
    struct writing writing = {out, design, arena_array(arena, node->cable_count + 1, sizeof *writing.roles), 0};
    bool good = check_devices(node, fault);
    if (good && design->fabric.kind != FABRIC_SWITCHED)
        good = fault_set(fault, "a product that is imported has switches between its nodes: take another --fabric");
    for (uint32_t i = 0; good && i < node->cable_count; i++)
        role_of(&writing, &node->cables[i]);
    if (good) {
        for (const char *const *note = design->notes; note && *note; note++)
            fprintf(out, "# %s\n", *note);
        fputs("kind: product\n", out);
        write_text(out, 0, "name", name);
        write_text(out, 0, "summary", design->title);
        write_device(&writing, node->parts[0].model, node->parts[0].memory);
        fprintf(out, "devices: %u\n", node_device_count(node));
        write_labels(out, node);
        if (node->parts[0].forwards)
            fputs("devices_forward: true\n", out);
        if (writing.role_count)
            write_cables(&writing);
        write_steps(&writing);
        write_fabric(out, &design->fabric);
        if (design->alone)
            fprintf(out, "library: %s\n", design->alone->name);
        if (design->network)
            fprintf(out, "network: %s\n", design->network->name);
    }
    arena_destroy(arena);
    return good;
}
