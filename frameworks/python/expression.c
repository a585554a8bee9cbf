/* SPDX-License-Identifier: Apache-2.0 */
/* Operators, as far as they work on numbers, texts and flags. */
#include "frameworks/python/parts.h"

#include "base/arena.h"
#include "base/rounded/rounded.h"

#include <math.h>
#include <string.h>

enum { LEVEL_OR, LEVEL_AND, LEVEL_NOT, LEVEL_COMPARE, LEVEL_BITS, LEVEL_SUM = 8, LEVEL_PRODUCT, LEVEL_SIGN };

static const struct {
    const char *sign;
    int level;
} binary[] = {{"or", LEVEL_OR},      {"and", LEVEL_AND},    {"in", LEVEL_COMPARE}, {"not", LEVEL_COMPARE},
              {"is", LEVEL_COMPARE}, {"<", LEVEL_COMPARE},  {">", LEVEL_COMPARE},  {"<=", LEVEL_COMPARE},
              {">=", LEVEL_COMPARE}, {"==", LEVEL_COMPARE}, {"!=", LEVEL_COMPARE}, {"|", LEVEL_BITS},
              {"^", LEVEL_BITS + 1}, {"&", LEVEL_BITS + 2}, {"<<", LEVEL_SUM - 1}, {">>", LEVEL_SUM - 1},
              {"+", LEVEL_SUM},      {"-", LEVEL_SUM},      {"*", LEVEL_PRODUCT},  {"/", LEVEL_PRODUCT},
              {"//", LEVEL_PRODUCT}, {"%", LEVEL_PRODUCT},  {"@", LEVEL_PRODUCT}};

/* The level of the operator that is next; -1: none. *sign: its text; "not in" is "not". */
static int next_level(const struct python *p, const char **sign)
{
    const struct token *token = python_peek(p);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (token_is(token, binary[i].sign) && (strcmp(binary[i].sign, "not") != 0 || token_is(token + 1, "in"))) {
            *sign = binary[i].sign;
            return binary[i].level;
        }
    return -1;
}

/* ---- arithmetic ---- */

static bool whole_sum(const char *sign, int64_t a, int64_t b, int64_t *out)
{
    return *sign == '+'   ? !__builtin_add_overflow(a, b, out)
           : *sign == '-' ? !__builtin_sub_overflow(a, b, out)
                          : !__builtin_mul_overflow(a, b, out);
}

