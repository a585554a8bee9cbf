/* SPDX-License-Identifier: Apache-2.0 */
/* What the sources of shell.h share; for them only. */
#ifndef STAGESIM_SHELL_PARTS_H
#define STAGESIM_SHELL_PARTS_H

#include "frameworks/shell/shell.h"
#include "frameworks/shell/state.h"

/* What may be left earlier than at its end: a call, a loop, a process. */
struct span {
    uint32_t left; /* the condition that is not known, after which it may have been left; 0 */
    size_t printed;
    const struct cells *capture, *input; /* as they were when it began */
    struct span *outer;
};

/* States that wait for the end of a loop, or of a function. */
struct waiting {
    struct state *ended, *again;
    struct waiting *outer;
    struct span span;
};

enum flow { FLOW_NEXT, FLOW_BREAK, FLOW_CONTINUE, FLOW_RETURN, FLOW_EXIT };

/* A loop whose variable has one value in each round. */
struct round {
    const char *name;
    uint32_t at;
    uint16_t source;
    const struct round *outer;
};

struct candidate {
    const struct cells *words;
    size_t count, options;
    uint32_t maybe; /* the condition that is not known */
    uint32_t at;
    uint16_t source;
    struct shell_word files[SHELL_FILES]; /* see struct shell_command */
    const char *file_names[SHELL_FILES], *variable;
    const struct round *round; /* of the innermost loop around it */
    struct candidate *next;
};

struct shell {
    const struct shell_request *request;
    struct arena *arena;
    struct diag *diag;
    struct shell_command *out;
    struct source *sources;
    size_t source_count;
    struct unknown *unknowns;
    size_t unknown_count;
    struct state *state;
    struct waiting *loop, *call;
    const struct round *round;
    struct candidate *candidates;
    struct candidate lost; /* the longest command that could be a launch, but for what is not known */
    const char *lost_why;  /* what stands in its way; NULL: there is none */
    const char **free_names;
    size_t free_count;
    uint32_t doubt;                           /* the first place at which the script may end; 0: none */
    unsigned itself;                          /* commands come of standard input: what reads that reads them */
    unsigned apart;                           /* how many subshells deep: what ends there ends nothing else */
    const char *needed;                       /* names without which the script ends; NULL: none */
    struct cells *capture;                    /* of standard output; NULL: nobody reads it */
    const struct cells *input;                /* standard input, where it is known */
    uint32_t maybe;                           /* the condition that is not known, of what runs now */
    struct span *span, *process;              /* the innermost; of the innermost process but the first */
    bool assumed;                             /* a status that is not known is a program's, taken to succeed */
    unsigned levels;                          /* that `break` or `continue` still has to leave */
    unsigned tolerant;                        /* errors do not end the script here */
    unsigned silent;                          /* launches are not collected */
    unsigned nest, sourced, functions, files; /* how deep: expansions, texts, calls, files that are read in */
    size_t work;                              /* spent: shell_spend */
    size_t steps, commands;                   /* made so far */
    size_t substitutions;                     /* the same: the last one's status is that of an assignment */
    size_t at;                                /* of the command that runs, in `source` */
    uint16_t source;
    struct place last; /* of the byte last_at of a file, from which the next place is counted */
    size_t last_at;
    bool broken;
    bool bare; /* the file is options alone, of no command */
    /* Upwards, without circles between files. */
    enum flow (*run)(struct shell *s, const struct step *step);
    void (*expand)(struct shell *s, uint16_t source, size_t from, size_t to, bool quoted, struct cells *out);
    bool (*evaluate)(struct shell *s, const struct cells *cells, int64_t *value, uint32_t *open, uint16_t source,
                     size_t at);
    void (*substitute)(struct shell *s, uint16_t source, size_t from, size_t to, struct cells *out);
};

/* ---- cells.c ---- */

enum { CELL_WORK = 32 };

/* All that following a script takes draws from one budget, about a byte that is looked at or copied each: where it is
 * spent, the script is refused at the command that runs. */
void shell_spend(struct shell *s, size_t work);

