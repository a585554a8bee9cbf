/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/profiles.h"

#include "base/arena.h"

#include <ctype.h>
#include <expat.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, TEXT_MAX = 64 << 20 };

struct reader {
    XML_Parser parser;
    const char *platform;
    struct fault *fault;
    bool sound;
    bool in_trace; /* its text is collected */
    char *text;
    size_t length, capacity;
    double periodicity; /* of the trace */
    char name[256];
};

/* What a profile says of repeating itself. */
struct repetition {
    bool loops, stochastic;
    double periodicity, delay, last; /* seconds: from begin to begin, from end to begin; date of the last event */
    bool random;                     /* a date is drawn: time passes */
};

static void read_event(struct repetition *repetition, const char *line)
{
    bool fixed = strncmp(line, "DET", 3) == 0;
    if (isalpha((unsigned char)*line) && !fixed) {
        repetition->random = true;
        return;
    }
    double date = strtod(fixed ? line + 3 : line, NULL);
    repetition->last = repetition->stochastic ? repetition->last + date
                                              : date; /* drawn dates are steps, others count from the start */
}

static void read_line(struct repetition *repetition, const char *line)
{
    if (*line == '#' || *line == '%' || *line == '\0')
        return;
    if (sscanf(line, "PERIODICITY %lg", &repetition->periodicity) == 1 ||
        sscanf(line, "LOOPAFTER %lg", &repetition->delay) == 1)
        repetition->loops = true;
    else if (strncmp(line, "STOCHASTIC", 10) == 0) {
        repetition->stochastic = true;
        repetition->loops |= strstr(line, "LOOP") != NULL;
    } else
        read_event(repetition, line);
}

/* Time from one repetition to the next; infinite for a profile that does not repeat itself. `text` is cut into lines.
 */
static double period_of(char *text, double periodicity)
{
    struct repetition repetition = {.loops = periodicity > 0, .periodicity = periodicity};
    char *rest;
    for (char *line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest))
        read_line(&repetition, line + strspn(line, " \t"));
    if (!repetition.loops || repetition.random)
        return INFINITY;
    return repetition.periodicity > 0 ? repetition.periodicity : repetition.last + repetition.delay;
}

__attribute__((format(printf, 2, 3))) static void refuse(struct reader *reader, const char *format, ...)
{
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fault_set(reader->fault, "Parse error at %.300s:%lu: %s", reader->platform,
              XML_GetCurrentLineNumber(reader->parser), text);
    reader->sound = false;
    XML_StopParser(reader->parser, XML_FALSE);
}

static void check_text(struct reader *reader, const char *name, char *text, double periodicity)
{
    double period = period_of(text, periodicity);
    if (!(period < PROFILE_PERIOD_MIN))
        return;
    refuse(reader,
           "the profile '%.200s' repeats itself every %g s, which a simulation would never get past; a period is at "
           "least 1 us, and a "
           "profile that does not repeat itself has neither PERIODICITY nor LOOPAFTER",
           name, fmax(period, 0));
}

static FILE *open_profile(const char *platform, const char *name)
{
    const char *slash = strrchr(platform, '/');
    char path[4096];
    if (*name != '/' && slash) {
        snprintf(path, sizeof path, "%.*s/%s", (int)(slash - platform), platform, name);
        FILE *in = fopen(path, "rb");
        if (in)
            return in;
    }
    return fopen(name, "rb");
}

static void check_file(struct reader *reader, const char *name)
{
    FILE *in = open_profile(reader->platform, name);
    char *text = NULL;
    size_t length = 0, capacity = 0, got = 1;
    while (in && got && length <= TEXT_MAX) {
        text = array_grow(text, &capacity, length + CHUNK + 1, 1);
        got = fread(text + length, 1, CHUNK, in);
        length += got;
    }
    if (length > TEXT_MAX) {
        refuse(reader, "the profile '%.200s' is larger than %d MiB", name, TEXT_MAX >> 20);
    } else if (text) {
        text[length] = '\0';
        check_text(reader, name, text, -1);
    }
    free(text);
    if (in)
        fclose(in);
}

static bool ends_in_file(const char *attribute)
{
    size_t length = strlen(attribute);
    return length > 5 && strcmp(attribute + length - 5, "_file") == 0;
}

static void start_trace(struct reader *reader, const char **attributes)
{
    reader->in_trace = true;
    reader->length = 0;
    reader->periodicity = -1;
    reader->name[0] = '\0';
    for (; *attributes; attributes += 2) {
        if (strcmp(attributes[0], "periodicity") == 0)
            reader->periodicity = strtod(attributes[1], NULL);
        else if (strcmp(attributes[0], "id") == 0)
            snprintf(reader->name, sizeof reader->name, "%s", attributes[1]);
        else if (strcmp(attributes[0], "file") == 0 && *attributes[1])
            check_file(reader, attributes[1]);
    }
}

static void on_start(void *data, const char *element, const char **attributes)
{
    struct reader *reader = data;
    if (strcmp(element, "trace") == 0) {
        start_trace(reader, attributes);
        return;
    }
    for (; *attributes && reader->sound; attributes += 2)
        if (ends_in_file(attributes[0]) && *attributes[1])
            check_file(reader, attributes[1]);
}

static void on_text(void *data, const char *text, int length)
{
    struct reader *reader = data;
    if (!reader->in_trace || reader->length > TEXT_MAX)
        return;
    reader->text = array_grow(reader->text, &reader->capacity, reader->length + (size_t)length + 1, 1);
    memcpy(reader->text + reader->length, text, (size_t)length);
    reader->length += (size_t)length;
}

static void on_end(void *data, const char *element)
{
    struct reader *reader = data;
    if (strcmp(element, "trace") != 0 || !reader->sound)
        return;
    reader->in_trace = false;
    if (!reader->length)
        return;
    reader->text[reader->length] = '\0';
    check_text(reader, reader->name, reader->text, reader->periodicity);
}

bool profiles_check(const char *platform, struct fault *fault)
{
    FILE *in = fopen(platform, "rb");
    struct reader reader = {.parser = XML_ParserCreate(NULL), .platform = platform, .fault = fault, .sound = true};
    if (in && reader.parser) {
        static const size_t size = CHUNK;
        XML_SetUserData(reader.parser, &reader);
        XML_SetElementHandler(reader.parser, on_start, on_end);
        XML_SetCharacterDataHandler(reader.parser, on_text);
        for (bool more = true; more;) {
            void *buffer = XML_GetBuffer(reader.parser, (int)size);
            size_t got = buffer ? fread(buffer, 1, size, in) : 0;
            more = buffer && XML_ParseBuffer(reader.parser, (int)got, got == 0) == XML_STATUS_OK && got > 0;
        }
    }
    if (reader.parser)
        XML_ParserFree(reader.parser);
    free(reader.text);
    if (in)
        fclose(in);
    return reader.sound;
}
