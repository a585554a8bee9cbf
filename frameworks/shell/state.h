/* SPDX-License-Identifier: Apache-2.0 */
/* What a shell knows while it runs: variables, functions, files, settings. Values are lists of cells: characters with
 * the place where they were written. What is not known is a cell of its own, which names an entry of a table with the
 * reason. */
#ifndef STAGESIM_SHELL_STATE_H
#define STAGESIM_SHELL_STATE_H

#include "frameworks/shell/syntax.h"

#include <stdint.h>

enum {
    CELL_OPEN = 1,  /* not known: `at` is its number; not quoted: it may be any number of words */
    CELL_BREAK = 2, /* between the words of an array */
    CELL_EMPTY = 3  /* a quoted nothing, which makes a word all the same */
};

struct cell {
    uint32_t at; /* in the text of the source */
    uint16_t source;
    char c;
    bool quoted; /* not split at blanks, no pattern */
};

struct cells {
    struct cell *items;
    size_t count, capacity;
};

struct unknown {
    const char *name; /* as the script has it: NAME, "(date)" */
    const char *why;  /* NULL: nobody sets it */
    const char *path; /* where it names a file whose place is known; NULL */
    uint32_t at;      /* what made it so */
    uint16_t source;
    bool text; /* a line of some text, which is hardly a number */
};

struct element {
    const char *key; /* of an associative array */
    int64_t index;
    struct cells cells;
};

/* Never changed once it is a variable's: assignments make new ones. */
struct value {
    struct element *items; /* by rising index */
    size_t count;
    uint32_t unknown; /* of all of it; 0: the items count */
    bool array, keyed;
    bool ragged; /* some item may be several, or none */
};

struct variable {
    const char *name;
    struct value value;
    unsigned depth; /* of calls at which it was made: 0 is global */
    bool set;       /* false: declared only, or unset */
    bool fixed;     /* from outside */
    bool exported, integer, readonly, reference, temporary;
    bool hidden;   /* it may not be exported after all */
    bool doubted;  /* it is one of a call in one of two ways only: what is assigned may be an outer one's */
    bool changed;  /* what kind it is of, of declare, differs between two ways */
    bool referred; /* it may stand for another one */
    bool loose;    /* it may not be set */
    char letters;  /* of declare: 'u', 'l'; 0 */
};

struct function {
    const char *name;
    const struct step *body; /* NULL: unset */
    bool exported;
    bool doubted; /* it may be another one, or none; with no body any may be it */
    struct function *next;
};

/* A file that the script writes. */
struct written {
    const char *path; /* NULL: some file; "?/NAME" in some folder; "?*PATTERN": whose names fit */
    struct cells text;
    bool known;
    struct written *next;
};

/* All that a subshell has a copy of. */
struct state {
    struct variable *variables;
    size_t count, capacity;
    struct function *functions;
    struct written *files;
    struct cells *arguments; /* $1 and on */
    size_t argument_count;
    uint32_t arguments_unknown; /* 0: they are known */
    const char *folder;         /* where commands run, as files are opened; NULL: not known */
    int status;                 /* of the last command; -1: not known */
    uint32_t lost;              /* names that are in no list are unknown for this reason; 0: nobody sets them */
    uint32_t splitting;         /* IFS was changed; 0: blanks and ends of lines */
    unsigned depth;
    bool errexit, allexport, noglob, pipefail, nounset;
    bool may_exit;             /* `set -e` holds in one of two ways */
    bool may_export, may_pipe; /* the same of `set -a`, and of `set -o pipefail` */
    bool strange;              /* commands that are not known may have defined functions */
    bool inherits;             /* shopt -s inherit_errexit */
    bool trapped;              /* a trap of errors may end the script */
    bool behind;               /* a command was started with &, so that $! is set */
};

#endif
