/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the scenario's reading that need a file of their own; for scenario*.c only. */
#ifndef STAGESIM_SCENARIO_PARTS_H
#define STAGESIM_SCENARIO_PARTS_H

#include "abi/fields/fields.h"
#include "base/document.h"
#include "job/scenario/scenario.h"

struct loader {
    struct scenario *scenario; /* being filled */
    struct node *root;
    struct node *framework; /* sections of values that count where the scenario gives none; NULL: none */
    struct fields_reader fields;
};

/* Makes a map of a platform that is written as one word. */
void scenario_expand_platform(struct loader *loader, struct node *node);
/* The top level as the table of its keys takes it: a platform that is a map is a word there. */
const struct node *scenario_platform_plain(const struct loader *loader);
/* The platform, whose text is `text` where it is no map. */
void scenario_read_platform(struct loader *loader, const char *text, enum platform_loader which);
/* what_if; needs the platform's name. */
void scenario_read_what_if(struct loader *loader, const struct stagesim_texts *texts);
/* communication.links. */
void scenario_read_links(struct loader *loader, const struct stagesim_texts *texts);
/* The keys of a model's file: those of a Hugging Face config.json as the section `model` has them, any other file as it
 * is. NULL after a mistake was reported. */
const struct node *scenario_model_keys(struct loader *loader, const struct node *content);
/* framework: puts values of stagesim's own keys where the scenario has none, and keeps the workload's. Needs the
 * schedule as a map. */
void scenario_read_framework(struct loader *loader);
/* Puts the framework's values of keys that the table has where the scenario has none. */
void scenario_apply_framework(struct loader *loader, const struct fields_section *table);
/* parallel and order: the mesh, or one of a single rank after a mistake. */
void scenario_read_mesh(struct loader *loader);
/* Gives the mesh the shape that the workload asks for. */
void scenario_shape_mesh(struct loader *loader);
/* batch; needs the mesh. */
void scenario_read_batch(struct loader *loader);
/* schedule, or the one named by `replacement` where that is not NULL. */
void scenario_read_schedule(struct loader *loader, const char *replacement);
/* The schedule of that name; NULL after the mistake was reported. */
const struct schedule *scenario_find_schedule(struct loader *loader, const char *name, struct place at);
/* inputs: files are the ones that the scenario was written with. */
void scenario_check_inputs(struct loader *loader);
/* power: caps, states and carbon. */
void scenario_read_power(struct loader *loader);
/* training, failures, checkpoint. */
void scenario_read_training(struct loader *loader);
/* Makes a map of one of these sections that is written as one word; false: `section` is another one. */
bool scenario_expand_training(struct loader *loader, struct node *node, const char *section);
/* tails: what varies from step to step. */
void scenario_read_tails(struct loader *loader);
/* Makes a map of that section where it is written as one word; false: `section` is another one. */
bool scenario_expand_tails(struct loader *loader, struct node *node, const char *section);
/* What is given and changes nothing: refused where it cannot be meant, kept otherwise to be told of. Needs all the rest
 * without a mistake. */
void scenario_check_needs(struct loader *loader);
/* plan, prices: which clusters are asked about, and what they cost. */
void scenario_read_plan(struct loader *loader);
/* Puts the content of a file in place of one of these sections that is its name; false: `section` is another one. */
bool scenario_expand_plan(struct loader *loader, struct node *node, const char *section);
/* search: every value is one that its key could have. */
void scenario_read_search(struct loader *loader);
/* output: what is written. */
void scenario_read_output_keys(struct loader *loader);
/* Dotted paths of all keys, NULL-terminated, for what is said where a key stands in the wrong section; `user` is the
 * loader. */
const char *const *scenario_key_paths(void *user);

#endif
