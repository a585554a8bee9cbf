/* SPDX-License-Identifier: Apache-2.0 */
/* The section `generation`: an engine, as scenarios that generate tokens describe it. */
#ifndef STAGESIM_GENERATION_SETTINGS_H
#define STAGESIM_GENERATION_SETTINGS_H

#include "abi/fields/fields.h"

/* As the section's fields fill it. */
struct generation_settings {
    uint64_t tensor, pipeline, data, expert; /* expert 0: each rank has a part of every expert */
    unsigned weights, cache;                 /* enum generation_type */
    double memory, reserve;                  /* share of a GPU's memory for weights and cache; bytes beside them */
    uint64_t sequences, tokens;              /* of a step at most */
    bool shares;
    unsigned prompts; /* enum generation_prompts; GENERATION_PROMPTS_USUAL: as the library does */
    uint64_t polls;
    uint64_t speculative;
    double acceptance, draft;
    unsigned kernels; /* enum generation_kernels */
    unsigned library; /* of generation_libraries */
    double memory_share, compute_share, cache_share, expert_share, skew, all_reduce, launch, expert_launch,
        attention_launch, expert_reach, host, sequence, waits, eager;
};

enum generation_prompts { GENERATION_PROMPTS_MIXED, GENERATION_PROMPTS_ALONE, GENERATION_PROMPTS_USUAL };
enum generation_library { GENERATION_VLLM, GENERATION_TRTLLM, GENERATION_SGLANG, GENERATION_LIBRARIES };
enum generation_kernels { GENERATION_KERNELS_AUTO, GENERATION_KERNELS_NONE };

extern const struct fields_section generation_section;
extern const char *const generation_libraries[GENERATION_LIBRARIES + 1]; /* NULL-terminated */

/* GPUs of one engine. */
uint32_t generation_gpus(const struct generation_settings *settings);
/* Reads the section of that name, NULL where the scenario has none, and checks it. */
void generation_settings_read(const struct fields_reader *reader, const struct node *node, struct place missing,
                              struct generation_settings *settings);

#endif
