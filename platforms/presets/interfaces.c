/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/presets/interfaces.h"

#include "base/arena.h"
#include "platforms/presets/library_read.h"
#include "platforms/presets/wires.h"

struct card_file {
    struct interface interface;
    struct wire_figures figures;
    const char *network;
};

#define FIELD(member) offsetof(struct card_file, member)

const struct stagesim_field card_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, FIELD(interface.name), .required = true, .doc = "the name for --nic"},
    {"technology", STAGESIM_FIELD_TEXT, FIELD(interface.technology), .required = true, .doc = "such as InfiniBand"},
    {"product", STAGESIM_FIELD_TEXT, FIELD(interface.product), .required = true, .doc = "what texts call it"},
    {"network", STAGESIM_FIELD_TEXT, FIELD(network)},
    WIRE_FIELDS(card_file, figures),
    {0},
};

const struct interface *interface_value(const char *name, struct diag *diag)
{
    struct place nobody = {0};
    const struct interface *kept = hardware_kept(HARDWARE_CARD, name);
    const struct node *map = kept ? NULL : hardware_find(HARDWARE_CARD, name, nobody, diag);
    struct card_file file = {0};
    if (!map)
        return kept;
    if (!hardware_read(HARDWARE_CARD, map, card_fields, NULL, &file, diag) || !hardware_word("link", map, diag))
        return NULL;
    struct interface *interface = arena_alloc(hardware_arena(), sizeof *interface);
    *interface = file.interface;
    interface->wire = wire_of(&file.figures);
    interface->network = file.network ? design_network_find(file.network, node_get(map, "network")->at, diag) : NULL;
    if (file.network && !interface->network)
        return NULL;
    hardware_keep(HARDWARE_CARD, name, interface);
    return interface;
}

const struct interface *interface_find(const char *name)
{
    struct diag silent = {0};
    return hardware_has(HARDWARE_CARD, name) ? interface_value(name, &silent) : NULL;
}

const char *const *interface_names(size_t *count)
{
    return hardware_names(HARDWARE_CARD, count);
}