void shell_add(struct shell *s, struct cells *cells, struct cell cell);
void shell_add_text(struct shell *s, struct cells *cells, const char *text, uint16_t source, size_t at, bool quoted);
void shell_add_cells(struct shell *s, struct cells *cells, const struct cells *more);
void shell_add_open(struct shell *s, struct cells *cells, uint32_t unknown, bool quoted);
struct cells shell_cells_of(struct shell *s, const char *text, uint16_t source, size_t at);
/* As text; `open`: the first unknown, or 0. */
const char *shell_text(struct shell *s, const struct cells *cells, uint32_t *open);
/* The same where it names a file: unknowns with a path stand as that. NULL: not known. */
const char *shell_path(struct shell *s, const struct cells *cells);
bool shell_cells_equal(struct shell *s, const struct cells *a, const struct cells *b);
/* Cuts at blanks that are not quoted and at breaks, and appends the words to a list. */
void shell_split(struct shell *s, const struct cells *cells, struct cells **words, size_t *count);
void shell_append(struct shell *s, const struct cells *word, struct cells **words, size_t *count);
uint32_t shell_unknown(struct shell *s, const char *name, const char *why, uint16_t source, size_t at);
/* "NAME" unknown as what made another one so. */
uint32_t shell_unknown_as(struct shell *s, const char *name, uint32_t because);
/* A name that nobody sets, taken as not set. */
void shell_is_free(struct shell *s, const char *name);
uint16_t shell_add_source(struct shell *s, const char *file, const char *text, size_t size, const struct cell *origin);
/* A text made of cells; what is not known in it stays so. */
uint16_t shell_source_of(struct shell *s, const struct cells *cells);
struct place shell_place(struct shell *s, uint16_t source, size_t at);
__attribute__((format(printf, 4, 5))) void shell_refuse(struct shell *s, uint16_t source, size_t at, const char *format,
                                                        ...);
/* "why" with the place of what made it so, for messages. */
const char *shell_reason(struct shell *s, uint32_t unknown);

/* 1: it has characters; 0: none, where names that nobody sets count as not set; -1: not known. */
int shell_has_text(struct shell *s, const struct cells *cells);
/* What a name is that nobody sets here, where the script ends without it. */
uint32_t shell_needed(struct shell *s, const char *name, uint16_t source, size_t at);
/* The script may end there, and is taken to go on. */
void shell_doubt(struct shell *s, uint16_t source, size_t at);
/* $1 and on of these words, of which names that nobody sets are none; `left` of them. `unknown`: some may be several.
 */
struct cells *shell_arguments_of(struct shell *s, const struct cells *words, size_t count, size_t *left,
                                 uint32_t *unknown);
/* Without the names that nobody sets. */
struct cells shell_without_free(struct shell *s, const struct cells *cells);
/* Whether a word has only such names, without quotes: then it is none. */
bool shell_is_nothing(struct shell *s, const struct cells *word);

/* ---- state.c ---- */

struct state *shell_copy(struct shell *s, const struct state *state);
/* Not set yet, at a depth of calls. */
struct variable *shell_add_variable(struct shell *s, const char *name, unsigned depth);
/* A new process: exported variables alone, no functions. */
struct state *shell_child(struct shell *s);
struct variable *shell_find(struct shell *s, const char *name);
/* Whether bash or the system sets a name. */
bool shell_is_of_system(const char *name);
/* False: it is a text of the system's, such as a folder. */
bool shell_may_count(const struct shell *s, uint32_t unknown);
/* At the depth of calls now, or where it is; declares it where it is nowhere. */
struct variable *shell_declare(struct shell *s, const char *name, bool local);
/* What a name stands for: of a reference that of its target. NULL: not known. */
const char *shell_target(struct shell *s, const char *name);
void shell_set(struct shell *s, const char *name, struct value value);
/* { with , or .. and } that are not quoted. */
bool shell_has_braces(const struct shell *s, uint16_t source, size_t from, size_t to);
/* One word: of an array its first element. */
void shell_set_word(struct shell *s, const char *name, const struct cells *cells);
void shell_set_text(struct shell *s, const char *name, const char *text, uint16_t source, size_t at);
void shell_set_element(struct shell *s, const char *name, const char *key, int64_t index, const struct cells *cells);
void shell_unset(struct shell *s, const char *name, uint16_t source, size_t at);
/* Each variable of that name, of all calls. */
void shell_forget_all(struct shell *s, const char *name);
void shell_unset_reference(struct shell *s, const char *name);
void shell_set_unknown(struct shell *s, const char *name, uint32_t why);
/* From here on no variable, argument or function is known. */
void shell_lose(struct shell *s, const char *why, uint16_t source, size_t at);
/* The variables of a call end with it. */
void shell_leave(struct shell *s);
struct value shell_single(struct shell *s, const struct cells *cells);
/* Element 0, or the one of an index or key; NULL: none. */
const struct cells *shell_element(struct shell *s, const struct value *value, const char *key, int64_t index);

