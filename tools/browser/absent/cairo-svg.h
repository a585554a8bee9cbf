/* SPDX-License-Identifier: Apache-2.0 */
/* See cairo.h in this folder. */
#ifndef ABSENT_CAIRO_SVG_H
#define ABSENT_CAIRO_SVG_H

#include <cairo.h>

enum { CAIRO_SVG_UNIT_PX };

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
/* clang-format off */
ABSENT_NULL(cairo_surface_t, cairo_svg_surface_create_for_stream, cairo_write_func_t write, void *closure, double width,
            double height)
ABSENT(cairo_svg_surface_set_document_unit, cairo_surface_t *surface, int unit)
/* clang-format on */
#pragma clang diagnostic pop

#endif
