/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL's topology XML: <system> of <cpu>, in them <pci> (switches nest), in those <gpu> with <nvlink>, or <nic> with
 * <net>. Files that cloud providers publish often have no <gpu>: the class of the PCI device tells. */
#include "base/arena.h"
#include "base/xml/place.h"
#include "platforms/import/parts.h"

#include <ctype.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>

enum { NESTING_MAX = 200 };

/* An NVLink as it was read: its other end may come later in the file, and devices are sorted at the end. */
struct nccl_link {
    const char *source;
    char target[32];
    unsigned count, class_id;
    bool xgmi;
};

struct nccl {
    XML_Parser parser;
    struct import *import;
    const char *name;
    struct fault *fault;
    bool stopped;
    uint32_t place_at[NESTING_MAX]; /* by depth: the place that what is inside hangs on */
    unsigned depth;
    uint32_t gpu, nic; /* the ones being read, NODE_NONE outside */
    uint32_t numa;     /* of the cpu being read */
    struct nccl_link *links;
    size_t link_count, link_capacity;
};

static const char *attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static unsigned number(const char **attributes, const char *name, int base)
{
    const char *text = attribute(attributes, name);
    unsigned long value = text ? strtoul(text, NULL, base) : 0;
    return value < 1u << 30 ? (unsigned)value : 0;
}

static void stop(struct nccl *nccl, const char *text, const char *what)
{
    if (!nccl->stopped)
        fault_set(nccl->fault, "%s:%u:%u: %s%s", nccl->name, xml_line(nccl->parser), xml_column(nccl->parser), text,
                  what);
    nccl->stopped = true;
    XML_StopParser(nccl->parser, XML_FALSE);
}

/* "16.0 GT/s PCIe" and a number of lanes: GB/s after encoding (8b/10b below 8 GT/s, 128b/130b above). */
static double wire_rate(const char **attributes)
{
    const char *speed = attribute(attributes, "link_speed");
    double transfers = speed ? strtod(speed, NULL) : 0;
    unsigned lanes = number(attributes, "link_width", 10);
    if (!(transfers > 0 && transfers < 1000) || lanes == 0 || lanes > 32)
        return 0;
    return transfers * lanes / 8 * (transfers < 8 ? 0.8 : 128.0 / 130);
}

static uint32_t above(const struct nccl *nccl)
{
    return nccl->depth > 0 ? nccl->place_at[nccl->depth - 1] : NODE_NONE;
}

static uint32_t add_place(struct nccl *nccl, enum import_place_kind kind, double wire, const char *bus)
{
    char lower[32] = "";
    for (size_t i = 0; bus && bus[i] && i + 1 < sizeof lower; i++)
        lower[i] = (char)tolower((unsigned char)bus[i]), lower[i + 1] = '\0';
    struct fault fault = {0};
    if (import_add_place(nccl->import, kind, kind == IMPORT_SOCKET ? NODE_NONE : above(nccl), wire, bus ? lower : NULL,
                         &fault))
        return nccl->import->place_count - 1;
    stop(nccl, fault.text, "");
    return NODE_NONE;
}

static uint32_t start_cpu(struct nccl *nccl, const char **attributes)
{
    const char *numa = attribute(attributes, "numaid"), *source;
    double link = socket_link_of(attribute(attributes, "vendor"), attribute(attributes, "arch"),
                                 number(attributes, "familyid", 10), number(attributes, "modelid", 10), &source);
    nccl->numa = numa && *numa != '-' ? number(attributes, "numaid", 10) : NODE_NONE;
    if (link > 0)
        nccl->import->socket_link = link, nccl->import->socket_source = source;
    return add_place(nccl, IMPORT_SOCKET, 0, NULL);
}

static void start_nic(struct nccl *nccl, uint32_t place, const char **attributes)
{
    struct import_nic *nic = import_add_nic(nccl->import, place, nccl->fault);
    if (!nic) {
        nccl->stopped = true;
        XML_StopParser(nccl->parser, XML_FALSE);
        return;
    }
    nic->vendor = (uint16_t)number(attributes, "vendor", 16);
    nic->device = (uint16_t)number(attributes, "device", 16);
    nic->numa = nccl->numa;
    nccl->nic = nccl->import->nic_count - 1;
}

static void start_gpu_device(struct nccl *nccl, uint32_t place, const char **attributes)
{
    struct import_gpu *gpu = import_add_gpu(nccl->import, place, nccl->fault);
    if (!gpu) {
        nccl->stopped = true;
        XML_StopParser(nccl->parser, XML_FALSE);
        return;
    }
    gpu->vendor = (uint16_t)number(attributes, "vendor", 16);
    gpu->device = (uint16_t)number(attributes, "device", 16);
    gpu->numa = nccl->numa;
    nccl->gpu = nccl->import->gpu_count - 1;
}

static uint32_t start_pci(struct nccl *nccl, const char **attributes)
{
    const char *bus = attribute(attributes, "busid");
    unsigned kind = number(attributes, "class", 16) >> 16;
    uint32_t place = NODE_NONE;
    if (!bus)
        stop(nccl, "a <pci> without busid", "");
    else if (above(nccl) == NODE_NONE)
        stop(nccl, "a <pci> outside of any <cpu>", "");
    else
        place = add_place(nccl,
                          kind == 0x03 || kind == 0x12 ? IMPORT_GPU
                          : kind == 0x02               ? IMPORT_NIC
                                                       : IMPORT_SWITCH,
                          wire_rate(attributes), bus);
    if (nccl->stopped)
        return NODE_NONE;
    if (nccl->import->places[place].kind == IMPORT_GPU)
        start_gpu_device(nccl, place, attributes);
    else if (nccl->import->places[place].kind == IMPORT_NIC)
        start_nic(nccl, place, attributes);
    return place;
}