/* ---- functions.c ---- */

/* The function that a name stands for; NULL: it is none, or that is not known. */
const struct function *shell_function(struct shell *s, const char *name);
/* What may be a function; NULL: that is known. */
const struct function *shell_doubted_function(struct shell *s, const char *name);
/* `body` NULL: the name is none any more. */
void shell_define_function(struct shell *s, const char *name, const struct step *body);
/* export -f; false: there is no such function. */
bool shell_export_function(struct shell *s, const char *name);
/* Each may be another one from here on. */
void shell_doubt_functions(struct shell *s, struct state *state);
/* Those that a new process has. */
struct function *shell_exported_functions(struct shell *s, const struct state *state);
bool shell_same_functions(struct shell *s, const struct function *a, const struct function *b);
/* Into `into`: what is not the same in both is doubted. */
void shell_merge_functions(struct shell *s, struct state *into, const struct state *other);

/* ---- merge.c ---- */

/* Into `into`: what is not the same in both is unknown because of `why`. */
void shell_merge(struct shell *s, struct state *into, const struct state *other, uint32_t why);
/* Whether two states know the same. */
bool shell_same(struct shell *s, const struct state *a, const struct state *b);
/* Back to the process outside: files that this one wrote are there now, but not for sure as it did, where it may have
 * ended as `early` or runs `apart` from what follows. */
void shell_end_process(struct shell *s, struct state *outer, const struct state *early, bool apart);

/* ---- arithmetic.c ---- */

enum arithmetic { ARITHMETIC_KNOWN, ARITHMETIC_UNKNOWN, ARITHMETIC_WRONG };

/* Whole numbers as bash computes them; assignments count. `open`: what is not known. What could not be followed may
 * have assigned in part. */
enum arithmetic shell_compute(struct shell *s, const char *text, int64_t *value, uint32_t *open, uint16_t source,
                              size_t at);

/* ---- evaluate.c ---- */

/* The same; each name that it may have assigned is unknown where it could not be followed. */
enum arithmetic shell_arithmetic(struct shell *s, const char *text, int64_t *value, uint32_t *open, uint16_t source,
                                 size_t at);
/* The same of expanded cells, where names that nobody sets are not set; what bash refuses is refused. False: not known.
 */
bool shell_evaluate(struct shell *s, const struct cells *cells, int64_t *value, uint32_t *open, uint16_t source,
                    size_t at);

/* ---- pattern.c ---- */

/* As fnmatch takes it: what is quoted is itself. NULL: something in it is not known. */
const char *shell_pattern(struct shell *s, const struct cells *cells);
/* Whether a text matches: 1, 0, or -1 where that is not known. */
int shell_matches(struct shell *s, const char *pattern, const char *text);
/* ${X#p} ${X##p} ${X%p} ${X%%p}. False: not known. */
bool shell_strip(struct shell *s, const struct cells *subject, const struct cells *pattern, char side, bool longest,
                 struct cells *out);
/* ${X/p/r}, ${X//p/r}, ${X/#p/r}, ${X/%p/r}; `how` is 0, '/', '#', '%'. */
bool shell_replace(struct shell *s, const struct cells *subject, const struct cells *pattern, const struct cells *with,
                   char how, struct cells *out);
/* ${X^} ${X^^} ${X,} ${X,,} */
bool shell_letters(struct shell *s, const struct cells *subject, char how, bool all, struct cells *out);

/* ---- parameter.c, subject.c, expand.c ---- */

/* What an expansion is of: a variable, some of its elements, arguments. */
struct subject {
    const char *name;
    struct cells *items;
    size_t count;
    bool all, star, set; /* [@] and $@; [*] and $*; whether it is set */
    bool sparse, ragged; /* an array with gaps; one whose items may be several */
    uint32_t open;       /* not known; 0 */
};

/* NAME, a digit or sign, with its [SUBSCRIPT]; `at` is moved behind it. False: none begins here. */
bool shell_subject(struct shell *s, uint16_t source, size_t *at, size_t to, struct subject *subject);
/* Keys of ${!NAME[@]}. */
void shell_keys(struct shell *s, struct subject *subject);

