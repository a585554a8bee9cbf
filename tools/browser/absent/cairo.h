/* SPDX-License-Identifier: Apache-2.0 */
/* cairo is not there: what pictures call of it does nothing, and the status says why, so that whoever wants a picture
 * is told so and nothing is written. */
#ifndef ABSENT_CAIRO_H
#define ABSENT_CAIRO_H

#include <stddef.h>

typedef struct absent_cairo cairo_t;
typedef struct absent_surface cairo_surface_t;
typedef struct absent_path cairo_path_t;
typedef struct absent_font cairo_scaled_font_t;
typedef struct absent_options cairo_font_options_t;
typedef struct {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
} cairo_text_extents_t;
typedef struct {
    unsigned long index;
    double x, y;
} cairo_glyph_t;
typedef enum { CAIRO_STATUS_SUCCESS, CAIRO_STATUS_ABSENT } cairo_status_t;
typedef cairo_status_t (*cairo_write_func_t)(void *closure, const unsigned char *data, unsigned length);

enum { CAIRO_FORMAT_RGB24, CAIRO_ANTIALIAS_GRAY, CAIRO_HINT_STYLE_NONE, CAIRO_HINT_METRICS_OFF };
enum { CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL, CAIRO_FONT_WEIGHT_BOLD, CAIRO_LINE_JOIN_ROUND };

#define ABSENT(name, ...)                                                                                              \
    static inline void name(__VA_ARGS__)                                                                               \
    {                                                                                                                  \
    }
#define ABSENT_NULL(type, name, ...)                                                                                   \
    static inline type *name(__VA_ARGS__)                                                                              \
    {                                                                                                                  \
        return NULL;                                                                                                   \
    }
#define ABSENT_STATUS(name, ...)                                                                                       \
    static inline cairo_status_t name(__VA_ARGS__)                                                                     \
    {                                                                                                                  \
        return CAIRO_STATUS_ABSENT;                                                                                    \
    }

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
/* clang-format off */
ABSENT(cairo_move_to, cairo_t *cr, double x, double y)
ABSENT(cairo_line_to, cairo_t *cr, double x, double y)
ABSENT(cairo_curve_to, cairo_t *cr, double a, double b, double c, double d, double x, double y)
ABSENT(cairo_arc, cairo_t *cr, double x, double y, double radius, double from, double to)
ABSENT(cairo_rectangle, cairo_t *cr, double x, double y, double width, double height)
ABSENT(cairo_close_path, cairo_t *cr)
ABSENT(cairo_new_path, cairo_t *cr)
ABSENT(cairo_new_sub_path, cairo_t *cr)
ABSENT(cairo_append_path, cairo_t *cr, const cairo_path_t *path)
ABSENT(cairo_path_destroy, cairo_path_t *path)
ABSENT(cairo_text_path, cairo_t *cr, const char *text)
ABSENT(cairo_stroke, cairo_t *cr)
ABSENT(cairo_fill, cairo_t *cr)
ABSENT(cairo_fill_preserve, cairo_t *cr)
ABSENT(cairo_clip, cairo_t *cr)
ABSENT(cairo_paint, cairo_t *cr)
ABSENT(cairo_save, cairo_t *cr)
ABSENT(cairo_restore, cairo_t *cr)
ABSENT(cairo_set_line_width, cairo_t *cr, double width)
ABSENT(cairo_set_line_join, cairo_t *cr, int join)
ABSENT(cairo_set_dash, cairo_t *cr, const double *dashes, int count, double offset)
ABSENT(cairo_set_source_rgb, cairo_t *cr, double red, double green, double blue)
ABSENT(cairo_select_font_face, cairo_t *cr, const char *family, int slant, int weight)
ABSENT(cairo_set_font_size, cairo_t *cr, double size)
ABSENT(cairo_set_font_options, cairo_t *cr, const cairo_font_options_t *options)
ABSENT(cairo_font_options_set_antialias, cairo_font_options_t *options, int value)
ABSENT(cairo_font_options_set_hint_style, cairo_font_options_t *options, int value)
ABSENT(cairo_font_options_set_hint_metrics, cairo_font_options_t *options, int value)
ABSENT(cairo_font_options_destroy, cairo_font_options_t *options)
ABSENT(cairo_show_text, cairo_t *cr, const char *text)
ABSENT(cairo_show_glyphs, cairo_t *cr, const cairo_glyph_t *glyphs, int count)
ABSENT(cairo_glyph_free, cairo_glyph_t *glyphs)
ABSENT(cairo_surface_set_device_scale, cairo_surface_t *surface, double x, double y)
ABSENT(cairo_surface_finish, cairo_surface_t *surface)
ABSENT(cairo_surface_destroy, cairo_surface_t *surface)
ABSENT(cairo_destroy, cairo_t *cr)
ABSENT(cairo_debug_reset_static_data, void)
ABSENT_NULL(cairo_path_t, cairo_copy_path, cairo_t *cr)
ABSENT_NULL(cairo_scaled_font_t, cairo_get_scaled_font, cairo_t *cr)
ABSENT_NULL(cairo_font_options_t, cairo_font_options_create, void)
ABSENT_NULL(cairo_surface_t, cairo_image_surface_create, int format, int width, int height)
ABSENT_NULL(cairo_t, cairo_create, cairo_surface_t *surface)
ABSENT_NULL(const char, cairo_version_string, void)
ABSENT_STATUS(cairo_status, cairo_t *cr)
ABSENT_STATUS(cairo_surface_status, cairo_surface_t *surface)
ABSENT_STATUS(cairo_surface_write_to_png_stream, cairo_surface_t *surface, cairo_write_func_t write, void *closure)
ABSENT_STATUS(cairo_scaled_font_text_to_glyphs, cairo_scaled_font_t *font, double x, double y, const char *text,
              int length, cairo_glyph_t **glyphs, int *count, void *clusters, int *cluster_count, void *flags)
/* clang-format on */

static inline void cairo_text_extents(cairo_t *cr, const char *text, cairo_text_extents_t *extents)
{
    *extents = (cairo_text_extents_t){0};
}

static inline void cairo_scaled_font_text_extents(cairo_scaled_font_t *font, const char *text,
                                                  cairo_text_extents_t *extents)
{
    *extents = (cairo_text_extents_t){0};
}

static inline const char *cairo_status_to_string(cairo_status_t status)
{
    return status == CAIRO_STATUS_ABSENT ? "this stagesim was built without cairo, which draws pictures" : "no error";
}

#pragma clang diagnostic pop
#endif
