/* SPDX-License-Identifier: Apache-2.0 */
/* By maximum likelihood, but for how many jobs come together, which is by moments. */
#include "cluster/months/month.h"

#include "base/arena.h"
#include "base/random/draws.h"
#include "base/rounded/rounded.h"
#include "base/sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DAY = 86400, HOUR = 3600, PI = 3.14159265358979323846;
/* Below this deviation of logarithms, median and mean are one number of six digits; no description has a larger mean.
 */
static const double NARROW = 5e-3, MEAN_MOST = 1e10;
enum { OWN_LEAST = 30, STEPS = 200, SIZE_MOST = 1000000 };

static double square(double value)
{
    return value * value;
}

static int ascending(const void *left, const void *right)
{
    const double *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

/* ---- when jobs come ---- */

struct coming {
    const struct arrival *jobs;
    size_t count;
    double begin, end;
};

/* Hours of the log that are the i-th of a day, and jobs that came in them. */
static void count_hours(const struct coming *coming, double spent[MONTH_HOURS], double came[MONTH_HOURS])
{
    for (int i = 0; i < MONTH_HOURS; i++)
        spent[i] = came[i] = 0;
    for (double hour = floor(coming->begin / HOUR); hour * HOUR < coming->end; hour++)
        spent[(int)fmod(hour, MONTH_HOURS)] +=
            (fmin(coming->end, (hour + 1) * HOUR) - fmax(coming->begin, hour * HOUR)) / HOUR;
    for (size_t i = 0; i < coming->count; i++)
        came[(int)fmod(coming->jobs[i].submit / HOUR, MONTH_HOURS)]++;
}

/* The variance of the jobs of an hour over their mean, which is 2 m - 1 where m come together: of a Poisson process of
 * batches whose sizes are geometric, E(m^2)/E(m). */
static void fit_together(const struct coming *coming, const double rates[MONTH_HOURS], struct month *month,
                         struct month_errors *errors)
{
    size_t first = (size_t)ceil(coming->begin / HOUR), past = (size_t)floor(coming->end / HOUR), job = 0;
    struct sum squares = {0}, fourth = {0}, means = {0};
    month->together = 1;
    if (past < first + 2 * MONTH_HOURS)
        return;
    double hours = (double)(past - first);
    for (size_t hour = first; hour < past; hour++) {
        double came = 0, mean = rates[hour % MONTH_HOURS];
        for (; job < coming->count && coming->jobs[job].submit < (double)(hour + 1) * HOUR; job++)
            came += coming->jobs[job].submit >= (double)hour * HOUR;
        double square = (came - mean) * (came - mean);
        sum_add(&squares, square);
        sum_add(&fourth, square * square);
        sum_add(&means, mean);
    }
    double scale = 1 / (1 - MONTH_HOURS / hours) / sum_total(&means);
    double variance = sum_total(&fourth) / hours - square(sum_total(&squares) / hours);
    month->together = fmax(1, (sum_total(&squares) * scale + 1) / 2);
    errors->together = sqrt(fmax(0, variance) * hours) * scale / 2;
}

static void fit_coming(const struct coming *coming, struct month *month, struct month_errors *errors)
{
    double spent[MONTH_HOURS], came[MONTH_HOURS], rates[MONTH_HOURS], all = 0, known = 0;
    count_hours(coming, spent, came);
    for (int i = 0; i < MONTH_HOURS; i++) {
        rates[i] = spent[i] > 0 ? came[i] / spent[i] : 0;
        all += rates[i];
        known += spent[i] > 0;
    }
    month->days = (coming->end - coming->begin) / DAY;
    month->jobs_per_day = all * MONTH_HOURS / known; /* each hour of a day counts alike, however often it is there */
    fit_together(coming, rates, month, errors);
    double wider = sqrt(2 * month->together - 1); /* than of jobs that come alone */
    for (int i = 0; i < MONTH_HOURS; i++) {
        bool seen = spent[i] > 0;
        month->hours[i] = seen ? rates[i] * known / all : 1;
        errors->hours[i] = seen ? wider * sqrt(fmax(1, came[i])) / spent[i] * known / all : 0;
    }
    errors->jobs_per_day = wider * month->jobs_per_day / sqrt((double)coming->count);
}

/* ---- how long they run ---- */

/* Run times of a size, sorted, with their logarithms. */
struct runs {
    double *seconds, *logs;
    size_t count;
    double log_mean, log_deviation;
};

/* The derivative of the likelihood by the shape, over their number: it falls. Times are taken over their geometric
 * mean, so that powers stay within bounds. */
static double weibull_slope(const struct runs *runs, double shape, double *mean_power)
{
    struct sum powers = {0}, logs = {0};
    for (size_t i = 0; i < runs->count; i++) {
        double log = runs->logs[i] - runs->log_mean, power = rounded_exp(shape * log);
        sum_add(&powers, power);
        sum_add(&logs, power * log);
    }
    *mean_power = sum_total(&powers) / (double)runs->count;
    return 1 / shape - sum_total(&logs) / sum_total(&powers);
}

/* Its likelihood's logarithm, over their number and without the sum of logarithms that both have. */
static double fit_weibull(const struct runs *runs, double *scale, double *shape)
{
    double low = 0.2, high = 50, mean_power; /* what the reader takes */
    for (int i = 0; i < STEPS && high - low > 1e-12 * high; i++) {
        double middle = sqrt(low * high);
        if (weibull_slope(runs, middle, &mean_power) > 0)
            low = middle;
        else
            high = middle;
    }
    *shape = sqrt(low * high);
    weibull_slope(runs, *shape, &mean_power);
    double log_scale = rounded_log(mean_power) / *shape; /* over the geometric mean */
    *scale = rounded_exp(log_scale + runs->log_mean);
    return rounded_log(*shape) - *shape * log_scale - 1;
}

static double below(const struct distribution *run, double seconds)
{
    return run->kind == DISTRIBUTION_LOG_NORMAL ? normal_below((rounded_log(seconds) - run->a) / run->b)
                                                : 1 - rounded_exp(-rounded_pow(seconds / run->a, run->b));
}

/* Of a time that all have: the share that is shorter, or longer. */
static double distance_of_fixed(const struct runs *runs, double seconds)
{
    size_t shorter = 0, longer = 0;
    for (size_t i = 0; i < runs->count; i++) {
        shorter += runs->seconds[i] < seconds;
        longer += runs->seconds[i] > seconds;
    }
    return (double)(shorter > longer ? shorter : longer) / (double)runs->count;
}

static double distance_of(const struct runs *runs, const struct distribution *run)
{
    double most = 0, count = (double)runs->count;
    if (run->kind == DISTRIBUTION_FIXED)
        return distance_of_fixed(runs, run->a);
    for (size_t i = 0; i < runs->count; i++) {
        double there = below(run, runs->seconds[i]);
        most = fmax(most, fmax((double)(i + 1) / count - there, there - (double)i / count));
    }
    return most;
}

/* What is the likelier of the two. */
static struct distribution fit_runs(struct runs *runs, struct month_size_errors *errors)
{
    struct sum logs = {0}, squares = {0};
    double count = (double)runs->count, scale, shape;
    for (size_t i = 0; i < runs->count; i++)
        sum_add(&logs, runs->logs[i] = rounded_log(runs->seconds[i]));
    runs->log_mean = sum_total(&logs) / count;
    for (size_t i = 0; i < runs->count; i++)
        sum_add(&squares, square(runs->logs[i] - runs->log_mean));
    runs->log_deviation = sqrt(sum_total(&squares) / count);
    errors->jobs = (uint32_t)runs->count;
    double first = runs->seconds[0], last = runs->seconds[runs->count - 1];
    struct distribution run = distribution_fixed(first < last ? rounded_exp(runs->log_mean) : first);
    if (runs->log_deviation > NARROW) {
        double normal = -0.5 - rounded_log(runs->log_deviation) - 0.5 * rounded_log(2 * PI);
        if (fit_weibull(runs, &scale, &shape) > normal) {
            run = (struct distribution){.kind = DISTRIBUTION_WEIBULL, .a = scale, .b = shape};
            /* Inverse of Fisher's information: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions. */
            errors->a = 1.0530 * scale / shape / sqrt(count);
            errors->b = 0.7797 * shape / sqrt(count);
        } else {
            run = (struct distribution){.kind = DISTRIBUTION_LOG_NORMAL, .a = runs->log_mean, .b = runs->log_deviation};
            errors->a = runs->log_deviation / sqrt(count);
            errors->b = runs->log_deviation / sqrt(2 * count);
        }
    }
    if (distribution_mean(&run) > MEAN_MOST) { /* no description says so */
        run = distribution_fixed(fmin(MEAN_MOST, rounded_exp(runs->log_mean)));
        errors->a = errors->b = 0;
    }
    errors->distance = distance_of(runs, &run);
    return run;
}

/* ---- how large they are ---- */

struct sized {
    uint64_t size; /* GPUs, or nodes where they are not known */
    double run;
    size_t row; /* of the month */
};

static int by_size(const void *left, const void *right)
{
    const struct sized *a = left, *b = right;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    return a->run < b->run ? -1 : a->run > b->run;
}

struct common {
    uint64_t size;
    size_t jobs;
};

static int by_jobs(const void *left, const void *right)
{
    const struct common *a = left, *b = right;
    if (a->jobs != b->jobs)
        return a->jobs > b->jobs ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size;
}

static int by_own_size(const void *left, const void *right)
{
    const struct common *a = left, *b = right;
    return a->size < b->size ? -1 : a->size > b->size;
}

/* The most common sizes, as many as a month has at most, of which there are enough jobs; the most common one where
 * there are of none. Ascending; to be freed. */
static struct common *own_sizes(const struct sized *jobs, size_t count, size_t *kept)
{
    struct common *sizes = array_zeroed(count, sizeof *sizes);
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        different += i == 0 || jobs[i].size != jobs[i - 1].size;
        sizes[different - 1].size = jobs[i].size;
        sizes[different - 1].jobs++;
    }
    qsort(sizes, different, sizeof *sizes, by_jobs);
    for (*kept = 1; *kept < different && *kept < MONTH_SIZES_MAX && sizes[*kept].jobs >= OWN_LEAST;)
        ++*kept;
    qsort(sizes, *kept, sizeof *sizes, by_own_size);
    return sizes;
}

