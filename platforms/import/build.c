/* SPDX-License-Identifier: Apache-2.0 */
/* From what was read to a node: models from the table, rates from readings or tables, cables, and the interface that
 * each GPU uses. Switches with a single device below are left out: they share nothing. */
#include "base/arena.h"
#include "platforms/import/builder.h"

#include <math.h>
#include <string.h>

enum { SOCKETS_MAX = 64 };

/* ---- models ---- */

/* A stand-in for GPUs of a product that the table does not hold; one for all of that product. */
static const struct device_model *unknown_model(struct import *import, uint32_t index)
{
    const struct import_gpu *gpu = &import->gpus[index];
    const char *name = gpu->product ? gpu->product : "unknown";
    uint32_t count = 0;
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(import->gpus[i].model->name, name) == 0)
            return import->gpus[i].model;
    for (uint32_t i = index; i < import->gpu_count; i++) {
        const char *other = import->gpus[i].product ? import->gpus[i].product : "unknown";
        count += !import->gpus[i].model && strcmp(other, name) == 0;
    }
    struct device_model *model = arena_alloc(import->arena, sizeof *model);
    *model = (struct device_model){.name = name,
                                   .precision = PRECISION_FP32,
                                   .peak = {1},
                                   .source = "not in the table of models: 1 Tf is a placeholder",
                                   .confidence = CONFIDENCE_L};
    const char *others = count > 1 ? arena_print(import->arena, " and %u more", count - 1) : "";
    import_find(import, IMPORT_ASSUMED,
                "%s%s: no known model (%s), 1 Tf stands for the speed; --gpu H100-SXM5-80GB would name it", gpu->name,
                others, name);
    return model;
}

static void find_models(struct import *import, const struct import_options *options)
{
    uint32_t named = 0;
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        import->gpus[i].model = import_model(&import->gpus[i]);
        if (!import->gpus[i].model && options->model) {
            import->gpus[i].model = options->model;
            named++;
        }
    }
    if (named)
        import_find(import, IMPORT_ASSUMED, "%u GPUs are %s, from --gpu", named, options->model->name);
}

static void fill_models(struct import *import)
{
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        struct import_gpu *gpu = &import->gpus[i], *same = NULL;
        for (uint32_t k = 0; k < i && !same; k++)
            if (import->gpus[k].model == gpu->model)
                same = &import->gpus[k];
        if (!gpu->model)
            gpu->model = unknown_model(import, i);
        else if (!same)
            import_find(import, IMPORT_TABLE, "%s: peaks%s%s%s", gpu->model->name, gpu->memory > 0 ? "" : ", memory",
                        gpu->model->memory_bandwidth > 0 ? ", memory bandwidth" : "",
                        gpu->model->watts_full > 0 ? ", watts" : "");
    }
}

/* ---- wires ---- */

static const struct wire *pcie_wire(struct builder *builder, const char *name, double raw, double latency)
{
    return builder_wire(builder, name, raw, raw * PCIE_REACHED, latency,
                        "PCI Express: line rate above, 76 % of it reached (NCCL topo.h); latency estimated",
                        CONFIDENCE_H);
}

/* What PCI Express is where the file has no speed, and where that is from. */
struct pcie_guess {
    double rate;
    enum import_origin origin;
    const char *name;
};

static struct pcie_guess guess_pcie(const struct builder *builder)
{
    const struct import_options *options = builder->options;
    if (options->pcie_generation)
        return (struct pcie_guess){pcie_raw(options->pcie_generation) * options->pcie_lanes / 16, IMPORT_TABLE,
                                   "--pcie"};
    for (uint32_t i = 0; i < builder->import->gpu_count; i++)
        if (builder->import->gpus[i].model->pcie_generation)
            return (struct pcie_guess){pcie_raw(builder->import->gpus[i].model->pcie_generation), IMPORT_TABLE,
                                       "the model's generation"};
    return (struct pcie_guess){pcie_raw(3), IMPORT_ASSUMED, "Gen3 x16, for want of better"};
}

