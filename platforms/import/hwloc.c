/* SPDX-License-Identifier: Apache-2.0 */
/* hwloc 2: objects, I/O tree and distance matrices. doc/platform-import.md tells what files of other versions get
 * wrong. */
#include "base/arena.h"
#include "platforms/import/hwloc_tree.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void destroy_topology(hwloc_topology_t *topology)
{
    if (*topology)
        hwloc_topology_destroy(*topology);
}

/* ---- matrices ---- */

static uint32_t gpu_of_object(const struct reader *reader, hwloc_obj_t object)
{
    hwloc_obj_t pci = object && object->type == HWLOC_OBJ_OS_DEVICE ? hwloc_tree_pci(object) : object;
    uint32_t place = pci ? hwloc_tree_place(reader, pci) : NODE_NONE;
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
    return object->type == HWLOC_OBJ_PCI_DEVICE && object->attr->pcidev.vendor_id == 0x10de &&
           object->attr->pcidev.class_id == 0x0680;
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

/* False when hwloc cannot give the matrix out; it is no mistake that there is none. */
static bool read_matrix(struct reader *reader, const char *name, const char *class_name)
{
    struct hwloc_distances_s *matrix = NULL;
    unsigned count = 1;
    if (hwloc_distances_get_by_name(reader->topology, name, &count, &matrix, 0) != 0)
        return false;
    if (count == 0 || !matrix)
        return true;
    reader->import->link_class = class_name;
    for (unsigned row = 0; row < matrix->nbobjs; row++) {
        uint32_t gpu = gpu_of_object(reader, matrix->objs[row]);
        if (gpu != NODE_NONE)
            read_row(reader, matrix, row, gpu);
    }
    hwloc_distances_release(reader->topology, matrix);
    return true;
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

/* A memory without processors may be a GPU's: it has the size of one. (A file taken in a container lists host memories
 * without processors, too.) */
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
    const char *model = hwloc_obj_get_info_by_name(package, "CPUModel"),
               *family = hwloc_obj_get_info_by_name(package, "CPUFamilyNumber"),
               *number = hwloc_obj_get_info_by_name(package, "CPUModelNumber");
    if (model)
        reader->import->processor = arena_copy(reader->import->arena, model);
    reader->import->socket_link = socket_link_of(
        hwloc_obj_get_info_by_name(package, "CPUVendor"), model, family ? (unsigned)strtoul(family, NULL, 10) : 0,
        number ? (unsigned)strtoul(number, NULL, 10) : 0, &reader->import->socket_source);
}

static bool read_topology(struct import *import, hwloc_topology_t topology, const struct import_options *options,
                          struct fault *fault)
{
    struct reader reader = {.import = import, .topology = topology, .options = options, .fault = fault};
    hwloc_obj_t root = hwloc_get_root_obj(topology);
    const char *product = hwloc_obj_get_info_by_name(root, "DMIProductName"),
               *version = hwloc_obj_get_info_by_name(root, "hwlocVersion");
    if (!product)
        product = hwloc_obj_get_info_by_name(root, "PlatformModel");
    if (product)
        import->product = arena_copy(import->arena, product);
    find_sockets(&reader);
    bool sound = hwloc_tree_read(&reader);
    if (sound) {
        add_memories(&reader);
        sound = read_matrix(&reader, "XeLinkBandwidth", "xelink") && read_matrix(&reader, "XGMIBandwidth", "xgmi") &&
                read_matrix(&reader, "NVLinkBandwidth", "nvlink");
        if (!sound)
            fault_set(fault, "hwloc cannot give its matrices of bandwidths out: %s", strerror(errno));
        correct_version(import, version);
    }
    free(reader.objects);
    return sound;
}

/* I/O objects are dropped unless asked for, and matrices with them; a file taken inside a container shows the node as a
 * whole. */
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
static bool check_counts(hwloc_topology_t topology, const char *name, const struct xml_facts *facts,
                         struct fault *fault)
{
    int units = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU), pci = 0;
    int memories = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE);
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_pcidev(topology, o));)
        pci++;
    if (units != (int)facts->units)
        return fault_set(
            fault, "%s: the file lists %u processing units, of which hwloc can place %d: a cpuset in it is damaged",
            name, facts->units, units);
    if (facts->version[0] && memories != (int)facts->numa_nodes)
        return fault_set(fault,
                         "%s: the file lists %u memories, of which hwloc can place %d: a nodeset in it is damaged",
                         name, facts->numa_nodes, memories);
    if (pci != (int)facts->pci_devices)
        return fault_set(fault, "%s: the file lists %u PCI devices, of which hwloc can place %d", name,
                         facts->pci_devices, pci);
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
enum outcome { OUTCOME_READ = 40, OUTCOME_REFUSED, OUTCOME_NOT_LOADED, OUTCOME_NO_MEMORY };

static enum outcome read_source(const struct source *source, struct fault *fault)
{
    errno = 0;
    SCOPED(destroy_topology) hwloc_topology_t topology = new_topology();
    if (!topology || hwloc_topology_set_xmlbuffer(topology, source->text, (int)source->size + 1) != 0 ||
        hwloc_topology_load(topology) != 0)
        return errno == ENOMEM ? OUTCOME_NO_MEMORY : OUTCOME_NOT_LOADED;
    if (errno == ENOMEM) /* it has left out what it found no memory for, and says nothing */
        return OUTCOME_NO_MEMORY;
    if (!check_counts(topology, source->name, source->facts, fault))
        return OUTCOME_REFUSED;
    const char *version = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "hwlocVersion");
    source->import->source =
        arena_print(source->import->arena, "hwloc%s%.40s XML", version ? " " : "", version ? version : " 1");
    if (!source->facts->version[0])
        import_find(source->import, IMPORT_ASSUMED, "the file is of hwloc 1, which records no link speeds");
    return read_topology(source->import, topology, source->options, fault) ? OUTCOME_READ : OUTCOME_REFUSED;
}

/* hwloc 2.9 crashes on some damaged files, so that another process tries first. Its outcome, or -1 when it did not
 * live. */
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

bool import_hwloc_text(struct import *import, const char *name, const char *text, size_t size,
                       const struct xml_facts *facts, const struct import_options *options, struct fault *fault)
{
    struct source source = {import, name, text, size, facts, options};
    int outcome = try_source(&source);
    if (outcome == OUTCOME_READ || outcome == OUTCOME_REFUSED)
        outcome = (int)read_source(&source, fault);
    if (outcome < 0)
        return fault_set(fault, "%s: hwloc fails on it: the file is damaged", name);
    if (outcome == OUTCOME_NO_MEMORY)
        return fault_set(fault, "%s: hwloc finds no memory to load it", name);
    if (outcome == OUTCOME_NOT_LOADED)
        return fault_set(
            fault, "%s: hwloc cannot load it: an object is missing, of an unknown type, or in an impossible place",
            name);
    return outcome == OUTCOME_READ;
}

bool import_hwloc_here(struct import *import, const struct import_options *options, struct fault *fault)
{
    SCOPED(destroy_topology) hwloc_topology_t topology = new_topology();
    if (!topology || hwloc_topology_load(topology) != 0)
        return fault_set(fault, "hwloc cannot read this machine");
    return read_topology(import, topology, options, fault);
}
