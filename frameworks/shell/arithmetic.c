/* SPDX-License-Identifier: Apache-2.0 */
/* Whole-number arithmetic as bash has it (its manual, "Shell Arithmetic"): 64 bits that wrap, C's operators and their
 * ranks, assignments, names whose values are expressions again. */
#include "base/arena.h"
#include "frameworks/shell/parts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 60 };

struct sum {
    struct shell *shell;
    const char *at;
    uint32_t open;        /* what is not known */
    unsigned depth, dead; /* dead: an operand that is not evaluated */
    bool wrong;
    uint16_t source;
    size_t place;
};

/* What can be assigned: a variable, or an element of it. */
struct target {
    const char *name, *key;
    int64_t index;
    bool element;
};

static int64_t comma(struct sum *sum);
static int64_t assignment(struct sum *sum);

static int64_t wrapped(uint64_t value)
{
    return (int64_t)value;
}

static void blanks(struct sum *sum)
{
    sum->at += strspn(sum->at, " \t\n\r");
}

static bool failed(const struct sum *sum)
{
    return sum->wrong || sum->open || sum->shell->broken;
}

/* Whether an operator stands here, and none that is longer. */
static bool take(struct sum *sum, const char *operator, const char * not_before)
{
    size_t length = strlen(operator);
    blanks(sum);
    if (strncmp(sum->at, operator, length) != 0 || (sum->at[length] && strchr(not_before, sum->at[length])))
        return false;
    sum->at += length;
    return true;
}

/* ---- numbers and names ---- */