/* Expands text[from..to) of a source into cells, without cutting. */
void shell_expand(struct shell *s, uint16_t source, size_t from, size_t to, bool quoted, struct cells *out);
/* An assignment's value: ~ after = and : counts, and nothing is cut. */
void shell_expand_value(struct shell *s, uint16_t source, size_t from, size_t to, struct cells *out);
/* Expands a raw word and cuts it. */
void shell_expand_word(struct shell *s, uint16_t source, size_t from, size_t to, struct cells **words, size_t *count);
/* What begins with ${ at `from`, behind the brace, to before the closing one. */
void shell_parameter(struct shell *s, uint16_t source, size_t from, size_t to, bool quoted, struct cells *out);
/* $NAME, $1, $@, $?, ... in text[at..to), which is all of it; `at` is moved. */
void shell_plain_parameter(struct shell *s, size_t *at, uint16_t source, size_t to, bool quoted, struct cells *out);
void shell_sum(struct shell *s, uint16_t source, size_t from, size_t to, size_t at, struct cells *out);
/* [SUBSCRIPT] of a variable. False: not known. */
bool shell_subscript(struct shell *s, const struct variable *variable, uint16_t source, size_t from, size_t to,
                     const char **key, int64_t *index);

/* ---- test.c ---- */

/* [ ... ]: the words between the brackets. The status: 0, 1, 2, or -1 where that is not known. */
int shell_test(struct shell *s, const struct cells *words, size_t count);
/* [[ ... ]] */
int shell_long_test(struct shell *s, const struct step *step);

/* ---- assign.c ---- */

void shell_assign(struct shell *s, uint16_t source, const struct raw *raw);
/* export, declare, local, readonly, typeset; words behind the first. */
void shell_run_declaration(struct shell *s, const struct step *step, size_t first, const char *name);

/* ---- files.c ---- */

/* The path as files are opened; NULL: not known, or not below the folder of the script. */
const char *shell_resolve(struct shell *s, const struct cells *word);
/* What a file holds that the script can read: written by it, or there. NULL with the reason. */
const struct cells *shell_file(struct shell *s, const char *path, bool *there, const char **why);
/* The path of a file that is written: one of which only the name is known is any of that name, "?/NAME". NULL: any. */
const char *shell_written_path(struct shell *s, const struct cells *word);
void shell_write(struct shell *s, const char *path, const struct cells *text, bool known, bool more);
/* Whether the script, or a program that it ran, may have made a file or folder of that path. */
bool shell_may_have_made(struct shell *s, const char *path);
/* Whether a program changes no files. */
bool shell_only_reads(struct shell *s, const struct cells *words, size_t count);
/* A command of another program may have written what it names, but for programs that only read. */
void shell_touch(struct shell *s, const struct cells *words, size_t count);

/* ---- output.c ---- */

/* What a program that only prints gives: echo, printf, cat, dirname, ... False: it is none of these. */
bool shell_print(struct shell *s, const char *name, const struct cells *words, size_t count, uint16_t source,
                 size_t at);
bool shell_format(struct shell *s, const struct cells *words, size_t count, struct cells *out);

/* ---- builtins.c ---- */

/* False: no builtin of that name. */
bool shell_builtin(struct shell *s, const struct step *step, const char *name, struct cells *words, size_t count,
                   enum flow *flow);

/* ---- settings.c ---- */

/* set OPTION... [ARGUMENT...]; true: it lists what is set. */
bool shell_set_options(struct shell *s, const struct step *step, struct cells *words, size_t count);

/* ---- trap.c ---- */

/* trap ACTION SIGNAL...: refused where it could matter to a launch. */
void shell_trap(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at);

/* ---- ways.c ---- */

/* A state waits where others of that kind wait. */
void shell_wait_in(struct shell *s, struct state **where, struct state *state, uint32_t why);
/* A way that ends here goes on at the end of its loop or call. */
void shell_set_aside(struct shell *s, struct state *state, enum flow flow, uint32_t why);
/* After two ways, `other` and that of the state now. */
enum flow shell_join(struct shell *s, struct state *other, enum flow first, enum flow second, uint32_t why);
/* What was printed on either of two ways since `before` is not known, nor what was read. */
void shell_settle_output(struct shell *s, size_t before, const struct cells *input, uint32_t why);
void shell_begin_span(struct shell *s, struct span *span);
/* Where it may have been left, what was printed and read since it began is not known. */
void shell_end_span(struct shell *s, struct span *span);
/* After a command that may not have run, because a file of its redirections cannot be opened. */
enum flow shell_may_skip(struct shell *s, struct state *before, enum flow flow, size_t printed, uint32_t why);

