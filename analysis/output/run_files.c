/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/output/run_files.h"

#include "analysis/output/memory_csv.h"
#include "analysis/output/operations_csv.h"
#include "analysis/output/report_html.h"
#include "analysis/output/summary.h"
#include "analysis/output/traces/chakra_trace.h"
#include "analysis/output/traces/chrome_trace.h"
#include "analysis/output/traces/goal_trace.h"
#include "analysis/output/traces/paje.h"
#include "analysis/output/traces/perfetto.h"
#include "analysis/output/traces/replay.h"
#include "analysis/pictures/picture_timeline.h"
#include "base/files/gzip.h"
#include "base/files/parts.h"
#include "base/files/stream_reason.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool open_file(FILE **file, struct output *output, const char *directory, const char *name, struct fault *fault)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", directory, name);
    *file = output_open(output, path, fault);
    return *file != NULL;
}

/* How many files there will be is not known yet. */
static bool open_chakra(struct run_files *files, struct output *output, const char *directory, struct fault *fault)
{
    char groups[512], first[512];
    snprintf(groups, sizeof groups, "%schakra/groups.json", directory);
    snprintf(first, sizeof first, "%schakra/rank.0.et", directory);
    snprintf(files->chakra_name, sizeof files->chakra_name, "%s/%schakra", output_directory(output), directory);
    snprintf(files->directory, sizeof files->directory, "%s", directory);
    if (!output_foresee(output, (const char *const[]){groups, first, NULL}, fault))
        return false;
    files->chakra = tmpfile();
    return files->chakra || fault_set(fault, "no temporary file could be made: %s", strerror(errno));
}

static bool open_traces(struct run_files *files, unsigned traces, struct output *output, const char *directory,
                        struct fault *fault)
{
    bool ok = true;
    if (traces & TRACE_CSV)
        ok = open_file(&files->operations, output, directory, "operations.csv", fault) &&
             open_file(&files->critical_path, output, directory, "critical-path.csv", fault) &&
             open_file(&files->slack, output, directory, "slack.csv", fault) &&
             open_file(&files->memory, output, directory, "memory.csv", fault);
    if (ok && traces & TRACE_PAJE)
        ok = open_file(&files->paje, output, directory, "timeline.paje", fault);
    if (ok && traces & TRACE_CHROME)
        ok = open_file(&files->chrome, output, directory, "timeline.chrome.json", fault);
    if (ok && traces & TRACE_CHROME_GZIP)
        ok = open_file(&files->chrome_gzip, output, directory, "timeline.chrome.json.gz", fault);
    if (ok && traces & TRACE_PERFETTO)
        ok = open_file(&files->perfetto, output, directory, "timeline.perfetto-trace", fault);
    if (ok && traces & TRACE_GOAL)
        ok = open_file(&files->goal, output, directory, "timeline.goal", fault);
    return ok && (!(traces & TRACE_CHAKRA) || open_chakra(files, output, directory, fault));
}

bool picture_wanted(unsigned pictures, enum canvas_format format)
{
    static const unsigned bits[PICTURE_FORMATS] = {
        [CANVAS_SVG] = PICTURE_SVG, [CANVAS_PNG] = PICTURE_PNG, [CANVAS_PDF] = PICTURE_PDF};
    return (pictures & bits[format]) != 0;
}

static bool open_drawn(struct run_files *files, unsigned pictures, bool report, struct output *output,
                       const char *directory, struct fault *fault)
{
    bool ok = true;
    for (int format = 0; ok && format < PICTURE_FORMATS; format++) {
        char name[64];
        snprintf(name, sizeof name, "timeline.%s", canvas_format_name((enum canvas_format)format));
        if (picture_wanted(pictures, (enum canvas_format)format))
            ok = open_file(&files->pictures[format], output, directory, name, fault);
    }
    return ok && (!report || open_file(&files->html, output, directory, "report.html", fault));
}

bool run_files_open_drawn(struct run_files *files, unsigned pictures, const struct picture_form *form, bool report,
                          struct output *output, const char *directory, struct fault *fault)
{
    *files = (struct run_files){.form = *form};
    return open_drawn(files, pictures, report, output, directory, fault);
}

/* What is no job has tables of its own in place of those of operations. */
static bool open_tables(struct run_files *files, const struct run_wanted *wanted, struct output *output,
                        const char *directory, struct fault *fault)
{
    const char *const *names = wanted->tables;
    bool ok =
        open_traces(files, names ? wanted->traces & ~(unsigned)TRACE_CSV : wanted->traces, output, directory, fault);
    for (size_t i = 0; ok && names && names[i] && wanted->traces & TRACE_CSV; i++)
        ok = open_file(&files->tables[i], output, directory, names[i], fault);
    return ok;
}

