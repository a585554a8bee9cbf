/* SPDX-License-Identifier: Apache-2.0 */
/* What `stagesim explain` found out, and the ways to show it; for the sources of this folder alone. */
#ifndef STAGESIM_EXPLAIN_PARTS_H
#define STAGESIM_EXPLAIN_PARTS_H

#include "base/tables/table_write.h"
#include "commands/cli/options.h"
#include "studies/explain/link_fit.h"
#include "studies/explain/losses.h"
#include "studies/explain/model.h"
#include "studies/orders/recognise.h"

struct explain_run;

struct explanation {
    const struct explain_run *run; /* a calibration asks: nothing is shown or written; NULL: the command itself */
    const char *const *files;
    size_t file_count;
    struct recorded *recorded;
    const struct scenario *scenario; /* NULL: none was given */
    struct explain_model *model;     /* NULL like it */
    const uint32_t *steps;
    size_t step_count;
    struct recognised found;
    struct losses losses;
    const char *verdict;
    struct arena *arena;
};

/* A job's timeline as text or in another format. */
void explain_print(const struct explanation *explanation, enum table_format format, FILE *out);
/* explain.json. */
void explain_json(const struct explanation *explanation, FILE *out);
/* explain.html; false with the fault filled. */
bool explain_page(const struct explanation *explanation, FILE *out, struct fault *fault);

/* A text in lines that are not wide. */
void explain_lines(FILE *out, const char *text);

/* What is found in profiles, written and printed; an exit code. */
int explain_profile(const struct options *options, struct explanation *explanation);

/* What a sound run of the job would take, apart: seconds of a step. */
struct sound_step {
    double computing;             /* the scenario's step with the computations that were measured */
    double gaps;                  /* of the host */
    double messages, collectives; /* what they took, over what they take alone; NaN: not known */
    struct link_fit links;        /* what links of each kind reached */
};
/* Calibrates the scenario with it and writes the profile; an exit code. */
int explain_calibrate(const struct options *options, const struct explanation *explanation,
                      const struct sound_step *sound);

/* "1f1b in 176 of 176 steps of a replica", from the arena. */
const char *explain_schedule_text(const struct recognised *found, struct arena *arena);

#endif
