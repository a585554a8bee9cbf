/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/canvas.h"

#include "analysis/pictures/png_density.h"
#include "analysis/pictures/svg_tidy.h"
#include "base/arena.h"
#include "base/process/limit.h"

#include <assert.h>
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <fontconfig/fontconfig.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PNG_SIDE_MAX = 32000 };            /* cairo's image surfaces end at 32,767 pixels */
static const double dots_per_inch = 600;  /* of a PNG for paper */
static const double pdf_side_max = 14400; /* points: what PDF viewers promise to show */

struct canvas {
    enum canvas_format format;
    double width, height;
    struct canvas_caption caption;
    cairo_surface_t *surface;
    cairo_t *cr;
    char *bytes; /* what the surface has written so far, ended by a 0 */
    size_t size, capacity;
};

static const char *const format_names[] = {[CANVAS_SVG] = "svg", [CANVAS_PNG] = "png", [CANVAS_PDF] = "pdf"};

bool canvas_format_of(const char *name, enum canvas_format *format)
{
    for (int i = CANVAS_SVG; i <= CANVAS_PDF; i++) {
        if (strcmp(name, format_names[i]) == 0) {
            *format = (enum canvas_format)i;
            return true;
        }
    }
    return false;
}

const char *canvas_format_name(enum canvas_format format)
{
    return format_names[format];
}

static cairo_status_t collect(void *closure, const unsigned char *data, unsigned length)
{
    struct canvas *canvas = closure;
    canvas->bytes = array_grow(canvas->bytes, &canvas->capacity, canvas->size + length + 1, 1);
    memcpy(canvas->bytes + canvas->size, data, length);
    canvas->size += length;
    canvas->bytes[canvas->size] = '\0'; /* svg_tidy scans it as a text */
    return CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *svg_surface(struct canvas *canvas)
{
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(collect, canvas, canvas->width, canvas->height);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PX);
    return surface;
}

static cairo_surface_t *pdf_surface(struct canvas *canvas)
{
    double wanted = canvas->caption.scale > 0 ? canvas->caption.scale : 1;
    double scale = fmin(wanted, pdf_side_max / fmax(canvas->width, canvas->height));
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(collect, canvas, canvas->width * scale, canvas->height * scale);
    cairo_surface_set_device_scale(surface, scale, scale);
    char title[256];
    text_clean(title, sizeof title, canvas->caption.title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "stagesim");
    /* cairo would write the present time */
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, "2000-01-01T00:00:00Z");
    return surface;
}

static double pixels_per_unit(const struct canvas *canvas)
{
    double wanted = canvas->caption.scale > 0 ? canvas->caption.scale * dots_per_inch / 72 : 2;
    return fmin(wanted, PNG_SIDE_MAX / fmax(canvas->width, canvas->height));
}

/* Two pixels a point, fewer where the picture would not fit otherwise. */
static cairo_surface_t *png_surface(const struct canvas *canvas)
{
    double scale = pixels_per_unit(canvas);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(canvas->width * scale),
                                                          (int)ceil(canvas->height * scale));
    cairo_surface_set_device_scale(surface, scale, scale);
    return surface;
}

/* The same widths at every scale and in every format. */
static void set_font_options(cairo_t *cr)
{
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
}

static void release_fonts(void)
{
    cairo_debug_reset_static_data();
    FcFini();
}

/* The font caches are the process's and stay until it ends; they are given back then, so that a leak checker sees our
 * leaks only. The flag, like that of find_fonts, is about the process, not about a canvas. */
static void release_fonts_at_exit(void)
{
    static bool registered;
    if (!registered)
        registered = atexit(release_fonts) == 0;
}

/* Tenths of a second that the process has computed. */
static uint64_t computed(const void *context)
{
    struct timespec used;
    (void)context;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 10 + (uint64_t)used.tv_nsec / 100000000;
}

