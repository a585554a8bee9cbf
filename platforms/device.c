/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/device.h"

#include "base/arena.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- files of devices ---- */

/* What a driver may call a product: a name that holds all of `words`, of a device with at least that memory. */
struct reported {
    struct stagesim_texts words;
    double memory; /* bytes */
};

/* A device with what it is recognised by. */
struct device {
    struct device_model model;
    unsigned precision, confidence;
    double memory; /* bytes */
    uint64_t nvlink, nvlinks, pcie, capability;
    struct stagesim_rows reported;
    struct stagesim_texts pci; /* "10de:2330" */
};

#define REPORTED_FIELD(member) offsetof(struct reported, member)
#define FIELD(member) offsetof(struct device, member)

static const struct stagesim_field reported_fields[] = {
    {"words", STAGESIM_FIELD_TEXTS, REPORTED_FIELD(words), .required = true},
    {"memory", STAGESIM_FIELD_BYTES, REPORTED_FIELD(memory), .least = 0, .most = 1e18},
    {0},
};
static const struct stagesim_row_type reported_row = {"reported_as", reported_fields, sizeof(struct reported), NULL};

static const char *const precisions[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4", NULL};

const struct stagesim_field device_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, FIELD(model.name), .required = true, .doc = "the device's name"},
    {"precision", STAGESIM_FIELD_NAME, FIELD(precision), .required = true, .names = precisions},
    {"peak.fp32", STAGESIM_FIELD_FLOPS, FIELD(model.peak[PRECISION_FP32]), .least = 0, .most = 1e21},
    {"peak.tf32", STAGESIM_FIELD_FLOPS, FIELD(model.peak[PRECISION_TF32]), .least = 0, .most = 1e21},
    {"peak.fp16", STAGESIM_FIELD_FLOPS, FIELD(model.peak[PRECISION_FP16]), .least = 0, .most = 1e21},
    {"peak.bf16", STAGESIM_FIELD_FLOPS, FIELD(model.peak[PRECISION_BF16]), .least = 0, .most = 1e21},
    {"peak.fp8", STAGESIM_FIELD_FLOPS, FIELD(model.peak[PRECISION_FP8]), .least = 0, .most = 1e21},
    {"peak.fp4", STAGESIM_FIELD_FLOPS, FIELD(model.peak[PRECISION_FP4]), .least = 0, .most = 1e21},
    {"memory", STAGESIM_FIELD_BYTES, FIELD(memory), .least = 1, .most = 1e18},
    {"memory_bandwidth", STAGESIM_FIELD_RATE, FIELD(model.memory_bandwidth), .least = 1, .most = 1e18},
    {"power.idle", STAGESIM_FIELD_WATTS, FIELD(model.watts_idle), .least = 0, .most = 1e6},
    {"power.full", STAGESIM_FIELD_WATTS, FIELD(model.watts_full), .least = 1e-3, .most = 1e6},
    {"nvlink", STAGESIM_FIELD_COUNT, FIELD(nvlink), .least = 0, .most = 100},
    {"nvlinks", STAGESIM_FIELD_COUNT, FIELD(nvlinks), .least = 1, .most = 1000},
    {"pcie", STAGESIM_FIELD_COUNT, FIELD(pcie), .least = 0, .most = 100},
    {"reported_as", STAGESIM_FIELD_ROWS, FIELD(reported), .rows = &reported_row},
    {"pci", STAGESIM_FIELD_TEXTS, FIELD(pci)},
    {"capability", STAGESIM_FIELD_COUNT, FIELD(capability), .least = 1, .most = 1000},
    {"library.switched", STAGESIM_FIELD_TEXT, FIELD(model.switched)},
    {"library.direct", STAGESIM_FIELD_TEXT, FIELD(model.direct)},
    {"source", STAGESIM_FIELD_TEXT, FIELD(model.source), .required = true, .doc = "where its figures are from"},
    {"confidence", STAGESIM_FIELD_NAME, FIELD(confidence), .required = true, .names = confidence_names},
    {0},
};

static bool check_libraries(const struct device_model *model, const struct node *map, struct diag *diag)
{
    const char *const names[] = {model->switched, model->direct}, *const keys[] = {"switched", "direct"};
    bool good = true;
    for (unsigned i = 0; i < 2; i++)
        if (names[i] && !hardware_has(HARDWARE_LIBRARY, names[i])) {
            diag_error(diag, node_get(node_get(map, "library"), keys[i])->at, "library.%s: there is no library '%.60s'",
                       keys[i], names[i]);
            good = false;
        }
    return good;
}

