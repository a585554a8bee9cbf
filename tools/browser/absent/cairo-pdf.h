/* SPDX-License-Identifier: Apache-2.0 */
/* See cairo.h in this folder. */
#ifndef ABSENT_CAIRO_PDF_H
#define ABSENT_CAIRO_PDF_H

#include <cairo.h>

enum { CAIRO_PDF_METADATA_TITLE, CAIRO_PDF_METADATA_CREATOR, CAIRO_PDF_METADATA_CREATE_DATE };

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
/* clang-format off */
ABSENT_NULL(cairo_surface_t, cairo_pdf_surface_create_for_stream, cairo_write_func_t write, void *closure, double width,
            double height)
ABSENT(cairo_pdf_surface_set_metadata, cairo_surface_t *surface, int key, const char *text)
/* clang-format on */
#pragma clang diagnostic pop

#endif
