/* SPDX-License-Identifier: Apache-2.0 */
/* How tables, files and pages look at a plan. */
#ifndef STAGESIM_PLAN_VIEW_H
#define STAGESIM_PLAN_VIEW_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "base/json_writer.h"
#include "base/tables/table_write.h"
#include "studies/fleet/fleet.h"
#include "studies/fleet/worth.h"

#define PLAN_DAY 86400.0

enum { PLAN_MONEY_MAX = 64 };

/* "18.3 million" and "18.3 million USD"; both return text. */
const char *plan_sum_text(char text[PLAN_MONEY_MAX], double money);
const char *plan_money_text(char text[PLAN_MONEY_MAX], const struct fleet *fleet, double money);
const struct fleet_question *plan_question(const struct fleet *fleet, const struct fleet_way *way);
const struct fleet_found *plan_found(const struct fleet *fleet, const struct fleet_way *way);
const struct plan_offer *plan_offer_of(const struct fleet *fleet, const struct fleet_way *way);
const struct fleet_course *plan_course(const struct fleet *fleet, const struct fleet_way *way);

/* plan_verdict.c: three sentences, each without a line's end: what to take and until when it is done for how much; what
 * else the front has, or what would have to change; how many clusters were weighed and how. */
void plan_verdict(FILE *out, const struct fleet *fleet);
/* Lines about what is not known and why, and what fits nowhere and what would fit. */
void plan_missing(FILE *out, const struct fleet *fleet);

/* What changes of the recommended cluster are worth, count of them. */
struct plan_worths {
    const struct fleet_worth *list;
    size_t count;
};

/* plan_worth.c: a table, an array of JSON, and a table of HTML; nothing where there are none. */
void plan_worth_print(FILE *out, const struct fleet *fleet, const struct plan_worths *worths, enum table_format format);
void plan_worth_json(struct json_writer *json, const struct fleet *fleet, const struct plan_worths *worths);
void plan_worth_html(FILE *out, const struct fleet *fleet, const struct plan_worths *worths);

/* plan_family.c: what each of several jobs has and loses on the recommended cluster: as a table, as jobs.csv, an array
 * of JSON and a table of HTML; nothing where there is one job. */
void plan_family_print(FILE *out, const struct fleet *fleet, enum table_format format);
void plan_family_csv(FILE *out, const struct fleet *fleet);
void plan_family_json(struct json_writer *json, const struct fleet *fleet);
void plan_family_html(FILE *out, const struct fleet *fleet);

/* plan_law.c: what a scaling law says of the money, as a line and as an object of JSON; nothing where none is asked. */
void plan_law(FILE *out, const struct fleet *fleet);
void plan_law_json(struct json_writer *json, const struct fleet *fleet);

/* plan_print.c: the front as a table with the verdict around it; as CSV all clusters, as JSON all there is. */
void plan_print(FILE *out, const struct fleet *fleet, const struct plan_worths *worths, enum table_format format);

/* plan_html.c, plan_picture.c: false with the fault filled. */
bool plan_html(FILE *out, const struct fleet *fleet, const struct plan_worths *worths, struct fault *fault);
bool plan_picture(FILE *out, const struct fleet *fleet, enum canvas_format format, const struct picture_form *form,
                  struct fault *fault);

#endif