static size_t nearest(const struct common *own, size_t count, uint64_t size)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (fabs(rounded_log((double)own[i].size / (double)size)) <
            fabs(rounded_log((double)own[best].size / (double)size)))
            best = i;
    return best;
}

static void fit_sizes(const struct coming *coming, struct month *month, struct month_errors *errors,
                      struct arena *arena)
{
    bool gpus = coming->jobs[0].processors;
    struct sized *jobs = array_zeroed(coming->count, sizeof *jobs);
    struct runs runs = {.seconds = array_zeroed(coming->count, sizeof *runs.seconds),
                        .logs = array_zeroed(coming->count, sizeof *runs.logs)};
    double count = (double)coming->count;
    for (size_t i = 0; i < coming->count; i++)
        jobs[i] = (struct sized){gpus ? coming->jobs[i].processors : coming->jobs[i].nodes,
                                 fmax(1e-3, coming->jobs[i].run), 0};
    qsort(jobs, coming->count, sizeof *jobs, by_size);
    struct common *own = own_sizes(jobs, coming->count, &month->size_count);
    month->sizes = arena_array(arena, month->size_count, sizeof *month->sizes);
    for (size_t i = 0; i < coming->count; i++)
        jobs[i].row =
            i && jobs[i].size == jobs[i - 1].size ? jobs[i - 1].row : nearest(own, month->size_count, jobs[i].size);
    for (size_t k = 0; k < month->size_count; k++) {
        runs.count = 0;
        for (size_t i = 0; i < coming->count; i++)
            if (jobs[i].row == k)
                runs.seconds[runs.count++] = jobs[i].run;
        qsort(runs.seconds, runs.count, sizeof *runs.seconds, ascending);
        double share = (double)runs.count / count;
        month->sizes[k] = (struct month_size){gpus ? own[k].size : 0, gpus ? 0 : own[k].size, share,
                                              fit_runs(&runs, &errors->sizes[k])};
        errors->sizes[k].share = sqrt(share * (1 - share) / count);
    }
    free(own);
    free(jobs);
    free(runs.seconds);
    free(runs.logs);
}

