/* SPDX-License-Identifier: Apache-2.0 */
/* The network interfaces of an imported node: which count, what they reach, and which one each device uses. */
#include "base/arena.h"
#include "platforms/import/builder.h"

#include <math.h>
#include <string.h>

/* Files without any rates: the user says what interfaces are, or they are left out. One line for all of them. */
static void assume_rates(const struct builder *builder)
{
    const struct wire *network = builder->options->network;
    uint32_t count = 0;
    for (uint32_t i = 0; i < builder->import->nic_count; i++) {
        struct import_nic *nic = &builder->import->nics[i];
        if (!nic->unrated)
            continue;
        count++;
        nic->rate = network ? network->raw : 0;
    }
    if (count && network)
        import_find(builder->import, IMPORT_ASSUMED,
                    "network interfaces, %u of them: %g GB/s each, from --nic or --fabric", count, network->raw);
    else if (count)
        import_find(builder->import, IMPORT_LEFT_OUT,
                    "network interfaces, %u of them: such files have no rates; --nic ib-hdr or --fabric would say them",
                    count);
}

void network_choose(struct builder *builder)
{
    struct import *import = builder->import;
    double fastest = 0;
    assume_rates(builder);
    for (uint32_t i = 0; i < import->nic_count; i++) {
        struct import_nic *nic = &import->nics[i];
        const struct nic_model *model = nic_find(nic->vendor, nic->device);
        if (nic->rate > 0 && !nic->unrated)
            import_find(import, IMPORT_MEASURED, "%s: %g GB/s", nic->name, nic->rate);
        else if (model && !nic->down)
            import_find(import, IMPORT_TABLE, "%s: %s, %g GB/s, from its PCI id", nic->name, model->name, model->rate);
        if (nic->rate <= 0 && model)
            nic->rate = model->rate;
        if (!nic->down && nic->rate > fastest)
            fastest = nic->rate;
    }
    for (uint32_t i = 0; i < import->nic_count; i++) {
        const struct import_nic *nic = &import->nics[i];
        builder->wanted[i] = !nic->down && nic->rate > 0 && nic->rate >= fastest / 4;
        if (nic->unrated)
            continue;
        if (nic->down)
            import_find(import, IMPORT_LEFT_OUT, "%s: its port is down", nic->name);
        else if (nic->rate <= 0)
            import_find(import, IMPORT_LEFT_OUT, "%s: its rate is not known", nic->name);
        else if (!builder->wanted[i])
            import_find(import, IMPORT_LEFT_OUT, "%s: %g GB/s beside interfaces of %g GB/s", nic->name, nic->rate,
                        fastest);
    }
}

static bool same_card(const char *left, const char *right)
{
    const char *dot = strrchr(left, '.');
    size_t length = dot ? (size_t)(dot - left) : strlen(left);
    return strncmp(left, right, length) == 0;
}

/* One cable for each card: its ports share the slot. */
static void add_cards(struct builder *builder)
{
    struct import *import = builder->import;
    for (uint32_t i = 0; i < import->nic_count; i++) {
        const struct import_nic *nic = &import->nics[i];
        const char *bus = import->places[nic->place].bus;
        double rate = 0, slot;
        builder->card_exit[i] = NODE_NONE;
        for (uint32_t k = 0; builder->wanted[i] && k < i && builder->card_exit[i] == NODE_NONE; k++)
            if (builder->wanted[k] && same_card(bus, import->places[import->nics[k].place].bus))
                builder->card_exit[i] = builder->card_exit[k];
        if (!builder->wanted[i] || builder->card_exit[i] != NODE_NONE)
            continue;
        for (uint32_t k = i; k < import->nic_count; k++)
            if (builder->wanted[k] && same_card(bus, import->places[import->nics[k].place].bus))
                rate += import->nics[k].rate;
        const struct nic_model *model = nic_find(nic->vendor, nic->device);
        const struct wire *kind = nic->unrated ? builder->options->network : (model ? model : nic_generic())->wire;
        uint32_t above = builder_above(builder, nic->place, &slot);
        double reached_rate = rate * kind->effective / kind->raw, limit = slot * PCIE_REACHED;
        const struct wire *wire =
            builder_wire(builder, "nic", rate, reached_rate < limit ? reached_rate : limit, kind->latency,
                         reached_rate <= limit ? kind->source : "network interface limited by its PCI Express slot",
                         kind->confidence);
        builder->card_exit[i] = node_join(builder->node, above, builder->port, wire, 1);
    }
}

