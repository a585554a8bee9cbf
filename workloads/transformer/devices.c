/* SPDX-License-Identifier: Apache-2.0 */
/* What the stages are computed on: one kind of GPU, or several in a heterogeneous cluster. */
#include "workloads/transformer/transformer.h"

#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void report_no_peak(const struct transformer_job *j, const struct stagesim_device *device,
                           enum device_precision missing)
{
    enum { ROOM = 40 };
    char given[ROOM] = "";
    for (int i = 0; i < 5; i++)
        if (device->peak[i] > 0)
            snprintf(given + strlen(given), ROOM - strlen(given), "%s%s", *given ? ", " : "", device_precisions[i]);
    j->api->error(j->job, "compute.precision",
                  "the platform gives no peak_%s of its GPUs%s%s; expected one that it gives: %s",
                  device_precisions[missing], device->model ? ", " : "", device->model ? device->model : "", given);
}

static const char *name_of(const struct stagesim_device *device)
{
    return device->model ? device->model : "(without a model)";
}

/* The installed table of a GPU with the kernels that the scenario names; NULL: there is none. */
static const char *find_table(const struct transformer_job *j, const struct stagesim_device *device)
{
    enum { ROOM = 200 };
    char name[ROOM];
    unsigned kernels = j->parameters->kernels;
    if (!device->model)
        return NULL;
    const char *found = NULL;
    snprintf(name, sizeof name, "%s-%s", device->model, kernel_names[KERNELS_TRANSFORMER_ENGINE]);
    if (kernels == KERNELS_TRANSFORMER_ENGINE || kernels == KERNELS_AUTO)
        found = j->api->efficiency_table(j->job, name);
    bool other = !found && kernels != KERNELS_TRANSFORMER_ENGINE;
    return other ? j->api->efficiency_table(j->job, device->model) : found;
}

static const char *kernel_file(const struct transformer_job *j, const struct stagesim_device *device,
                               const char *ending)
{
    enum { ROOM = 200 };
    char name[ROOM];
    snprintf(name, sizeof name, "%s%s", device->model ? device->model : "", ending);
    return device->model ? j->api->efficiency_table(j->job, name) : NULL;
}

/* Whether operators are timed by their shapes. */
static bool measures(const struct transformer_job *j, const struct stagesim_device *device)
{
    const struct transformer_parameters *p = j->parameters;
    bool there = p->kernels == KERNELS_AUTO_MEASURED && !p->table && kernel_file(j, device, ".kernels");
    return p->kernels == KERNELS_MEASURED || there;
}

/* `auto` that finds no kernels of its kind takes the table without a name. */
static void tell_kernels(const struct transformer_job *j, const struct stagesim_device *device, bool measured,
                         const char *table)
{
    const char *plain = device->model ? j->api->efficiency_table(j->job, device->model) : NULL;
    unsigned kernels = j->parameters->kernels;
    bool fell_back =
        kernels == KERNELS_AUTO_MEASURED ? !measured : kernels == KERNELS_AUTO && plain && !strcmp(plain, table);
    if (fell_back)
        j->api->note(
            j->job, "compute.kernels", "there are no %s kernels of the GPU '%s'; its table without a name is taken",
            kernels == KERNELS_AUTO ? kernel_names[KERNELS_TRANSFORMER_ENGINE] : kernel_names[KERNELS_MEASURED],
            name_of(device));
}

static bool check_source(const struct transformer_job *j, const struct stagesim_device *device,
                         const struct kernel_table *table)
{
    enum { ROOM = 400 };
    char known[ROOM] = "";
    const char *source = j->parameters->source;
    for (unsigned i = 0; i < table->model_count && source; i++) {
        const char *other = table->models[i].source;
        if (!strcmp(other, source))
            return true;
        if (!strstr(known, other) && strlen(known) + strlen(other) + 3 < ROOM)
            snprintf(known + strlen(known), ROOM - strlen(known), "%s%s", *known ? ", " : "", other);
    }
    if (source)
        j->api->error(j->job, "compute.source", "'%.60s' has measured no kernels of the GPU '%s'; expected one of %s",
                      source, name_of(device), known);
    return !source;
}

