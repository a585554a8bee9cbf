/* SPDX-License-Identifier: Apache-2.0 */
/* What files say of the links between GPUs, held against the table of models: xGMI figures that are no measurement are
 * replaced, missing matrices of boards whose wiring is known are filled in. */
#include "platforms/import/parts.h"

#include <string.h>

const struct device_model *import_model(const struct import_gpu *gpu)
{
    const struct device_model *model = device_match(gpu->product, gpu->memory);
    if (!model)
        model = device_of_pci(gpu->vendor, gpu->device);
    if (!model && gpu->capability)
        model = device_of_capability(gpu->capability, gpu->has_nvlink);
    return model;
}

static bool has_links(const struct import *import)
{
    bool any = import->links != NULL;
    for (uint32_t i = 0; i < import->gpu_count; i++)
        any |= import->gpus[i].switch_bandwidth > 0 || import->gpus[i].socket_bandwidth > 0;
    return any;
}

/* Whether all GPUs are of one row of the table. */
static bool all_are(const struct import *import, const char *model)
{
    for (uint32_t i = 0; i < import->gpu_count; i++)
        if (!import->gpus[i].model || strcmp(import->gpus[i].model->name, model) != 0)
            return false;
    return import->gpu_count > 0;
}

/* Pairs of which the file says nothing, or that PCI Express joins them. */
static uint32_t unlinked_pairs(const struct import *import)
{
    uint32_t pairs = 0;
    for (uint32_t a = 0; a < import->gpu_count; a++)
        for (uint32_t b = 0; b < a; b++)
            pairs += !import->links || import->links[(size_t)a * import->gpu_count + b] <= 0;
    return pairs;
}

/* ROCm reports 100 GB/s for every pair that has any xGMI way. Dies in the order of their bus ids, pairs in links of 50
 * GB/s: the node of Frontier and LUMI-G. */
static void replace_mi250x(struct import *import)
{
    static const unsigned char links[8][8] = {
        {0, 4, 1, 0, 0, 0, 2, 0}, {4, 0, 0, 1, 0, 1, 0, 0}, {1, 0, 0, 4, 2, 0, 0, 0}, {0, 1, 4, 0, 0, 0, 0, 1},
        {0, 0, 2, 0, 0, 4, 1, 0}, {0, 1, 0, 0, 4, 0, 0, 1}, {2, 0, 0, 0, 1, 0, 0, 4}, {0, 0, 0, 1, 0, 1, 4, 0}};
    for (uint32_t a = 0; a < 8; a++)
        for (uint32_t b = 0; b < 8; b++)
            import_link(import, a, b, 50.0 * links[a][b]);
    import_find(import, IMPORT_TABLE, "xgmi: 1, 2 or 4 links of 50 GB/s as on Frontier's node; %s",
                import->links_unrated ? "the file has no rates"
                                      : "the file's 100 GB/s for all pairs is no measurement");
}

/* Accelerators all pairs of which are joined by xGMI, GB/s of a pair. MI300A: two links (LLNL). */
static bool replace_mesh(struct import *import)
{
    static const struct {
        const char *model;
        double pair;
    } meshes[] = {{"MI300X", 64}, {"MI325X", 64}, {"MI300A", 128}, {"MI355X", 76.5}};
    size_t mesh = 0, count = sizeof meshes / sizeof *meshes;
    while (mesh < count && !all_are(import, meshes[mesh].model))
        mesh++;
    if (mesh == count || import->gpu_count > 8)
        return false;
    for (uint32_t a = 0; a < import->gpu_count; a++)
        for (uint32_t b = 0; b < import->gpu_count; b++)
            if (import->links[(size_t)a * import->gpu_count + b] > 0)
                import_link(import, a, b, meshes[mesh].pair);
    uint32_t pairs = unlinked_pairs(import);
    import_find(import, IMPORT_TABLE, "xgmi: %g GB/s between %s of %s; %s", meshes[mesh].pair,
                pairs ? "the pairs that have it" : "all pairs", meshes[mesh].model,
                import->links_unrated ? "the file has no rates" : "the file's 100 GB/s is no measurement");
    if (pairs)
        import_find(import, IMPORT_MEASURED, "xgmi: the file has none between %u pairs, which PCI Express joins",
                    pairs);
    return true;
}

