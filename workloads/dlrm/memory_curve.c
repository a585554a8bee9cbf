/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/dlrm/memory_curve.h"

#include "base/csv.h"
#include "base/rounded/rounded.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 1 << 20, LAST_OF_CURVE = 7, ENTRIES = 12 };

struct entry {
    const char *name;
    size_t offset;
    double least, most;
};

#define ENTRY(name, least, most)                                                                                       \
    {                                                                                                                  \
#name, offsetof(struct memory_curve, name), least, most                                                        \
    }

/* Those up to `base` are the curve, all of which or none is given. */
static const struct entry entries[ENTRIES] = {
    ENTRY(flat, 0, 60),        ENTRY(straight, 1, 60), ENTRY(rate, 1, 1e18),  ENTRY(overhead, 0, 1),
    ENTRY(height, 0, 20),      ENTRY(middle, 0, 60),   ENTRY(slope, 0, 100),  ENTRY(base, -20, 20),
    ENTRY(processors, 0, 1e6), ENTRY(warps, 1, 1e4),   ENTRY(cache, 0, 1e15), ENTRY(cache_rate, 0, 1e18),
};

static const char *const names[ENTRIES + 1] = {"flat",   "straight",   "rate", "overhead",   "height",
                                               "middle", "slope",      "base", "processors", "warps",
                                               "cache",  "cache_rate", NULL};

static bool read_row(struct csv *csv, struct memory_curve *curve, unsigned *given)
{
    unsigned index;
    double value;
    if (!csv_word(csv, 0, names, &index) || !csv_number(csv, 1, &value))
        return false;
    const struct entry *entry = &entries[index];
    if (*given & 1u << index)
        return csv_mistake(csv, 0, "'%s' is given twice", entry->name);
    if (value < entry->least || value > entry->most)
        return csv_mistake(csv, 1, "'%s' is %g; expected from %g to %g", entry->name, value, entry->least, entry->most);
    *given |= 1u << index;
    *(double *)((char *)curve + entry->offset) = value;
    return true;
}

static bool check_given(const char *name, unsigned given, const struct memory_curve *curve, struct fault *fault)
{
    const unsigned whole = (1u << (LAST_OF_CURVE + 1)) - 1;
    for (unsigned i = 0; i <= LAST_OF_CURVE; i++)
        if ((given & whole) && !(given & 1u << i))
            return fault_set(fault, "%s: there is no line of '%s', which belongs to the curve", name, entries[i].name);
    if ((given & whole) && curve->straight <= curve->flat)
        return fault_set(fault, "%s: straight is %g, not above flat, %g", name, curve->straight, curve->flat);
    if (!given)
        return fault_set(fault, "%s: there is no line of any value", name);
    return true;
}

bool memory_curve_parse(const char *name, const char *text, size_t size, struct memory_curve *curve,
                        struct fault *fault)
{
    static const char *const column_names[] = {"what", "value"};
    const struct csv_columns columns = {
        .names = column_names, .count = 2, .required = 2, .what = "a device's memory", .comments = true};
    enum { WARPS_FBGEMM = 45 }; /* 64 times the occupancy of 0.71 that Lin et al. measured */
    struct csv *csv = csv_open(name, text, size, &columns, NULL, fault);
    unsigned given = 0;
    bool ok = csv != NULL;
    *curve = (struct memory_curve){.warps = WARPS_FBGEMM};
    while (csv && csv_next(csv))
        ok &= read_row(csv, curve, &given);
    csv_close(csv);
    if (!ok || fault->text[0])
        return fault_set(fault, "%s: expected the columns what and value", name);
    return check_given(name, given, curve, fault);
}

bool memory_curve_read(const char *path, struct memory_curve *curve, struct fault *fault)
{
    size_t size;
    char *text = csv_load(path, FILE_BYTES_MAX, &size);
    if (!text) {
        fault->trouble = true;
        return fault_set(fault, "%s: cannot be read: %s", path, strerror(errno));
    }
    bool ok = memory_curve_parse(path, text, size, curve, fault);
    free(text);
    return ok;
}

double memory_curve_seconds(const struct memory_curve *curve, double bytes)
{
    if (bytes <= rounded_exp2(curve->flat))
        return curve->overhead;
    if (bytes > rounded_exp2(curve->straight))
        return curve->overhead + bytes / curve->rate;
    double logistic = 1 + rounded_exp(-curve->slope * (rounded_log2(bytes) - curve->middle));
    return bytes / (1e9 * rounded_pow(10, curve->height / logistic + curve->base));
}
