/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/platform/platform_slurm.h"

#include "base/arena.h"

#include <string.h>

/* Products that are racks of several of Slurm's nodes: each block is one. */
static const struct rack {
    const char *preset;
    uint32_t gpus; /* of one of Slurm's nodes */
} racks[] = {{"gb200-nvl72", 4}};

static const struct rack *rack_of(const struct preset *preset)
{
    for (size_t i = 0; i < sizeof racks / sizeof *racks; i++)
        if (strcmp(racks[i].preset, preset->name) == 0)
            return &racks[i];
    return NULL;
}

static bool set_racks(const struct slurm_request *request, const struct slurm_cluster *cluster, const struct rack *rack,
                      struct platform_request *wanted, struct import *findings, struct fault *fault)
{
    uint64_t gpus = (uint64_t)cluster->leaf_nodes * rack->gpus;
    if (!cluster->blocks)
        return fault_set(fault, "%s: %s is a rack of %u nodes, so it stands for blocks, which this file does not have",
                         request->file, rack->preset, request->node->devices / rack->gpus);
    if (gpus > request->node->devices)
        return fault_set(fault, "%s: blocks of %u nodes; %s has at most %u", request->file, cluster->leaf_nodes,
                         rack->preset, request->node->devices / rack->gpus);
    *wanted = (struct platform_request){.preset = rack->preset,
                                        .nodes = cluster->leaves,
                                        .per_node = gpus == request->node->devices ? 0 : (uint32_t)gpus,
                                        .pod = request->pod};
    import_find(findings, IMPORT_TABLE, "each block is a %s: %u nodes of %u GPUs", rack->preset, cluster->leaf_nodes,
                rack->gpus);
    return true;
}

bool platform_slurm_design(const struct slurm_request *request, struct arena *arena, struct design *design,
                           struct import **findings, struct fault *fault)
{
    struct slurm_records records = {.arena = arena};
    struct slurm_cluster cluster;
    *findings = import_create("Slurm topology", arena);
    if (!slurm_read(request->file, request->text, request->size, request->topology, &records, fault) ||
        !slurm_check(&records, request->pod > 0, *findings, &cluster, fault))
        return false;
    if (!request->node)
        return fault_set(fault,
                         "%s: a Slurm topology does not say what its %u nodes are; --node PRESET does, such as "
                         "--node dgx-h100",
                         request->file, cluster.nodes);
    const struct rack *rack = rack_of(request->node);
    struct platform_request wanted = {
        .preset = request->node->name, .nodes = cluster.nodes, .pod = request->pod ? request->pod : cluster.leaf_nodes};
    if (rack && !set_racks(request, &cluster, rack, &wanted, *findings, fault))
        return false;
    wanted.nic = request->nic;
    wanted.oversubscription = request->oversubscription;
    if (!preset_design(&wanted, arena, design, fault))
        return false;
    import_find(*findings, IMPORT_TABLE, "nodes: %s, from --node", request->node->name);
    design->title = arena_print(arena, "%s%sA cluster of %u nodes, imported by stagesim from a Slurm topology.",
                                records.name ? records.name : "", records.name ? ". " : "", cluster.nodes);
    return true;
}
