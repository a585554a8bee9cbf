/* SPDX-License-Identifier: Apache-2.0 */
/* cairo and fontconfig are loaded by the first function of theirs that is called: they bring twenty libraries, whose
 * loading would take most of the start of commands that draw nothing. Here are the functions that stagesim calls, each
 * under its own name. Where the libraries are missing, what draws ends the process, and their versions are nothing: a
 * run without pictures, which only notes them, does without. */
#include "base/exit_code.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <dlfcn.h>
#include <fontconfig/fontconfig.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* DOES(name, parameters, arguments), GIVES(type, name, parameters, arguments) and VERSION(type, name), by the
 * libraries' headers. */
/* clang-format off */
#define CAIRO_FUNCTIONS(DOES, GIVES, VERSION) \
    DOES(cairo_append_path, (cairo_t *cr, const cairo_path_t *path), (cr, path)) \
    DOES(cairo_arc, (cairo_t *cr, double xc, double yc, double radius, double angle1, double angle2), \
        (cr, xc, yc, radius, angle1, angle2)) \
    DOES(cairo_clip, (cairo_t *cr), (cr)) \
    DOES(cairo_close_path, (cairo_t *cr), (cr)) \
    DOES(cairo_curve_to, (cairo_t *cr, double x1, double y1, double x2, double y2, double x3, double y3), \
        (cr, x1, y1, x2, y2, x3, y3)) \
    DOES(cairo_debug_reset_static_data, (void), ()) \
    DOES(cairo_destroy, (cairo_t *cr), (cr)) \
    DOES(cairo_fill, (cairo_t *cr), (cr)) \
    DOES(cairo_fill_preserve, (cairo_t *cr), (cr)) \
    DOES(cairo_font_options_destroy, (cairo_font_options_t *options), (options)) \
    DOES(cairo_font_options_set_antialias, (cairo_font_options_t *options, cairo_antialias_t antialias), \
        (options, antialias)) \
    DOES(cairo_font_options_set_hint_metrics, (cairo_font_options_t *options, \
        cairo_hint_metrics_t hint_metrics), (options, hint_metrics)) \
    DOES(cairo_font_options_set_hint_style, (cairo_font_options_t *options, cairo_hint_style_t hint_style), \
        (options, hint_style)) \
    DOES(cairo_glyph_free, (cairo_glyph_t *glyphs), (glyphs)) \
    DOES(cairo_line_to, (cairo_t *cr, double x, double y), (cr, x, y)) \
    DOES(cairo_move_to, (cairo_t *cr, double x, double y), (cr, x, y)) \
    DOES(cairo_new_path, (cairo_t *cr), (cr)) \
    DOES(cairo_new_sub_path, (cairo_t *cr), (cr)) \
    DOES(cairo_paint, (cairo_t *cr), (cr)) \
    DOES(cairo_path_destroy, (cairo_path_t *path), (path)) \
    DOES(cairo_pdf_surface_set_metadata, (cairo_surface_t *surface, cairo_pdf_metadata_t metadata, \
        const char *utf8), (surface, metadata, utf8)) \
    DOES(cairo_rectangle, (cairo_t *cr, double x, double y, double width, double height), (cr, x, y, width, height)) \
    DOES(cairo_restore, (cairo_t *cr), (cr)) \
    DOES(cairo_save, (cairo_t *cr), (cr)) \
    DOES(cairo_scaled_font_text_extents, (cairo_scaled_font_t *scaled_font, const char *utf8, \
        cairo_text_extents_t *extents), (scaled_font, utf8, extents)) \
    DOES(cairo_select_font_face, (cairo_t *cr, const char *family, cairo_font_slant_t slant, \
        cairo_font_weight_t weight), (cr, family, slant, weight)) \
    DOES(cairo_set_dash, (cairo_t *cr, const double *dashes, int num_dashes, double offset), \
        (cr, dashes, num_dashes, offset)) \
    DOES(cairo_set_font_options, (cairo_t *cr, const cairo_font_options_t *options), (cr, options)) \
    DOES(cairo_set_font_size, (cairo_t *cr, double size), (cr, size)) \
    DOES(cairo_set_line_join, (cairo_t *cr, cairo_line_join_t line_join), (cr, line_join)) \
    DOES(cairo_set_line_width, (cairo_t *cr, double width), (cr, width)) \
    DOES(cairo_set_source_rgb, (cairo_t *cr, double red, double green, double blue), (cr, red, green, blue)) \
    DOES(cairo_show_glyphs, (cairo_t *cr, const cairo_glyph_t *glyphs, int num_glyphs), (cr, glyphs, num_glyphs)) \
    DOES(cairo_show_text, (cairo_t *cr, const char *utf8), (cr, utf8)) \
    DOES(cairo_stroke, (cairo_t *cr), (cr)) \
    DOES(cairo_surface_destroy, (cairo_surface_t *surface), (surface)) \
    DOES(cairo_surface_finish, (cairo_surface_t *surface), (surface)) \
    DOES(cairo_surface_set_device_scale, (cairo_surface_t *surface, double x_scale, double y_scale), \
        (surface, x_scale, y_scale)) \
    DOES(cairo_svg_surface_set_document_unit, (cairo_surface_t *surface, cairo_svg_unit_t unit), (surface, unit)) \
    DOES(cairo_text_extents, (cairo_t *cr, const char *utf8, cairo_text_extents_t *extents), (cr, utf8, extents)) \
    DOES(cairo_text_path, (cairo_t *cr, const char *utf8), (cr, utf8)) \
    GIVES(cairo_path_t *, cairo_copy_path, (cairo_t *cr), (cr)) \
    GIVES(cairo_t *, cairo_create, (cairo_surface_t *target), (target)) \
    GIVES(cairo_font_options_t *, cairo_font_options_create, (void), ()) \
    GIVES(cairo_scaled_font_t *, cairo_get_scaled_font, (cairo_t *cr), (cr)) \
    GIVES(cairo_surface_t *, cairo_image_surface_create, (cairo_format_t format, int width, int height), \
        (format, width, height)) \
    GIVES(cairo_surface_t *, cairo_pdf_surface_create_for_stream, (cairo_write_func_t write_func, \
        void *closure, double width_in_points, double height_in_points), \
        (write_func, closure, width_in_points, height_in_points)) \
    GIVES(cairo_status_t, cairo_scaled_font_text_to_glyphs, (cairo_scaled_font_t *scaled_font, double x, \
        double y, const char *utf8, int utf8_len, cairo_glyph_t **glyphs, int *num_glyphs, \
        cairo_text_cluster_t **clusters, int *num_clusters, cairo_text_cluster_flags_t *cluster_flags), \
        (scaled_font, x, y, utf8, utf8_len, glyphs, num_glyphs, clusters, num_clusters, cluster_flags)) \
    GIVES(cairo_status_t, cairo_status, (cairo_t *cr), (cr)) \
    GIVES(const char *, cairo_status_to_string, (cairo_status_t status), (status)) \
    GIVES(cairo_status_t, cairo_surface_status, (cairo_surface_t *surface), (surface)) \
    GIVES(cairo_status_t, cairo_surface_write_to_png_stream, (cairo_surface_t *surface, \
        cairo_write_func_t write_func, void *closure), (surface, write_func, closure)) \
    GIVES(cairo_surface_t *, cairo_svg_surface_create_for_stream, (cairo_write_func_t write_func, \
        void *closure, double width_in_points, double height_in_points), \
        (write_func, closure, width_in_points, height_in_points)) \
    VERSION(const char *, cairo_version_string)
