/* SPDX-License-Identifier: Apache-2.0 */
/* Steps as boxes of time, and what is drawn and written from them. */
#ifndef STAGESIM_RL_OUTPUT_H
#define STAGESIM_RL_OUTPUT_H

#include "analysis/pictures/canvas.h"
#include "analysis/pictures/picture_form.h"
#include "cluster/rl/rl.h"

enum rl_kind { RL_GENERATES, RL_SCORES, RL_TRAINS, RL_TRANSFERS, RL_MOVES, RL_RESTS, RL_KINDS };
extern const char *const rl_kind_names[RL_KINDS];

/* What a pool of GPUs does; a pool that has no box waits. */
struct rl_box {
    double from, to;
    uint32_t pool, step; /* pool 0: engines, or all GPUs where they take turns */
    enum rl_kind kind;
};

struct rl_boxes {
    struct rl_box *items; /* by pool, then by time */
    uint32_t count, pools;
    double end;
};

/* Memory from the arena. */
struct rl_boxes rl_boxes_of(const struct rl_view *view, struct arena *arena);
const char *rl_pool_name(const struct rl_view *view, uint32_t pool);

bool rl_picture(FILE *out, const struct rl_view *view, enum canvas_format format, const struct picture_form *form,
                struct fault *fault);
bool rl_html(FILE *out, const struct rl_view *view, struct fault *fault);
void rl_paje(FILE *out, const struct rl_view *view);

#endif
