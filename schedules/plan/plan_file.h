/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule of the user's own, read from a CSV file: one of PyTorch (plan_pytorch.h), or one with a row for each slot.
 * Of the latter the first line names the columns, in any order: worker, kind, stage, micro_batch and, where needed,
 * pipeline (0), part (empty, a, b), index and braided; start and end, which `stagesim schedule --format csv` writes
 * too, are not looked at. Then one row a slot, for each worker in the order in which it executes them. kind is F, B, W,
 * E or L; neighbours of a worker with one index are one block, a braided one where the second has a 1 there. All
 * numbers count from 0; how many workers, stages, pipelines and micro-batches there are follows from the largest, and
 * where a stage lives from the worker that runs it. */
#ifndef STAGESIM_PLAN_FILE_H
#define STAGESIM_PLAN_FILE_H

#include "base/diagnostics.h"
#include "schedules/plan/plan_pytorch.h"

/* The plan in a file, checked; the caller owns it. `dialect` matters for files of PyTorch alone. NULL after every
 * mistake was reported with its line and column, those of plan_check only when the rows themselves have none. */
struct plan *plan_file_read(const char *path, enum pytorch_dialect dialect, struct diag *diag);

/* The same from memory; `name` is the file's in messages. */
struct plan *plan_file_parse(const char *name, const char *text, size_t size, enum pytorch_dialect dialect,
                             struct diag *diag);

#endif
