/* SPDX-License-Identifier: Apache-2.0 */
/* torchtitan: MetricsProcessor.log of torchtitan/components/metrics.py, and what train.py and parallel_dims.py say of
 * the job. Older releases write wps for tps. */
#include "frameworks/logs/log_parts.h"

#include <ctype.h>
#include <string.h>

/* "Building 2-D device mesh with ['dp_shard', 'tp'], [4, 2]": the sizes are named in order. */
static void read_mesh(struct log_cursor *cursor, const char *names)
{
    const char *sizes = strstr(names, "], [");
    double gpus = 1;
    if (!sizes)
        return;
    sizes += strlen("], [");
    for (const char *name = strchr(names, '\''); name && name < sizes && *sizes; name = strchr(name, '\'')) {
        const char *end = strchr(++name, '\'');
        double size;
        if (!end || !isdigit((unsigned char)*sizes) || !log_count(cursor, sizes, false, &size))
            return;
        size_t length = (size_t)(end - name);
        if (length == 2 && !strncmp(name, "tp", 2))
            log_fact(cursor, LOG_TENSOR, size);
        else if (length == 2 && !strncmp(name, "pp", 2))
            log_fact(cursor, LOG_PIPELINE, size);
        else if (length == 2 && !strncmp(name, "cp", 2))
            log_fact(cursor, LOG_CONTEXT, size);
        gpus *= size;
        name = end + 1;
        sizes += strspn(sizes, "0123456789");
        sizes += strspn(sizes, ", ");
    }
    if (gpus <= 0x1p53)
        log_fact(cursor, LOG_GPUS, gpus);
}

static bool is_step(const struct log_cursor *cursor)
{
    return log_behind(cursor, "step:") && (log_behind(cursor, " tps:") || log_behind(cursor, " wps:"));
}

static void read_step(struct log_cursor *cursor)
{
    double value;
    const char *rate = log_behind(cursor, " tps:");
    const char *memory = log_behind(cursor, " memory:");
    if (!log_grouped(cursor, rate ? rate : log_behind(cursor, " wps:"), &value))
        return;
    log_step(cursor, value);
    if (memory && log_number(cursor, memory, &value))
        log_bytes(cursor, value * 1073741824);
}

static void read_line(struct log_cursor *cursor)
{
    const char *mesh = log_behind(cursor, "device mesh with");
    if (is_step(cursor)) {
        read_step(cursor);
    } else if (mesh) {
        read_mesh(cursor, mesh);
    } else if (log_behind(cursor, "Training starts at step")) {
        log_fact_behind(cursor, LOG_MICRO_BATCH, "local batch size");
        log_fact_behind(cursor, LOG_GLOBAL_BATCH, "global batch size");
        log_fact_behind(cursor, LOG_SEQUENCE, "sequence length");
    } else if (log_behind(cursor, "Saving the checkpoint") || log_behind(cursor, "Saving a full checkpoint")) {
        cursor->event = LOG_CHECKPOINT;
    } else if (log_behind(cursor, "validate step:")) {
        cursor->event = LOG_EVALUATION;
    }
}

const struct log_format log_titan = {"torchtitan", LOG_TOKENS_PER_S_PER_GPU, read_line};
