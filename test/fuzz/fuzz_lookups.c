/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the reader of devices' memory curves and caches, and the lookup model with what it accepts: times are positive
 * and finite, and no more hits than lookups. */
#include "workloads/dlrm/lookup.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void check_lookups(const struct memory_curve *curve)
{
    static const double rows[] = {1, 1e3, 1e9}, samples[] = {1, 4096};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            struct dlrm_table table = {.rows = rows[i], .pooling = 20};
            struct lookup lookup = {.rows = rows[i], .width = 64, .pooling = 20, .samples = samples[k]};
            lookup.unique = dlrm_unique_rows(&table, samples[k] * 20);
            struct lookup_traffic traffic = lookup_traffic(&lookup, curve, 1);
            if (!(traffic.hit_rate >= -1e-9 && traffic.hit_rate <= 1) || !(traffic.memory > 0) ||
                !(traffic.cached_rows >= 0))
                abort();
        }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    struct memory_curve curve;
    struct fault fault = {""};
    bool good = memory_curve_parse("lookups.csv", (const char *)data, size, &curve, &fault);
    if (good != !fault.text[0])
        abort();
    if (!good)
        return 0;
    for (double bytes = 1; curve.straight > 0 && bytes < 1e15; bytes *= 10)
        if (!(memory_curve_seconds(&curve, bytes) >= 0))
            abort();
    check_lookups(&curve);
    return 0;
}