#define FONTCONFIG_FUNCTIONS(DOES, GIVES, VERSION) \
    DOES(FcFini, (void), ()) \
    VERSION(int, FcGetVersion)
/* clang-format on */

#define POINTER_DOES(name, parameters, arguments) void(*name) parameters;
#define POINTER_GIVES(type, name, parameters, arguments) type(*name) parameters;
#define POINTER_VERSION(type, name) type (*name)(void);

/* About the process. */
static struct {
    bool loaded;
    CAIRO_FUNCTIONS(POINTER_DOES, POINTER_GIVES, POINTER_VERSION)
    FONTCONFIG_FUNCTIONS(POINTER_DOES, POINTER_GIVES, POINTER_VERSION)
} loaded;

/* C has no cast from void * to a function's address. */
static bool find(void *library, const char *name, void *pointer, size_t size)
{
    void *symbol = dlsym(library, name);
    if (symbol)
        memcpy(pointer, &symbol, size);
    return symbol != NULL;
}

#define FIND_DOES(name, parameters, arguments) &&find(library, #name, &loaded.name, sizeof loaded.name)
#define FIND_GIVES(type, name, parameters, arguments) FIND_DOES(name, , )
#define FIND_VERSION(type, name) FIND_DOES(name, , )

/* False where dlerror() says why. */
static bool load(void)
{
    void *library = dlopen("libcairo.so.2", RTLD_LAZY | RTLD_LOCAL);
    bool good = library CAIRO_FUNCTIONS(FIND_DOES, FIND_GIVES, FIND_VERSION);
    library = good ? dlopen("libfontconfig.so.1", RTLD_LAZY | RTLD_LOCAL) : NULL;
    return library FONTCONFIG_FUNCTIONS(FIND_DOES, FIND_GIVES, FIND_VERSION);
}

static inline bool is_loaded(void)
{
    return loaded.loaded || (loaded.loaded = load());
}

static inline void be_loaded(void)
{
    if (is_loaded())
        return;
    const char *reason = dlerror();
    fprintf(stderr, "stagesim: error: cairo, which draws pictures, cannot be loaded: %s\n",
            reason ? reason : "it is not complete");
    exit(EXIT_FAILED);
}

#define DEFINE_DOES(name, parameters, arguments)                                                                       \
    void name parameters                                                                                               \
    {                                                                                                                  \
        be_loaded();                                                                                                   \
        loaded.name arguments;                                                                                         \
    }
#define DEFINE_GIVES(type, name, parameters, arguments)                                                                \
    type name parameters                                                                                               \
    {                                                                                                                  \
        be_loaded();                                                                                                   \
        return loaded.name arguments;                                                                                  \
    }

#define DEFINE_VERSION(type, name)                                                                                     \
    type name(void)                                                                                                    \
    {                                                                                                                  \
        return is_loaded() ? loaded.name() : 0;                                                                        \
    }

CAIRO_FUNCTIONS(DEFINE_DOES, DEFINE_GIVES, DEFINE_VERSION)
FONTCONFIG_FUNCTIONS(DEFINE_DOES, DEFINE_GIVES, DEFINE_VERSION)