/* ---- the rest ---- */

static int by_text(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static uint64_t count_users(const struct coming *coming)
{
    const char **users = array_zeroed(coming->count, sizeof *users);
    size_t known = 0, different = 0;
    for (size_t i = 0; i < coming->count; i++)
        if (coming->jobs[i].user)
            users[known++] = coming->jobs[i].user;
    qsort(users, known, sizeof *users, by_text);
    for (size_t i = 0; i < known; i++)
        different += i == 0 || strcmp(users[i], users[i - 1]) != 0;
    free(users);
    return different;
}

/* The integral of t^(s - 1) e^-t up to x, by its series (NIST Digital Library of Mathematical Functions, 8.7.1). */
static double gamma_up_to(double s, double x)
{
    double term = 1 / s, sum = term;
    for (double k = 1; term > 1e-16 * sum; k++)
        sum += term *= x / (s + k);
    return sum * rounded_exp(s * rounded_log(x) - x);
}

/* The mean of runs that are ended after the longest time. */
static double mean_up_to(const struct distribution *run, double longest)
{
    double mean = distribution_mean(run);
    if (!isfinite(longest))
        return mean;
    if (run->kind == DISTRIBUTION_LOG_NORMAL) {
        double place = (rounded_log(longest) - run->a) / run->b;
        return mean * normal_below(place - run->b) + longest * normal_below(-place);
    }
    if (run->kind != DISTRIBUTION_WEIBULL)
        return fmin(longest, mean);
    double place = rounded_pow(longest / run->a, run->b); /* above 100 hardly a run is ended */
    return place > 100 ? mean : run->a * gamma_up_to(1 + 1 / run->b, place) + longest * rounded_exp(-place);
}

static void fit_ends(const struct coming *coming, struct month *month, struct month_errors *errors)
{
    double known = 0, failed = 0, cancelled = 0;
    for (size_t i = 0; i < coming->count; i++) {
        known += coming->jobs[i].status != STATUS_UNKNOWN;
        failed += coming->jobs[i].status == STATUS_FAILED;
        cancelled += coming->jobs[i].status == STATUS_CANCELLED;
    }
    if (!(known > 0))
        return;
    month->failed = failed / known;
    month->cancelled = cancelled / known;
    errors->failed = sqrt(month->failed * (1 - month->failed) / known);
    errors->cancelled = sqrt(month->cancelled * (1 - month->cancelled) / known);
}

const char *month_refuses(const struct arrival_log *log)
{
    size_t gpus = 0, nodes = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < log->count; i++) {
        const struct arrival *job = &log->arrivals[i];
        gpus += job->processors > 0;
        nodes += job->nodes > 0;
        most = job->processors > most ? job->processors : job->nodes > most ? job->nodes : most;
    }
    if (gpus < log->count && (gpus || nodes < log->count))
        return "some jobs say how many GPUs they have and others only how many nodes; expected one of both of all";
    if (most > SIZE_MOST)
        return "a job has more than a million GPUs or nodes";
    if (log->arrivals[log->count - 1].submit < log->arrivals[0].submit + HOUR)
        return "all jobs came within an hour; expected a longer log";
    return NULL;
}

