/* SPDX-License-Identifier: Apache-2.0 */
/* hwloc 2: objects, I/O tree and distance matrices. doc/platform-import.md tells what files of other versions get wrong. */
#include "platforms/import_parts.h"
#include "simulator/arena.h"

#include <errno.h>
#include <hwloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct reader {
    struct import *import;
    hwloc_topology_t topology;
    const struct import_options *options;
    struct fault *fault;
    hwloc_obj_t *objects; /* by place: what it stands for; a switch is its upstream port */
    size_t object_capacity;
};

static void destroy_topology(hwloc_topology_t *topology)
{
    if (*topology)
        hwloc_topology_destroy(*topology);
}

/* ---- devices ---- */

static hwloc_obj_t pci_parent(hwloc_obj_t device)
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
        int rank = pci_parent(o) == pci ? gpu_name_rank(o->name) : 0;
        if (rank >= least && (!best || rank > gpu_name_rank(best->name)))
            best = o;
    }
    return best;
}

static bool has_render_node(hwloc_topology_t topology, hwloc_obj_t pci)
{
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_osdev(topology, o));)
        if (pci_parent(o) == pci && begins(o->name, "renderD"))
            return true;
    return false;
}

/* A device of a maker of GPUs with a class of display or accelerator, that a vendor's library lists; without any such library
 * the class, or a render node, has to do. */
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
    const struct hwloc_pcidev_attr_s *attr = pci->type == HWLOC_OBJ_BRIDGE ? &pci->attr->bridge.upstream.pci : &pci->attr->pcidev;
    return arena_print(import->arena, "%04x:%02x:%02x.%x", attr->domain, attr->bus, attr->dev, attr->func);
}

static uint32_t known_place(const struct reader *reader, hwloc_obj_t object)
{
    for (uint32_t i = 0; i < reader->import->place_count; i++)
        if (reader->objects[i] == object)
            return i;
    return NODE_NONE;
}

static uint32_t new_place(struct reader *reader, hwloc_obj_t object, enum import_place_kind kind, uint32_t parent, double wire)
{
    struct import *import = reader->import;
    char *bus = kind == IMPORT_SOCKET ? NULL : bus_text(import, object);
    if (!import_add_place(import, kind, parent, wire, bus, reader->fault))
        return NODE_NONE;
    reader->objects = array_grow(reader->objects, &reader->object_capacity, import->place_count, sizeof *reader->objects);
    reader->objects[import->place_count - 1] = object;
    return import->place_count - 1;
}

/* The socket that an I/O object is near: the package around it, or the first one that shares its memory, or the machine. */
static uint32_t socket_place(struct reader *reader, hwloc_obj_t object)
{
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(reader->topology, object), found = near;
    while (found && found->type != HWLOC_OBJ_PACKAGE)
        found = found->parent;
    for (hwloc_obj_t o = NULL; !found && near && (o = hwloc_get_next_obj_by_type(reader->topology, HWLOC_OBJ_PACKAGE, o));)
        if (near->type != HWLOC_OBJ_MACHINE && o->nodeset && near->nodeset && hwloc_bitmap_intersects(o->nodeset, near->nodeset))
            found = o;
    if (!found)
        found = hwloc_get_root_obj(reader->topology);
    uint32_t place = known_place(reader, found);
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
    double speed = object->type == HWLOC_OBJ_BRIDGE ? object->attr->bridge.upstream.pci.linkspeed : object->attr->pcidev.linkspeed;
    return speed >= 0 && speed < 1e6 ? speed : 0;
}

/* Below a host bridge ports alternate: a root port or a switch's downstream port describes the wire below it, the upstream port
 * of a switch the wire above. A port at even distance from the host bridge is such an upstream port: it stands for its switch.
 * The place that `object` hangs on; *wire becomes the larger of the readings at both ends of the wire between the two. */
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
    while (is_pci_bridge(port) && known_place(reader, port) == NODE_NONE && levels < 64) {
        chain[levels++] = port; /* an upstream port; above it is a downstream port */
        port = is_pci_bridge(port->parent) ? port->parent->parent : port->parent;
    }
    uint32_t place = is_pci_bridge(port) ? known_place(reader, port) : socket_place(reader, object);
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
        const char *value = pci_parent(o) == pci ? hwloc_obj_get_info_by_name(o, key) : NULL;
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
        if (pci_parent(o) != pci)
            continue;
        parts += begins(o->name, "ze") && strchr(o->name, '.') != NULL;
        devices += begins(o->name, "rsmi");
    }
    return parts > devices ? parts : devices;
}