static void fill_speeds(struct builder *builder)
{
    struct import *import = builder->import;
    uint32_t missing = 0, known = 0;
    struct pcie_guess guess = guess_pcie(builder);
    for (uint32_t i = 0; i < import->place_count; i++) {
        struct import_place *place = &import->places[i];
        if (place->kind == IMPORT_SOCKET || !builder->used[i])
            continue;
        known += place->wire > 0;
        missing += place->wire <= 0;
        if (place->wire <= 0)
            place->wire = guess.rate;
    }
    if (known)
        import_find(import, IMPORT_MEASURED, "PCI Express: line rates of %u wires", known);
    if (missing)
        import_find(import, guess.origin, "PCI Express: no speed in the file for %u wires; %.4g GB/s from %s", missing,
                    guess.rate, guess.name);
}

/* ---- which parts matter ---- */

static void use(struct builder *builder, uint32_t place)
{
    for (; place != NODE_NONE && !builder->used[place]; place = builder->import->places[place].parent)
        builder->used[place] = true;
}

/* ---- the node ---- */

static void add_sockets(struct builder *builder)
{
    struct import *import = builder->import;
    uint32_t sockets[SOCKETS_MAX], count = 0;
    for (uint32_t i = 0; i < import->place_count; i++)
        if (import->places[i].kind == IMPORT_SOCKET && builder->used[i])
            sockets[count++] = builder->vertex[i] = node_add(builder->node, NODE_SOCKET);
    if (count < 2)
        return;
    bool known = import->socket_link > 0;
    const char *source =
        known ? arena_print(import->arena, "%s: NCCL topo.h, what device traffic reaches; latency estimated",
                            import->socket_source)
              : "sockets of an unknown processor: 10 GB/s assumed";
    const struct wire *wire = builder_wire(builder, "socket", 0, known ? import->socket_link : 10, 0.5e-6, source,
                                           known ? CONFIDENCE_H : CONFIDENCE_L);
    import_find(import, known ? IMPORT_TABLE : IMPORT_ASSUMED, "between sockets: %g GB/s (%s)", wire->effective,
                known ? import->socket_source : "unknown processor");
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count; b++)
            node_join(builder->node, sockets[a], sockets[b], wire, 1);
}

static void add_switches(struct builder *builder)
{
    const struct import *import = builder->import;
    for (uint32_t i = 0; i < import->place_count; i++) {
        double raw;
        if (import->places[i].kind != IMPORT_SWITCH || !builder->used[i] || builder_used_children(builder, i) <= 1)
            continue;
        builder->vertex[i] = node_add(builder->node, NODE_SWITCH);
        uint32_t above = builder_above(builder, i, &raw);
        node_join(builder->node, builder->vertex[i], above, pcie_wire(builder, "root", raw, 0.5e-6), 1);
    }
}

/* Devices of a GPU: itself, or its partitions, which share one switch and what hangs on it. */
static void add_partition_hub(struct builder *builder, const struct import_gpu *gpu, uint32_t first)
{
    uint32_t hub = node_add(builder->node, NODE_SWITCH);
    double inside = gpu->model->memory_bandwidth > 0 ? gpu->model->memory_bandwidth : 1000;
    const struct wire *wire =
        builder_wire(builder, "partition", 0, inside / gpu->partitions, 0.5e-6,
                     "between partitions of a device: their share of its memory bandwidth, assumed", CONFIDENCE_L);
    for (unsigned i = 0; i < gpu->partitions; i++)
        node_join(builder->node, first + i, hub, wire, 1);
    builder->vertex[gpu->place] = hub;
}