/* Reads the measured kernels of a GPU. */
static bool set_kernels(struct transformer_job *j, const struct stagesim_device *device, struct transformer_device *out)
{
    struct fault fault = {""};
    const struct transformer_parameters *p = j->parameters;
    const char *of_models = kernel_file(j, device, ".kernel-models"), *of_rows = kernel_file(j, device, ".kernels");
    if (!of_models || !of_rows) {
        j->api->error(
            j->job, "compute.kernels",
            "there are no measured kernels of the GPU '%s' of the platform; `stagesim kernel` names those that "
            "are installed",
            name_of(device));
        return false;
    }
    out->kernels = (struct kernel_use){
        .source = p->source,
        .clock = p->clock,
        .cast_bytes =
            p->cast_bytes >= 0 ? p->cast_bytes : transformer_scaling_cast((enum transformer_scaling)p->scaling)};
    if (kernel_table_read(of_models, of_rows, &out->kernels.table, &fault)) {
        out->device.kernels = &out->kernels;
        return check_source(j, device, &out->kernels.table);
    }
    (fault.trouble ? j->api->trouble : j->api->error)(j->job, "compute.kernels", "%s", fault.text);
    return false;
}

/* The host's times of the scenario in place of the table's. */
static void set_host(const struct transformer_job *j, bool measured, struct efficiency *efficiency)
{
    const struct transformer_parameters *p = j->parameters;
    efficiency->dispatch = p->dispatch >= 0 ? p->dispatch : measured ? 0 : efficiency->dispatch;
    efficiency->launch = p->launch >= 0 ? p->launch : efficiency->launch;
    efficiency->step = p->step >= 0 ? p->step : measured ? 0 : efficiency->step;
}

static bool set_efficiency(struct transformer_job *j, const struct stagesim_device *device,
                           struct transformer_device *out)
{
    struct fault fault = {""};
    const struct transformer_parameters *p = j->parameters;
    const char *table = p->table;
    if (p->efficiency > 0 || p->profile) {
        efficiency_constant(&out->efficiency, p->efficiency > 0 ? p->efficiency : 1);
        out->device.held = p->clock;
        out->device.bandwidth = p->profile ? device->memory_bandwidth : 0;
        return true;
    }
    bool measured = measures(j, device);
    if (measured && !set_kernels(j, device, out))
        return false;
    out->device.held = measured ? 1 : p->clock; /* measured kernels have it themselves */
    if (!table)
        table = find_table(j, device);
    if (!table) {
        j->api->error(j->job, p->kernels ? "compute.kernels" : NULL,
                      "there is no efficiency table for the GPU '%s' of the platform%s%s; give compute.efficiency, "
                      "compute.table or "
                      "compute.profile",
                      name_of(device), p->kernels ? " with the kernels of " : "",
                      p->kernels ? kernel_names[p->kernels] : "");
        return false;
    }
    if (efficiency_read(table, &out->efficiency, &fault)) {
        if (!p->table)
            tell_kernels(j, device, measured, table);
        set_host(j, measured, &out->efficiency);
        out->device.own_flash = p->flash > 0;
        out->efficiency.flash = p->flash > 0 ? p->flash : out->efficiency.flash;
        return true;
    }
    (fault.trouble ? j->api->trouble : j->api->error)(j->job, "compute.table", "%s", fault.text);
    return false;
}

/* A profile's times are nobody's operators. */
static double clock_of(const struct transformer_job *j, uint32_t position)
{
    return j->parameters->profile ? 1 : j->api->clock(j->job, position);
}

/* Whether the GPU has units for scales of so few elements. */
static bool knows_scales(const struct transformer_job *j, const struct transformer_device *kind,
                         enum transformer_scaling scaling)
{
    if (!transformer_scaling_is_new(scaling) || kind->narrow_peak > 0)
        return true;
    j->api->error(
        j->job, "compute.scaling",
        "the GPU '%s' of the platform has no units for %s, for it has no peak_fp4; expected one of Blackwell, "
        "or another scaling",
        name_of(&kind->host), transformer_scaling_names[scaling]);
    return false;
}

static bool is_alike(const struct transformer_device *a, const struct transformer_device *b)
{
    return device_same(&a->host, &b->host) && !(a->narrow_peak < b->narrow_peak) &&
           !(a->narrow_peak > b->narrow_peak) && !(a->device.clock < b->device.clock) &&
           !(a->device.clock > b->device.clock);
}

/* What the kind reaches. False after a mistake was reported. */
static bool set_peaks(struct transformer_job *j, struct transformer_device *kind)
{
    enum device_precision precision = j->parameters->precision, wide = precision == FP8 ? BF16 : precision;
    enum transformer_scaling scaling =
        precision == FP8 ? (enum transformer_scaling)j->parameters->scaling : SCALING_TENSOR;
    double peak = device_peak(&kind->host, precision), clock = kind->device.clock;
    if (!knows_scales(j, kind, scaling))
        return false;
    kind->device = (struct efficiency_device){.efficiency = &kind->efficiency,
                                              .peak = transformer_scaling_is_narrow(scaling) ? kind->narrow_peak : peak,
                                              .wide_peak = device_peak(&kind->host, wide),
                                              .fp8 = precision == FP8,
                                              .narrow = transformer_scaling_kernel(scaling),
                                              .clock = clock,
                                              .classes = &kind->classes,
                                              .bandwidth = kind->host.memory_bandwidth};
    if (peak > 0 && kind->device.wide_peak > 0)
        return set_efficiency(j, &kind->host, kind);
    report_no_peak(j, &kind->host, peak > 0 ? wide : precision);
    return false;
}

