/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/pictures/picture_form.h"

#include <stddef.h>

const double picture_text_size = 9.5;

bool picture_on_paper(const struct picture_form *form)
{
    return form && form->width > 0;
}

double picture_scale(const struct picture_form *form)
{
    return picture_on_paper(form) ? form->font_size / picture_text_size : 0;
}

double picture_page_width(const struct picture_form *form, double usual)
{
    return picture_on_paper(form) ? form->width / picture_scale(form) : usual;
}

const char *picture_prefix(const struct picture_form *form)
{
    return form ? form->prefix : NULL;
}
