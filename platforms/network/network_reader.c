/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/network/network_reader.h"

#include "base/arena.h"
#include "base/xml/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void reader_leave(struct reader *reader, const char *format, ...)
{
    char text[256];
    va_list arguments;
    if (reader->why)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    reader->why = arena_print(reader->arena, "line %u: %s", xml_line(reader->parser), text);
    XML_StopParser(reader->parser, XML_FALSE);
}

bool reader_take(struct reader *reader, const char *element, const char **attributes, const struct known *known,
                 size_t count, const char **values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = known[i].otherwise;
    for (; *attributes; attributes += 2) {
        size_t i = 0;
        while (i < count && strcmp(known[i].name, attributes[0]) != 0)
            i++;
        if (i == count) {
            reader_leave(reader, "attribute '%.60s' of <%s>", attributes[0], element);
            return false;
        }
        values[i] = attributes[1];
        if (!strcmp(known[i].name, "id") && strchr(attributes[1], ' ')) { /* it may have been another blank */
            reader_leave(reader, "an id with blanks");
            return false;
        }
        for (const char *c = attributes[1]; *c; c++)
            if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f) {
                reader_leave(reader, "characters beyond ASCII in <%s>", element);
                return false;
            }
    }
    for (size_t i = 0; i < count; i++)
        if (!values[i]) {
            reader_leave(reader, "<%s> without %s", element, known[i].name);
            return false;
        }
    return true;
}

bool reader_number(struct reader *reader, bool (*parse)(const char *text, double *value), const char *text, bool zero,
                   double *value)
{
    if (!strpbrk(text, ",; ") && parse(text, value) && (*value > 0 || (zero && *value == 0)))
        return true;
    reader_leave(reader, "the value '%.60s'", text);
    return false;
}

bool reader_name_point(struct reader *reader, const char *name, uint32_t point)
{
    if (name_table_add(&reader->points, name, point))
        return true;
    reader_leave(reader, "the name '%.60s' a second time", name);
    return false;
}

struct open_element *reader_top(struct reader *reader)
{
    return &reader->open[reader->depth - 1];
}

void reader_push(struct reader *reader, enum element element, uint32_t zone)
{
    if (reader->depth == DEPTH_MAX)
        reader_leave(reader, "elements that deep");
    else
        reader->open[reader->depth++] = (struct open_element){element, zone, HOLDS_NOTHING, PHASE_PROPERTIES};
}

bool reader_enter(struct reader *reader, const char *element, enum content content, bool routes)
{
    struct open_element *zone = reader_top(reader);
    enum phase phase = routes ? PHASE_ROUTES : PHASE_CONTENT;
    bool fits = zone->element == AT_ZONE && zone->phase <= phase &&
                (zone->content == content || (zone->content == HOLDS_NOTHING && !routes));
    if (!fits) {
        reader_leave(reader, "<%s> at this place", element);
        return false;
    }
    zone->phase = phase;
    zone->content = content;
    return true;
}

void reader_clear_host(struct reader *reader)
{
    reader->host = (struct platform_host){.name = ""};
    reader->kind = KIND_NONE;
    reader->seen = 0;
}
