/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim train` shows and writes. */
#ifndef STAGESIM_TRAIN_OUTPUT_H
#define STAGESIM_TRAIN_OUTPUT_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "base/json_writer.h"
#include "base/tables/table_write.h"
#include "job/scenario/scenario.h"

struct training_diary;

/* A forecast, and what it rests on. All borrowed. */
struct train_view {
    const struct scenario *scenario;
    const struct training_forecast *forecast;
    const struct training_job *job;
    const char *currency;               /* NULL: not given */
    double mfu;                         /* of the simulated step; 0: not known */
    const struct training_diary *diary; /* of the first run; NULL: not simulated */
};

/* How long a calendar is drawn. */
extern const double train_month_seconds;

/* Goodput in its parts, and what was lost to each component: members of an object. */
void train_write_goodput(struct json_writer *json, const struct train_view *view);
/* The verdict, what the time goes to, and what was assumed. */
void train_print(FILE *out, const struct train_view *view, enum table_format format);
/* A row a day, a colour for what its hours are spent with. */
bool train_month(FILE *out, const struct train_view *view, enum canvas_format format, const struct picture_form *form,
                 struct fault *fault);
/* The calendar as a table, and as states in the Paje format. */
void train_calendar_csv(FILE *out, const struct train_view *view);
void train_calendar_paje(FILE *out, const struct train_view *view);
/* The colour of a part: 0xrrggbb. */
uint32_t train_colour(enum training_part part);

#endif