/* ---- flow.c ---- */

/* Both ways of a condition; `second` NULL: nothing runs there, and the status is `skipped`. */
enum flow shell_fork(struct shell *s, const struct step *first, const struct step *second, int skipped, uint32_t why);
enum flow shell_if(struct shell *s, const struct step *step);
enum flow shell_case(struct shell *s, const struct step *step);
enum flow shell_for(struct shell *s, const struct step *step);
enum flow shell_while(struct shell *s, const struct step *step);
enum flow shell_each(struct shell *s, const struct step *step);
/* A copy of the state, which ends with it. */
void shell_subshell(struct shell *s, const struct step *step, bool apart);
/* A function's body with its arguments; FLOW_EXIT or FLOW_NEXT. */
enum flow shell_call(struct shell *s, const struct step *body, const struct cells *words, size_t count);

/* ---- redirect.c ---- */

/* Where input comes from and output goes while a command runs. */
struct streams {
    struct cells *capture, written;
    const struct cells *input;
    const char *path;        /* of the file that is written */
    bool file, more, output; /* output goes elsewhere */
    uint32_t fails;          /* why the command may not run at all; 0: it does */
    struct state *before;    /* what is left then */
    size_t printed;
};

void shell_begin_redirects(struct shell *s, const struct step *step, struct streams *streams);
enum flow shell_end_redirects(struct shell *s, const struct step *step, struct streams *streams, enum flow flow);
/* Those of `exec` alone hold from here on. */
void shell_keep_redirects(struct shell *s, const struct step *step, const struct streams *streams);
/* Whether a command has standard input of its own. */
bool shell_reads(const struct step *step);

/* ---- run.c ---- */

enum flow shell_run(struct shell *s, const struct step *step);

/* ---- text.c ---- */

/* The text of a source as commands of this process. */
enum flow shell_run_text(struct shell *s, uint16_t source);
/* Options of `set` in the first line, #!/bin/bash -e, which hold where a file is run as a program; "": none. */
const char *shell_first_line_letters(struct shell *s, const char *text);
/* The same in a process of its own. */
struct child {
    const struct cells *words; /* of which the first is its name */
    size_t count;
    const char *letters; /* options of `set`; NULL: none */
    bool distant;        /* on another machine, with none of the variables */
};
void shell_run_child(struct shell *s, uint16_t source, const struct child *child);
/* What is read in by `source`, in this process. */
enum flow shell_source_file(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at);
void shell_substitute(struct shell *s, uint16_t source, size_t from, size_t to, struct cells *out);

/* ---- read.c ---- */

/* read, mapfile, getopts. False: it is none of these. */
bool shell_read_input(struct shell *s, const char *name, const struct cells *words, size_t count, uint16_t source,
                      size_t at);

/* ---- nested.c ---- */

/* A command of another program: scripts that it runs are followed, and launches are collected. */
void shell_program(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at);

/* Whether a command is a program that scripts are known to run, and not a function of which nobody knows. */
bool shell_is_program(struct shell *s, const struct cells *words, size_t count);
/* After it: its status is not known, and is taken for success, unless it is the answer to a question, as grep's is. */
void shell_end_program(struct shell *s, const char *name);

/* ---- launch.c ---- */

void shell_offer(struct shell *s, const struct cells *words, size_t count, uint16_t source, size_t at);
/* A command that might have held the launch, and what stands in its way. */
void shell_lost_command(struct shell *s, size_t count, const char *why, uint16_t source, size_t at);
/* Which launch it is, and the notes; `ended`: the script ends at the last command that ran. */
void shell_choose(struct shell *s, bool ended);

/* ---- sbatch.c ---- */

void shell_read_sbatch(struct shell *s, uint16_t source);
/* Gives a variable its value; `fixed`: no assignment changes it. */
void shell_define(struct shell *s, const char *name, const char *value, bool fixed);
/* What Slurm sets for the script. */
void shell_define_slurm(struct shell *s);

#endif
