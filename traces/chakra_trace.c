/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/chakra_trace.h"

#include "base/chakra/chakra.h"
#include "base/paths.h"
#include "traces/chakra_run.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char ending[] = ".et";

bool chakra_trace_is(const char *file)
{
    size_t length = strlen(file);
    return length >= sizeof ending && !strcmp(file + length - (sizeof ending - 1), ending);
}

/* "name.12.et": 12. */
static uint32_t rank_of(const char *file)
{
    const char *end = file + strlen(file) - (sizeof ending - 1), *at = end;
    while (at > file && isdigit((unsigned char)at[-1]))
        at--;
    unsigned long number = at < end && at > file && at[-1] == '.' ? strtoul(at, NULL, 10) : RECORDED_NONE;
    return number <= RECORDED_RANK_MOST ? (uint32_t)number : RECORDED_NONE;
}

static int64_t whole_of(const struct chakra_node *node, const char *name, int64_t otherwise)
{
    const struct chakra_attribute *attribute = chakra_find(node, name);
    bool whole = attribute && (attribute->type == CHAKRA_WHOLE || attribute->type == CHAKRA_FLAG);
    return whole ? attribute->whole : otherwise;
}

/* Of a node on the CPU: what it launched comes as a node of its own. False: nothing that takes time. */
static bool kind_of(const struct chakra_node *node, bool host, enum recorded_kind *kind)
{
    bool known = node->type > CHAKRA_METADATA && node->type < CHAKRA_TYPES;
    if (known)
        *kind = host ? RECORDED_HOST : chakra_run_kind(node);
    return known;
}

static void describe(struct trace_reader *reader, const struct chakra_node *node, struct recorded_operation *operation)
{
    const struct chakra_attribute *group = chakra_find(node, "pg_name");
    int64_t bytes = whole_of(node, "comm_size", -1);
    operation->name = recorded_name(reader->recorded, node->name, strlen(node->name));
    operation->waiting = operation->kind >= RECORDED_COLLECTIVE && operation->kind <= RECORDED_RECEIVE;
    if (bytes >= 0)
        operation->bytes = (float)bytes;
    if (group && group->type == CHAKRA_TEXT && *group->text)
        operation->group = recorded_group(reader->recorded, group->text, NULL, 0, NULL);
}

/* Whether the node has a start; some converters write none of what runs on the device. */
static bool take_node(struct trace_reader *reader, const struct chakra_node *node)
{
    char name[48];
    enum recorded_kind kind;
    bool host = whole_of(node, "is_cpu_op", 0) != 0;
    if (!kind_of(node, host, &kind))
        return false;
    if (node->start_micros > (uint64_t)TRACE_MICROS_MAX || node->duration_micros > (uint64_t)TRACE_MICROS_MAX) {
        reader->broken++;
        return false;
    }
    if (!reader->has_origin) {
        reader->has_origin = true;
        reader->origin = (int64_t)node->start_micros;
    }
    uint64_t stream = (uint64_t)whole_of(node, host ? "tid" : "stream", 0);
    snprintf(name, sizeof name, host ? "thread %u" : "stream %u", (unsigned)stream);
    double begin = (double)((int64_t)node->start_micros - reader->origin) * 1e-6;
    if (reader->rank == RECORDED_NONE)
        reader->rank = recorded_rank(reader->recorded, RECORDED_NONE, reader->file);
    struct recorded_operation *operation =
        recorded_add(reader->recorded, kind, recorded_stream(reader->recorded, reader->rank, stream, host, name), begin,
                     begin + (double)node->duration_micros * 1e-6);
    describe(reader, node, operation);
    return !host && node->start_micros;
}

/* All files are of a run of stagesim, or none is. */
static void settle_format(struct trace_reader *reader, bool of_run)
{
    struct recorded *recorded = reader->recorded;
    if (reader->first && recorded->timeline != of_run)
        diag_error(reader->diag, (struct place){reader->file, 0, 0},
                   "it is %sof a run of stagesim, and files before it are %s; expected all or none",
                   of_run ? "" : "not ", of_run ? "not" : "all");
    recorded->timeline = of_run;
    recorded->format = of_run ? "Chakra's execution trace (stagesim)" : "Chakra's execution trace";
}

static bool read_nodes(struct trace_reader *reader, FILE *in, struct fault *fault)
{
    struct chakra_reader *chakra = chakra_open(in, reader->file, fault);
    struct chakra_node node;
    struct chakra_run *run = NULL;
    bool placed = false;
    while (chakra && chakra_next(chakra, &node, fault)) {
        if (!run && reader->recorded->count == reader->first && chakra_run_is(&node))
            run = chakra_run_create(reader);
        if (run && chakra_run_is(&node))
            chakra_run_take(run, &node);
        else if (!run)
            placed |= take_node(reader, &node);
    }
    if (run)
        chakra_run_finish(run);
    placed |= run != NULL;
    if (!*fault->text)
        settle_format(reader, run != NULL);
    chakra_run_destroy(run);
    if (chakra && chakra_unknown_fields(chakra))
        recorded_note(reader->recorded,
                      "%s: %llu fields are not of the schema that is known (the file is of '%.40s'): passed over",
                      reader->file, (unsigned long long)chakra_unknown_fields(chakra), chakra_version(chakra));
    chakra_close(chakra);
    if (*fault->text)
        return false;
    return placed || reader->recorded->count == reader->first ||
           fault_set(fault,
                     "%s: no node of the device has a start_time_micros, so nothing is known of what happened "
                     "when; expected a trace whose converter keeps the times of the profile",
                     reader->file);
}

bool chakra_trace_read(struct trace_reader *reader)
{
    struct fault fault = {.text = ""};
    FILE *in = path_open_read(reader->file);
    if (!in) {
        diag_trouble(reader->diag, (struct place){reader->file, 0, 0}, "%s", strerror(errno));
        return false;
    }
    bool good = read_nodes(reader, in, &fault);
    fclose(in);
    if (!good)
        diag_error(reader->diag, (struct place){reader->file, 0, 0}, "%s",
                   fault.text +
                       (strncmp(fault.text, reader->file, strlen(reader->file)) ? 0 : strlen(reader->file) + 2));
    reader->number = rank_of(reader->file);
    return good;
}
