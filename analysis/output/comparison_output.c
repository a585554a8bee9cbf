/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/comparison_output.h"

#include "analysis/output/comparison_idle.h"
#include "analysis/output/comparison_queue.h"
#include "analysis/output/comparison_steps.h"
#include "analysis/output/report_html.h"
#include "analysis/output/run_files.h"
#include "analysis/pictures/picture_comparison.h"

static bool write_picture(const struct comparison_view *view, struct output *output, enum canvas_format format,
                          const struct picture_form *form, struct fault *fault)
{
    char name[64];
    snprintf(name, sizeof name, "comparison.%s", canvas_format_name(format));
    FILE *out = output_open(output, name, fault);
    return out && picture_comparison(view->gantts, view->count, view->title, format, form, out, fault);
}

static bool write_steps(const struct comparison_view *view, struct output *output, enum canvas_format format,
                        const struct picture_form *form, struct fault *fault)
{
    char name[64];
    snprintf(name, sizeof name, "steps.%s", canvas_format_name(format));
    FILE *out = output_open(output, name, fault);
    return out && comparison_steps_picture(out, view->rows, view->count, format, form, fault);
}

bool comparison_write_pictures(const struct comparison_view *view, unsigned pictures, const struct picture_form *form,
                               struct output *output, struct fault *fault)
{
    for (int format = 0; format < PICTURE_FORMATS; format++)
        if (picture_wanted(pictures, (enum canvas_format)format) &&
            (!write_picture(view, output, (enum canvas_format)format, form, fault) ||
             (comparison_has_steps(view->rows, view->count) &&
              !write_steps(view, output, (enum canvas_format)format, form, fault))))
            return false;
    return true;
}

bool comparison_write_report(const struct comparison_view *view, struct output *output, struct fault *fault)
{
    FILE *out = output_open(output, "report.html", fault);
    if (out && comparison_is_of_queues(view->rows, view->count))
        return comparison_queue_page(out, view, fault);
    if (out && comparison_is_of_idle(view->rows, view->count))
        return comparison_idle_page(out, view, fault);
    return out && report_html_comparison(out, view, fault);
}
