/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of an engine: which go on, which wait for tools, and whose tokens the cache has. */
#ifndef STAGESIM_GENERATION_BATCHING_SEQUENCES_H
#define STAGESIM_GENERATION_BATCHING_SEQUENCES_H

#include "workloads/generation/batching.h"

/* A sequence as the engine has it. */
struct batching_sequence {
    double made;    /* tokens that it has of its output, while it waits */
    double ends;    /* while it goes on: where the engine's count of tokens is when it has them all */
    double left;    /* of its prompt, tokens that were not computed yet */
    double held;    /* tokens in the cache before it goes on */
    double begins;  /* where the count was when it went on */
    double answers; /* tokens that tools added to its prompt */
    double kept;    /* tokens that it left in the cache when it called a tool; 0: none */
    uint32_t calls; /* of tools that it has made */
    bool shared;    /* its prompt is another one's, too */
    bool answered;  /* its tool has, and it has not gone on since */
};

/* Sequences by `ends`, the nearest first. */
struct batching_heap {
    uint32_t *items, count;
};

struct batching {
    struct generation *generation;
    const struct batching_limits *limits;
    const struct batching_request *requests;
    uint32_t count;
    struct batching_run *run;
    struct batching_sequence *sequences;
    struct batching_heap going, away; /* that go on, and that wait for tools: there `ends` is when the tool answers */
    uint32_t *filling;                /* whose prompts are computed, from fill_first to fill_end */
    uint32_t fill_first, fill_end;
    uint32_t *back, back_first, back_end; /* whose tools have answered */
    uint32_t *keeping, keeping_count;     /* that left tokens in the cache, those of the longest ago first */
    uint32_t begun;                       /* that have come and not ended */
    uint32_t sent;                        /* that has not come yet */
    double front, *ready;                 /* until when the server reads those that have; [request] */
    double polled, since;                 /* when the engine looked for requests, and its steps after that */
    uint32_t next;                        /* that has not come in yet */
    uint32_t *again, again_count;         /* that were thrown out, the last one on top */
    uint32_t *keepers;                    /* [group]: of the holders those that wait for tools */
    uint32_t *holders;                    /* [group]: sequences with its prompt in the cache */
    double now, counted;                  /* counted: tokens of a sequence that has gone on from the beginning */
    double context;                       /* of those that go on */
    double used;                          /* tokens of the cache */
};

/* It goes on: `ends` is known. */
void batching_go(struct batching *batching, uint32_t request);
/* Takes the one at this place of the heap out of those that go on; its tokens are gone. */
void batching_leave(struct batching *batching, uint32_t at);
/* One that has left calls its next tool. All of its tokens but the last one have been in the cache. */
void batching_call_tool(struct batching *batching, uint32_t request);
/* Those whose tools have answered wait for a place. */
void batching_come_back(struct batching *batching);
/* What one that has left tokens in the cache has there of its own. */
double batching_kept(const struct batching *batching, uint32_t request);
/* These tokens are gone. */
void batching_forget(struct batching *batching, uint32_t request);

#endif
