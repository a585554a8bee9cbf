/* SPDX-License-Identifier: Apache-2.0 */
#include "frameworks/logs/log_parts.h"

#include "base/arena.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 40, STEPS_FIRST = 64 };

const char *log_behind(const struct log_cursor *cursor, const char *label)
{
    const char *found = strstr(cursor->line, label);
    if (!found)
        return NULL;
    found += strlen(label);
    return found + strspn(found, " \t");
}

static struct place place_of(const struct log_cursor *cursor, const char *text)
{
    return (struct place){cursor->log->file, cursor->number, (unsigned)(text - cursor->line) + 1};
}

/* The word that stands where a number should, for messages. */
static const char *excerpt(const struct log_cursor *cursor, const char *text)
{
    size_t length = strcspn(text, " \t|;)]}");
    return length ? arena_copy_part(cursor->arena, text, length < NUMBER_MAX ? length : NUMBER_MAX) : "";
}

static bool no_number(const struct log_cursor *cursor, const char *text)
{
    const char *word = excerpt(cursor, text);
    if (*word)
        diag_error(cursor->diag, place_of(cursor, text), "'%s' is no number; expected one such as 9012.3, with a point",
                   word);
    else
        diag_error(cursor->diag, place_of(cursor, text), "the line ends where a number such as 9012.3 was expected");
    return false;
}

/* Digits, a point, an exponent: what strtod takes beside these (hexadecimal numbers, inf, nan) is none. */
static size_t decimal_length(const char *text)
{
    size_t length = strspn(text, "0123456789");
    size_t digits = length;
    if (text[length] == '.') {
        size_t behind = strspn(text + length + 1, "0123456789");
        digits += behind;
        length += 1 + behind;
    }
    if (!digits)
        return 0;
    if (text[length] == 'e' || text[length] == 'E') {
        size_t sign = text[length + 1] == '+' || text[length + 1] == '-';
        size_t power = strspn(text + length + 1 + sign, "0123456789");
        length += power ? 1 + sign + power : 0;
    }
    return length;
}

/* Of a step, in whatever measure a log has: the squares of others do not fit a double. */
static const double STEP_LEAST = 1e-15, STEP_MOST = 1e15;

static bool read_digits(const struct log_cursor *cursor, const char *text, size_t length, double *value)
{
    if (!length || length > NUMBER_MAX)
        return no_number(cursor, text);
    char word[NUMBER_MAX + 1];
    memcpy(word, text, length);
    word[length] = '\0';
    double found = strtod(word, NULL);
    if (!isfinite(found))
        return no_number(cursor, text);
    *value = found;
    return true;
}

bool log_number(const struct log_cursor *cursor, const char *text, double *value)
{
    size_t length = decimal_length(text);
    if (length && text[length] == ',' && isdigit((unsigned char)text[length + 1]))
        return no_number(cursor, text);
    return read_digits(cursor, text, length, value);
}

bool log_grouped(const struct log_cursor *cursor, const char *text, double *value)
{
    char word[NUMBER_MAX + 1];
    size_t kept = 0, i = 0, since = 0;
    bool grouped = false;
    for (; isdigit((unsigned char)text[i]) || (text[i] == ',' && isdigit((unsigned char)text[i + 1])); i++) {
        if (text[i] == ',' && (kept == 0 || since > 3 || (grouped && since != 3)))
            return no_number(cursor, text);
        if (text[i] == ',') {
            grouped = true;
            since = 0;
        } else if (kept < NUMBER_MAX) {
            word[kept++] = text[i];
            since++;
        }
    }
    word[kept] = '\0';
    if ((grouped && since != 3) || (grouped && text[i] == '.'))
        return no_number(cursor, text);
    if (!grouped)
        return log_number(cursor, text, value);
    return read_digits(cursor, word, kept, value);
}

bool log_value(const struct log_cursor *cursor, const char *label, double *value)
{
    const char *text = log_behind(cursor, label);
    return text && log_number(cursor, text, value);
}

bool log_count(const struct log_cursor *cursor, const char *text, bool grouped, double *value)
{
    size_t length = decimal_length(text);
    while (grouped && text[length] == ',' && isdigit((unsigned char)text[length + 1]))
        length += 1 + strspn(text + length + 1, "0123456789");
    if (isalnum((unsigned char)text[length]) || text[length] == '_')
        return no_number(cursor, text);
    if (!(grouped ? log_grouped : log_number)(cursor, text, value))
        return false;
    return (*value <= 0x1p53 && *value <= floor(*value)) || no_number(cursor, text);
}

void log_fact(struct log_cursor *cursor, enum log_fact fact, double value)
{
    struct log_number *known = &cursor->log->facts[fact];
    if (!(known->value > 0) && value > 0)
        *known = (struct log_number){value, cursor->number};
}

void log_fact_behind(struct log_cursor *cursor, enum log_fact fact, const char *label)
{
    const char *text = log_behind(cursor, label);
    double value;
    if (text && isdigit((unsigned char)*text) && log_count(cursor, text, true, &value))
        log_fact(cursor, fact, value);
}

void log_fact_dotted(struct log_cursor *cursor, enum log_fact fact, const char *name)
{
    const char *text = log_behind(cursor, name);
    if (!text || text[0] != '.' || text[1] != '.')
        return;
    const char *before = strstr(cursor->line, name);
    if (before > cursor->line && !isspace((unsigned char)before[-1]))
        return;
    text += strspn(text, ".");
    text += strspn(text, " \t");
    double value;
    if (isdigit((unsigned char)*text) && log_count(cursor, text, true, &value))
        log_fact(cursor, fact, value);
}

void log_bytes(struct log_cursor *cursor, double bytes)
{
    if (bytes > cursor->log->bytes.value && isfinite(bytes))
        cursor->log->bytes = (struct log_number){bytes, cursor->number};
}

void log_forget_steps(struct log_cursor *cursor)
{
    cursor->log->count = 0;
    cursor->event = LOG_KEPT;
}

void log_step(struct log_cursor *cursor, double value)
{
    struct training_log *log = cursor->log;
    if (!(value > 0) || !isfinite(value)) {
        diag_error(cursor->diag, place_of(cursor, cursor->line), "this step takes no time; expected a positive number");
        return;
    }
    if (value < STEP_LEAST || value > STEP_MOST) {
        diag_error(cursor->diag, place_of(cursor, cursor->line), "a step of %g; expected %g to %g", value, STEP_LEAST,
                   STEP_MOST);
        return;
    }
    if (log->count == cursor->room) {
        size_t room = cursor->room ? 2 * cursor->room : STEPS_FIRST;
        struct log_step *more = arena_array(cursor->arena, room, sizeof *more);
        if (log->count)
            memcpy(more, log->steps, log->count * sizeof *more);
        log->steps = more;
        cursor->room = room;
    }
    log->steps[log->count++] =
        (struct log_step){.value = value, .batch = cursor->batch, .line = cursor->number, .sort = cursor->event};
    cursor->event = LOG_KEPT;
}