static void assume_card(struct builder *builder)
{
    const struct wire *wire = builder->options->network;
    uint32_t socket = 0;
    while (builder->import->places[socket].kind != IMPORT_SOCKET || !builder->used[socket])
        socket++;
    node_join(builder->node, builder->vertex[socket], builder->port, wire, 1);
    import_find(builder->import, IMPORT_ASSUMED,
                "no usable network interface; one of %g GB/s at the first socket, as the fabric has it",
                wire->effective);
}

/* The other die of a device's module, where it comes earlier: joined to it by a wider cable than any third one is, on
 * both sides. NODE_NONE: none. */
static uint32_t earlier_die(const struct node_graph *node, uint32_t device)
{
    uint32_t devices = node_device_count(node), best = NODE_NONE;
    double widest = 0, others = 0;
    for (uint32_t i = 0; i < node->cable_count; i++) {
        const struct node_cable *cable = &node->cables[i];
        bool first = cable->ends[0] == device, joins = cable->ends[0] < devices && cable->ends[1] < devices;
        if (joins && (first || cable->ends[1] == device) && cable->bandwidth > widest)
            widest = cable->bandwidth, best = cable->ends[first ? 1 : 0];
    }
    for (uint32_t i = 0; i < node->cable_count; i++) {
        const struct node_cable *cable = &node->cables[i];
        bool touches =
            cable->ends[0] == device || cable->ends[1] == device || cable->ends[0] == best || cable->ends[1] == best;
        bool between = (cable->ends[0] == device || cable->ends[1] == device) &&
                       (cable->ends[0] == best || cable->ends[1] == best);
        if (touches && !between && cable->ends[0] < devices && cable->ends[1] < devices)
            others = fmax(others, cable->bandwidth);
    }
    return best < device && others < widest && others > 0 ? best : NODE_NONE;
}

/* Each device takes the nearest card; of equally near ones that of the other die of its module, or the one that fewest
 * took before. */
static void choose_exits(struct builder *builder)
{
    struct node_graph *node = builder->node;
    uint32_t *taken = arena_array(node->arena, node->cable_count + 1, sizeof *taken);
    for (uint32_t device = 0; device < node_device_count(node); device++) {
        uint32_t best = NODE_NONE, best_hops = NODE_NONE, die = earlier_die(node, device);
        uint32_t shared = die == NODE_NONE ? NODE_NONE : node->parts[die].exit;
        for (uint32_t i = 0; i < node->cable_count; i++) {
            const struct node_cable *cable = &node->cables[i];
            if (cable->ends[1] != builder->port)
                continue;
            struct node_step steps[32];
            uint32_t hops = node_route(node, device, cable->ends[0], steps, 32);
            bool preferred = hops == best_hops && best != shared && (i == shared || taken[i] < taken[best]);
            if (hops && (hops < best_hops || preferred))
                best = i, best_hops = hops;
        }
        node->parts[device].exit = best;
        if (best != NODE_NONE)
            taken[best]++;
    }
}

void network_add(struct builder *builder)
{
    bool any = false;
    for (uint32_t i = 0; i < builder->import->nic_count; i++)
        any |= builder->wanted[i];
    if (!any && !builder->options->network)
        return;
    builder->port = node_add(builder->node, NODE_PORT);
    if (any)
        add_cards(builder);
    else
        assume_card(builder);
    choose_exits(builder);
}
