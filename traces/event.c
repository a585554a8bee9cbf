/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/event.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSIONS_BYTES_MAX = 160, DIGITS_MAX = 17 };

static const char *const argument_keys[TRACE_ARGUMENTS] = {
    [TRACE_STREAM] = "stream",
    [TRACE_DEVICE] = "device",
    [TRACE_CORRELATION] = "correlation",
    [TRACE_EXTERNAL] = "External id",
    [TRACE_BYTES] = "bytes",
    [TRACE_COLLECTIVE] = "Collective name",
    [TRACE_IN_ELEMENTS] = "In msg nelems",
    [TRACE_OUT_ELEMENTS] = "Out msg nelems",
    [TRACE_DTYPE] = "dtype",
    [TRACE_GROUP_SIZE] = "Group size",
    [TRACE_GROUP_NAME] = "Process Group Name",
    [TRACE_GROUP_WHAT] = "Process Group Description",
    [TRACE_GROUP_RANKS] = "Process Group Ranks",
    [TRACE_RANK_START] = "Global rank start",
    [TRACE_RANK_STRIDE] = "Global rank stride",
    [TRACE_SOURCE] = "Src Rank",
    [TRACE_DESTINATION] = "Dst Rank",
    [TRACE_AWAITED_STREAM] = "wait_on_stream",
    [TRACE_RECORD] = "wait_on_cuda_event_record_corr_id",
    [TRACE_DIMENSIONS] = "Input Dims",
    [TRACE_TYPES] = "Input type",
    [TRACE_NAME] = "name",
    [TRACE_LABELS] = "labels",
    [TRACE_STEP] = "step",
    [TRACE_MICRO_BATCH] = "mb_id",
    [TRACE_CHUNK] = "model_chunk",
    [TRACE_SEQUENCE] = "seq_id",
    [TRACE_WAITED] = "waited_us",
};

static void put(struct trace_event *event, const char *text, size_t size)
{
    event->texts = array_grow(event->texts, &event->capacity, event->size + size + 1, 1);
    memcpy(event->texts + event->size, text, size);
    event->size += size;
}

static struct trace_value value_begin(const struct trace_event *event)
{
    return (struct trace_value){(uint32_t)event->size, 0, true};
}

static void value_end(struct trace_event *event, struct trace_value *value)
{
    value->size = (uint32_t)event->size - value->at;
    put(event, "", 1);
}

/* Lists of numbers and texts, without blanks; what is long is cut. */
static void read_list(struct json_reader *json, struct trace_event *event, struct trace_value *value)
{
    unsigned depth = json_depth(json);
    bool comma = false;
    put(event, "[", 1);
    for (enum json_piece piece; json_depth(json) >= depth && (piece = json_next(json)) != JSON_END;) {
        bool ends = piece == JSON_ARRAY_END || piece == JSON_OBJECT_END;
        if (event->size - value->at > DIMENSIONS_BYTES_MAX)
            continue;
        if (comma && !ends)
            put(event, ",", 1);
        comma = ends || piece == JSON_NUMBER || piece == JSON_STRING;
        size_t size = 0;
        const char *text = json_piece_text(json, &size);
        if (piece == JSON_ARRAY_BEGIN)
            put(event, "[", 1);
        else if (piece == JSON_ARRAY_END)
            put(event, "]", 1);
        else if (piece == JSON_NUMBER || piece == JSON_STRING)
            put(event, text, size < DIMENSIONS_BYTES_MAX ? size : DIMENSIONS_BYTES_MAX);
    }
}

static struct trace_value read_value(struct json_reader *json, struct trace_event *event)
{
    struct trace_value value = value_begin(event);
    size_t size = 0;
    const char *text;
    switch (json_next(json)) {
    case JSON_STRING:
    case JSON_NUMBER:
        text = json_piece_text(json, &size);
        put(event, text, size);
        break;
    case JSON_ARRAY_BEGIN:
        read_list(json, event, &value);
        break;
    case JSON_OBJECT_BEGIN:
        json_skip_rest(json);
        value.known = false;
        break;
    default:
        value.known = false;
        break;
    }
    value_end(event, &value);
    return value;
}

