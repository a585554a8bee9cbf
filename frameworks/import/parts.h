/* SPDX-License-Identifier: Apache-2.0 */
/* What the importers share; for frameworks/import only. Facts of a job that are no keys of a scenario are settings too,
 * whose names begin with '@':
 *
 *   @ranks         GPUs of the job
 *   @gpus_per_node
 *   @padding       the vocabulary is padded to a multiple of this x tensor
 *   @accumulation  micro-batches of an iteration, per replica, as frameworks without pipelines count them
 *   @replicas, @shards   torchtitan, FSDP: copies of the model, and ranks that share one; shards 0: the rest
 *   @chunks_layers layers of a chunk of a pipeline worker
 *   @beside        schedule that runs exchanges of experts beside another micro-batch, if it can
 */
#ifndef STAGESIM_FRAMEWORKS_IMPORT_PARTS_H
#define STAGESIM_FRAMEWORKS_IMPORT_PARTS_H

#include "base/document.h"
#include "frameworks/import/import.h"
#include "frameworks/megatron_options.h"

/* ---- documents.c ---- */

/* YAML, or JSON with comments; NULL after a mistake was reported. Memory from the settings' arena. */
struct node *import_parse(struct settings *settings, const char *file, const char *text, size_t size);

/* Adds what the files have that a map names in `defaults`, below what it has itself, and puts the values of other keys
 * in place of `${KEY}`. Files that are not there are told. */
void document_inherit(struct settings *settings, struct node *root);

/* ---- megatron*.c: options of Megatron-LM, also as NeMo's YAML has them ---- */

enum dialect {
    DIALECT_MEGATRON,
    DIALECT_NEMO,  /* NeMo 1: a whole job */
    DIALECT_BRIDGE /* Megatron-Bridge: overrides of a recipe, whose values are not in the file */
};

struct argument {
    const struct megatron_option *option;
    const char *label; /* "--num-layers", "model.num_layers" */
    const struct shell_word *values;
    size_t count;
    struct place at;
    bool reported; /* its value is a mistake, and was said to be one */
};

struct arguments {
    struct argument *items;
    size_t count, capacity;
    enum dialect dialect;
    struct settings *settings;
};

/* Appends one; the option is found by its name, without dashes. What is not known becomes a remark. */
void arguments_add(struct arguments *arguments, const char *name, const char *label, const struct shell_word *values,
                   size_t count, struct place at);
/* Cuts the words of a command into options with their values. */
void arguments_split(struct arguments *arguments, const struct shell_word *words, size_t count);
/* The last of that name, or NULL. */
const struct argument *argument_find(const struct arguments *arguments, const char *name);
/* Whether it is given, and not as false. */
bool argument_is_on(const struct arguments *arguments, const char *name);
/* The text of its first value, or `other` where it is not given; a value that is not known is a mistake. */
const char *argument_text(const struct arguments *arguments, const char *name, const char *other);
/* The same as a count; a value that is none is a mistake, reported once. */
uint64_t argument_count(const struct arguments *arguments, const char *name, uint64_t other);
struct source argument_source(const struct arguments *arguments, const struct argument *argument);
/* "Megatron-LM without --swiglu" */
struct source argument_absent(const struct arguments *arguments, const char *name);
/* Whether what is not given has a default that is known: not in files that only override others. */
bool arguments_have_defaults(const struct arguments *arguments);

/* All that the options say. */
void megatron_read(struct arguments *arguments);
void megatron_read_model(struct arguments *arguments);
void megatron_read_kinds(struct arguments *arguments);
enum { MEGATRON_LAYERS_MAX = 10000 };
/* [0]*3+[1]*58 as one character a layer, of which there are at most MEGATRON_LAYERS_MAX; false: it is no such list. */
bool megatron_read_list(const char *text, char *layers, size_t *count);
void megatron_read_layout(struct arguments *arguments);
/* The same for another file's reader, in which the values are NeMo's. */
bool nemo_is(const struct node *root);
void nemo_read(const struct node *root, struct settings *settings, enum dialect *dialect);

/* Keys that change neither time nor memory, a last '*' stands for any rest: below `model`, and all others. */
extern const char *const nemo_ignored[], *const nemo_sections_ignored[];

