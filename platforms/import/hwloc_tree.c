/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/import/hwloc_tree.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

hwloc_obj_t hwloc_tree_pci(hwloc_obj_t device)
{
    hwloc_obj_t parent = device->parent;
    while (parent && parent->type == HWLOC_OBJ_OS_DEVICE)
        parent = parent->parent;
    return parent && parent->type == HWLOC_OBJ_PCI_DEVICE ? parent : NULL;
}

static bool begins(const char *text, const char *start)
{
    return text && strncmp(text, start, strlen(start)) == 0;
}

/* How telling the name of an OS device is for a GPU: 0 says nothing. "ze0.1" and the like are parts of a device. */
static int gpu_name_rank(const char *name)
{
    static const char *const starts[] = {"renderD", "card", "opencl", "ze", "rsmi", "cuda", "nvml"};
    for (int i = 6; i >= 0; i--)
        if (begins(name, starts[i]) && !strchr(name, '.'))
            return i + 1;
    return 0;
}

/* The most telling OS device of a PCI function for a GPU, or NULL. */
static hwloc_obj_t gpu_device(hwloc_topology_t topology, hwloc_obj_t pci, int least)
{
    hwloc_obj_t best = NULL;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_osdev(topology, o));) {
        int rank = hwloc_tree_pci(o) == pci ? gpu_name_rank(o->name) : 0;
        if (rank >= least && (!best || rank > gpu_name_rank(best->name)))
            best = o;
    }
    return best;
}

static bool has_render_node(hwloc_topology_t topology, hwloc_obj_t pci)
{
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_osdev(topology, o));)
        if (hwloc_tree_pci(o) == pci && begins(o->name, "renderD"))
            return true;
    return false;
}

/* A device of a maker of GPUs with a class of display or accelerator, that a vendor's library lists; without any such
 * library the class, or a render node, has to do. */
static bool is_gpu(hwloc_topology_t topology, hwloc_obj_t pci)
{
    unsigned vendor = pci->attr->pcidev.vendor_id, class_id = pci->attr->pcidev.class_id;
    enum { VENDOR_DEVICE = 3 };
    if (vendor != 0x10de && vendor != 0x1002 && vendor != 0x8086)
        return false;
    if (class_id != 0x0300 && class_id != 0x0302 && class_id != 0x0380 && class_id != 0x1200)
        return false;
    if (gpu_device(topology, pci, VENDOR_DEVICE))
        return true;
    return class_id != 0x0300 || (vendor != 0x8086 && has_render_node(topology, pci));
}

/* ---- the tree of places ---- */

static char *bus_text(struct import *import, hwloc_obj_t pci)
{
    const struct hwloc_pcidev_attr_s *attr =
        pci->type == HWLOC_OBJ_BRIDGE ? &pci->attr->bridge.upstream.pci : &pci->attr->pcidev;
    return arena_print(import->arena, "%04x:%02x:%02x.%x", attr->domain, attr->bus, attr->dev, attr->func);
}

uint32_t hwloc_tree_place(const struct reader *reader, hwloc_obj_t object)
{
    for (uint32_t i = 0; i < reader->import->place_count; i++)
        if (reader->objects[i] == object)
            return i;
    return NODE_NONE;
}

static uint32_t new_place(struct reader *reader, hwloc_obj_t object, enum import_place_kind kind, uint32_t parent,
                          double wire)
{
    struct import *import = reader->import;
    char *bus = kind == IMPORT_SOCKET ? NULL : bus_text(import, object);
    if (!import_add_place(import, kind, parent, wire, bus, reader->fault))
        return NODE_NONE;
    reader->objects =
        array_grow(reader->objects, &reader->object_capacity, import->place_count, sizeof *reader->objects);
    reader->objects[import->place_count - 1] = object;
    return import->place_count - 1;
}

/* The socket that an I/O object is near: the package around it, or the first one that shares its memory, or the
 * machine. */
