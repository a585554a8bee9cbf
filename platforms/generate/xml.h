/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of SimGrid platform XML; the parts of the generator share them. */
#ifndef STAGESIM_PLATFORM_XML_H
#define STAGESIM_PLATFORM_XML_H

#include "platforms/generate/generate.h"

/* The head of the file up to and with <platform>: DTD and a comment with everything that the numbers of the designs,
 * and of what joins several, come from. */
void xml_head(FILE *out, const char *title, const struct design *designs, uint32_t count, const struct joint *joint);
void xml_tail(FILE *out);

/* Text as an attribute's value: & < > " escaped, control characters replaced. */
void xml_text(FILE *out, const char *text);
/* Text inside a comment: two hyphens in a row are set apart, control and other characters replaced. */
void xml_comment_text(FILE *out, const char *text);

/* Rates in GB/s, times in us, both with up to ten significant digits. */
void xml_bandwidth(FILE *out, double bytes_per_second);
void xml_latency(FILE *out, double seconds);

/* A split-duplex link `class-node-number` (`class-node` for number NODE_NONE). */
void xml_link(FILE *out, const char *class_name, uint32_t node, uint32_t number, double bandwidth, double latency);
/* A link that every transfer has for itself, without latency. */
void xml_flow_link(FILE *out, const char *name, double bandwidth);
/* A link of xml_link on a route. */
void xml_link_on_route(FILE *out, const char *class_name, uint32_t node, uint32_t number, bool up);

/* The host's speed as an attribute's value, and its properties, each on a line of `indent` blanks. */
void xml_speed(FILE *out, const struct node_part *device);
void xml_properties(FILE *out, const struct node_part *device, unsigned indent);

#endif
