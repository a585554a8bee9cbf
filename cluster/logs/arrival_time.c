/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/logs/arrival_time.h"

#include <ctype.h>
#include <math.h>

static bool is_day(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return year >= 1970 && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] + (month == 2 && leap);
}

/* Days from 1970-01-01 to a day of the Gregorian calendar; years begin in March, so that leap days come last. */
static int64_t days_of(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1, m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

/* Some digits, a number; -1: they are none. */
static int digits(const char *text, int count)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)text[i]))
            return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/* ".25": a fraction of a second; how many characters it has. */
static size_t read_fraction(const char *text, size_t size, double *seconds)
{
    size_t count = 1;
    double unit = 1;
    if (size < 2 || text[0] != '.')
        return 0;
    for (; count < size && isdigit((unsigned char)text[count]); count++) {
        unit /= 10;
        *seconds += unit * (text[count] - '0');
    }
    return count > 1 ? count : 0;
}

/* "+08:00", or Z: seconds; false where it is none. */
static bool read_zone(const char *text, size_t size, double *seconds)
{
    if (size == 1 && *text == 'Z') {
        *seconds = 0;
        return true;
    }
    int hours = size == 6 && text[3] == ':' ? digits(text + 1, 2) : -1;
    int minutes = hours >= 0 ? digits(text + 4, 2) : -1;
    *seconds = (text[0] == '-' ? -60 : 60) * (60.0 * hours + minutes);
    return minutes >= 0 && minutes < 60 && hours < 24 && (text[0] == '+' || text[0] == '-');
}

bool arrival_time(const char *text, size_t size, char middle, bool zone, double *seconds)
{
    enum { LENGTH = 19 };
    double off = 0, fraction = 0;
    if (size < LENGTH || text[4] != '-' || text[7] != '-' || text[10] != middle || text[13] != ':' || text[16] != ':')
        return false;
    size_t rest = LENGTH + (zone ? read_fraction(text + LENGTH, size - LENGTH, &fraction) : 0);
    if (size > rest && !(zone && read_zone(text + rest, size - rest, &off)))
        return false;
    int year = digits(text, 4), month = digits(text + 5, 2), day = digits(text + 8, 2);
    int hour = digits(text + 11, 2), minute = digits(text + 14, 2), second = digits(text + 17, 2);
    if (!is_day(year, month, day) || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    *seconds = (double)((days_of(year, month, day) * 24 + hour) * 3600 + minute * 60 + second) + fraction - off;
    return true;
}

/* A number of one digit or up to `most`, and what stands behind it, which is skipped; -1: it is none. */
static int number_before(const char **text, const char *end, int most, char behind)
{
    int value = 0, count = 0;
    for (; *text < end && count < most && isdigit((unsigned char)**text); count++)
        value = value * 10 + (*(*text)++ - '0');
    bool good = count && (behind ? *text < end && **text == behind : *text == end);
    *text += good && behind;
    return good ? value : -1;
}

bool arrival_minute(const char *text, size_t size, double *seconds)
{
    const char *at = text, *end = text + size;
    int year = number_before(&at, end, 4, '/'), month = number_before(&at, end, 2, '/');
    int day = number_before(&at, end, 2, ' '), hour = number_before(&at, end, 2, ':');
    int minute = number_before(&at, end, 2, '\0');
    if (!is_day(year, month, day) || hour < 0 || hour > 23 || minute < 0 || minute > 59)
        return false;
    *seconds = (double)((days_of(year, month, day) * 24 + hour) * 3600 + minute * 60);
    return true;
}

void arrival_shift(struct arrival_log *log)
{
    double first = INFINITY;
    for (size_t i = 0; i < log->count; i++)
        first = fmin(first, log->arrivals[i].submit);
    for (size_t i = 0; i < log->count; i++)
        log->arrivals[i].submit -= first;
}