/* The kind of the position's GPU, a new one when it is like none before. NULL after a mistake was reported. */
static struct transformer_device *find_kind(struct transformer_job *j, uint32_t position)
{
    struct transformer_device found = {.host = j->api->device(j->job, position),
                                       .narrow_peak = j->api->narrow_peak(j->job, position),
                                       .device.clock = clock_of(j, position)};
    for (struct transformer_device *kind = j->kinds; kind; kind = kind->next)
        if (is_alike(kind, &found))
            return kind;
    struct transformer_device *kind = array_zeroed(1, sizeof *kind);
    *kind = found;
    kind->next = j->kinds;
    memcpy(kind->classes.times, j->parameters->times, sizeof kind->classes.times);
    j->kinds = kind;
    return set_peaks(j, kind) ? kind : NULL;
}

/* All workers that hold a stage have to have one kind of GPU. */
static bool set_stage(struct transformer_job *j, uint32_t stage, struct transformer_device **by_position,
                      uint32_t *workers)
{
    uint32_t count = j->api->stage_workers(j->job, stage, workers, j->workers);
    j->devices[stage] = by_position[count ? workers[0] : stage % j->workers];
    for (uint32_t i = 1; i < count; i++)
        if (by_position[workers[i]] != by_position[workers[0]]) {
            j->api->error(j->job, NULL,
                          "the schedule holds stage %u on worker %u, of %s, and on worker %u, of %s; expected a "
                          "schedule that holds each "
                          "stage on one kind of GPU",
                          stage, workers[0], name_of(&by_position[workers[0]]->host), workers[i],
                          name_of(&by_position[workers[i]]->host));
            return false;
        }
    return true;
}

static bool set_stages(struct transformer_job *j, struct transformer_device **by_position)
{
    uint32_t *workers = array_zeroed(j->workers, sizeof *workers);
    bool ok = workers != NULL;
    for (uint32_t stage = 0; stage < j->stages && ok; stage++)
        if (j->kinds->next)
            ok = set_stage(j, stage, by_position, workers);
        else
            j->devices[stage] = j->kinds;
    free(workers);
    return ok;
}

bool transformer_find_devices(struct transformer_job *j)
{
    uint32_t positions = j->api->positions(j->job);
    struct transformer_device **by_position = array_zeroed(positions, sizeof *by_position);
    bool ok = by_position != NULL;
    j->devices = array_zeroed(j->stages, sizeof *j->devices);
    for (uint32_t position = 0; position < positions && ok; position++) {
        by_position[position] = find_kind(j, position);
        ok = by_position[position] != NULL;
        j->peak += ok ? by_position[position]->device.peak / positions : 0;
    }
    if (ok && j->kinds->next && j->parameters->profile) {
        j->api->error(j->job, "compute.profile", "a profile has the times of one GPU, but the platform has %s and %s",
                      name_of(&by_position[0]->host), name_of(&j->kinds->host));
        ok = false;
    }
    ok = ok && j->devices && set_stages(j, by_position);
    free(by_position);
    return ok;
}

static void forget_parts(struct transformer_known *known)
{
    for (uint32_t kind = 0; kind < known->kinds; kind++)
        for (unsigned i = 0; i < TRANSFORMER_BLOCKS * TRANSFORMER_RECOMPUTES; i++)
            free(known->parts[kind][i / TRANSFORMER_RECOMPUTES][i % TRANSFORMER_RECOMPUTES]);
    free(known->parts);
    for (unsigned i = 0; known->factors && i < known->kinds * TRANSFORMER_RECOMPUTES; i++)
        free(known->factors[i / TRANSFORMER_RECOMPUTES][i % TRANSFORMER_RECOMPUTES]);
    free(known->factors);
}

void transformer_free_devices(struct transformer_job *j)
{
    while (j->kinds) {
        struct transformer_device *next = j->kinds->next;
        forget_parts(&j->kinds->known);
        kernel_table_finish(&j->kinds->kernels.table);
        free(j->kinds);
        j->kinds = next;
    }
    free(j->devices);
}

struct transformer_job transformer_on_stage(const struct transformer_job *j, uint32_t stage)
{
    struct transformer_job on = *j;
    on.device = j->devices[stage]->device;
    on.known = &j->devices[stage]->known;
    on.layout.recompute = (enum transformer_recompute)j->api->recompute_of(j->job, stage);
    return on;
}