/* ---- the other kinds of file ---- */

extern const char *const deepspeed_ignored[], *const accelerate_ignored[], *const torchtitan_ignored[];

/* ---- programs.c, torchtitan_python.c: configurations that are Python files ---- */

struct program {
    const char *file, *text;
    size_t size;
    const char *config; /* of its functions the one that makes the configuration; NULL: not said */
};

bool program_is(const char *file);
/* What it says, as a tree that one of the other readers knows. NULL after a mistake was reported. */
const struct node *program_read(const struct program *program, const struct settings *settings);

/* What tools/print-config printed: a tree in which each map says what made it. */
bool program_is_printed(const struct node *root);
/* The same, as the tree of a TOML or YAML file. NULL after a mistake was reported. */
const struct node *program_printed(const struct node *root, const char *file, const struct settings *settings);
/* A tree without what its maps were made by. */
struct node *program_plain(const struct node *node, struct arena *arena);

/* Functions of torchtitan's that change none of their arguments. */
extern const char *const torchtitan_harmless[];
/* What a function of a registry returns, as the tree of a TOML file; NULL after a mistake was reported. */
const struct node *torchtitan_python(const struct node *root, const char *file, const char *text, const char *function,
                                     const struct settings *settings);

bool torchtitan_is(const struct node *root);
void torchtitan_read(const struct node *root, struct settings *settings);
bool deepspeed_is(const struct node *root);
void deepspeed_read(const struct node *root, struct settings *settings);
bool accelerate_is(const struct node *root);
/* `other`: a file of DeepSpeed's that the configuration names; NULL: none. */
void accelerate_read(const struct node *root, struct settings *settings, const char **other);

/* ---- calls.c: what stand-ins noted ---- */

bool calls_is_folder(const char *path);
/* The launch that the noted calls of all nodes have in common; `like` has all but file and text. False after a mistake
 * was reported. */
bool calls_read(const char *folder, const struct shell_request *like, struct settings *settings,
                struct shell_command *out);

/* ---- layers.c: layers of unequal shape, which options of Megatron-LM name ---- */

extern const char layers_config[]; /* the option whose value is a file of them */
/* A map with block_configs, which is applied when the model's other keys are known; `what` names it. */
void layers_note(struct import *import, const struct node *root, const char *what);
/* What options say of them. */
void layers_read(struct import *import, const struct arguments *arguments);
/* Puts what was noted among the settings, once all files are read; refuses a job whose layers are not known. */
void layers_apply(struct import *import);

/* ---- keys of foreign maps ---- */

/* A map while it is read: which of its keys were looked up. */
struct reading {
    const struct node *root;
    struct settings *settings;
    const struct node **used;
    size_t used_count;
};

struct reading reading_of(const struct node *root, struct settings *settings);
/* The value at a dotted path, where it is given; it counts as read. */
const struct node *reading_get(struct reading *reading, const char *path);
uint64_t reading_count(struct reading *reading, const char *path, uint64_t other);
bool reading_flag(struct reading *reading, const char *path, bool other);
const char *reading_text(struct reading *reading, const char *path, const char *other);
/* "parallelism.tensor_parallel_degree", or the default without it. */
struct source reading_source(struct reading *reading, const char *path, const char *framework);
/* What nobody asked for: ignored where a pattern of `ignored` (a last '*' stands for any rest) is its path, of
 * `partial` (path, text, path, text, ...) a remark; unknown otherwise. */
void reading_account(struct reading *reading, const char *const *ignored, const char *const *partial);

/* ---- overrides.c: launches whose arguments are keys of a configuration ---- */

/* Whether a word is an argument of veRL's or OpenRLHF's programs. */
bool overrides_are(const char *word);
struct format;
/* The arguments of such a launch, as the tree of a file of *format; mistakes are reported. */
const struct node *overrides_read(const struct shell_command *command, struct settings *settings,
                                  const struct format **format);

/* ---- combine.c: what follows from all files ---- */

void import_combine(const struct import_request *request, struct import *import);
/* The same of a step of reinforcement learning, whose trainer's keys stand in a section of their own. */
bool import_is_rl(const struct import *import);
void import_combine_rl(const struct import_request *request, struct import *import);

#endif
