/* SPDX-License-Identifier: Apache-2.0 */
/* Where an element of a platform file is. */
#include "base/arena.h"
#include "base/paths.h"
#include "base/xml/feed.h"
#include "base/xml/place.h"
#include "platforms/platform_file.h"
#include "platforms/platform_numbers.h"

#include <expat.h>
#include <stdio.h>
#include <string.h>

struct search {
    XML_Parser parser;
    const char *id;
    struct place found;
};

static void on_searched(void *data, const char *element, const char **attributes)
{
    struct search *search = data;
    const char *id = xml_attribute(attributes, "id");
    size_t length = strlen(id);
    bool direction = length && strncmp(search->id, id, length) == 0 && strcmp(element, "link") == 0 &&
                     (strcmp(search->id + length, "_UP") == 0 || strcmp(search->id + length, "_DOWN") == 0);
    if (strcmp(element, "prop") == 0 || (strcmp(search->id, id) != 0 && !direction))
        return;
    search->found.line = xml_line(search->parser);
    search->found.column = xml_column(search->parser);
    XML_StopParser(search->parser, XML_FALSE);
}

const char *platform_file_place(const char *path, const char *id, struct arena *arena)
{
    FILE *in = path_open_read(path);
    struct search search = {.parser = XML_ParserCreate(NULL), .id = id};
    XML_SetUserData(search.parser, &search);
    XML_SetStartElementHandler(search.parser, on_searched);
    if (in) {
        xml_feed(search.parser, in);
        fclose(in);
    }
    XML_ParserFree(search.parser);
    return search.found.line ? arena_print(arena, "%s:%u:%u: ", path, search.found.line, search.found.column) : "";
}
