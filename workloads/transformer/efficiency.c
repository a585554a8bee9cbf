/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/efficiency.h"

#include "base/paths.h"
#include "base/rounded/rounded.h"
#include "workloads/transformer/kernel_class.h"
#include "workloads/transformer/kernel_use.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of tables that do not say. */
static const double default_flash = 0.5;

/* ---- reading ---- */

static bool read_number(const char *text, double *value)
{
    char *end;
    size_t length = strspn(text, "0123456789.eE+-");
    if (!length || text[length])
        return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value) && *value >= 0;
}

static bool add_point(struct efficiency_curve *curve, double size, double value, struct fault *fault)
{
    if (value <= 0 || value > 1)
        return fault_set(fault, "an efficiency is %g; expected more than 0, at most 1", value);
    if (size <= 0 || (curve->count && size <= curve->size[curve->count - 1]))
        return fault_set(fault, "the size is %g; expected more than %g, for sizes rise from line to line", size,
                         curve->count ? curve->size[curve->count - 1] : 0);
    if (curve->count == EFFICIENCY_POINTS_MAX)
        return fault_set(fault, "more than %d points", EFFICIENCY_POINTS_MAX);
    curve->size[curve->count] = size;
    curve->value[curve->count++] = value;
    return true;
}

static bool add_line(struct efficiency *efficiency, char *line, struct fault *fault)
{
    char *size_text = strchr(line, ','), *value_text = size_text ? strchr(size_text + 1, ',') : NULL;
    double size = 0, value;
    if (!value_text)
        return fault_set(fault, "expected what,size,value");
    *size_text++ = *value_text++ = '\0';
    if ((*size_text && !read_number(size_text, &size)) || !read_number(value_text, &value))
        return fault_set(fault, "'%.40s,%.40s' are no numbers; expected a size and a value such as 1e9,0.5", size_text,
                         value_text);
    if (!strcmp(line, "matrix"))
        return add_point(&efficiency->matrix, size, value, fault);
    if (!strcmp(line, "matrix_fp8"))
        return add_point(&efficiency->matrix_fp8, size, value, fault);
    if (!strcmp(line, "matrix_fp4"))
        return add_point(&efficiency->matrix_fp4, size, value, fault);
    if (!strcmp(line, "convolution"))
        return add_point(&efficiency->convolution, size, value, fault);
    if (!strcmp(line, "memory"))
        return add_point(&efficiency->memory, size, value, fault);
    if (!strcmp(line, "flash") && value <= 0)
        return fault_set(fault, "an efficiency is %g; expected more than 0, at most 1", value);
    double *constant = !strcmp(line, "flash")           ? &efficiency->flash
                       : !strcmp(line, "normalisation") ? &efficiency->normalisation
                       : !strcmp(line, "launch")        ? &efficiency->launch
                       : !strcmp(line, "dispatch")      ? &efficiency->dispatch
                       : !strcmp(line, "step")          ? &efficiency->step
                                                        : NULL;
    if (!constant)
        return fault_set(
            fault,
            "'%.40s' is not known; expected matrix, matrix_fp8, matrix_fp4, convolution, memory, flash, normalisation, "
            "launch, dispatch or step",
            line);
    if (value > 1)
        return fault_set(fault, "%s is %g; expected at most 1", line, value);
    *constant = value;
    return true;
}

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

static bool unreadable(const char *path, struct fault *fault)
{
    fault->trouble = true;
    return fault_set(fault, "%s: cannot be read: %s", path, strerror(errno));
}

static bool read_lines(FILE *file, const char *path, struct efficiency *efficiency, struct fault *fault)
{
    char line[256];
    struct fault reason = {""};
    bool header = false;
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        size_t length = strcspn(line, "\r\n");
        if (!line[length] && !feof(file))
            return fault_set(fault, "%s:%u: the line is too long", path, number);
        line[length] = '\0';
        if (!*line || *line == '#')
            continue;
        if (!header && strcmp(line, "what,size,value"))
            return fault_set(fault, "%s:%u: expected the header what,size,value", path, number);
        if (header && !add_line(efficiency, line, &reason))
            return fault_set(fault, "%s:%u: %s", path, number, reason.text);
        header = true;
    }
    if (ferror(file))
        return unreadable(path, fault);
    if (!efficiency->matrix.count || !efficiency->memory.count)
        return fault_set(fault, "%s: there is no line of '%s'", path, efficiency->matrix.count ? "memory" : "matrix");
    return true;
}

