/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions and arithmetic of a shell, where all in them is known. */
#include "base/arena.h"
#include "frameworks/readers/shell_parts.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* ---- arithmetic: + - * / %, parentheses, names of variables ---- */

struct sum {
    struct shell *shell;
    const char *at;
    unsigned depth;
    bool failed;
};

static int64_t add_up(struct sum *sum);

static void skip_blanks(struct sum *sum)
{
    sum->at += strspn(sum->at, " \t\n");
}

static int64_t variable_value(struct sum *sum)
{
    size_t length = 0;
    const char *open;
    while (isalnum((unsigned char)sum->at[length]) || sum->at[length] == '_')
        length++;
    const struct variable *variable = length ? shell_variable(sum->shell, sum->at, length) : NULL;
    sum->at += length;
    sum->failed |= !variable || variable->count != 1;
    if (sum->failed)
        return 0;
    const char *text = shell_text(sum->shell, &variable->words[0], &open);
    char *end;
    long long value = strtoll(text, &end, 10);
    sum->failed |= open || end == text || *end || llabs(value) > 1LL << 40;
    return value;
}

static int64_t factor(struct sum *sum)
{
    skip_blanks(sum);
    if (++sum->depth > 32)
        sum->failed = true;
    int64_t value = 0;
    char *end;
    if (sum->failed)
        return 0;
    if (*sum->at == '(') {
        sum->at++;
        value = add_up(sum);
        skip_blanks(sum);
        sum->failed |= *sum->at != ')';
        sum->at += *sum->at == ')';
    } else if (*sum->at == '-') {
        sum->at++;
        value = -factor(sum);
    } else if (isdigit((unsigned char)*sum->at)) {
        value = strtoll(sum->at, &end, 10);
        sum->at = end;
    } else
        value = variable_value(sum);
    sum->depth--;
    sum->failed |= llabs(value) > 1LL << 40;
    return sum->failed ? 0 : value;
}

static int64_t multiply(struct sum *sum)
{
    int64_t value = factor(sum);
    for (skip_blanks(sum); !sum->failed && *sum->at && strchr("*/%", *sum->at); skip_blanks(sum)) {
        char how = *sum->at++;
        int64_t other = factor(sum);
        sum->failed |= (how != '*' && !other) || (other && llabs(value) > (1LL << 60) / llabs(other));
        if (sum->failed)
            return 0;
        value = how == '*' ? value * other : how == '/' ? value / other : value % other;
    }
    return value;
}

static int64_t add_up(struct sum *sum)
{
    int64_t value = multiply(sum);
    for (skip_blanks(sum); !sum->failed && (*sum->at == '+' || *sum->at == '-'); skip_blanks(sum)) {
        char how = *sum->at++;
        int64_t other = multiply(sum);
        value = how == '+' ? value + other : value - other;
        sum->failed |= llabs(value) > 1LL << 60;
    }
    return value;
}

bool shell_arithmetic(struct shell *shell, const char *text, int64_t *value)
{
    struct sum sum = {shell, text, 0, false};
    *value = add_up(&sum);
    skip_blanks(&sum);
    return !sum.failed && !*sum.at;
}

/* ---- conditions ---- */

struct test {
    struct shell *shell;
    const struct cells *words;
    size_t at, count;
    unsigned depth;
};

static enum shell_state either(struct test *test);

static const char *word(struct test *test, size_t ahead, const char **open)
{
    *open = NULL;
    return test->at + ahead < test->count ? shell_text(test->shell, &test->words[test->at + ahead], open) : "";
}

static bool is_word(struct test *test, size_t ahead, const char *expected)
{
    const char *open;
    return test->at + ahead < test->count && !strcmp(word(test, ahead, &open), expected);
}

static enum shell_state negate(enum shell_state state)
{
    return state == SHELL_MAYBE ? SHELL_MAYBE : state == SHELL_YES ? SHELL_NO : SHELL_YES;
}

static enum shell_state compare_numbers(struct test *test, const char *left, const char *how, const char *right)
{
    int64_t a, b;
    if (!shell_arithmetic(test->shell, left, &a) || !shell_arithmetic(test->shell, right, &b))
        return SHELL_MAYBE;
    bool holds = !strcmp(how, "-eq")   ? a == b
                 : !strcmp(how, "-ne") ? a != b
                 : !strcmp(how, "-lt") ? a < b
                 : !strcmp(how, "-le") ? a <= b
                 : !strcmp(how, "-gt") ? a > b
                                       : a >= b;
    return holds ? SHELL_YES : SHELL_NO;
}

static enum shell_state compare(struct test *test)
{
    const char *left_open, *right_open, *unused;
    const char *left = word(test, 0, &left_open), *how = word(test, 1, &unused), *right = word(test, 2, &right_open);
    test->at += 3;
    if (left_open || right_open)
        return SHELL_MAYBE;
    if (!strcmp(how, "=") || !strcmp(how, "=="))
        return fnmatch(right, left, 0) == 0 ? SHELL_YES : SHELL_NO;
    if (!strcmp(how, "!="))
        return fnmatch(right, left, 0) == 0 ? SHELL_NO : SHELL_YES;
    if (how[0] == '-' && strlen(how) == 3)
        return compare_numbers(test, left, how, right);
    return SHELL_MAYBE;
}

static bool is_comparison(struct test *test)
{
    static const char *const how[] = {"=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "=~", "<", ">", NULL};
    for (const char *const *each = how; *each; each++)
        if (is_word(test, 1, *each))
            return true;
    return false;
}

static enum shell_state primary(struct test *test)
{
    const char *open, *text;
    if (++test->depth > 32 || test->at >= test->count)
        return SHELL_MAYBE;
    if (is_word(test, 0, "!") && test->at + 1 < test->count) {
        test->at++;
        return negate(primary(test));
    }
    if (is_word(test, 0, "(")) {
        test->at++;
        enum shell_state state = either(test);
        test->at += is_word(test, 0, ")");
        return state;
    }
    if (is_comparison(test))
        return compare(test);
    if (is_word(test, 0, "-n") || is_word(test, 0, "-z")) {
        bool empty = is_word(test, 0, "-z");
        text = word(test, 1, &open);
        test->at += 2;
        return open ? SHELL_MAYBE : !*text == empty ? SHELL_YES : SHELL_NO;
    }
    text = word(test, 0, &open);
    test->at += text[0] == '-' && text[1] && !text[2] ? 2 : 1; /* -f FILE and the like: not known */
    return open || text[0] == '-' ? SHELL_MAYBE : *text ? SHELL_YES : SHELL_NO;
}

static enum shell_state both(struct test *test)
{
    enum shell_state state = primary(test);
    while (is_word(test, 0, "&&") || is_word(test, 0, "-a")) {
        test->at++;
        enum shell_state other = primary(test);
        state = state == SHELL_NO || other == SHELL_NO ? SHELL_NO : state == SHELL_YES ? other : SHELL_MAYBE;
    }
    return state;
}

static enum shell_state either(struct test *test)
{
    enum shell_state state = both(test);
    while (is_word(test, 0, "||") || is_word(test, 0, "-o")) {
        test->at++;
        enum shell_state other = both(test);
        state = state == SHELL_YES || other == SHELL_YES ? SHELL_YES : state == SHELL_NO ? other : SHELL_MAYBE;
    }
    return state;
}

enum shell_state shell_test(struct shell *shell, const struct cells *words, size_t count)
{
    struct test test = {shell, words, 0, count, 0};
    enum shell_state state = either(&test);
    return test.at == test.count ? state : SHELL_MAYBE;
}