static bool add_gpu(struct reader *reader, hwloc_obj_t pci)
{
    struct import *import = reader->import;
    double wire;
    uint32_t parent = parent_place(reader, pci, &wire);
    uint32_t place = parent == NODE_NONE ? NODE_NONE : new_place(reader, pci, IMPORT_GPU, parent, wire);
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
        import_find(import, IMPORT_ASSUMED, "%s is partitioned in %u, taken as one device (--partitions makes each a host)", gpu->name,
                    parts);
    if (parts > 1 && parts <= 16 && reader->options->partitions)
        gpu->partitions = parts;
    return true;
}

static int by_bus(const void *left, const void *right)
{
    const struct hwloc_pcidev_attr_s *a = &(*(hwloc_obj_t const *)left)->attr->pcidev, *b = &(*(hwloc_obj_t const *)right)->attr->pcidev;
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
        if (pci_parent(o) != pci)
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
        import_find(import, IMPORT_LEFT_OUT, "%s (%04x:%04x): not a network interface of the table", name, vendor, device);
        return true;
    }
    double wire;
    uint32_t parent = parent_place(reader, pci, &wire);
    uint32_t place = parent == NODE_NONE ? NODE_NONE : new_place(reader, pci, IMPORT_NIC, parent, wire);
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

static bool add_devices(struct reader *reader)
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

/* ---- matrices ---- */

static uint32_t gpu_of_object(const struct reader *reader, hwloc_obj_t object)
{
    hwloc_obj_t pci = object && object->type == HWLOC_OBJ_OS_DEVICE ? pci_parent(object) : object;
    uint32_t place = pci ? known_place(reader, pci) : NODE_NONE;
    for (uint32_t i = 0; place != NODE_NONE && i < reader->import->gpu_count; i++)
        if (reader->import->gpus[i].place == place)
            return i;
    return NODE_NONE;
}

/* NVSwitch ports are PCI devices of NVIDIA's, bridges of "other" kind. */
static bool is_nvswitch(hwloc_obj_t object)
{
    if (!object)
        return false;
    if (object->subtype && strcmp(object->subtype, "NVSwitch") == 0)
        return true;
    return object->type == HWLOC_OBJ_PCI_DEVICE && object->attr->pcidev.vendor_id == 0x10de && object->attr->pcidev.class_id == 0x0680;
}

static void read_row(struct reader *reader, const struct hwloc_distances_s *matrix, unsigned row, uint32_t gpu)
{
    struct import *import = reader->import;
    for (unsigned column = 0; column < matrix->nbobjs; column++) {
        double raw = (double)matrix->values[(size_t)row * matrix->nbobjs + column] / 1000;
        hwloc_obj_t object = matrix->objs[column];
        uint32_t other = gpu_of_object(reader, object);
        if (!object || column == row || !(raw > 0 && raw < 1e5))
            continue;
        if (other != NODE_NONE && other != gpu)
            import_link(import, gpu, other, raw);
        else if (is_nvswitch(object))
            import->gpus[gpu].switch_bandwidth += raw;
        else if (object->type == HWLOC_OBJ_PACKAGE || object->type == HWLOC_OBJ_NUMANODE)
            import->gpus[gpu].socket_bandwidth += raw;
    }
}

static void read_matrix(struct reader *reader, const char *name, const char *class_name)
{
    struct hwloc_distances_s *matrix = NULL;
    unsigned count = 1;
    if (hwloc_distances_get_by_name(reader->topology, name, &count, &matrix, 0) != 0 || count == 0 || !matrix)
        return;
    reader->import->link_class = class_name;
    for (unsigned row = 0; row < matrix->nbobjs; row++) {
        uint32_t gpu = gpu_of_object(reader, matrix->objs[row]);
        if (gpu != NODE_NONE)
            read_row(reader, matrix, row, gpu);
    }
    hwloc_distances_release(reader->topology, matrix);
}