static void read_link(struct nccl *nccl, const char **attributes, bool xgmi)
{
    const char *target = attribute(attributes, "target");
    if (nccl->gpu == NODE_NONE || !target)
        return;
    nccl->links = array_grow(nccl->links, &nccl->link_capacity, nccl->link_count + 1, sizeof *nccl->links);
    struct nccl_link *link = &nccl->links[nccl->link_count++];
    nccl->import->gpus[nccl->gpu].has_nvlink |= !xgmi;
    *link = (struct nccl_link){.source = nccl->import->gpus[nccl->gpu].name,
                               .count = number(attributes, "count", 10),
                               .class_id = number(attributes, "tclass", 16),
                               .xgmi = xgmi};
    for (size_t i = 0; target[i] && i + 1 < sizeof link->target; i++)
        link->target[i] = (char)tolower((unsigned char)target[i]);
}

static void read_net(struct nccl *nccl, const char **attributes)
{
    if (nccl->nic == NODE_NONE)
        return;
    struct import_nic *nic = &nccl->import->nics[nccl->nic];
    const char *name = attribute(attributes, "name");
    double megabits = number(attributes, "speed", 10);
    if (name)
        nic->name = arena_copy(nccl->import->arena, name);
    nic->rate += megabits / 8000; /* ports of one card */
}

static void on_start(void *data, const char *element, const char **attributes)
{
    struct nccl *nccl = data;
    if (nccl->stopped)
        return;
    if (nccl->depth >= NESTING_MAX) {
        stop(nccl, "elements nested too deep", "");
        return;
    }
    uint32_t place = above(nccl);
    if (strcmp(element, "cpu") == 0)
        place = start_cpu(nccl, attributes);
    else if (strcmp(element, "pci") == 0)
        place = start_pci(nccl, attributes);
    else if (strcmp(element, "gpu") == 0 && nccl->gpu != NODE_NONE)
        nccl->import->gpus[nccl->gpu].capability = number(attributes, "sm", 10);
    else if (strcmp(element, "nvlink") == 0 || strcmp(element, "xgmi") == 0)
        read_link(nccl, attributes, element[0] == 'x');
    else if (strcmp(element, "net") == 0)
        read_net(nccl, attributes);
    nccl->place_at[nccl->depth++] = place;
}

static void on_end(void *data, const char *element)
{
    struct nccl *nccl = data;
    if (nccl->stopped)
        return;
    nccl->depth--;
    if (strcmp(element, "pci") == 0)
        nccl->gpu = nccl->nic = NODE_NONE;
}

/* ---- links, when all devices are known ---- */

static uint32_t gpu_at(const struct import *import, const char *bus)
{
    for (uint32_t i = 0; i < import->gpu_count; i++)
        if (strcmp(import->places[import->gpus[i].place].bus, bus) == 0)
            return i;
    return NODE_NONE;
}

static void keep_link(struct import *import, const struct nccl_link *link)
{
    uint32_t from = gpu_at(import, link->source);
    struct import_gpu *gpu = &import->gpus[from];
    const struct device_model *model = import_model(gpu);
    double one = link->xgmi ? 50 : nvlink_raw(model ? model->nvlink_generation : 0);
    double raw = link->count * (one > 0 ? one : 25);
    uint32_t other = gpu_at(import, link->target);
    import->link_class = link->xgmi ? "xgmi" : "nvlink";
    if (link->count == 0 || link->count > 64)
        return;
    if (other != NODE_NONE && other != from)
        import_link(import, from, other, raw);
    else if (link->class_id == 0x068000)
        gpu->switch_bandwidth += raw;
    else if (link->class_id == 0x068001)
        gpu->socket_bandwidth += raw;
}

/* Bus ids are of one length, so the order of their texts is that of the buses. */
static int by_bus(const void *left, const void *right)
{
    return strcmp(((const struct import_gpu *)left)->name, ((const struct import_gpu *)right)->name);
}

bool import_nccl_text(struct import *import, const char *name, const char *text, size_t size, struct fault *fault)
{
    struct nccl nccl = {
        .import = import, .name = name, .fault = fault, .gpu = NODE_NONE, .nic = NODE_NONE, .numa = NODE_NONE};
    nccl.parser = XML_ParserCreate(NULL);
    if (!nccl.parser)
        return fault_set(fault, "%s: out of memory", name);
    import->source = "NCCL topology XML";
    XML_SetUserData(nccl.parser, &nccl);
    XML_SetElementHandler(nccl.parser, on_start, on_end);
    bool sound = XML_Parse(nccl.parser, text, (int)size, 1) == XML_STATUS_OK;
    XML_ParserFree(nccl.parser);
    if (sound && import->gpu_count)
        qsort(import->gpus, import->gpu_count, sizeof *import->gpus, by_bus);
    for (size_t i = 0; sound && i < nccl.link_count; i++)
        keep_link(import, &nccl.links[i]);
    free(nccl.links);
    return sound || fault_set(fault, "%s: not well-formed XML", name);
}