static const struct device_model *share_of(struct import *import, const struct import_gpu *gpu)
{
    struct device_model *model = arena_alloc(import->arena, sizeof *model);
    *model = *gpu->model;
    model->name = arena_print(import->arena, "%s, 1 of %u", gpu->model->name, gpu->partitions);
    model->memory_bandwidth /= gpu->partitions;
    model->watts_idle /= gpu->partitions;
    model->watts_full /= gpu->partitions;
    for (unsigned i = 0; i < PRECISIONS; i++)
        model->peak[i] /= gpu->partitions;
    return model;
}

static void add_devices(struct builder *builder)
{
    struct import *import = builder->import;
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        const struct import_gpu *gpu = &import->gpus[i];
        const struct device_model *model = gpu->partitions > 1 ? share_of(import, gpu) : gpu->model;
        builder->vertex[gpu->place] = builder->node->part_count;
        for (unsigned k = 0; k < gpu->partitions; k++) {
            uint32_t device = node_add_device(builder->node, model);
            struct node_part *part = &builder->node->parts[device];
            const char *bus = import->places[gpu->place].bus;
            part->label = strcmp(gpu->name, bus) ? arena_print(import->arena, "%s %s", gpu->name, bus) : gpu->name;
            if (gpu->memory > 0)
                part->memory = arena_print(import->arena, "%.0fKiB", gpu->memory / 1024 / gpu->partitions);
        }
    }
}

static void add_slots(struct builder *builder)
{
    const struct import *import = builder->import;
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        double raw;
        uint32_t place = import->gpus[i].place;
        if (import->gpus[i].partitions > 1)
            add_partition_hub(builder, &import->gpus[i], builder->vertex[place]);
        uint32_t above = builder_above(builder, place, &raw);
        node_join(builder->node, builder->vertex[place], above, pcie_wire(builder, "pcie", raw, 1.5e-6), 1);
    }
}

/* ---- links between GPUs ---- */

/* What transfers reach of a link, by the model's generation; 80 % where that is not known. */
static double reached(const struct import_gpu *gpu)
{
    unsigned generation = gpu->model->nvlink_generation;
    bool cdna3 = strncmp(gpu->model->name, "MI3", 3) == 0; /* 48 of 64 GB/s: ROCm/rccl, GFX94X_XGMI_WIDTH */
    return generation ? nvlink_effective(generation) / nvlink_raw(generation) : cdna3 ? 0.75 : 0.8;
}

static double link_latency(const struct import_gpu *gpu)
{
    static const double seconds[] = {2e-6, 1.35e-6, 1.9e-6, 2.7e-6, 2.5e-6, 2.5e-6}; /* a peer write, by generation */
    unsigned generation = gpu->model->nvlink_generation;
    return seconds[generation < 6 ? generation : 0];
}

static const struct wire *link_wire(struct builder *builder, const struct import_gpu *gpu, const char *name, double raw,
                                    double ends)
{
    return builder_wire(builder, name, raw, raw * reached(gpu), link_latency(gpu) / ends,
                        "links between GPUs: line rate above, share that is reached by generation (NCCL topo.h), else "
                        "80 %, of MI300 and MI350 75 % (ROCm/rccl); latency of a peer write",
                        CONFIDENCE_H);
}

static void add_switch_links(struct builder *builder)
{
    struct import *import = builder->import;
    uint32_t hub = NODE_NONE, count = 0;
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        const struct import_gpu *gpu = &import->gpus[i];
        if (gpu->switch_bandwidth <= 0)
            continue;
        hub = hub == NODE_NONE ? node_add(builder->node, NODE_SWITCH) : hub;
        node_join(builder->node, builder->vertex[gpu->place], hub,
                  link_wire(builder, gpu, "nvlink", gpu->switch_bandwidth, 2), 1);
        count++;
    }
    if (count && !import->links_replaced)
        import_find(import, IMPORT_MEASURED, "%u GPUs on one NVSwitch fabric, taken as non-blocking", count);
}