/* The fonts are looked for once in a process. fontconfig (2.14) waits for a lock that it has itself where it finds no
 * memory meanwhile: then the process ends with a message. */
static void find_fonts(cairo_t *cr)
{
    static bool found;
    cairo_text_extents_t unused;
    if (found)
        return;
    limit_begin("fontconfig, which looks for fonts,", limit_seconds(), computed, NULL);
    for (int bold = 0; bold < 2; bold++) {
        canvas_set_font(cr, (struct canvas_font){9, bold});
        cairo_text_extents(cr, "x", &unused);
    }
    limit_end();
    found = true;
}

struct canvas *canvas_create(enum canvas_format format, double width, double height,
                             const struct canvas_caption *caption)
{
    assert(isfinite(width) && isfinite(height) && width > 0 && height > 0);
    release_fonts_at_exit();
    size_t capacity = 0;
    struct canvas *canvas = array_grow(NULL, &capacity, 1, sizeof *canvas);
    bool paper = caption->scale > 0; /* as wide as asked, to the last digit */
    *canvas = (struct canvas){
        .format = format, .width = paper ? width : ceil(width), .height = ceil(height), .caption = *caption};
    if (format == CANVAS_SVG)
        canvas->surface = svg_surface(canvas);
    else if (format == CANVAS_PDF)
        canvas->surface = pdf_surface(canvas);
    else
        canvas->surface = png_surface(canvas);
    canvas->cr = cairo_create(canvas->surface);
    set_font_options(canvas->cr);
    find_fonts(canvas->cr);
    canvas_set_colour(canvas->cr, colour_hex(0xFFFFFF));
    cairo_paint(canvas->cr);
    return canvas;
}

struct canvas *canvas_create_measuring(void)
{
    return canvas_create(CANVAS_PNG, 1, 1, &(struct canvas_caption){.title = ""});
}

void canvas_destroy(struct canvas *canvas)
{
    if (!canvas)
        return;
    cairo_destroy(canvas->cr);
    cairo_surface_destroy(canvas->surface);
    free(canvas->bytes);
    free(canvas);
}

cairo_t *canvas_context(struct canvas *canvas)
{
    return canvas->cr;
}

static bool canvas_write(struct canvas *canvas, FILE *out, struct fault *fault)
{
    cairo_status_t status = cairo_status(canvas->cr);
    if (status == CAIRO_STATUS_SUCCESS && canvas->format == CANVAS_PNG)
        status = cairo_surface_write_to_png_stream(canvas->surface, collect, canvas);
    cairo_surface_finish(canvas->surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(canvas->surface);
    if (status != CAIRO_STATUS_SUCCESS)
        return fault_set(fault, "drawing the picture failed: %s", cairo_status_to_string(status));
    if (canvas->format == CANVAS_SVG)
        svg_tidy(canvas->bytes, canvas->size, &canvas->caption, out);
    else if (canvas->format == CANVAS_PNG && canvas->caption.scale > 0)
        png_write_with_density(out, canvas->bytes, canvas->size, pixels_per_unit(canvas) * 72 / canvas->caption.scale);
    else
        fwrite(canvas->bytes, 1, canvas->size, out);
    return true; /* errors stay on the stream, whose owner knows the file's name */
}

bool canvas_finish(struct canvas *canvas, FILE *out, struct fault *fault)
{
    bool done = canvas_write(canvas, out, fault);
    canvas_destroy(canvas);
    return done;
}

struct colour colour_mix(struct colour a, struct colour b, double share)
{
    return (struct colour){a.red + share * (b.red - a.red), a.green + share * (b.green - a.green),
                           a.blue + share * (b.blue - a.blue)};
}

/* Rec. 709 weights on the gamma-coded values: near enough to decide between dark and light text. */
double colour_lightness(struct colour colour)
{
    return 0.2126 * colour.red + 0.7152 * colour.green + 0.0722 * colour.blue;
}
