/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim platform show` and `stagesim list presets` print. */
#ifndef STAGESIM_PLATFORM_TEXT_H
#define STAGESIM_PLATFORM_TEXT_H

#include "base/tables/table_write.h"
#include "platforms/view.h"
#include "platforms/zones.h"

#include <stdio.h>

/* The whole platform: the tree of zones, folded; nodes and what their hosts reach; links. */
void platform_text_write(FILE *out, const struct view *view, const struct zone *root);
void platform_json_write(FILE *out, const struct view *view, const struct zone *root);

/* One route. */
void platform_route_text(FILE *out, struct platform *platform, uint32_t from, uint32_t to);
void platform_route_json(FILE *out, struct platform *platform, uint32_t from, uint32_t to);

/* What a paper shows of them: nodes and links by kind, and the links of a route. CSV and JSON hold the links alone, in
 * bytes per second and seconds. */
void platform_tables_write(FILE *out, const struct view *view, enum table_format format);
void platform_route_table(FILE *out, struct platform *platform, uint32_t from, uint32_t to, enum table_format format);

/* "370.8 GB/s", "2.7 us", "80 GiB", "312 Tf", with as few digits as tell it. At most size bytes. */
void text_rate(char *text, size_t size, double bytes_per_second);
void text_time(char *text, size_t size, double seconds);
void text_memory(char *text, size_t size, double bytes);
void text_speed(char *text, size_t size, double flops_per_second);

/* The presets as a table, one a line, and as an array of objects. */
void preset_list_text(FILE *out);
void preset_list_table(FILE *out, enum table_format format);
void preset_list_json(FILE *out);

#endif
