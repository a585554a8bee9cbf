/* SPDX-License-Identifier: Apache-2.0 */
#include "traces/nsight.h"

#include "base/arena.h"

#include <ctype.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char magic[] = "SQLite format 3";
enum { OPERATIONS_OF_MACHINE = 1 << 20 };
/* Of a database's own machine, for all queries: a damaged one may send them in circles. */
static const uint64_t steps_max = 10000;

/* Columns of every query below, in this order; what a table lacks is NULL in SQL. */
enum column { BEGIN, END, DEVICE, STREAM, CORRELATION, NAME, BYTES, PROCESS, COLUMNS };

static const struct table {
    const char *name;
    enum recorded_kind kind;
    const char *columns[COLUMNS]; /* NULL: it has none */
    const char *called;           /* where no column gives a name */
} tables[] = {
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     RECORDED_COMPUTE,
     {"start", "end", "deviceId", "streamId", "correlationId", "demangledName", NULL, "globalPid"},
     "kernel"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     RECORDED_MEMORY,
     {"start", "end", "deviceId", "streamId", "correlationId", NULL, "bytes", "globalPid"},
     "Memcpy"},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     RECORDED_MEMORY,
     {"start", "end", "deviceId", "streamId", "correlationId", NULL, "bytes", "globalPid"},
     "Memset"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     RECORDED_LAUNCH,
     {"start", "end", NULL, "globalTid", "correlationId", "nameId", NULL, NULL},
     "runtime"},
    {"NVTX_EVENTS", RECORDED_ANNOTATION, {"start", "end", NULL, "globalTid", NULL, "textId", NULL, NULL}, ""},
};

struct nsight {
    struct trace_reader *reader;
    sqlite3 *database;
    int64_t origin; /* ns */
    uint64_t process, steps;
    bool has_process;
};

bool nsight_is(const char *head, size_t size)
{
    return size >= sizeof magic && !memcmp(head, magic, sizeof magic);
}

static bool refuse(const struct nsight *nsight, const char *what)
{
    diag_error(nsight->reader->diag, (struct place){nsight->reader->file, 0, 0}, "%s: %s", what,
               sqlite3_errmsg(nsight->database));
    return false;
}

/* Called now and then by the database; ends queries that do not. */
static int watch(void *user)
{
    struct nsight *nsight = user;
    return ++nsight->steps > steps_max;
}

/* Whether there is a table of that name, and whether it has a column of that name (NULL: any). */
static bool has(const struct nsight *nsight, const char *table, const char *column)
{
    sqlite3_stmt *statement = NULL;
    const char *query = column ? "select 1 from pragma_table_info(?1) where name = ?2"
                               : "select 1 from sqlite_master where type = 'table' and name = ?1";
    bool found = sqlite3_prepare_v2(nsight->database, query, -1, &statement, NULL) == SQLITE_OK;
    if (found) {
        sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
        if (column)
            sqlite3_bind_text(statement, 2, column, -1, SQLITE_STATIC);
        found = sqlite3_step(statement) == SQLITE_ROW;
    }
    sqlite3_finalize(statement);
    return found;
}

/* ---- rows ---- */

/* "step 12", "iteration_3", "ProfilerStep#4": a step's number; RECORDED_NONE: another name. */
static uint32_t step_of(const char *name)
{
    static const char *const words[] = {"profilerstep", "train_step", "train step", "iteration", "step", "iter"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        if (strncasecmp(name, words[i], length) != 0)
            continue;
        const char *at = name + length;
        while (*at == ' ' || *at == '_' || *at == '#' || *at == ':' || *at == '-')
            at++;
        char *end;
        unsigned long number = isdigit((unsigned char)*at) ? strtoul(at, &end, 10) : RECORDED_NONE;
        if (number < RECORDED_NONE && !*end)
            return (uint32_t)number;
    }
    return RECORDED_NONE;
}

static void name_operation(struct trace_reader *reader, struct recorded_operation *operation, const char *name)
{
    char step[32];
    uint32_t number = operation->kind == RECORDED_ANNOTATION ? step_of(name) : RECORDED_NONE;
    if (number != RECORDED_NONE) {
        snprintf(step, sizeof step, "ProfilerStep#%u", number);
        name = step;
    }
    if (operation->kind == RECORDED_COMPUTE && strcasestr(name, "nccl")) {
        operation->kind = strcasestr(name, "sendrecv") ? RECORDED_SEND : RECORDED_COLLECTIVE;
        operation->waiting = true;
    }
    operation->name = recorded_name(reader->recorded, name, strlen(name));
}

static uint32_t stream_of(struct trace_reader *reader, enum recorded_kind kind, sqlite3_stmt *row)
{
    char name[48];
    uint64_t number = (uint64_t)sqlite3_column_int64(row, STREAM);
    bool host = kind == RECORDED_LAUNCH || kind == RECORDED_ANNOTATION;
    snprintf(name, sizeof name, host ? "thread %" PRIu64 : "stream %" PRIu64, host ? number & 0xffffff : number);
    if (!host)
        number |= (uint64_t)sqlite3_column_int64(row, DEVICE) << 32;
    if (reader->rank == RECORDED_NONE)
        reader->rank = recorded_rank(reader->recorded, RECORDED_NONE, reader->file);
    return recorded_stream(reader->recorded, reader->rank, number, host, name);
}

