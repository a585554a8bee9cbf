/* SPDX-License-Identifier: Apache-2.0 */
/* A training's forecast in words, as lines, and in summaries; doc/definitions.md has the figures. */
#ifndef STAGESIM_TRAINING_FORECAST_TEXT_H
#define STAGESIM_TRAINING_FORECAST_TEXT_H

#include "base/json_writer.h"
#include "training/forecast.h"

#include <stdio.h>

struct arena;

/* A figure as summaries have it, an offset in struct training_forecast. */
struct forecast_figure {
    const char *key;
    bool count; /* a uint32_t, otherwise a double */
    size_t offset;
};
/* key NULL ends. What is not finite is left out. */
extern const struct forecast_figure forecast_figures[];

/* "205 days of computing, 228 with failures (219 to 241 in 8 of 10), ...". Memory from the arena. */
const char *forecast_sentence(const struct training_forecast *forecast, const char *currency, struct arena *arena);
/* The same, and what the lost time went to, as lines of a run. */
void forecast_print(FILE *out, const struct training_forecast *forecast, const char *currency);
/* An object `forecast`; nothing where nothing is known. */
void forecast_write(struct json_writer *json, const struct training_forecast *forecast);

/* An amount of money: "6.9 million USD"; a time: "16 minutes", "228 days". Memory from the arena. */
const char *forecast_money(double amount, const char *currency, struct arena *arena);
const char *forecast_time(double seconds, struct arena *arena);
/* What a part of the calendar is, for people: "steps done again". */
const char *forecast_part_words(enum training_part part);

#endif
