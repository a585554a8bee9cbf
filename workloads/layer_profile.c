/* SPDX-License-Identifier: Apache-2.0 */
#include "workloads/layer_profile.h"

#include "simulator/paths.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {[PROFILE_LAYER] = "layer", [PROFILE_EMBEDDING] = "embedding", [PROFILE_HEAD] = "head"};
static const char header[] = "kind,micro_batch,forward_s,backward_s,activation_bytes";

/* Splits at commas, in place; the number of cells, at most `most`. */
static unsigned split(char *line, char **cells, unsigned most)
{
    unsigned count = 0;
    for (char *cell = line; cell && count < most; count++) {
        cells[count] = cell;
        cell = strchr(cell, ',');
        if (cell)
            *cell++ = '\0';
    }
    return count;
}

static bool read_number(const char *text, double *value)
{
    char *end;
    size_t length = strspn(text, "0123456789.eE+-");
    if (!length || text[length])
        return false;
    *value = strtod(text, &end);
    return !*end && isfinite(*value) && *value >= 0;
}

static bool add_row(struct layer_profile *profile, char *line, struct fault *fault)
{
    char *cells[6];
    double values[4] = {0};
    unsigned kind = 0, count = split(line, cells, 6);
    if (count != 5)
        return fault_set(fault, "expected %s", header);
    while (kind < PROFILE_KINDS && strcmp(cells[0], kinds[kind]))
        kind++;
    if (kind == PROFILE_KINDS)
        return fault_set(fault, "'%.40s' is not known; expected layer, embedding or head", cells[0]);
    for (unsigned i = 0; i < 4; i++)
        if (!read_number(cells[i + 1], &values[i]) && (i < 3 || *cells[i + 1]))
            return fault_set(fault, "'%.40s' is no number; expected one such as 1.5e-3", cells[i + 1]);
    unsigned row = profile->rows[kind];
    if (values[0] <= (row ? profile->times[kind][row - 1].samples : 0))
        return fault_set(fault, "the micro-batch size is %g; expected more than %g, for sizes rise from line to line", values[0],
                         row ? profile->times[kind][row - 1].samples : 0);
    if (row == PROFILE_ROWS_MAX)
        return fault_set(fault, "more than %d sizes", PROFILE_ROWS_MAX);
    profile->times[kind][profile->rows[kind]++] = (struct layer_time){values[0], values[1], values[2], values[3]};
    return true;
}

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

bool layer_profile_read(const char *path, struct layer_profile *profile, struct fault *fault)
{
    char line[256];
    struct fault reason = {""};
    bool headed = false;
    __attribute__((cleanup(close_file))) FILE *file = path_check_readable(path, fault) ? fopen(path, "r") : NULL;
    *profile = (struct layer_profile){0};
    if (!file)
        return false;
    for (unsigned number = 1; fgets(line, sizeof line, file); number++) {
        size_t length = strcspn(line, "\r\n");
        if (!line[length] && !feof(file))
            return fault_set(fault, "%s:%u: the line is too long", path, number);
        line[length] = '\0';
        if (!*line || *line == '#')
            continue;
        if (!headed && strcmp(line, header))
            return fault_set(fault, "%s:%u: expected the header %s", path, number, header);
        if (headed && !add_row(profile, line, &reason))
            return fault_set(fault, "%s:%u: %s", path, number, reason.text);
        headed = true;
    }
    return profile->rows[PROFILE_LAYER] || fault_set(fault, "%s: there is no line of 'layer'", path);
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
        return fault_set(fault, "the profile has times of '%s' for micro-batches of %g to %g samples, not of %g", kinds[kind],
                         rows ? times[0].samples : 0, rows ? times[rows - 1].samples : 0, samples);
    const struct layer_time *high = &times[above], *low = above ? high - 1 : high;
    double part = high == low ? 0 : (samples - low->samples) / (high->samples - low->samples);
    *out = (struct layer_time){samples, between(low->forward, high->forward, part), between(low->backward, high->backward, part),
                               between(low->activation, high->activation, part)};
    return true;
}