static void read_arguments(struct json_reader *json, struct trace_event *event)
{
    if (json_next(json) != JSON_OBJECT_BEGIN) /* a text, which nobody asks for */
        return;
    unsigned depth = json_depth(json);
    while (json_next(json) == JSON_KEY) {
        const char *key = json_piece_text(json, NULL);
        unsigned argument = 0;
        while (argument < TRACE_ARGUMENTS && strcmp(argument_keys[argument], key) != 0)
            argument++;
        if (argument < TRACE_ARGUMENTS)
            event->arguments[argument] = read_value(json, event);
        else
            json_skip(json);
        if (json_depth(json) < depth)
            return;
    }
}

/* "1682725898236567.123": whole microseconds and what is left, which one double would not hold. */
static bool split_time(const char *text, int64_t *micros, double *fraction)
{
    const char *at = text + (*text == '-');
    int64_t whole = 0;
    int digits = 0;
    for (; *at >= '0' && *at <= '9' && digits < DIGITS_MAX; at++, digits++)
        whole = whole * 10 + (*at - '0');
    if (*at == '.' || *at == '\0') {
        double rest = *at == '.' ? strtod(at, NULL) : 0;
        *micros = *text == '-' ? -whole : whole;
        *fraction = *text == '-' ? -rest : rest;
        return rest < 1 && whole <= TRACE_MICROS_MAX;
    }
    double value = strtod(text, NULL); /* with an exponent */
    if (!(fabs(value) < (double)TRACE_MICROS_MAX))
        return false;
    *micros = (int64_t)value;
    *fraction = value - (double)*micros;
    return true;
}

static void read_time(struct json_reader *json, struct trace_event *event, bool is_duration)
{
    enum json_piece piece = json_next(json);
    if (piece == JSON_OBJECT_BEGIN || piece == JSON_ARRAY_BEGIN) {
        json_skip_rest(json);
        return;
    }
    if (piece != JSON_NUMBER && piece != JSON_STRING)
        return;
    const char *text = json_piece_text(json, NULL);
    if (is_duration) {
        char *end;
        event->duration = strtod(text, &end);
        event->has_duration = end > text && !*end && fabs(event->duration) <= (double)TRACE_MICROS_MAX;
    } else {
        event->has_time = split_time(text, &event->micros, &event->fraction);
    }
}

static void read_member(struct json_reader *json, struct trace_event *event)
{
    char key[16];
    size_t size = 0;
    const char *text = json_piece_text(json, &size);
    snprintf(key, sizeof key, "%s", size < sizeof key ? text : "");
    if (!strcmp(key, "ph")) {
        if (json_next(json) == JSON_STRING)
            event->phase = *json_piece_text(json, NULL);
        else
            json_refuse(json, "ph is one letter such as \"X\"");
    } else if (!strcmp(key, "cat")) {
        event->category = read_value(json, event);
    } else if (!strcmp(key, "name")) {
        event->name = read_value(json, event);
    } else if (!strcmp(key, "pid")) {
        event->pid = read_value(json, event);
    } else if (!strcmp(key, "tid")) {
        event->tid = read_value(json, event);
    } else if (!strcmp(key, "ts") || !strcmp(key, "dur")) {
        read_time(json, event, *key == 'd');
    } else if (!strcmp(key, "args")) {
        read_arguments(json, event);
    } else {
        json_skip(json);
    }
}

bool trace_event_read(struct json_reader *json, struct trace_event *event)
{
    char *texts = event->texts;
    size_t capacity = event->capacity;
    *event = (struct trace_event){.at = json_place(json), .texts = texts, .capacity = capacity};
    enum json_piece piece;
    while ((piece = json_next(json)) == JSON_KEY)
        read_member(json, event);
    return piece == JSON_OBJECT_END;
}

void trace_event_finish(struct trace_event *event)
{
    free(event->texts);
    event->texts = NULL;
}

double trace_number(const struct trace_event *event, enum trace_argument argument)
{
    const char *text = trace_text(event, event->arguments[argument]);
    char *end = NULL;
    double value = text ? strtod(text, &end) : NAN;
    return text && end > text && !*end ? value : NAN;
}

uint32_t trace_whole(const struct trace_event *event, enum trace_argument argument)
{
    double value = trace_number(event, argument);
    return value >= 0 && value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}