static bool check_device(const struct device *device, const struct node *map, struct diag *diag)
{
    const struct device_model *model = &device->model;
    bool good = check_libraries(model, map, diag);
    if (!(model->peak[device->precision] > 0)) {
        diag_error(diag, node_get(map, "precision")->at, "precision is %s, of which no peak is given; expected peak.%s",
                   precisions[device->precision], precisions[device->precision]);
        good = false;
    }
    if (model->watts_idle > model->watts_full) {
        diag_error(diag, node_get(map, "power")->at, "power: idle takes more than full load");
        good = false;
    }
    return good;
}

/* The struct has the units of data sheets. */
static void set_units(struct device *device, const struct node *map)
{
    struct device_model *model = &device->model;
    const struct node *memory = node_get(map, "memory");
    for (unsigned i = 0; i < PRECISIONS; i++)
        model->peak[i] /= 1e12;
    model->memory_bandwidth /= 1e9;
    model->memory = memory ? memory->text : NULL;
    model->precision = (enum precision)device->precision;
    model->confidence = (enum confidence)device->confidence;
    model->nvlink_generation = (unsigned)device->nvlink;
    model->nvlinks = (unsigned)device->nvlinks;
    model->pcie_generation = (unsigned)device->pcie;
}

/* The device of a definition, kept under its name. NULL after a mistake was reported. */
static const struct device *read_device(const struct node *map, struct diag *diag)
{
    struct device *device = arena_alloc(hardware_arena(), sizeof *device);
    if (!map || !hardware_read(HARDWARE_DEVICE, map, device_fields, NULL, device, diag) ||
        !check_device(device, map, diag))
        return NULL;
    set_units(device, map);
    hardware_keep(HARDWARE_DEVICE, device->model.name, device);
    return device;
}

static const struct device *find(const char *name)
{
    struct diag silent = {0};
    const struct device *device = hardware_kept(HARDWARE_DEVICE, name);
    if (device || !hardware_has(HARDWARE_DEVICE, name))
        return device;
    return read_device(hardware_find(HARDWARE_DEVICE, name, (struct place){0}, &silent), &silent);
}

const struct device_model *device_find(const char *name)
{
    const struct device *device = find(name);
    return device ? &device->model : NULL;
}

const struct device_model *device_value(const char *key, const struct node *value, struct diag *diag)
{
    const struct device *device = hardware_kept_value(HARDWARE_DEVICE, value);
    if (!device)
        device = read_device(hardware_value(HARDWARE_DEVICE, key, value, diag), diag);
    return device ? &device->model : NULL;
}

struct stagesim_device device_of_host(const struct platform_host *host)
{
    struct stagesim_device device = {.model = host->model,
                                     .speed = platform_full_speed(host),
                                     .memory = host->memory,
                                     .memory_bandwidth = host->memory_bandwidth};
    memcpy(device.peak, host->peak, sizeof device.peak);
    return device;
}

/* ---- what a device is recognised by ---- */

struct device_names {
    const char *const *names;
    size_t count;
};

/* Every device with a file; NULL: one with mistakes. */
static const struct device *device_at(size_t index, size_t *count)
{
    static const char every[] = ""; /* directories are read once */
    const struct device_names *all = hardware_kept(HARDWARE_DEVICE, every);
    if (!all) {
        struct device_names *read = arena_alloc(hardware_arena(), sizeof *read);
        read->names = hardware_names(HARDWARE_DEVICE, &read->count);
        hardware_keep(HARDWARE_DEVICE, every, read);
        all = read;
    }
    *count = all->count;
    return index < all->count ? find(all->names[index]) : NULL;
}

static bool is_reported(const struct reported *reported, const char *name, double memory_bytes)
{
    const char *found = strcasestr(name, reported->words.texts[0]);
    if (!found || isdigit((unsigned char)found[strlen(reported->words.texts[0])])) /* T400 is no T4 */
        return false;
    for (size_t i = 1; i < reported->words.count; i++)
        if (!strcasestr(name, reported->words.texts[i]))
            return false;
    return memory_bytes >= reported->memory;
}

/* More words say more than fewer, then more memory, then longer words: GB200 holds B200. */
static bool says_more(const struct reported *a, const struct reported *b)
{
    if (!b || a->words.count != b->words.count)
        return !b || a->words.count > b->words.count;
    if (a->memory != b->memory)
        return a->memory > b->memory;
    return strlen(a->words.texts[0]) > strlen(b->words.texts[0]);
}

