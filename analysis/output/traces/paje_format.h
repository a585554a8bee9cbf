/* SPDX-License-Identifier: Apache-2.0 */
/* What every trace in the Paje format begins with, and how it writes texts. Format: B. de Oliveira Stein, J. Chassin de
 * Kergommeaux, G. Mounie, "Paje trace file format", 2010. */
#ifndef STAGESIM_PAJE_FORMAT_H
#define STAGESIM_PAJE_FORMAT_H

struct text_writer;

/* The definitions of the events below, by their numbers. */
extern const char paje_events[];

enum {
    PAJE_DEFINE_CONTAINER = 0,
    PAJE_DEFINE_STATE = 1,
    PAJE_DEFINE_VARIABLE = 2,
    PAJE_DEFINE_LINK = 3,
    PAJE_DEFINE_VALUE = 4,
    PAJE_CREATE = 5,
    PAJE_DESTROY = 6,
    PAJE_PUSH = 7,
    PAJE_POP = 8,
    PAJE_SET_VARIABLE = 9,
    PAJE_START_LINK = 10,
    PAJE_END_LINK = 11
};

/* "EVENT TIME ": an event's number and seconds. */
void paje_begin(struct text_writer *text, unsigned event, double time);
/* A blank and the name between quotes, of which the format has none inside. */
void paje_name(struct text_writer *text, const char *name);

#endif
