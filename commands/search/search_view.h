/* SPDX-License-Identifier: Apache-2.0 */
/* How tables, files and pictures look at what a search has found. */
#ifndef STAGESIM_SEARCH_VIEW_H
#define STAGESIM_SEARCH_VIEW_H

#include "studies/search/search.h"

#include <stdio.h>

/* By place in the ranking; one of the best by its number, from 0. */
const struct search_result *search_result_at(const struct search *search, uint64_t rank);
const struct search_result *search_best(const struct search *search, uint32_t number);
/* Whether the layout at a place of the ranking has the time and the memory of the one before. */
bool search_repeats(const struct search *search, uint64_t rank);

/* Whether the objective has to do with energy. */
bool search_counts_energy(const struct search *search);
/* The quantile that the objective asks for, "p95"; NULL: it is another one. And what it is. */
const char *search_quantile_name(const struct search *search);
double search_step_shown(const struct search_result *result);
/* What becomes of a training, from the time that search_time says. */
const struct search_training *search_training_shown(const struct search_result *result);
/* "The fastest", or what else the objective makes the first one. */
const char *search_first_words(const struct search *search);
/* Seconds: on SimGrid where it was simulated. */
double search_time(const struct search_result *result);
/* A figure that goes with the inverse of the time, at that time. */
double search_at_time(const struct search_result *result, double figure);
/* Share of the time that search_time says. */
double search_bubble(const struct search_result *result);
/* How much memory such jobs were measured to need; without jobs where nothing is known. */
struct memory_outlook search_outlook(const struct search *search, const struct search_result *result);
/* Whether the exposed communication of one of the best was found out. */
bool search_is_exposed_known(const struct search *search, uint32_t number);
/* How many layouts fit and were discarded by a bound. */
uint64_t search_passed(const struct search *search);

/* The heading of a dimension; whether its values are numbers. */
const char *search_dimension_name(enum search_dimension dimension);
bool search_dimension_is_number(const struct search *search, enum search_dimension dimension);

/* A layout at a place of the ranking in short, as "d16 t4 m2 full Z1"; its schedule, NULL: none. Texts from the arena.
 */
const char *search_layout_name(const struct search *search, uint64_t at, struct arena *arena);
const char *search_schedule_name(const struct search *search, uint64_t at, struct arena *arena);

/* "0.5 % faster than the second: ...": what the best has other than the second, and what that comes to. */
void search_verdict(FILE *out, const struct search *search);
/* The first schedule among the best `top` that is not equivalent to synchronous training; NULL: there is none. */
const char *search_asynchronous(const struct search *search, uint32_t top);

#endif