static int64_t digits(struct sum *sum, unsigned base)
{
    static const char signs[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@_";
    uint64_t value = 0;
    size_t count = 0;
    for (; isalnum((unsigned char)*sum->at) || *sum->at == '@' || *sum->at == '_'; sum->at++, count++) {
        unsigned digit = (unsigned)(strchr(signs, *sum->at) - signs);
        if (base <= 36 && digit >= 36)
            digit -= 26;
        sum->wrong |= digit >= base;
        value = value * base + digit;
    }
    sum->wrong |= !count;
    return wrapped(value);
}

static int64_t number(struct sum *sum)
{
    size_t length = strspn(sum->at, "0123456789");
    if (sum->at[length] == '#') {
        unsigned long base = strtoul(sum->at, NULL, 10);
        sum->at += length + 1;
        sum->wrong |= base < 2 || base > 64;
        return sum->wrong ? 0 : digits(sum, (unsigned)base);
    }
    if (sum->at[0] == '0' && (sum->at[1] == 'x' || sum->at[1] == 'X')) {
        sum->at += 2;
        return digits(sum, 16);
    }
    return digits(sum, sum->at[0] == '0' && length > 1 ? 8 : 10);
}

/* The value of a text, which is an expression again. */
static int64_t value_of(struct sum *sum, const struct cells *cells, const char *name)
{
    uint32_t open;
    struct cells plain = shell_without_free(sum->shell, cells);
    const char *text = shell_text(sum->shell, &plain, &open), *before = sum->at;
    if (open) {
        sum->open = shell_unknown_as(sum->shell, name, open);
        if (sum->shell->state->nounset) /* it may be a name, which nobody sets */
            shell_needed(sum->shell, name, sum->source, sum->place);
        else if (plain.count > 1 || !shell_may_count(sum->shell, open)) /* with letters around, maybe no number */
            shell_doubt(sum->shell, sum->source, sum->place);
        return 0;
    }
    if (!text[strspn(text, " \t\n")])
        return 0;
    shell_spend(sum->shell, 2 * CELL_WORK);
    sum->wrong |= ++sum->depth > DEPTH_MAX;
    sum->at = text;
    int64_t value = failed(sum) ? 0 : comma(sum);
    blanks(sum);
    sum->wrong |= *sum->at != '\0' && !sum->open;
    sum->at = before;
    sum->depth--;
    return value;
}

static int64_t read_target(struct sum *sum, const struct target *target)
{
    struct shell *s = sum->shell;
    const struct variable *variable = shell_find(s, target->name);
    if (sum->dead)
        return 0;
    if (!variable && s->state->lost) {
        sum->open = shell_unknown_as(s, target->name, s->state->lost);
        if (s->state->nounset)
            shell_needed(s, target->name, sum->source, sum->place);
        return 0;
    }
    if (!variable && shell_is_of_system(target->name)) {
        sum->open = shell_unknown(s, target->name, "set by the system that runs the script", sum->source, sum->place);
        return 0;
    }
    if (s->state->nounset && !variable)
        sum->open = shell_needed(s, target->name, sum->source, sum->place);
    else if (s->state->nounset && !variable->set)
        shell_refuse(s, sum->source, sum->place, "the script ends here: %s is not set, under 'set -u'", target->name);
    else if (!variable) /* of the environment, if anybody's: 0 */
        shell_is_free(s, target->name);
    else if (variable->set && variable->value.unknown)
        sum->open = shell_unknown_as(s, target->name, variable->value.unknown);
    if (s->state->nounset && sum->open) /* what it holds may be a name again */
        shell_needed(s, target->name, sum->source, sum->place);
    else if (sum->open && !shell_may_count(s, sum->open))
        shell_doubt(s, sum->source, sum->place);
    if (!variable || !variable->set || sum->open)
        return 0;
    const struct cells *cells = shell_element(s, &variable->value,
                                              !variable->value.keyed ? NULL
                                              : target->key          ? target->key
                                                                     : "0",
                                              target->index);
    return cells ? value_of(sum, cells, target->name) : 0;
}

static void write_target(struct sum *sum, const struct target *target, int64_t value)
{
    struct shell *s = sum->shell;
    if (sum->dead || failed(sum))
        return;
    const char *text = arena_print(s->arena, "%lld", (long long)value);
    const struct variable *variable = shell_find(s, target->name);
    bool array = variable && variable->set && variable->value.array;
    struct cells cells = shell_cells_of(s, text, sum->source, sum->place);
    if (target->element || array)
        shell_set_element(s, target->name, variable && variable->value.keyed ? target->key : NULL, target->index,
                          &cells);
    else
        shell_set_text(s, target->name, text, sum->source, sum->place);
}

/* The ] of the [ at which a text begins; NULL: it has none. */
static const char *subscript_end(struct sum *sum, const char *text)
{
    size_t depth = 0, at = 0;
    do
        depth += text[at] == '[' ? 1 : text[at] == ']' ? SIZE_MAX : 0;
    while (depth && text[++at]);
    shell_spend(sum->shell, at);
    return text[at] ? text + at : NULL;
}

/* NAME or NAME[...]; false: none begins here. */
static bool name(struct sum *sum, struct target *target)
{
    size_t length = shell_name_length(sum->at);
    *target = (struct target){0};
    if (!length)
        return false;
    target->name = arena_copy_part(sum->shell->arena, sum->at, length);
    sum->at += length;
    if (*sum->at != '[')
        return true;
    const char *close = subscript_end(sum, sum->at);
    const struct variable *variable = shell_find(sum->shell, target->name);
    target->element = true;
    if (variable && variable->value.keyed && close) {
        target->key = arena_copy_part(sum->shell->arena, sum->at + 1, (size_t)(close - sum->at - 1));
        sum->at = close + 1;
        return true;
    }
    sum->at++;
    target->index = comma(sum);
    sum->wrong |= !take(sum, "]", "");
    return true;
}

/* ---- operands ---- */

/* Whether ++ or -- stands here as one operator: before what is no name these are two signs. */
static bool take_step(struct sum *sum, const char *step)
{
    blanks(sum);
    if (strncmp(sum->at, step, 2) != 0 || !shell_name_length(sum->at + 2 + strspn(sum->at + 2, " \t\n\r")))
        return false;
    sum->at += 2;
    return true;
}

static int64_t step_by(struct sum *sum, const struct target *target, int64_t by, bool before)
{
    int64_t old = read_target(sum, target), new = wrapped((uint64_t)old + (uint64_t)by);
    write_target(sum, target, new);
    return before ? new : old;
}

static int64_t named(struct sum *sum)
{
    struct target target;
    if (!name(sum, &target)) {
        sum->wrong = true;
        return 0;
    }
    if (take(sum, "++", ""))
        return step_by(sum, &target, 1, false);
    if (take(sum, "--", ""))
        return step_by(sum, &target, -1, false);
    return read_target(sum, &target);
}

static int64_t prefixed(struct sum *sum, int64_t by)
{
    struct target target;
    blanks(sum);
    name(sum, &target);
    int64_t value = step_by(sum, &target, by, true);
    blanks(sum);
    sum->wrong |= !strncmp(sum->at, "++", 2) || !strncmp(sum->at, "--", 2); /* of a value */
    return value;
}

static int64_t operand(struct sum *sum)
{
    int64_t value = 0;
    blanks(sum);
    sum->wrong |= ++sum->depth > DEPTH_MAX;
    if (failed(sum))
        value = 0;
    else if (take_step(sum, "++"))
        value = prefixed(sum, 1);
    else if (take_step(sum, "--"))
        value = prefixed(sum, -1);
    else if (take(sum, "!", ""))
        value = !operand(sum);
    else if (take(sum, "~", ""))
        value = ~operand(sum);
    else if (take(sum, "-", ""))
        value = wrapped(0 - (uint64_t)operand(sum));
    else if (take(sum, "+", ""))
        value = operand(sum);
    else if (take(sum, "(", "")) {
        value = comma(sum);
        sum->wrong |= !sum->open && !take(sum, ")", "");
    } else if (isdigit((unsigned char)*sum->at))
        value = number(sum);
    else
        value = named(sum);
    sum->depth--;
    return value;
}

/* ---- operators of two operands, by rank ---- */

static int64_t power(struct sum *sum)
{
    int64_t base = operand(sum);
    if (failed(sum) || !take(sum, "**", "="))
        return base;
    sum->wrong |= ++sum->depth > DEPTH_MAX;
    int64_t exponent = failed(sum) ? 0 : power(sum);
    uint64_t value = 1, square = (uint64_t)base;
    sum->depth--;
    sum->wrong |= exponent < 0 && !sum->dead;
    for (; exponent > 0; exponent /= 2, square *= square)
        value *= exponent % 2 ? square : 1;
    return wrapped(value);
}

static int64_t divide(struct sum *sum, int64_t a, int64_t b, bool rest)
{
    if (sum->dead)
        return 0;
    sum->wrong |= !b && !sum->open;
    if (!b)
        return 0;
    if (b == -1)
        return rest ? 0 : wrapped(0 - (uint64_t)a);
    return rest ? a % b : a / b;
}

static int64_t apply(struct sum *sum, const char *how, int64_t a, int64_t b)
{
    if (failed(sum))
        return 0;
    switch (how[0]) {
    case '*':
        return wrapped((uint64_t)a * (uint64_t)b);
    case '/':
    case '%':
        return divide(sum, a, b, how[0] == '%');
    case '+':
        return wrapped((uint64_t)a + (uint64_t)b);
    case '-':
        return wrapped((uint64_t)a - (uint64_t)b);
    case '&':
        return a & b;
    case '|':
        return a | b;
    case '^':
        return a ^ b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '<':
        return how[1] == '<' ? wrapped((uint64_t)a << (b & 63)) : how[1] ? a <= b : a < b;
    default:
        return how[1] == '>' ? a >> (b & 63) : how[1] ? a >= b : a > b;
    }
}

/* Operators of one rank, the longer ones first, each with the characters that may not follow it. */
static const char *const ranks[][9] = {
    {"|", "|=", NULL},
    {"^", "=", NULL},
    {"&", "&=", NULL},
    {"==", "", "!=", "", NULL},
    {"<=", "", ">=", "", "<", "<=", ">", ">="},
    {"<<", "=", ">>", "=", NULL},
    {"+", "=", "-", "=", NULL},
    {"*", "*=", "/", "=", "%", "=", NULL},
};
enum { RANKS = sizeof ranks / sizeof *ranks };

/* + and - before a sign, but for ++NAME, which stands behind no value. */
static bool take_binary(struct sum *sum, const char *operator, const char * not_before)
{
    const char *before = sum->at;
    bool step = strchr("+-", operator[0]) && (take_step(sum, "++") || take_step(sum, "--"));
    sum->at = before;
    return !step && take(sum, operator, not_before);
}

static int64_t binary(struct sum *sum, size_t rank)
{
    if (rank == RANKS)
        return power(sum);
    int64_t value = binary(sum, rank + 1);
    for (bool more = true; more && !failed(sum);) {
        more = false;
        for (const char *const *each = ranks[rank]; *each && !more; each += 2)
            if (take_binary(sum, each[0], each[1])) {
                int64_t other = binary(sum, rank + 1);
                value = apply(sum, each[0], value, other);
                more = true;
            }
    }
    return value;
}

static int64_t both(struct sum *sum)
{
    int64_t value = binary(sum, 0);
    while (!failed(sum) && take(sum, "&&", "")) {
        sum->dead += !value;
        int64_t other = binary(sum, 0);
        sum->dead -= !value;
        value = value && other;
    }
    return value;
}

static int64_t either(struct sum *sum)
{
    int64_t value = both(sum);
    while (!failed(sum) && take(sum, "||", "")) {
        sum->dead += value != 0;
        int64_t other = both(sum);
        sum->dead -= value != 0;
        value = value || other;
    }
    return value;
}

static int64_t choice(struct sum *sum)
{
    int64_t condition = either(sum);
    if (failed(sum) || !take(sum, "?", ""))
        return condition;
    sum->wrong |= ++sum->depth > DEPTH_MAX;
    sum->dead += !condition;
    int64_t yes = failed(sum) ? 0 : assignment(sum);
    sum->dead -= !condition;
    sum->wrong |= !sum->open && !take(sum, ":", "");
    sum->dead += condition != 0;
    int64_t no = failed(sum) ? 0 : choice(sum);
    sum->dead -= condition != 0;
    sum->depth--;
    return condition ? yes : no;
}

static int64_t assign(struct sum *sum, const char *how)
{
    struct target target;
    bool plain = strlen(how) == 1;
    blanks(sum);
    name(sum, &target);
    take(sum, how, "");
    int64_t old = plain ? 0 : read_target(sum, &target), value = assignment(sum);
    value = plain ? value : apply(sum, how, old, value);
    write_target(sum, &target, value);
    return value;
}

/* The operator behind a name that is assigned, which is not read yet; NULL: none is. */
static const char *look_ahead(struct sum *sum)
{
    static const char *const operators[] = {"=", "*=", "/=", "%=", "+=", "-=", "<<=", ">>=", "&=", "^=", "|=", NULL};
    const char *start = sum->at, *how = NULL, *close;
    blanks(sum);
    size_t length = shell_name_length(sum->at);
    sum->at += length;
    if (length && *sum->at == '[' && (close = subscript_end(sum, sum->at)))
        sum->at = close + 1;
    for (const char *const *each = operators; length && *each && !how; each++)
        how = take(sum, *each, strlen(*each) == 1 ? "=" : "") ? *each : NULL;
    sum->at = start;
    return how;
}

/* NAME OP= value, from the right. */
static int64_t assignment(struct sum *sum)
{
    if (failed(sum) || ++sum->depth > DEPTH_MAX) {
        sum->wrong |= !sum->open;
        return 0;
    }
    const char *how = look_ahead(sum);
    int64_t value = 0;
    if (failed(sum))
        value = 0;
    else if (how)
        value = assign(sum, how);
    else
        value = choice(sum);
    sum->depth--;
    return value;
}

static int64_t comma(struct sum *sum)
{
    int64_t value = assignment(sum);
    while (!failed(sum) && take(sum, ",", ""))
        value = assignment(sum);
    return value;
}

enum arithmetic shell_compute(struct shell *s, const char *text, int64_t *value, uint32_t *open, uint16_t source,
                              size_t at)
{
    struct sum sum = {.shell = s, .at = text, .source = source, .place = at};
    shell_spend(s, strlen(text));
    *open = 0;
    *value = 0;
    if (!text[strspn(text, " \t\n")])
        return ARITHMETIC_KNOWN;
    *value = comma(&sum);
    blanks(&sum);
    sum.wrong |= !sum.open && *sum.at;
    if (!failed(&sum))
        return ARITHMETIC_KNOWN;
    *open = sum.open;
    struct sum form = {.shell = s, .at = text, .source = source, .place = at, .dead = 1};
    comma(&form); /* what stands behind what is not known may be wrong all the same */
    blanks(&form);
    form.wrong |= *form.at != '\0';
    return sum.open && !form.wrong ? ARITHMETIC_UNKNOWN : ARITHMETIC_WRONG;
}