/* Ranks of one node may be in one report, which says nothing of who is which. */
static bool same_process(struct nsight *nsight, sqlite3_stmt *row)
{
    uint64_t process = (uint64_t)sqlite3_column_int64(row, PROCESS);
    if (sqlite3_column_type(row, PROCESS) == SQLITE_NULL)
        return true;
    if (!nsight->has_process) {
        nsight->has_process = true;
        nsight->process = process;
    }
    if (nsight->process == process)
        return true;
    diag_error(nsight->reader->diag, (struct place){nsight->reader->file, 0, 0},
               "it has kernels of several processes; expected a report for each rank, such as nsys profile -o "
               "report.%%q{RANK} makes");
    return false;
}

static bool take_row(struct nsight *nsight, const struct table *table, sqlite3_stmt *row)
{
    struct trace_reader *reader = nsight->reader;
    if (sqlite3_column_type(row, BEGIN) != SQLITE_INTEGER || sqlite3_column_type(row, END) != SQLITE_INTEGER ||
        sqlite3_column_int64(row, BEGIN) < 0 || sqlite3_column_int64(row, END) < sqlite3_column_int64(row, BEGIN) ||
        sqlite3_column_int64(row, END) > TRACE_MICROS_MAX * 1000) {
        reader->broken += table->kind != RECORDED_ANNOTATION; /* marks have no end */
        return true;
    }
    if (!same_process(nsight, row))
        return false;
    int64_t start = sqlite3_column_int64(row, BEGIN);
    if (!reader->has_origin) {
        reader->has_origin = true;
        reader->origin = start / 1000;
        nsight->origin = reader->origin * 1000;
    }
    struct recorded_operation *operation = recorded_add(
        reader->recorded, table->kind, stream_of(reader, table->kind, row), (double)(start - nsight->origin) * 1e-9,
        (double)(sqlite3_column_int64(row, END) - nsight->origin) * 1e-9);
    const char *name = (const char *)sqlite3_column_text(row, NAME);
    name_operation(reader, operation, name ? name : table->called);
    if (sqlite3_column_type(row, CORRELATION) == SQLITE_INTEGER)
        operation->correlation = (uint32_t)sqlite3_column_int64(row, CORRELATION);
    if (sqlite3_column_type(row, BYTES) == SQLITE_INTEGER)
        operation->bytes = (float)sqlite3_column_int64(row, BYTES);
    return reader->recorded->count < RECORDED_NONE - 1;
}

/* "select a.start, ..., from T a left join StringIds ...": names are numbers of texts; NVTX has texts of its own. */
static const char *query_of(const struct nsight *nsight, const struct table *table, struct arena *arena)
{
    const char *query = "select ";
    bool texts = has(nsight, "StringIds", "value"), own = has(nsight, table->name, "text");
    const char *id = table->columns[NAME];
    for (int column = 0; column < COLUMNS; column++) {
        const char *name = table->columns[column];
        const char *value = name && has(nsight, table->name, name) ? arena_print(arena, "a.\"%s\"", name) : "null";
        if (column == NAME && id)
            value = texts && own ? "coalesce(a.text, s.value)" : own ? "a.text" : texts ? "s.value" : "null";
        query = arena_print(arena, "%s%s%s", query, column ? ", " : "", value);
    }
    query = arena_print(arena, "%s from \"%s\" a", query, table->name);
    return texts && id && has(nsight, table->name, id)
               ? arena_print(arena, "%s left join StringIds s on s.id = a.\"%s\"", query, id)
               : query;
}

static bool read_table(struct nsight *nsight, const struct table *table, struct arena *arena)
{
    sqlite3_stmt *statement = NULL;
    if (!has(nsight, table->name, NULL)) /* of what did not happen there is no table */
        return true;
    if (sqlite3_prepare_v2(nsight->database, query_of(nsight, table, arena), -1, &statement, NULL) != SQLITE_OK)
        return refuse(nsight, table->name);
    int state;
    bool good = true;
    while ((state = sqlite3_step(statement)) == SQLITE_ROW && good)
        good = take_row(nsight, table, statement);
    if (good && state != SQLITE_DONE)
        good = refuse(nsight, table->name);
    sqlite3_finalize(statement);
    return good;
}

static bool open_database(struct nsight *nsight)
{
    bool good = sqlite3_open_v2(nsight->reader->file, &nsight->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                                NULL) == SQLITE_OK;
    if (!good)
        return refuse(nsight, "it cannot be opened");
    sqlite3_db_config(nsight->database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(nsight->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_progress_handler(nsight->database, OPERATIONS_OF_MACHINE, watch, nsight);
    return true;
}

bool nsight_read(struct trace_reader *reader)
{
    struct nsight nsight = {.reader = reader};
    if (*reader->recorded->format && reader->recorded->timeline) {
        diag_error(reader->diag, (struct place){reader->file, 0, 0},
                   "it is a profile, and a job's timeline stands before it; expected one of the two");
        return false;
    }
    struct arena *arena = arena_create();
    bool good = open_database(&nsight);
    for (size_t i = 0; good && i < sizeof tables / sizeof *tables; i++)
        good = read_table(&nsight, &tables[i], arena);
    sqlite3_close(nsight.database);
    arena_destroy(arena);
    reader->recorded->format = "Nsight Systems (SQLite)";
    return good;
}
