/* SPDX-License-Identifier: Apache-2.0 */
#include "platforms/profiles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double value_most = 1e30;

struct profile {
    bool loops, stochastic;
    double periodicity, delay; /* seconds: from begin to begin, from end to begin; 0: not given */
    double last;               /* date of the last event; where times are drawn: the mean of one repetition */
    unsigned events, line;
    struct fault *fault;
};

__attribute__((format(printf, 2, 3))) static bool refuse(struct profile *profile, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fault_set(profile->fault, "line %u: %s", profile->line, text);
}

static bool read_number(struct profile *profile, const char *word, double *to)
{
    char *end = NULL;
    *to = word ? strtod(word, &end) : 0;
    if (!word)
        return refuse(profile, "a number is missing; an event is a date and a value, such as '10 0.5'");
    if (end == word || *end)
        return refuse(profile, "'%.60s' is no number", word);
    return (*to >= 0 && *to <= value_most) || refuse(profile, "%.60s is out of range: 0 to %g", word, value_most);
}

/* How a number is drawn. Every law may be written in several ways. */
enum law { LAW_NONE, LAW_FIXED, LAW_UNIFORM, LAW_EXPONENTIAL, LAW_NORMAL };

static enum law law_of(const char *word)
{
    static const struct {
        const char *word;
        enum law law;
    } rows[] = {{"DET", LAW_FIXED},
                {"UNIF", LAW_UNIFORM},
                {"UNIFORM", LAW_UNIFORM},
                {"EXP", LAW_EXPONENTIAL},
                {"EXPONENTIAL", LAW_EXPONENTIAL},
                {"NORM", LAW_NORMAL},
                {"NORMAL", LAW_NORMAL},
                {"GAUSS", LAW_NORMAL},
                {"GAUSSIAN", LAW_NORMAL}};
    for (size_t i = 0; word && i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].word, word) == 0)
            return rows[i].law;
    return LAW_NONE;
}

static bool read_law(struct profile *profile, enum law law, char **rest, double *mean)
{
    double first, second = 0;
    if (!read_number(profile, strtok_r(NULL, " \t", rest), &first))
        return false;
    if ((law == LAW_UNIFORM || law == LAW_NORMAL) && !read_number(profile, strtok_r(NULL, " \t", rest), &second))
        return false;
    if (law == LAW_UNIFORM && second < first)
        return refuse(profile, "UNIF %g %g: the least comes first", first, second);
    if (law == LAW_EXPONENTIAL && !(first >= 1 / value_most))
        return refuse(profile, "EXP %g: a rate is above 0", first);
    if (law == LAW_NORMAL && first < 5 * second)
        return refuse(profile, "NORM %g %g would draw negative numbers; the mean is at least 5 deviations", first,
                      second);
    *mean = law == LAW_UNIFORM ? (first + second) / 2 : law == LAW_EXPONENTIAL ? 1 / first : first;
    return true;
}

/* A date or a value: a number, or a law and its numbers. */
static bool read_drawn(struct profile *profile, const char *word, char **rest, double *mean)
{
    enum law law = law_of(word);
    if (law > LAW_FIXED && !profile->stochastic)
        return refuse(profile, "'%s' draws numbers; STOCHASTIC comes before the first event of such a profile", word);
    if (law != LAW_NONE)
        return read_law(profile, law, rest, mean);
    if (profile->stochastic)
        return refuse(profile, "'%.60s' is none of DET, UNIF, EXP and NORM, as STOCHASTIC demands", word ? word : "");
    return read_number(profile, word, mean);
}

static bool read_event(struct profile *profile, char *line)
{
    char *rest = NULL;
    double date, value;
    if (!read_drawn(profile, strtok_r(line, " \t", &rest), &rest, &date) ||
        !read_drawn(profile, strtok_r(NULL, " \t", &rest), &rest, &value))
        return false;
    const char *more = strtok_r(NULL, " \t", &rest);
    if (more && *more != '#' && *more != '%')
        return refuse(profile, "'%.60s' follows the event's value", more);
    if (!profile->stochastic && date < profile->last)
        return refuse(profile, "the date %g comes after %g; events are in the order of time", date, profile->last);
    profile->last = profile->stochastic ? profile->last + date : date; /* drawn dates are steps */
    profile->events++;
    return true;
}

/* PERIODICITY or LOOPAFTER. */
static bool read_repetition(struct profile *profile, const char *word, const char *number, double *to)
{
    profile->loops = true;
    if (*word == 'P' && strtod(number, NULL) <= 0)
        return refuse(profile,
                      "PERIODICITY is the time from one repetition to the next; a profile that does not repeat "
                      "itself has none");
    return read_number(profile, number + strspn(number, " \t"), to);
}

static bool read_line(struct profile *profile, char *line)
{
    size_t length = strlen(line);
    while (length && strchr(" \t\r\v\f", line[length - 1]))
        line[--length] = '\0';
    if (*line == '#' || *line == '%' || *line == '\0')
        return true;
    if (strncmp(line, "PERIODICITY", 11) == 0)
        return read_repetition(profile, line, line + 11, &profile->periodicity);
    if (strncmp(line, "LOOPAFTER", 9) == 0)
        return read_repetition(profile, line, line + 9, &profile->delay);
    if (strcmp(line, "STOCHASTIC") != 0 && strcmp(line, "STOCHASTIC LOOP") != 0)
        return read_event(profile, line);
    if (profile->events)
        return refuse(profile, "%s comes before the first event", line);
    profile->stochastic = true;
    profile->loops |= line[10] != '\0';
    return true;
}

/* What one line cannot tell. */
static bool check_repetition(struct profile *profile)
{
    struct fault *fault = profile->fault;
    if (!profile->loops)
        return true;
    if (profile->events == 0)
        return fault_set(fault, "it repeats itself, but has no event");
    if (profile->periodicity > 0 && (profile->stochastic || profile->delay > 0))
        return fault_set(fault, "PERIODICITY goes neither with STOCHASTIC nor with LOOPAFTER");
    if (profile->periodicity > 0 && profile->periodicity < profile->last)
        return fault_set(fault, "it repeats itself every %g s, but has an event at %g s", profile->periodicity,
                         profile->last);
    double period = profile->periodicity > 0 ? profile->periodicity : profile->last + profile->delay;
    return period >= PROFILE_PERIOD_MIN ||
           fault_set(
               fault,
               "it repeats itself every %g s, which a simulation would never get past; a period is at least 1 us, "
               "and a profile that does not repeat itself has neither PERIODICITY nor LOOPAFTER",
               period);
}

bool profile_check(char *text, double periodicity, struct fault *fault)
{
    struct profile profile = {.loops = periodicity > 0, .periodicity = fmax(periodicity, 0), .fault = fault};
    for (char *line = text; line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        profile.line++;
        if (!read_line(&profile, line + strspn(line, " \t\r\v\f")))
            return false;
        line = end;
    }
    return check_repetition(&profile);
}