bool run_files_open(struct run_files *files, const struct run_wanted *wanted, struct output *output,
                    const char *directory, struct fault *fault)
{
    *files = (struct run_files){.form = wanted->form};
    if (wanted->saved && !open_file(&files->saved, output, directory, wanted->saved, fault))
        return false;
    return open_file(&files->summary, output, directory, "summary.json", fault) &&
           open_tables(files, wanted, output, directory, fault) &&
           open_drawn(files, wanted->pictures, wanted->report, output, directory, fault);
}

bool run_files_draw(const struct run_files *files, const struct report *report, const struct gantt *gantt,
                    struct fault *fault)
{
    if (files->html && !report_html(files->html, report, gantt, fault))
        return false;
    for (int format = 0; format < PICTURE_FORMATS; format++)
        if (files->pictures[format] &&
            !picture_timeline(gantt, (enum canvas_format)format, &files->form, files->pictures[format], fault))
            return false;
    return true;
}

static bool write_gzip(FILE *out, const struct trace_source *source)
{
    FILE *file = gzip_open(out);
    if (!file)
        return false;
    chrome_trace_write(file, source);
    bool done = !ferror(file);
    return fclose(file) == 0 && done;
}

/* Now that their number is known. */
static bool foresee_ranks(const struct run_files *files, struct output *output, const struct program *const *programs,
                          uint32_t count, struct fault *fault)
{
    uint32_t ranks = 0;
    bool fine = true;
    for (uint32_t i = 0; i < count; i++)
        ranks += programs[i]->mesh->ranks;
    for (uint32_t rank = 0; rank < ranks && fine && output; rank++) {
        char name[512];
        snprintf(name, sizeof name, "%schakra/rank.%u.et", files->directory, rank);
        fine = output_foresee(output, (const char *const[]){name, NULL}, fault);
    }
    return fine;
}

bool run_files_allow(const struct run_files *files, struct output *output, const struct program *const *programs,
                     uint32_t count, struct fault *fault)
{
    return (!files->chakra ||
            (chakra_trace_allows(programs, count, fault) && foresee_ranks(files, output, programs, count, fault))) &&
           (!files->goal || goal_trace_allows(programs, count, fault));
}

const char *run_files_lose(const struct run_files *files, const struct program *program)
{
    if (files->chakra && program->pairs_count)
        return "Chakra has one size for an all-to-all: those whose pairs differ get the mean";
    if (files->goal && replay_copies(program))
        return "GOAL knows no memory of hosts and no storage: copies and reads take the time that they took here";
    return NULL;
}

bool run_files_replay(const struct run_files *files, const struct trace_job *jobs, uint32_t count, struct fault *fault)
{
    if (files->goal)
        goal_trace_write_jobs(files->goal, jobs, count);
    if (!files->chakra)
        return true;
    chakra_trace_write_jobs(files->chakra, jobs, count);
    errno = 0;
    return (fflush(files->chakra) == 0 && !ferror(files->chakra)) ||
           fault_set(fault, "%s: cannot be written: %s", files->chakra_name, strerror(stream_reason(files->chakra)));
}

bool run_files_join(struct run_files *files, bool done, struct output *output, struct fault *fault)
{
    if (!files->chakra)
        return true;
    bool joined = !done || parts_unpack(files->chakra, output, files->directory, fault);
    fclose(files->chakra);
    files->chakra = NULL;
    return joined;
}

bool run_files_write(const struct run_files *files, const struct trace_source *source, const struct report *report,
                     const struct gantt *gantt, struct fault *fault)
{
    if (files->summary)
        summary_write(files->summary, report);
    if (files->operations)
        operations_csv_write(files->operations, source);
    if (files->critical_path)
        critical_path_csv_write(files->critical_path, source);
    if (files->slack)
        slack_csv_write(files->slack, source);
    if (files->memory)
        memory_csv_write(files->memory, report, gantt);
    if (files->paje)
        paje_write(files->paje, source);
    if (files->chrome)
        chrome_trace_write(files->chrome, source);
    if (files->chrome_gzip && !write_gzip(files->chrome_gzip, source) && !ferror(files->chrome_gzip))
        return fault_set(fault, "timeline.chrome.json.gz could not be written");
    if (files->perfetto)
        perfetto_write(files->perfetto, source);
    return run_files_replay(files, &(struct trace_job){*source, NULL, 0}, 1, fault) &&
           run_files_draw(files, report, gantt, fault);
}