static void add_pair_links(struct builder *builder)
{
    struct import *import = builder->import;
    uint32_t count = import->gpu_count, pairs = 0;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = a + 1; b < count && import->links; b++) {
            double forth = import->links[(size_t)a * count + b], back = import->links[(size_t)b * count + a],
                   raw = forth > back ? forth : back;
            if (raw <= 0)
                continue;
            node_join(builder->node, builder->vertex[import->gpus[a].place], builder->vertex[import->gpus[b].place],
                      link_wire(builder, &import->gpus[a], import->link_class, raw, 1), 1);
            pairs++;
        }
    if (pairs && !import->links_replaced)
        import_find(import, IMPORT_MEASURED, "%s between %u pairs of GPUs", import->link_class, pairs);
}

static void add_socket_links(struct builder *builder)
{
    struct import *import = builder->import;
    uint32_t count = 0;
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        const struct import_gpu *gpu = &import->gpus[i];
        uint32_t socket = gpu->place;
        if (gpu->socket_bandwidth <= 0)
            continue;
        while (import->places[socket].parent != NODE_NONE)
            socket = import->places[socket].parent;
        node_join(builder->node, builder->vertex[gpu->place], builder->vertex[socket],
                  link_wire(builder, gpu, "cpu-nvlink", gpu->socket_bandwidth, 2), 1);
        count++;
    }
    if (count)
        import_find(import, IMPORT_MEASURED, "nvlink between %u GPUs and their sockets", count);
}

/* Dies of AMD pass traffic on. */
static void allow_forwarding(struct builder *builder)
{
    const struct import *import = builder->import;
    for (uint32_t i = 0; import->link_class && strcmp(import->link_class, "xgmi") == 0 && i < import->gpu_count; i++)
        builder->node->parts[builder->vertex[import->gpus[i].place]].forwards = true;
}

static void build_node(struct builder *builder)
{
    add_devices(builder);
    add_sockets(builder);
    add_switches(builder);
    add_slots(builder);
    add_switch_links(builder);
    add_pair_links(builder);
    add_socket_links(builder);
    allow_forwarding(builder);
    network_add(builder);
}

bool import_build(struct import *import, const char *name, const struct import_options *options, struct fault *fault)
{
    uint32_t devices = 0, sockets = 0;
    for (uint32_t i = 0; i < import->gpu_count; i++)
        devices += import->gpus[i].partitions;
    for (uint32_t i = 0; i < import->place_count; i++)
        sockets += import->places[i].kind == IMPORT_SOCKET;
    if (import->gpu_count == 0)
        return fault_set(
            fault,
            "%s: no GPU in it; was lstopo run on a login node, or hwloc built without its CUDA, NVML and ROCm parts?",
            name);
    if (devices > IMPORT_GPUS_MAX || sockets > SOCKETS_MAX)
        return fault_set(fault, "%s: %u devices on %u sockets; a node has at most %u and %u", name, devices, sockets,
                         IMPORT_GPUS_MAX, SOCKETS_MAX);
    struct builder builder = {.import = import, .options = options, .node = node_create(import->arena)};
    builder.wanted = arena_array(import->arena, import->nic_count + 1, sizeof *builder.wanted);
    builder.used = arena_array(import->arena, import->place_count + 1, sizeof *builder.used);
    builder.vertex = arena_array(import->arena, import->place_count + 1, sizeof *builder.vertex);
    builder.card_exit = arena_array(import->arena, import->nic_count + 1, sizeof *builder.card_exit);
    find_models(import, options);
    import_complete_links(import);
    fill_models(import);
    network_choose(&builder);
    for (uint32_t i = 0; i < import->gpu_count; i++)
        use(&builder, import->gpus[i].place);
    for (uint32_t i = 0; i < import->nic_count; i++)
        if (builder.wanted[i])
            use(&builder, import->nics[i].place);
    fill_speeds(&builder);
    build_node(&builder);
    import->node = builder.node;
    return true;
}