static int64_t floor_of(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static bool whole_power(int64_t base, int64_t power, int64_t *out)
{
    *out = 1;
    if (power > 63 && (base > 1 || base < -1))
        return false;
    for (int64_t i = 0; i < (power > 63 ? 64 + power % 2 : power); i++)
        if (__builtin_mul_overflow(*out, base, out))
            return false;
    return true;
}

/* Whole numbers as far as 64 bits go. False: the result is none of these. */
static bool apply_whole(const char *sign, int64_t a, int64_t b, int64_t *out)
{
    if (!strcmp(sign, "+") || !strcmp(sign, "-") || !strcmp(sign, "*"))
        return whole_sum(sign, a, b, out);
    if (!strcmp(sign, "**"))
        return b >= 0 && whole_power(a, b, out);
    if (!strcmp(sign, "<<"))
        return a >= 0 && b >= 0 && b < 63 && a <= (INT64_MAX >> b) && ((*out = a << b), true);
    if (!b || (a == INT64_MIN && b == -1))
        return false;
    *out = !strcmp(sign, "%") ? a - floor_of(a, b) * b : floor_of(a, b);
    return !strcmp(sign, "//") || !strcmp(sign, "%");
}

static bool apply_real(const char *sign, double a, double b, double *out)
{
    if ((!strcmp(sign, "/") || !strcmp(sign, "//") || !strcmp(sign, "%")) && b == 0)
        return false;
    if (!strcmp(sign, "+"))
        *out = a + b;
    else if (!strcmp(sign, "-"))
        *out = a - b;
    else if (!strcmp(sign, "*"))
        *out = a * b;
    else if (!strcmp(sign, "/"))
        *out = a / b;
    else if (!strcmp(sign, "**") && a > 0)
        *out = rounded_pow(a, b);
    else
        return false;
    return isfinite(*out);
}

/* Whole numbers that a double holds: Python divides and compares others exactly. */
static bool is_exact(const struct value *value)
{
    return value->kind != VALUE_WHOLE || (value->whole <= (1LL << 53) && value->whole >= -(1LL << 53));
}

static struct value *apply_numbers(struct python *p, const char *sign, const struct value *a, const struct value *b,
                                   struct place at)
{
    int64_t whole;
    double real;
    bool wholes = a->kind != VALUE_REAL && b->kind != VALUE_REAL;
    if (wholes && strcmp(sign, "/") != 0 && apply_whole(sign, a->whole, b->whole, &whole))
        return value_whole(p, whole, at);
    bool divided = wholes && !strcmp(sign, "/"), negative = wholes && !strcmp(sign, "**") && b->whole < 0;
    if ((!wholes || divided || negative) && is_exact(a) && is_exact(b) &&
        apply_real(sign, value_number(a), value_number(b), &real))
        return value_real(p, real, at);
    return value_unknown(p, at, "the result of %s", sign);
}

/* ---- comparisons ---- */

/* Whether two values are equal, as far as that is known: -1 where it is not. */
static int equal(const struct value *a, const struct value *b)
{
    if (value_is_number(a) && value_is_number(b))
        return is_exact(a) && is_exact(b) ? value_number(a) == value_number(b)
                                          : a->kind == b->kind && a->whole == b->whole;
    bool plain = (value_is_number(a) || a->kind == VALUE_TEXT || a->kind == VALUE_NONE) &&
                 (value_is_number(b) || b->kind == VALUE_TEXT || b->kind == VALUE_NONE);
    if (!plain)
        return -1;
    if (a->kind == VALUE_TEXT && b->kind == VALUE_TEXT)
        return !strcmp(a->text, b->text);
    return a->kind == b->kind;
}

/* Whether a list or map holds a value: -1 where it is not known. */
static int holds(struct python *p, const struct value *where, struct value *what)
{
    if (where->kind == VALUE_TEXT && what->kind == VALUE_TEXT)
        return strstr(where->text, what->text) != NULL;
    if (where->kind == VALUE_MAP)
        return what->kind == VALUE_TEXT ? value_find(where, what->text) != NULL : -1;
    if (where->kind != VALUE_LIST)
        return -1;
    int sure = 0;
    for (const struct entry *each = where->first; each && !python_is_spent(p); each = each->next) {
        int same = equal(each->value, what);
        if (same > 0)
            return 1;
        sure = same < 0 ? -1 : sure;
    }
    return sure;
}

static int compare(struct python *p, const char *sign, struct value *a, struct value *b)
{
    bool none = a->kind == VALUE_NONE || b->kind == VALUE_NONE;
    if (!strcmp(sign, "in"))
        return holds(p, b, a);
    if (!strcmp(sign, "==") || (!strcmp(sign, "is") && none))
        return none && (value_is_container(a) || value_is_container(b)) ? 0 : equal(a, b);
    if (!value_is_number(a) || !value_is_number(b) || !is_exact(a) || !is_exact(b))
        return -1;
    double x = value_number(a), y = value_number(b);
    return !strcmp(sign, "<") ? x < y : !strcmp(sign, ">") ? x > y : !strcmp(sign, "<=") ? x <= y : x >= y;
}

static bool is_comparison(const char *sign)
{
    return strchr("<>=!i", *sign) && strcmp(sign, "<<") != 0 && strcmp(sign, ">>") != 0;
}

static struct value *apply_comparison(struct python *p, const char *sign, struct value *a, struct value *b,
                                      struct place at)
{
    bool not = *sign == '!';
    bool sure = strcmp(sign, "is") != 0 || a->kind == VALUE_NONE || b->kind == VALUE_NONE;
    int result = sure ? compare(p, not ? "==" : sign, a, b) : -1;
    return result < 0 ? value_unknown(p, at, "a comparison") : value_flag(p, result != not, at);
}

/* ---- all together ---- */

/* What is one of two values, or made of them; why it is not known as another one says. */
static struct value *either(struct python *p, struct value *a, struct value *b, const struct value *why)
{
    const char *text = why->kind == VALUE_UNKNOWN ? why->text : "a choice whose condition is not known";
    struct value *value = value_unknown(p, why->at, "%s", text);
    value_may_be(p, value, a);
    value_may_be(p, value, b);
    return value;
}

static struct value *join(struct python *p, struct value *a, const struct value *b, struct place at)
{
    struct value *both = value_copy(p, a, false);
    both->at = at;
    for (const struct entry *each = b->first; each && !python_is_spent(p); each = each->next)
        value_append(p, both, each->value);
    return both;
}

struct value *python_apply(struct python *p, const char *sign, struct value *a, struct value *b, struct place at)
{
    if (a->kind == VALUE_UNKNOWN || b->kind == VALUE_UNKNOWN)
        return either(p, a, b, a->kind == VALUE_UNKNOWN ? a : b);
    if (is_comparison(sign))
        return apply_comparison(p, sign, a, b, at);
    if (value_is_number(a) && value_is_number(b))
        return apply_numbers(p, sign, a, b, at);
    if (a->kind == VALUE_TEXT && b->kind == VALUE_TEXT && !strcmp(sign, "+") &&
        strlen(a->text) + strlen(b->text) <= PYTHON_TEXT_MAX)
        return value_text(p, VALUE_TEXT, arena_print(p->arena, "%s%s", a->text, b->text), at);
    if (a->kind == VALUE_LIST && b->kind == VALUE_LIST && !strcmp(sign, "+"))
        return join(p, a, b, at);
    return either(p, a, b, value_unknown(p, at, "the result of %s", sign));
}

static struct value *level(struct python *p, int least);

/* a or b, a and b: b is carried out only where a does not decide. */
static struct value *choose(struct python *p, int own, struct value *a)
{
    bool truth = false, known = value_truth(a, &truth), skipped = !known || truth == (own == LEVEL_OR);
    size_t from = p->at;
    p->dry += skipped;
    struct value *b = level(p, own + 1);
    p->dry -= skipped;
    if (known)
        return skipped ? a : b;
    python_unfollowed(p, from, p->at, "something that depends on what is not known");
    return either(p, a, b, a);
}

static struct value *negate(struct python *p, const struct value *value, struct place at)
{
    bool truth;
    return value_truth(value, &truth) ? value_flag(p, !truth, at)
                                      : value_unknown(p, at, "a condition that is not known");
}

static struct value *unary(struct python *p)
{
    const struct token *token = python_peek(p);
    struct value *value;
    if (python_takes(p, "not"))
        return negate(p, level(p, LEVEL_NOT), token->at);
    if (python_takes(p, "-")) {
        value = level(p, LEVEL_SIGN);
        return value_is_number(value) ? python_apply(p, "-", value_whole(p, 0, token->at), value, token->at)
                                      : value_unknown(p, token->at, "the result of -");
    }
    if (python_takes(p, "+"))
        return level(p, LEVEL_SIGN);
    if (python_takes(p, "~"))
        return (level(p, LEVEL_SIGN), value_unknown(p, token->at, "the result of ~"));
    value = python_primary(p);
    if (python_takes(p, "**"))
        value = python_apply(p, "**", value, level(p, LEVEL_SIGN), token->at);
    return value;
}

static struct value *combine(struct python *p, const char *sign, struct value *a, int own)
{
    struct place at = a->at;
    bool not = !strcmp(sign, "not"), is_not = !strcmp(sign, "is") && python_takes(p, "not");
    if (not )
        python_takes(p, "in");
    if (own == LEVEL_OR || own == LEVEL_AND)
        return choose(p, own, a);
    struct value *b = level(p, own + 1), *result = python_apply(p, not ? "in" : sign, a, b, at);
    return not || is_not ? negate(p, result, at) : result;
}

/* An expression of operators at this level and above. What both sides of a chain of comparisons are is not followed. */
static struct value *level(struct python *p, int least)
{
    const char *sign = "";
    bool compared = false;
    struct place at = python_peek(p)->at;
    if (python_is_spent(p) || p->nested >= PYTHON_NESTED_MAX)
        return python_skip(p, p->at, "an expression that is nested too deep");
    p->nested++;
    struct value *value = unary(p);
    for (int own; (own = next_level(p, &sign)) >= least; compared |= own == LEVEL_COMPARE) {
        p->at++;
        value = combine(p, sign, value, own);
        if (own == LEVEL_COMPARE && compared)
            value = value_unknown(p, at, "a chain of comparisons");
    }
    p->nested--;
    return value;
}

/* The word `if` of a choice at this level of the expression; 0: there is none. */
static size_t find_choice(const struct python *p)
{
    size_t end = python_end(p, p->at);
    for (size_t i = p->at; i < end; i = python_past(p, i))
        if (token_is(&p->tokens[i], "lambda") || token_is(&p->tokens[i], "for"))
            return 0;
        else if (token_is(&p->tokens[i], "if"))
            return i;
    return 0;
}

/* `a if b else c`, whose `if` is a token. */
static struct value *read_choice(struct python *p, size_t choice)
{
    size_t from = p->at, end = python_end(p, from);
    bool truth;
    p->at = choice + 1;
    struct value *condition = level(p, LEVEL_OR);
    if (!python_takes(p, "else"))
        return python_skip(p, from, "something that is not followed");
    if (!value_truth(condition, &truth)) {
        struct value *value = python_unfollowed(p, from, end, "a choice whose condition is not known");
        p->at = end;
        return value;
    }
    if (!truth)
        return python_expression(p);
    p->at = from;
    struct value *value = level(p, LEVEL_OR);
    p->at = end;
    return value;
}

struct value *python_expression(struct python *p)
{
    size_t from = p->at, choice = find_choice(p);
    const struct token *token = python_peek(p);
    if (token_is(token, "lambda"))
        return (p->at = python_end(p, from), value_unknown(p, token->at, "a function without a name"));
    if (token_is(token, "yield") || token_is(token, "await") || token_is(token, "*") || token_is(token, "**"))
        return python_skip(p, from, "something that is not followed");
    if (p->nested++ >= PYTHON_NESTED_MAX)
        return (p->nested--, python_skip(p, from, "an expression that is nested too deep"));
    struct value *value = choice ? read_choice(p, choice) : level(p, LEVEL_OR);
    p->nested--;
    if (p->at != python_end(p, from))
        return python_skip(p, from, "something that is not followed");
    return value;
}