/* hwloc 2.9.0 wrote twice the rate of NVLink 3 and 4; its successor corrected that. */
static void halve_links(struct import *import)
{
    uint32_t count = import->gpu_count;
    for (uint32_t i = 0; i < count; i++)
        import->gpus[i].switch_bandwidth /= 2;
    for (size_t i = 0; import->links && i < (size_t)count * count; i++)
        import->links[i] /= 2;
    import_find(import, IMPORT_MEASURED, "NVLink rates halved: hwloc 2.9.0 wrote twice the rate of NVLink 3 and 4");
}

static void correct_version(struct import *import, const char *version)
{
    unsigned generation = 0;
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        const struct device_model *model = import_model(&import->gpus[i]);
        if (model && model->nvlink_generation > generation)
            generation = model->nvlink_generation;
    }
    bool any = import->links != NULL;
    for (uint32_t i = 0; i < import->gpu_count; i++)
        any |= import->gpus[i].switch_bandwidth > 0;
    if (any && version && strcmp(version, "2.9.0") == 0 && (generation == 3 || generation == 4))
        halve_links(import);
}

/* ---- the whole ---- */

/* A memory without processors may be a GPU's: it has the size of one. (A file taken in a container lists host memories without
 * processors, too.) */
static bool is_device_memory(const struct import *import, hwloc_obj_t memory)
{
    double bytes = (double)memory->attr->numanode.local_memory;
    if (memory->cpuset && !hwloc_bitmap_iszero(memory->cpuset))
        return false;
    for (uint32_t i = 0; i < import->gpu_count; i++) {
        const struct device_model *model = import_model(&import->gpus[i]);
        double whole = import->gpus[i].memory;
        if (whole <= 0 && model && model->memory)
            whole = strtod(model->memory, NULL) * 1073741824.0;
        if (whole > 0 && bytes > 0.9 * whole && bytes < 1.1 * whole)
            return true;
    }
    return memory->subtype && strcmp(memory->subtype, "GPUMemory") == 0;
}

static int by_index(const void *left, const void *right)
{
    const struct import_numa *a = left, *b = right;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void add_memories(struct reader *reader)
{
    struct import *import = reader->import;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(reader->topology, HWLOC_OBJ_NUMANODE, o));)
        if (!is_device_memory(import, o))
            import_add_numa(import, o->os_index, (double)o->attr->numanode.local_memory);
    if (import->numa_count)
        qsort(import->numas, import->numa_count, sizeof *import->numas, by_index);
}

static void find_sockets(struct reader *reader)
{
    hwloc_obj_t package = hwloc_get_next_obj_by_type(reader->topology, HWLOC_OBJ_PACKAGE, NULL);
    if (!package)
        return;
    const char *model = hwloc_obj_get_info_by_name(package, "CPUModel"), *family = hwloc_obj_get_info_by_name(package, "CPUFamilyNumber"),
               *number = hwloc_obj_get_info_by_name(package, "CPUModelNumber");
    if (model)
        reader->import->processor = arena_copy(reader->import->arena, model);
    reader->import->socket_link =
        socket_link_of(hwloc_obj_get_info_by_name(package, "CPUVendor"), model, family ? (unsigned)strtoul(family, NULL, 10) : 0,
                       number ? (unsigned)strtoul(number, NULL, 10) : 0, &reader->import->socket_source);
}

static bool read_topology(struct import *import, hwloc_topology_t topology, const struct import_options *options, struct fault *fault)
{
    struct reader reader = {.import = import, .topology = topology, .options = options, .fault = fault};
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    const char *product = hwloc_obj_get_info_by_name(root, "DMIProductName"), *version = hwloc_obj_get_info_by_name(root, "hwlocVersion");
    if (!product)
        product = hwloc_obj_get_info_by_name(root, "PlatformModel");
    if (product)
        import->product = arena_copy(import->arena, product);
    find_sockets(&reader);
    bool sound = add_devices(&reader);
    if (sound) {
        add_memories(&reader);
        read_matrix(&reader, "XeLinkBandwidth", "xelink");
        read_matrix(&reader, "XGMIBandwidth", "xgmi");
        read_matrix(&reader, "NVLinkBandwidth", "nvlink");
        correct_version(import, version);
    }
    free(reader.objects);
    return sound;
}