static uint32_t socket_place(struct reader *reader, hwloc_obj_t object)
{
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(reader->topology, object), found = near;
    while (found && found->type != HWLOC_OBJ_PACKAGE)
        found = found->parent;
    for (hwloc_obj_t o = NULL;
         !found && near && (o = hwloc_get_next_obj_by_type(reader->topology, HWLOC_OBJ_PACKAGE, o));)
        if (near->type != HWLOC_OBJ_MACHINE && o->nodeset && near->nodeset &&
            hwloc_bitmap_intersects(o->nodeset, near->nodeset))
            found = o;
    if (!found)
        found = hwloc_get_root_obj(reader->topology);
    uint32_t place = hwloc_tree_place(reader, found);
    return place == NODE_NONE ? new_place(reader, found, IMPORT_SOCKET, NODE_NONE, 0) : place;
}

static bool is_pci_bridge(hwloc_obj_t object)
{
    return object && object->type == HWLOC_OBJ_BRIDGE && object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double speed_of(hwloc_obj_t object)
{
    double speed =
        object->type == HWLOC_OBJ_BRIDGE ? object->attr->bridge.upstream.pci.linkspeed : object->attr->pcidev.linkspeed;
    return speed >= 0 && speed < 1e6 ? speed : 0;
}

/* Below a host bridge ports alternate: a root port or a switch's downstream port describes the wire below it, the
 * upstream port of a switch the wire above. A port at even distance from the host bridge is such an upstream port: it
 * stands for its switch. The place that `object` hangs on; *wire becomes the larger of the readings at both ends of the
 * wire between the two. */
static uint32_t parent_place(struct reader *reader, hwloc_obj_t object, double *wire)
{
    hwloc_obj_t port = object->parent, chain[64];
    unsigned depth = 0, levels = 0;
    *wire = speed_of(object);
    for (hwloc_obj_t o = port; is_pci_bridge(o); o = o->parent)
        depth++;
    if (depth % 2 == 1) {
        *wire = larger(*wire, speed_of(port));
        port = port->parent;
    }
    while (is_pci_bridge(port) && hwloc_tree_place(reader, port) == NODE_NONE && levels < 64) {
        chain[levels++] = port; /* an upstream port; above it is a downstream port */
        port = is_pci_bridge(port->parent) ? port->parent->parent : port->parent;
    }
    uint32_t place = is_pci_bridge(port) ? hwloc_tree_place(reader, port) : socket_place(reader, object);
    while (levels > 0 && place != NODE_NONE) {
        hwloc_obj_t upstream = chain[--levels];
        double above = is_pci_bridge(upstream->parent) ? speed_of(upstream->parent) : 0;
        place = new_place(reader, upstream, IMPORT_SWITCH, place, larger(speed_of(upstream), above));
    }
    return place;
}

/* Index of the memory that an I/O object is near. */
static uint32_t numa_of(const struct reader *reader, hwloc_obj_t object)
{
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(reader->topology, object);
    int first = near && near->nodeset ? hwloc_bitmap_first(near->nodeset) : -1;
    return first < 0 || near->type == HWLOC_OBJ_MACHINE ? NODE_NONE : (uint32_t)first;
}

/* ---- GPUs ---- */

static const char *gpu_info(const struct reader *reader, hwloc_obj_t pci, const char *key)
{
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_osdev(reader->topology, o));) {
        const char *value = hwloc_tree_pci(o) == pci ? hwloc_obj_get_info_by_name(o, key) : NULL;
        if (value && *value)
            return value;
    }
    return NULL;
}

/* Partitions of a device: Level Zero shows ze0.0, ze0.1 below ze0; ROCm one rsmi device for each. */
static unsigned partitions_of(const struct reader *reader, hwloc_obj_t pci)
{
    unsigned parts = 0, devices = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_osdev(reader->topology, o));) {
        if (hwloc_tree_pci(o) != pci)
            continue;
        parts += begins(o->name, "ze") && strchr(o->name, '.') != NULL;
        devices += begins(o->name, "rsmi");
    }
    return parts > devices ? parts : devices;
}

static uint32_t device_place(struct reader *reader, hwloc_obj_t pci, enum import_place_kind kind)
{
    double wire;
    uint32_t parent = parent_place(reader, pci, &wire);
    return parent == NODE_NONE ? NODE_NONE : new_place(reader, pci, kind, parent, wire);
}

