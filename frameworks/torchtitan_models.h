/* SPDX-License-Identifier: Apache-2.0 */
/* Models that torchtitan's files name and do not describe (torchtitan/models). */
#ifndef STAGESIM_TORCHTITAN_MODELS_H
#define STAGESIM_TORCHTITAN_MODELS_H

struct torchtitan_model {
    const char *name, *flavor; /* [model] name = "llama3", flavor = "8B" */
    const char *shape;         /* keys of the section `model` with their values, one blank between any two */
};

/* What all of them have beside their shapes; the same form. */
extern const char torchtitan_common[];
/* A name of NULL ends the table. */
extern const struct torchtitan_model torchtitan_models[];

#endif