static struct coming coming_of(const struct arrival *jobs, size_t count)
{
    return (struct coming){jobs, count, floor(jobs[0].submit / HOUR) * HOUR,
                           jobs[count - 1].submit + 1}; /* its second included */
}

struct month *month_fit(const struct arrival_log *log, size_t count, struct month_errors *errors, struct arena *arena)
{
    struct coming coming = coming_of(log->arrivals, count);
    struct month *month = arena_alloc(arena, sizeof *month);
    memset(errors, 0, sizeof *errors);
    *month = (struct month){.source = arena_print(arena, "fitted to %zu jobs of %s", coming.count, log->file)};
    fit_coming(&coming, month, errors);
    fit_sizes(&coming, month, errors, arena);
    fit_ends(&coming, month, errors);
    month->users = count_users(&coming);
    for (size_t i = 0; i < coming.count; i++)
        month->longest = fmax(month->longest, fmax(1e-3, coming.jobs[i].run));
    return month;
}

struct month_summary month_summary(const struct month *month)
{
    struct month_summary summary = {.jobs_per_day = month->jobs_per_day, .failed = month->failed};
    for (size_t i = 0; i < month->size_count; i++) {
        const struct month_size *size = &month->sizes[i];
        double run = mean_up_to(&size->run, month->longest);
        summary.mean_run += size->share * run;
        summary.gpu_hours_per_day +=
            size->share * run / 3600 * (double)(size->gpus ? size->gpus : size->nodes) * month->jobs_per_day;
    }
    return summary;
}

struct month_summary month_summary_of(const struct arrival *jobs, size_t count)
{
    struct coming coming = coming_of(jobs, count);
    struct month month = {.days = 0};
    struct month_errors errors = {0};
    double known = 0;
    fit_coming(&coming, &month, &errors);
    struct month_summary summary = {.jobs_per_day = month.jobs_per_day};
    for (size_t i = 0; i < count; i++) {
        summary.mean_run += jobs[i].run / (double)count;
        summary.gpu_hours_per_day += jobs[i].run / 3600 * (jobs[i].processors ? jobs[i].processors : jobs[i].nodes) *
                                     month.jobs_per_day / (double)count;
        known += jobs[i].status != STATUS_UNKNOWN;
        summary.failed += jobs[i].status == STATUS_FAILED;
    }
    summary.failed = known > 0 ? summary.failed / known : 0;
    return summary;
}
