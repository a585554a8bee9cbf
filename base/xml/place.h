/* SPDX-License-Identifier: Apache-2.0 */
/* Where expat is in a document, by the functions that its release has: since 2.9 older ones are deprecated. */
#ifndef STAGESIM_XML_PLACE_H
#define STAGESIM_XML_PLACE_H

#include <expat.h>
#include <stddef.h>

/* From 1. */
static inline unsigned xml_line(XML_Parser parser)
{
#ifdef EXPAT_64
    return (unsigned)XML_GetCurrentLineNumber64(parser);
#else
    return (unsigned)XML_GetCurrentLineNumber(parser);
#endif
}

static inline unsigned xml_column(XML_Parser parser)
{
#ifdef EXPAT_64
    return (unsigned)XML_GetCurrentColumnNumber64(parser) + 1;
#else
    return (unsigned)XML_GetCurrentColumnNumber(parser) + 1;
#endif
}

/* Where the event begins, in bytes of the document from 0 (SIZE_MAX: expat does not say), and how long it is. */
static inline size_t xml_begin(XML_Parser parser)
{
#ifdef EXPAT_64
    return (size_t)XML_GetCurrentByteIndex64(parser);
#else
    return (size_t)XML_GetCurrentByteIndex(parser);
#endif
}

static inline size_t xml_length(XML_Parser parser)
{
#ifdef EXPAT_64
    return (size_t)XML_GetCurrentByteCount64(parser);
#else
    return (size_t)XML_GetCurrentByteCount(parser);
#endif
}

#endif