static void correct_xgmi(struct import *import)
{
    import->links_replaced = true;
    if (all_are(import, "MI250X-GCD") && import->gpu_count == 8 && !unlinked_pairs(import))
        replace_mi250x(import);
    else if (replace_mesh(import))
        return;
    else if (import->links_unrated)
        import_find(import, IMPORT_ASSUMED,
                    "xgmi: one link of 50 GB/s for each pair that has any; the file does not say how many there are");
    else
        import_find(import, IMPORT_ASSUMED,
                    "xgmi: rates as in the file, which ROCm sets to 100 GB/s for every pair, whatever its links");
}

/* SXM boards of four are wired pairwise, of eight through NVSwitches, since A100. */
static void assume_nvlink(struct import *import, const struct device_model *model)
{
    double one = nvlink_raw(model->nvlink_generation), links = nvlink_count(model);
    import->link_class = "nvlink";
    import->links_replaced = true;
    if (import->gpu_count == 4) {
        for (uint32_t a = 0; a < 4; a++)
            for (uint32_t b = 0; b < 4; b++)
                import_link(import, a, b, a == b ? 0 : one * links / 3);
        import_find(import, IMPORT_ASSUMED,
                    "nvlink: none in the file; a board of 4 with %g links of %g GB/s between all pairs", links / 3,
                    one);
        return;
    }
    for (uint32_t i = 0; i < import->gpu_count; i++)
        import->gpus[i].switch_bandwidth = one * links;
    import_find(import, IMPORT_ASSUMED,
                "nvlink: none in the file; a board of 8 with NVSwitches, %g links of %g GB/s from each GPU", links,
                one);
}

/* V100 nodes of POWER9 reach the processor over NVLink, which hwloc does not show: 2 bricks to each of six GPUs
 * (Summit), 3 to each of four (Sierra, Lassen). PCI Express is a slow way for management there. */
static void add_power9_links(struct import *import)
{
    double bricks = import->gpu_count == 6 ? 2 : import->gpu_count == 4 ? 3 : 0;
    if (!import->processor || strncmp(import->processor, "POWER9", 6) != 0 || bricks == 0)
        return;
    for (uint32_t i = 0; i < import->gpu_count; i++)
        if (!import->gpus[i].model || import->gpus[i].model->nvlink_generation != 2 ||
            import->gpus[i].socket_bandwidth > 0)
            return;
    for (uint32_t i = 0; i < import->gpu_count; i++)
        import->gpus[i].socket_bandwidth = 25 * bricks;
    import_find(import, IMPORT_TABLE,
                "nvlink between GPUs and their sockets: %g of 25 GB/s each, as POWER9 nodes with %u V100 have", bricks,
                import->gpu_count);
}

/* More than all links of the model together: the figures of a pair cannot be right. */
static void check_sums(struct import *import)
{
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        const struct import_gpu *gpu = &import->gpus[i];
        unsigned generation = gpu->model ? gpu->model->nvlink_generation : 0;
        double sum = gpu->switch_bandwidth + gpu->socket_bandwidth,
               most = generation ? nvlink_raw(generation) * nvlink_count(gpu->model) : 0;
        for (uint32_t k = 0; import->links && k < import->gpu_count; k++)
            sum += import->links[(size_t)i * import->gpu_count + k];
        if (generation && sum > most * 1.01)
            import_find(import, IMPORT_MEASURED, "%s: %g GB/s of NVLink in the file, more than the %g GB/s of a %s",
                        gpu->name, sum, most, gpu->model->name);
    }
}

void import_complete_links(struct import *import)
{
    add_power9_links(import);
    unsigned generation = import->gpu_count ? import->gpus[0].model ? import->gpus[0].model->nvlink_generation : 0 : 0;
    bool one_kind = generation && all_are(import, import->gpus[0].model->name);
    if (!has_links(import)) {
        if (all_are(import, "PVC-1550") && import->gpu_count > 1)
            import_find(import, IMPORT_ASSUMED,
                        "Xe Link: none in the file, although these GPUs have it; all traffic goes over PCI Express");
        if (one_kind && generation >= 3 && (import->gpu_count == 4 || import->gpu_count == 8))
            assume_nvlink(import, import->gpus[0].model);
        else if (generation)
            import_find(import, IMPORT_ASSUMED,
                        "nvlink: none in the file, although these GPUs can have it; all traffic goes over PCI Express");
        return;
    }
    if (import->link_class && strcmp(import->link_class, "xgmi") == 0) {
        correct_xgmi(import);
        return;
    }
    check_sums(import);
}
