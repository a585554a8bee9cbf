/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/chart_scale.h"

#include "analysis/pictures/axis.h"
#include "base/rounded/rounded.h"

#include <math.h>

static double to_terms(const struct chart_axis *axis, double value)
{
    if (!axis->logarithmic)
        return value;
    return axis->quantity == CHART_BYTES ? rounded_log2(value) : rounded_log10(value);
}

static double from_terms(const struct chart_axis *axis, double value)
{
    if (!axis->logarithmic)
        return value;
    return axis->quantity == CHART_BYTES ? rounded_exp2(value) : rounded_pow(10, value);
}

/* Bytes in steps of 1, 2, 4, 8, ... times a power of 1,024. */
static double byte_step(double range, unsigned most)
{
    return range > 0 ? rounded_exp2(ceil(rounded_log2(range / most) - 1e-9)) : 1;
}

static double log_step(double range, unsigned most)
{
    double step = 1;
    while (range / step > most)
        step += 1;
    return step;
}

/* Logarithm of the n-th of ... 0.5, 1, 2, 5, 10, ...; n = 0 is 1. */
static double fine_terms(int n)
{
    static const double factors[] = {0, 0.30102999566398120, 0.69897000433601880};
    int decade = (int)floor(n / 3.0);
    return decade + factors[n - 3 * decade];
}

static void round_fine(struct chart_scale *scale, double low, double high)
{
    int first = (int)floor(low) * 3, last = (int)ceil(high) * 3;
    while (fine_terms(first + 1) <= low + 1e-9)
        first++;
    while (fine_terms(last - 1) >= high - 1e-9)
        last--;
    scale->first = first;
    scale->low = fine_terms(first);
    scale->high = fine_terms(last);
    scale->ticks = (unsigned)(last - first) + 1;
}

static void round_logarithmic(struct chart_scale *scale, double low, double high, unsigned most)
{
    scale->fine = scale->axis->quantity != CHART_BYTES && (high - low) * 3 <= most;
    if (scale->fine) {
        round_fine(scale, low, high);
        return;
    }
    scale->low = floor(low + 1e-9);
    scale->high = fmax(ceil(high - 1e-9), scale->low + 1);
    scale->step = log_step(scale->high - scale->low, most);
    scale->ticks = (unsigned)floor((scale->high - scale->low) / scale->step + 1e-9) + 1;
}

struct chart_scale chart_scale_of(const struct chart_axis *axis, double least, double largest, unsigned most)
{
    double low = to_terms(axis, least), high = to_terms(axis, largest);
    if (!(high > low)) {
        double around = axis->logarithmic ? 1 : low != 0 ? fabs(low) : 1;
        high = low + around;
        low -= axis->logarithmic ? around : low > 0 ? low : 0;
    }
    struct chart_scale scale = {.axis = axis};
    if (axis->logarithmic) {
        round_logarithmic(&scale, low, high, most);
        return scale;
    }
    scale.step = axis->quantity == CHART_BYTES ? byte_step(high - low, most) : axis_step(high - low, most);
    scale.low = floor(low / scale.step + 1e-9) * scale.step;
    scale.high = ceil(high / scale.step - 1e-9) * scale.step;
    scale.ticks = (unsigned)lround((scale.high - scale.low) / scale.step) + 1;
    return scale;
}

double chart_place(const struct chart_scale *scale, double value)
{
    return scale->from +
           (scale->to - scale->from) * (to_terms(scale->axis, value) - scale->low) / (scale->high - scale->low);
}

static double tick_terms(const struct chart_scale *scale, unsigned tick)
{
    return scale->fine ? fine_terms(scale->first + (int)tick) : scale->low + tick * scale->step;
}

double chart_tick_place(const struct chart_scale *scale, unsigned tick)
{
    return scale->from +
           (scale->to - scale->from) * (tick_terms(scale, tick) - scale->low) / (scale->high - scale->low);
}

static const char *byte_text(char *text, size_t size, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    for (; fabs(bytes) >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    snprintf(text, size, "%.4g %s", bytes, units[unit]);
    return text;
}

const char *chart_tick_text(char *text, size_t size, const struct chart_scale *scale, unsigned tick)
{
    double terms = tick_terms(scale, tick);
    double value = from_terms(scale->axis, fabs(terms) < scale->step * 1e-9 ? 0 : terms);
    switch (scale->axis->quantity) {
    case CHART_SECONDS:
        if (value == 0)
            snprintf(text, size, "0");
        return value == 0 ? text : axis_quantity(text, size, value, GANTT_SECONDS);
    case CHART_BYTES:
        return byte_text(text, size, value);
    case CHART_PERCENT:
        snprintf(text, size, "%.4g %%", 100 * value);
        return text;
    default:
        snprintf(text, size, "%.6g", value);
        return text;
    }
}
