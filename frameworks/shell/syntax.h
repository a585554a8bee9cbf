/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts as trees of commands. Words stay as they are written: they are expanded when they run. */
#ifndef STAGESIM_SHELL_SYNTAX_H
#define STAGESIM_SHELL_SYNTAX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shell;
struct cell;

/* A text that is read as commands; of one that other commands make, `origin` says of each byte where it was written. */
struct source {
    const char *file, *text;
    size_t size;
    const struct cell *origin;
};

/* A word as it is written: text[from..to). */
struct raw {
    uint32_t from, to;
    uint32_t name;                 /* NAME= or NAME+= or NAME[...]=: its length; 0: no assignment */
    uint32_t index_from, index_to; /* between the brackets; the same: none */
    uint32_t value;                /* where it begins */
    bool more, array;              /* +=, =( */
};

enum redirect_kind { REDIRECT_FROM, REDIRECT_TO, REDIRECT_APPEND, REDIRECT_DOCUMENT, REDIRECT_STRING, REDIRECT_COPY };

struct redirect {
    enum redirect_kind kind;
    int stream;         /* 0, 1, 2; 3: 1 and 2; -1: another */
    struct raw word;    /* the file, the string, the stream that is copied */
    uint32_t from, to;  /* of a document */
    bool literal, tabs; /* of a document: nothing is expanded; tabs at the beginnings of lines are left out */
    struct redirect *next, *later; /* of the same command; a document whose lines come after this one's */
};

enum step_kind {
    STEP_PLAIN,      /* words */
    STEP_PIPE,       /* first | second */
    STEP_AND,        /* first && second */
    STEP_OR,         /* first || second */
    STEP_NOT,        /* ! first */
    STEP_LIST,       /* first, and its next ones */
    STEP_BEHIND,     /* first & */
    STEP_SUBSHELL,   /* ( first ) */
    STEP_GROUP,      /* { first } */
    STEP_IF,         /* first: condition, second: then, third: else */
    STEP_CASE,       /* words[0]: subject, first: items */
    STEP_ITEM,       /* words: patterns, first: commands, ending: of ;; ;& ;;& the last character */
    STEP_FOR,        /* for name in words: first */
    STEP_EACH,       /* for ((words[0]; words[1]; words[2])): first */
    STEP_WHILE,      /* while first: second */
    STEP_UNTIL,      /* until first: second */
    STEP_FUNCTION,   /* name() first */
    STEP_TEST,       /* [[ words ]] */
    STEP_ARITHMETIC, /* (( words[0] )) */
    STEP_OTHER       /* select, coproc: what is done is not known */
};

struct step {
    enum step_kind kind;
    uint16_t source;
    uint32_t at;
    struct step *first, *second, *third, *next;
    struct raw *words;
    size_t count;
    struct redirect *redirects;
    const char *name;
    char ending;
    bool bare; /* STEP_FOR: without `in` */
};

/* ---- scan.c ---- */

/* Where a raw word that begins at `at` ends. */
size_t shell_word_end(const struct source *source, size_t at, size_t end);
/* Whether a quote or bracket in that word, or in a substitution of a process or an array at `at`, has no end. */
bool shell_word_is_open(const struct source *source, size_t at, size_t end);
/* Behind the quotes that begin at `at`, of ' " or `. */
size_t shell_quote_end(const struct source *source, size_t at, size_t end);
/* Behind what begins with $ at `at`. */
size_t shell_dollar_end(const struct source *source, size_t at, size_t end);
/* Behind the bracket that closes the one at `at`, which is (, [ or {. */
size_t shell_bracket_end(const struct source *source, size_t at, size_t end);
/* Letters, digits and _ that are a variable's name: 0 where a digit comes first. */
size_t shell_name_length(const char *text);
/* The same in a source: behind the name. */
size_t shell_name_end(const struct source *source, size_t at, size_t end);

/* ---- parse.c, parse_word.c ---- */

struct parser {
    struct shell *shell;
    const struct source *source;
    uint16_t number; /* of the source */
    size_t at, end;
    struct redirect *documents; /* whose lines have not come yet */
    unsigned nest;
    bool failed;
    bool test; /* between [[ and ]] */
};

/* The commands of text[from..to) of a source; NULL after a mistake was reported, or where there are none. */
struct step *shell_parse(struct shell *s, uint16_t source, size_t from, size_t to);

/* Blanks, continued lines and comments. */
void parser_blanks(struct parser *p);
/* The same, ends of lines, and the documents behind them. */
void parser_lines(struct parser *p);
/* Whether the next word is that one, unquoted. */
bool parser_next_is(const struct parser *p, const char *word);
bool parser_take(struct parser *p, const char *word);
void parser_fail(struct parser *p, const char *expected);
/* A word, an assignment with its array, a substitution of a process. False: none begins here. */
bool parser_word(struct parser *p, bool assignments, struct raw *raw);
/* A redirection. False: none begins here. */
bool parser_redirect(struct parser *p, struct redirect **list);
/* Whether the words of [[ ]] stand as bash takes them. */
bool parser_is_condition(const struct parser *p, const struct step *step);
void parser_append(struct parser *p, struct step *step, size_t *room, const struct raw *raw);

#endif