/* I/O objects are dropped unless asked for, and matrices with them; a file taken inside a container shows the node as a whole. */
static hwloc_topology_t new_topology(void)
{
    hwloc_topology_t topology = NULL;
    setenv("HWLOC_HIDE_ERRORS", "2", 0);
    if (hwloc_topology_init(&topology) != 0)
        return NULL;
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL);
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    return topology;
}

/* hwloc takes damaged sets without a word and loses objects. */
static bool check_counts(hwloc_topology_t topology, const char *name, const struct xml_facts *facts, struct fault *fault)
{
    int units = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU), pci = 0;
    int memories = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_pcidev(topology, o));)
        pci++;
    if (units != (int)facts->units)
        return fault_set(fault, "%s: the file lists %u processing units, of which hwloc can place %d: a cpuset in it is damaged", name,
                         facts->units, units);
    if (facts->version[0] && memories != (int)facts->numa_nodes)
        return fault_set(fault, "%s: the file lists %u memories, of which hwloc can place %d: a nodeset in it is damaged", name,
                         facts->numa_nodes, memories);
    if (pci != (int)facts->pci_devices)
        return fault_set(fault, "%s: the file lists %u PCI devices, of which hwloc can place %d", name, facts->pci_devices, pci);
    return true;
}

/* A file in memory and what is to be made of it. */
struct source {
    struct import *import;
    const char *name, *text;
    size_t size;
    const struct xml_facts *facts;
    const struct import_options *options;
};

/* Numbers that no crash exits with. */
enum outcome { OUTCOME_READ = 40, OUTCOME_REFUSED, OUTCOME_NOT_LOADED };

static enum outcome read_source(const struct source *source, struct fault *fault)
{
    SCOPED(destroy_topology) hwloc_topology_t topology = new_topology();
    if (!topology || hwloc_topology_set_xmlbuffer(topology, source->text, (int)source->size + 1) != 0 || hwloc_topology_load(topology) != 0)
        return OUTCOME_NOT_LOADED;
    if (!check_counts(topology, source->name, source->facts, fault))
        return OUTCOME_REFUSED;
    const char *version = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "hwlocVersion");
    source->import->source = arena_print(source->import->arena, "hwloc%s%.40s XML", version ? " " : "", version ? version : " 1");
    if (!source->facts->version[0])
        import_find(source->import, IMPORT_ASSUMED, "the file is of hwloc 1, which records no link speeds");
    return read_topology(source->import, topology, source->options, fault) ? OUTCOME_READ : OUTCOME_REFUSED;
}

/* hwloc 2.9 crashes on some damaged files, so that another process tries first. Its outcome, or -1 when it did not live. */
static int try_source(const struct source *source)
{
    enum { SECONDS = 30 };
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM};
    int status;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct fault fault = {""};
        struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
            signal(deadly[i], SIG_DFL);
        alarm(SECONDS);
        if (!freopen("/dev/null", "w", stderr))
            _exit(OUTCOME_NOT_LOADED);
        _exit((int)read_source(source, &fault));
    }
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) >= OUTCOME_READ ? WEXITSTATUS(status) : -1;
}

bool import_hwloc_text(struct import *import, const char *name, const char *text, size_t size, const struct xml_facts *facts,
                       const struct import_options *options, struct fault *fault)
{
    struct source source = {import, name, text, size, facts, options};
    int outcome = try_source(&source);
    if (outcome < 0)
        return fault_set(fault, "%s: hwloc fails on it: the file is damaged", name);
    if (outcome == OUTCOME_NOT_LOADED)
        return fault_set(fault, "%s: hwloc cannot load it: an object is missing, of an unknown type, or in an impossible place", name);
    return read_source(&source, fault) == OUTCOME_READ;
}

bool import_hwloc_here(struct import *import, const struct import_options *options, struct fault *fault)
{
    SCOPED(destroy_topology) hwloc_topology_t topology = new_topology();
    if (!topology || hwloc_topology_load(topology) != 0)
        return fault_set(fault, "hwloc cannot read this machine");
    return read_topology(import, topology, options, fault);
}
