/* SPDX-License-Identifier: Apache-2.0 */
/* Continuous batching: one engine and the requests that come to it, step by step. Documented in doc/serving.md. */
#ifndef STAGESIM_GENERATION_BATCHING_H
#define STAGESIM_GENERATION_BATCHING_H

#include "workloads/generation/generation.h"

struct batching_limits {
    double tokens; /* that the cache of all ranks holds; a sequence counts `each` of them beside its own */
    double each;
    uint32_t sequences; /* that go on at a time */
    double budget;      /* tokens of a step: those that go on, and pieces of prompts */
    double accepted;    /* tokens by which a sequence goes on in a step: 1 without speculation */
    uint32_t begun;     /* requests that have come and not ended at a time; 0: as many as there are */
    double front;       /* seconds in which a server reads a request before the engine has it, one after the other */
    double front_token; /* and of each token of its prompt */
    uint32_t polls;     /* steps without prompts after which the engine looks for requests; at least 1 */
    bool separate;      /* while prompts are computed no sequence goes on */
    bool shares;        /* requests of one prompt, which are neighbours, keep it once and compute it once */
    bool keeps;         /* a request that waits for a tool leaves its tokens in the cache, until others need the room */
};

/* A tool that a request calls and waits for; its answer is read as a prompt is. */
struct batching_pause {
    double behind; /* tokens of the output that are generated before; rising, and below all of it */
    double seconds;
    double answer; /* tokens, whole */
};

struct batching_request {
    double arrival;
    double prompt, output;               /* tokens, whole */
    uint32_t group;                      /* requests with the same prompt */
    uint32_t pause_count;                /* of the tools that it calls, one after the other */
    const struct batching_pause *pauses; /* [pause_count] */
};

/* Seconds; the first and the last token. */
struct batching_outcome {
    double scheduled, first, last;
};

/* A stretch of time in which the batch falls or stands. */
struct batching_span {
    double from, to;
    double decoding; /* sequences that go on, mean */
    double prefill;  /* tokens of prompts */
};

struct batching_run {
    struct batching_outcome *outcomes; /* [request] */
    double end;                        /* of the last token */
    double busy;                       /* seconds of steps */
    double steps, preempted;
    double forgotten;   /* times that a request came back from a tool to a cache without its tokens */
    double most_tokens; /* that the cache held */
    double sequences;   /* mean of those that went on, over steps */
    struct batching_span *spans;
    size_t span_count, span_room;
};

/* Requests are in the order of their arrival; each of them alone fits into the cache. What the run points to is freed
 * by batching_finish. */
void batching_simulate(struct generation *generation, const struct batching_limits *limits,
                       const struct batching_request *requests, uint32_t count, struct batching_run *run);
void batching_finish(struct batching_run *run);
/* Tokens of a request at its end, with the answers of its tools; and those of the cache that it takes. */
double batching_tokens(const struct batching_request *request);
double batching_room(const struct batching_limits *limits, const struct batching_request *request);

#endif
