/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/transformer/layer_profile.h"

#include "base/csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_SIZE_MAX = 1 << 20 };

static const char *const kinds[] = {
    [PROFILE_LAYER] = "layer", [PROFILE_EMBEDDING] = "embedding", [PROFILE_HEAD] = "head", NULL};

enum column { KIND, MICRO_BATCH, FORWARD, BACKWARD, ACTIVATION, COLUMNS };

static const char *const column_names[COLUMNS] = {"kind", "micro_batch", "forward_s", "backward_s", "activation_bytes"};

static bool read_positive(struct csv *csv, enum column column, double *value)
{
    return csv_number(csv, column, value) &&
           (*value >= 0 || csv_mistake(csv, column, "%s is negative", column_names[column]));
}

static bool read_row(struct csv *csv, struct layer_profile *profile)
{
    struct layer_time time = {0};
    unsigned kind;
    if (!csv_word(csv, KIND, kinds, &kind) || !read_positive(csv, MICRO_BATCH, &time.samples) ||
        !read_positive(csv, FORWARD, &time.forward) || !read_positive(csv, BACKWARD, &time.backward))
        return false;
    if (csv_get(csv, ACTIVATION).size && !read_positive(csv, ACTIVATION, &time.activation))
        return false;
    unsigned row = profile->rows[kind];
    double before = row ? profile->times[kind][row - 1].samples : 0;
    if (time.samples <= before)
        return csv_mistake(csv, MICRO_BATCH,
                           "the micro-batch size is %g; expected more than %g, for sizes rise from line to line",
                           time.samples, before);
    if (row == PROFILE_ROWS_MAX)
        return csv_mistake(csv, KIND, "more than %d sizes", PROFILE_ROWS_MAX);
    profile->times[kind][profile->rows[kind]++] = time;
    return true;
}

bool layer_profile_read(const char *path, struct layer_profile *profile, struct fault *fault)
{
    static const struct csv_columns columns = {column_names,      COLUMNS, ACTIVATION,
                                               "a layer profile", true,    "doc/profile-layers.md"};
    size_t size = 0;
    char *text = csv_load(path, FILE_SIZE_MAX, &size);
    *profile = (struct layer_profile){0};
    fault->trouble = !text;
    if (!text)
        return fault_set(fault, "%s: cannot be read: %s", path, strerror(errno));
    struct csv *csv = csv_open(path, text, size, &columns, NULL, fault);
    while (csv && csv_next(csv) && read_row(csv, profile))
        ;
    csv_close(csv);
    free(text);
    return !fault->text[0] &&
           (profile->rows[PROFILE_LAYER] || fault_set(fault, "%s: there is no line of 'layer'", path));
}

static double between(double low, double high, double part)
{
    return low + part * (high - low);
}

bool layer_profile_at(const struct layer_profile *profile, enum layer_kind kind, double samples, struct layer_time *out,
                      struct fault *fault)
{
    const struct layer_time *times = profile->times[kind];
    unsigned rows = profile->rows[kind], above = 0;
    while (above < rows && times[above].samples < samples)
        above++;
    if (above == rows || (above == 0 && times[0].samples > samples))
        return fault_set(fault, "the profile has times of '%s' for micro-batches of %g to %g samples, not of %g",
                         kinds[kind], rows ? times[0].samples : 0, rows ? times[rows - 1].samples : 0, samples);
    const struct layer_time *high = &times[above], *low = above ? high - 1 : high;
    double part = high == low ? 0 : (samples - low->samples) / (high->samples - low->samples);
    *out = (struct layer_time){samples, between(low->forward, high->forward, part),
                               between(low->backward, high->backward, part),
                               between(low->activation, high->activation, part)};
    return true;
}