static bool add_gpu(struct reader *reader, hwloc_obj_t pci)
{
    struct import *import = reader->import;
    uint32_t place = device_place(reader, pci, IMPORT_GPU);
    struct import_gpu *gpu = place == NODE_NONE ? NULL : import_add_gpu(import, place, reader->fault);
    if (!gpu)
        return false;
    hwloc_obj_t device = gpu_device(reader->topology, pci, 1);
    const char *product = gpu_info(reader, pci, "GPUModel"), *memory = gpu_info(reader, pci, "CUDAGlobalMemorySize");
    unsigned parts = partitions_of(reader, pci);
    if (device)
        gpu->name = arena_copy(import->arena, device->name);
    if (product)
        gpu->product = arena_copy(import->arena, product);
    if (!memory)
        memory = gpu_info(reader, pci, "OpenCLGlobalMemorySize");
    if (!memory)
        memory = gpu_info(reader, pci, "RSMIVRAMSize");
    gpu->memory = memory ? strtod(memory, NULL) * 1024 : 0;
    if (!(gpu->memory >= 0 && gpu->memory < 1e15))
        gpu->memory = 0;
    gpu->numa = numa_of(reader, pci);
    gpu->vendor = pci->attr->pcidev.vendor_id;
    gpu->device = pci->attr->pcidev.device_id;
    if (parts > 1 && !reader->options->partitions)
        import_find(import, IMPORT_ASSUMED,
                    "%s is partitioned in %u, taken as one device (--partitions makes each a host)", gpu->name, parts);
    if (parts > 1 && parts <= 16 && reader->options->partitions)
        gpu->partitions = parts;
    return true;
}

static int by_bus(const void *left, const void *right)
{
    const struct hwloc_pcidev_attr_s *a = &(*(hwloc_obj_t const *)left)->attr->pcidev,
                                     *b = &(*(hwloc_obj_t const *)right)->attr->pcidev;
    uint64_t x = (uint64_t)a->domain << 24 | (uint64_t)a->bus << 16 | (uint64_t)a->dev << 8 | a->func;
    uint64_t y = (uint64_t)b->domain << 24 | (uint64_t)b->bus << 16 | (uint64_t)b->dev << 8 | b->func;
    return x < y ? -1 : x > y;
}

/* ---- network interfaces ---- */

static const char *nic_name(const struct reader *reader, hwloc_obj_t pci, bool *down)
{
    const char *name = NULL;
    *down = false;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_osdev(reader->topology, o));) {
        if (hwloc_tree_pci(o) != pci)
            continue;
        if (o->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS) {
            const char *state = hwloc_obj_get_info_by_name(o, "Port1State");
            *down = state && strcmp(state, "4") != 0;
            return o->name;
        }
        if (o->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK && !name)
            name = o->name;
    }
    return name;
}

static bool add_nic(struct reader *reader, hwloc_obj_t pci)
{
    struct import *import = reader->import;
    bool down;
    const char *name = nic_name(reader, pci, &down);
    unsigned vendor = pci->attr->pcidev.vendor_id, device = pci->attr->pcidev.device_id;
    if (!name && !nic_find((uint16_t)vendor, (uint16_t)device))
        return true;
    if (!nic_find((uint16_t)vendor, (uint16_t)device)) {
        import_find(import, IMPORT_LEFT_OUT, "%s (%04x:%04x): not a network interface of the table", name, vendor,
                    device);
        return true;
    }
    uint32_t place = device_place(reader, pci, IMPORT_NIC);
    struct import_nic *nic = place == NODE_NONE ? NULL : import_add_nic(import, place, reader->fault);
    if (!nic)
        return false;
    if (name)
        nic->name = arena_copy(import->arena, name);
    nic->vendor = (uint16_t)vendor;
    nic->device = (uint16_t)device;
    nic->numa = numa_of(reader, pci);
    nic->down = down;
    return true;
}

bool hwloc_tree_read(struct reader *reader)
{
    size_t count = 0, capacity = 0;
    hwloc_obj_t *all = NULL;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_pcidev(reader->topology, o));) {
        all = array_grow(all, &capacity, count + 1, sizeof *all);
        all[count++] = o;
    }
    if (count)
        qsort(all, count, sizeof *all, by_bus);
    bool sound = true;
    for (size_t i = 0; i < count && sound; i++)
        if (is_gpu(reader->topology, all[i]))
            sound = add_gpu(reader, all[i]);
        else if (all[i]->attr->pcidev.class_id >> 8 == 0x02)
            sound = add_nic(reader, all[i]);
    free(all);
    return sound;
}