const struct device_model *device_match(const char *product, double memory_bytes)
{
    const struct device_model *model = NULL;
    const struct reported *best = NULL;
    size_t count = 0;
    device_at(0, &count);
    for (size_t i = 0; product && i < count; i++) {
        const struct device *device = device_at(i, &count);
        for (size_t k = 0; device && k < device->reported.count; k++) {
            const struct reported *row = (const struct reported *)device->reported.rows + k;
            if (!is_reported(row, product, memory_bytes) || !says_more(row, best))
                continue;
            best = row;
            model = &device->model;
        }
    }
    return model;
}

const struct device_model *device_of_capability(unsigned capability, bool nvlink)
{
    const struct device_model *model = NULL;
    size_t count = 0;
    device_at(0, &count);
    for (size_t i = 0; i < count; i++) {
        const struct device *device = device_at(i, &count);
        if (!device || !capability || device->capability != capability)
            continue;
        if (!model || (device->nvlink > 0) == nvlink)
            model = &device->model;
    }
    return model;
}

/* NVIDIA's ids are those that its drivers report; the PCI ID repository lists them. AMD's are chip ids of
 * ROCm/rocprofiler-compute, src/utils/mi_gpu_spec.yaml, physical and virtual; that of MI50 is recalled. Intel's are of
 * intel/compute-runtime, shared/source/dll/devices. */
const struct device_model *device_of_pci(unsigned vendor, unsigned id)
{
    char text[32];
    size_t count = 0;
    snprintf(text, sizeof text, "%04x:%04x", vendor, id);
    device_at(0, &count);
    for (size_t i = 0; i < count; i++) {
        const struct device *device = device_at(i, &count);
        for (size_t k = 0; device && k < device->pci.count; k++)
            if (strcasecmp(device->pci.texts[k], text) == 0)
                return &device->model;
    }
    return NULL;
}

/* ---- links of each generation ---- */

struct generation {
    double raw, effective; /* bytes per second */
    uint64_t links;
};

static const struct stagesim_field generation_fields[] = {
    {"raw", STAGESIM_FIELD_RATE, offsetof(struct generation, raw), .required = true, .least = 1, .most = 1e18},
    {"effective", STAGESIM_FIELD_RATE, offsetof(struct generation, effective), .least = 1, .most = 1e18},
    {"links", STAGESIM_FIELD_COUNT, offsetof(struct generation, links), .least = 1, .most = 1000},
    {0},
};
static const struct stagesim_row_type generation_row = {"a generation", generation_fields, sizeof(struct generation),
                                                        NULL};

struct links {
    const char *name, *source;
    unsigned confidence;
    struct stagesim_rows generations;
};

const struct stagesim_field links_fields[] = {
    {"name", STAGESIM_FIELD_TEXT, offsetof(struct links, name), .required = true},
    {"generations", STAGESIM_FIELD_ROWS, offsetof(struct links, generations), .required = true,
     .rows = &generation_row},
    {"source", STAGESIM_FIELD_TEXT, offsetof(struct links, source), .required = true},
    {"confidence", STAGESIM_FIELD_NAME, offsetof(struct links, confidence), .required = true,
     .names = confidence_names},
    {0},
};

/* A generation, counted from 1; all zero where it is not known. */
static struct generation generation_of(const char *name, unsigned number)
{
    struct diag silent = {0};
    const struct links *links = hardware_kept(HARDWARE_LINKS, name);
    if (!links) {
        struct links *read = arena_alloc(hardware_arena(), sizeof *read);
        const struct node *map = hardware_find(HARDWARE_LINKS, name, (struct place){0}, &silent);
        if (!map || !hardware_read(HARDWARE_LINKS, map, links_fields, NULL, read, &silent))
            read->generations.count = 0;
        hardware_keep(HARDWARE_LINKS, name, read);
        links = read;
    }
    return number >= 1 && number <= links->generations.count
               ? ((const struct generation *)links->generations.rows)[number - 1]
               : (struct generation){0};
}

unsigned nvlink_count(const struct device_model *model)
{
    return model->nvlinks ? model->nvlinks : (unsigned)generation_of("nvlink", model->nvlink_generation).links;
}

double nvlink_raw(unsigned generation)
{
    return generation_of("nvlink", generation).raw / 1e9;
}

double nvlink_effective(unsigned generation)
{
    return generation_of("nvlink", generation).effective / 1e9;
}

double pcie_raw(unsigned generation)
{
    return generation_of("pcie", generation).raw / 1e9;
}

const char *precision_name(enum precision precision)
{
    return precisions[precision];
}
