/* SPDX-License-Identifier: Apache-2.0 */
#include "base/xml/feed.h"

#include "base/xml/place.h"

#include <stdint.h>

const char *xml_feed(XML_Parser parser, FILE *in)
{
    enum { CHUNK = 1 << 16, LONGEST = 1 << 20 };
    size_t fed = 0;
    for (size_t got = 1; got;) {
        void *buffer = XML_GetBuffer(parser, CHUNK);
        got = buffer ? fread(buffer, 1, CHUNK, in) : 0;
        if (!buffer || ferror(in))
            return buffer ? "it cannot be read to its end" : "no memory is left to read it";
        if (XML_ParseBuffer(parser, (int)got, got == 0) != XML_STATUS_OK)
            return XML_ErrorString(XML_GetErrorCode(parser));
        fed += got;
        size_t begun = xml_begin(parser);
        if (begun != SIZE_MAX && fed - begun > LONGEST) /* expat may not say */
            return "a tag, comment or text goes on for more than 1 MiB";
    }
    return NULL;
}
