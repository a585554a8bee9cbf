/* SPDX-License-Identifier: Apache-2.0 */
/* Files handed to expat. */
#ifndef STAGESIM_XML_FEED_H
#define STAGESIM_XML_FEED_H

#include <expat.h>
#include <stdio.h>

/* Until the file's end. NULL: all of it was read; else why not, in expat's words where it is no XML. A tag, comment or
 * text between two tags that goes on for more than a mebibyte is refused: releases of expat before 2.6 read it from its
 * beginning again with every piece, which takes hours for a file of a gigabyte. */
const char *xml_feed(XML_Parser parser, FILE *in);

#endif