bool efficiency_read(const char *path, struct efficiency *efficiency, struct fault *fault)
{
    *efficiency = (struct efficiency){.flash = default_flash, .normalisation = 1};
    __attribute__((cleanup(close_file))) FILE *file = path_check_readable(path, fault) ? path_open_read(path) : NULL;
    return (file || unreadable(path, fault)) && read_lines(file, path, efficiency, fault);
}

void efficiency_constant(struct efficiency *efficiency, double share)
{
    *efficiency =
        (struct efficiency){.matrix = {1, {1}, {share}}, .memory = {1, {1}, {1}}, .flash = share, .normalisation = 1};
}

/* ---- time ---- */

double efficiency_at(const struct efficiency_curve *curve, double size)
{
    unsigned above = 0;
    while (above < curve->count && curve->size[above] <= size)
        above++;
    if (above == 0)
        return curve->value[0];
    if (above == curve->count)
        return curve->value[above - 1];
    double part = rounded_log(size / curve->size[above - 1]) / rounded_log(curve->size[above] / curve->size[above - 1]);
    return curve->value[above - 1] + part * (curve->value[above] - curve->value[above - 1]);
}

/* A measured time at the full clock, at the device's. */
static double at_clock(const struct efficiency_device *device, const struct transformer_operator *operator,
                       double seconds)
{
    if (!(device->clock > 0 && device->clock < 1) || !operator->matrix)
        return seconds;
    double arithmetic = operator->flops /(operator->wide ? device->wide_peak : device->peak);
    bool bound = device->bandwidth <= 0 || arithmetic >= operator->bytes / device->bandwidth;
    return bound ? seconds / device->clock : fmax(seconds, arithmetic / device->clock);
}

/* The curve that holds for a product. */
static const struct efficiency_curve *curve_of(const struct efficiency *efficiency,
                                               const struct efficiency_device *device,
                                               const struct transformer_operator *product)
{
    bool narrow = device->fp8 && !product->wide;
    if (product->convolution && efficiency->convolution.count)
        return &efficiency->convolution;
    if (narrow && device->narrow == KERNEL_NVFP4 && efficiency->matrix_fp4.count)
        return &efficiency->matrix_fp4;
    return narrow && efficiency->matrix_fp8.count ? &efficiency->matrix_fp8 : &efficiency->matrix;
}

static double known_time(const struct efficiency_device *device, const struct transformer_operator *operator)
{
    const struct efficiency *efficiency = device->efficiency;
    double measured;
    bool said = operator->flash && device->own_flash;
    if (device->kernels && !said && kernel_use_seconds(device, operator, & measured))
        return at_clock(device, operator, measured);
    /* A grouped product reaches what one of its groups reaches. */
    double flops = operator->shape.kind == KERNEL_GROUPED ? operator->flops / operator->shape.groups : operator->flops;
    double share = operator->flash ? efficiency->flash :
                                   operator->share> 0  ? operator->share
        : efficiency_at(curve_of(efficiency, device, operator), flops);
    double peak = operator->wide ? device->wide_peak : device->peak;
    peak *= (device->clock > 0 ? device->clock : 1) * (device->held > 0 ? device->held : 1);
    double computing = operator->matrix ? operator->flops /(peak *share) : 0;
    double moving = device->bandwidth > 0 ? operator->bytes /(
                                                device->bandwidth *efficiency_at(&efficiency->memory, operator->bytes))
                                          : 0;
    return efficiency->launch + fmax(computing, moving);
}

double efficiency_operator_time(const struct efficiency_device *device, const struct transformer_operator *operator)
{
    double seconds = known_time(device, operator);
    enum kernel_class class = device->classes ? kernel_class_of(operator) : KERNEL_CLASSES;
    if (class == KERNEL_CLASSES)
        return seconds;
    device->classes->met[class] |= seconds > 0;
    return seconds * device->classes->times[class];
}

double efficiency_time(const struct efficiency_device *device, const struct transformer_operators *operators,
                       double behind, double *weight)
{
    double sum = 0, weights = 0;
    for (unsigned i = 0; i < operators->count; i++) {
        double seconds = efficiency_operator_time(device, &operators->items[i]);
        sum += seconds;
        weights += operators->items[i].weight ? seconds : 0;
    }
    double least = operators->count * device->efficiency->dispatch - behind;
    double stretch = least > sum ? least / sum : 1;
    if (weight)
        *weight = weights * stretch;
    return sum * stretch;
}
