/* SPDX-License-Identifier: Apache-2.0 */
/* From a scenario to the files that its runs write. */
#ifndef STAGESIM_WANTED_H
#define STAGESIM_WANTED_H

#include "analysis/output/run_files.h"
#include "job/scenario/scenario.h"

/* Texts stay the scenario's. */
struct run_wanted wanted_files(const struct scenario *scenario);
struct picture_form wanted_form(const struct scenario *scenario);

#endif
