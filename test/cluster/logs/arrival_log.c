/* SPDX-License-Identifier: Apache-2.0 */
/* Logs in three formats held to jobs written down by hand, and broken ones to their messages with places. */
#include "cluster/logs/arrival_log.h"
#include "base/arena.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

/* The same two jobs in each format, the second one submitted first. */
static const char swf[] = "; MaxNodes: 64\n; MaxProcs: 512\n\n"
                          "2 100 5 60.5 16 -1 -1 16 120 -1 1 7 1 -1 1 -1 -1 -1\n"
                          "  1 40 -1 30 -1 -1 -1 8 -1 -1 0 -1 1 -1 1 -1 -1 -1\r\n"
                          "3 41 9 -1 8 -1 -1 8 -1 -1 5 7 1 -1 1 -1 -1 -1\n"
                          "4 42 0 50 8 -1 -1 8 -1 -1 2 7 1 -1 1 -1 -1 -1\n";
static const char sacct[] =
    "JobID|Submit|Start|End|AllocTRES|State|Timelimit|User\n"
    "2|2024-02-29T23:59:00|2024-02-29T23:59:05|2024-03-01T00:00:06|billing=16,cpu=128,gres/gpu=16,node=2|COMPLETED|"
    "00:02:00|ann\n"
    "2.batch|2024-02-29T23:59:05|2024-02-29T23:59:05|2024-03-01T00:00:06|cpu=64,node=1|COMPLETED||\n"
    "1|2024-02-29T23:58:00|2024-02-29T23:58:00|2024-02-29T23:58:30|gres/gpu:a100=4,gres/gpu:h100=4,node=1|FAILED|"
    "1-02:03:04|bob\n"
    "3|2024-02-29T23:58:10|Unknown|Unknown||PENDING|UNLIMITED|bob\n"
    "4|2024-02-29T23:58:10|2024-02-29T23:58:20|2024-02-29T23:58:20||CANCELLED by 7|UNLIMITED|bob\n";
static const char table[] = "# ours\nnodes,submit,name,run,limit,type,iterations,user,priority\n"
                            "2,100,\"b, second\",61,120,,,,\n"
                            "1,40,,,,llama,200,ann,7\n";

static struct arrival_log *parse(const char *text, struct arena *arena)
{
    struct diag diag = {.out = stderr};
    struct arrival_log *log =
        arrival_log_parse(&(struct arrival_text){"log", text, strlen(text)}, NULL, ARRIVALS_UNKNOWN, arena, &diag);
    cr_assert(log != NULL);
    return log;
}

Test(arrival_log, swf)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log = parse(swf, arena);
    const struct arrival *a = &log->arrivals[0], *b = &log->arrivals[1];
    cr_assert(log->format == ARRIVALS_SWF && log->count == 2 && log->passed_over == 2);
    cr_assert(log->nodes == 64 && log->processors == 512);
    cr_assert(a->submit == 40 && a->wait == -1 && a->run == 30 && a->processors == 8 && a->limit == -1);
    cr_assert(strcmp(a->name, "1") == 0 && a->at.line == 5);
    cr_assert(b->submit == 100 && b->wait == 5 && b->run == 60.5 && b->processors == 16 && b->limit == 120);
    cr_assert(a->user == NULL && strcmp(b->user, "7") == 0);
    arena_destroy(arena);
}

Test(arrival_log, sacct)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log = parse(sacct, arena);
    const struct arrival *a = &log->arrivals[0], *b = &log->arrivals[1];
    cr_assert(log->format == ARRIVALS_SACCT && log->count == 2 && log->passed_over == 2);
    cr_assert(a->submit == 0 && a->wait == 0 && a->run == 30 && a->processors == 8 && a->nodes == 1);
    cr_assert(a->limit == 93784, "a day, two hours, three minutes and four seconds");
    cr_assert(b->submit == 60 && b->wait == 5 && b->run == 61, "over the end of a leap February");
    cr_assert(b->nodes == 2 && b->processors == 16 && b->limit == 120 && strcmp(b->name, "2") == 0);
    cr_assert(strcmp(a->user, "bob") == 0 && strcmp(b->user, "ann") == 0);
    arena_destroy(arena);
}

Test(arrival_log, csv)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log = parse(table, arena);
    const struct arrival *a = &log->arrivals[0], *b = &log->arrivals[1];
    cr_assert(log->format == ARRIVALS_CSV && log->count == 2 && log->passed_over == 0);
    cr_assert(a->submit == 40 && a->run == -1 && a->nodes == 1 && a->iterations == 200);
    cr_assert(strcmp(a->kind, "llama") == 0 && strcmp(a->name, "2") == 0);
    cr_assert(b->submit == 100 && b->run == 61 && b->limit == 120 && b->nodes == 2 && !b->kind);
    cr_assert(strcmp(b->name, "b, second") == 0 && !b->user && strcmp(a->user, "ann") == 0);
    cr_assert(a->priority == 7 && b->priority == 0);
    arena_destroy(arena);
}

/* The layouts that the READMEs of HeliosData and AcmeTrace publish, with made-up jobs: one without GPUs, one that never
 * started, one that took no time. */
static const char helios[] =
    "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    "11,ann,vcA,16,64,2,COMPLETED,2020-02-29 23:59:00,2020-02-29 23:59:05,2020-03-01 00:00:06,61,5\n"
    "12,bob,vcB,0,4,1,COMPLETED,2020-02-29 23:58:00,2020-02-29 23:58:00,2020-02-29 23:59:00,60,0\n"
    "13,bob,vcB,8,4,1,FAILED,2020-02-29 23:58:00,2020-02-29 23:58:00,2020-02-29 23:58:30,30,0\n"
    "14,bob,vcB,8,4,1,CANCELLED,2020-02-29 23:58:00,,,,\n"
    "15,bob,vcB,8,4,1,CANCELLED,2020-02-29 23:58:00,2020-02-29 23:59:00,2020-02-29 23:59:00,0,60\n";
static const char acme[] =
    "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,shared_mem_per_pod,type,state,submit_time,start_time,end_time,"
    "fail_time,stop_time,duration,queue,gpu_time\n"
    "b,u2,8,64,960,1000,100.0,Other,FAILED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
    "2023-05-17 11:01:16+00:00,2023-05-17 11:01:16+00:00,,8,10.0,512.0\n"
    "a,u1,1,8,128,1000,100.0,Pretrain,COMPLETED,2023-05-17 19:00:28+08:00,2023-05-17 19:00:28+08:00,"
    "2023-05-17 19:01:28+08:00,,,60,0,480.0\n";

Test(arrival_log, published)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log = parse(helios, arena);
    const struct arrival *a = &log->arrivals[0], *b = &log->arrivals[1];
    cr_assert(log->format == ARRIVALS_HELIOS && log->count == 2 && log->passed_over == 3);
    cr_assert(a->submit == 0 && a->wait == 0 && a->run == 30 && a->processors == 8 && a->nodes == 0);
    cr_assert(b->submit == 60 && b->wait == 5 && b->run == 61 && b->processors == 16, "over a leap February");
    cr_assert(strcmp(b->user, "ann") == 0 && strcmp(b->name, "11") == 0 && b->limit == -1);
    log = parse(acme, arena);
    a = &log->arrivals[0];
    b = &log->arrivals[1];
    cr_assert(log->format == ARRIVALS_HELIOS && log->count == 2 && log->passed_over == 0);
    cr_assert(strcmp(a->name, "a") == 0 && a->submit == 0 && a->run == 60 && a->processors == 8);
    cr_assert(strcmp(b->user, "u2") == 0 && b->submit == 30 && b->wait == 10 && b->run == 8 && b->processors == 64);
    arena_destroy(arena);
}

/* The layout that the README of philly-traces publishes, with made-up jobs: two attempts, the second with more GPUs;
 * one that never started, one that still runs. */
static const char philly[] =
    "[{\"status\": \"Pass\", \"vc\": \"v\", \"jobid\": \"a_2\", \"attempts\": [\n"
    " {\"start_time\": \"2017-10-07 00:01:10\", \"end_time\": \"2017-10-07 00:01:40\", \"detail\": [{\"ip\": \"m1\", "
    "\"gpus\": [\"gpu0\"]}]},\n"
    " {\"start_time\": \"2017-10-07 00:02:00\", \"end_time\": \"2017-10-07 00:03:00\", \"detail\": [{\"ip\": \"m1\", "
    "\"gpus\": [\"gpu0\", \"gpu1\"]}, {\"ip\": \"m2\", \"gpus\": [\"gpu3\"]}]}],\n"
    " \"submitted_time\": \"2017-10-07 00:01:00\", \"user\": \"ann\"},\n"
    "{\"status\": \"Killed\", \"jobid\": \"a_1\", \"attempts\": [{\"start_time\": \"2017-10-06 23:59:00\", "
    "\"end_time\": "
    "\"2017-10-06 23:59:30\", \"detail\": [{\"ip\": \"m2\", \"gpus\": [\"gpu3\"]}]}], \"submitted_time\": "
    "\"2017-10-06 23:59:00\", \"user\": \"bob\"},\n"
    "{\"status\": \"Failed\", \"jobid\": \"a_3\", \"attempts\": [], \"submitted_time\": \"2017-10-07 00:01:00\"},\n"
    "{\"status\": \"Pass\", \"jobid\": \"a_4\", \"attempts\": [{\"start_time\": \"2017-10-07 00:01:10\", \"end_time\": "
    "null, \"detail\": [{\"ip\": \"m1\", \"gpus\": [\"gpu0\"]}]}], \"submitted_time\": \"2017-10-07 00:01:00\"}]\n";
/* Those that the README of cluster-trace-gpu-v2020 publishes: a worker with half a GPU on each of three instances and a
 * parameter server; a job without GPUs, one that never ended. */
static const char jobs[] = "j2,i2,ann,Terminated,160.0,400.0\nj1,i1,bob,Failed,100.0,130.5\n"
                           "j3,i3,bob,Terminated,100.0,200.0\nj4,i4,bob,Running,100.0,\n";
static const char tasks[] = "j1,tensorflow,1.0,Failed,100.0,130.5,600.0,29.3,100.0,MISC\n"
                            "j2,ps,2.0,Terminated,165.0,400.0,600.0,29.3,0.0,MISC\n"
                            "j2,worker,3.0,Terminated,170.0,400.0,600.0,29.3,50.0,T4\n"
                            "j3,worker,3.0,Terminated,170.0,400.0,600.0,29.3,,\n"
                            "j4,worker,1.0,Running,110.0,,600.0,29.3,100.0,T4\n";

Test(arrival_log, philly)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log = parse(philly, arena);
    const struct arrival *a = &log->arrivals[0], *b = &log->arrivals[1];
    cr_assert(log->format == ARRIVALS_PHILLY && log->count == 2 && log->passed_over == 2);
    cr_assert(a->submit == 0 && a->wait == 0 && a->run == 30 && a->processors == 1 && a->status == STATUS_CANCELLED);
    cr_assert(b->submit == 120 && b->wait == 10 && b->run == 90 && b->processors == 3 && b->status == STATUS_DONE);
    cr_assert(strcmp(b->name, "a_2") == 0 && strcmp(b->user, "ann") == 0 && b->at.line == 1);
    arena_destroy(arena);
}

/* What is neither an entry nor an end is refused, and no job behind it is lost in silence. */
Test(arrival_log, philly_mistakes)
{
    static const char good[] = "{\"jobid\": \"a\", \"submitted_time\": \"2017-10-07 00:00:00\", \"attempts\": "
                               "[{\"start_time\": \"2017-10-07 00:00:01\", \"end_time\": \"2017-10-07 00:00:02\", "
                               "\"detail\": [{\"gpus\": [\"gpu0\"]}]}]}";
    static const char *const wrong[][3] = {
        {"[%s,\nnull,\n%s]", "log:2:1", "expected a job, or the end of the list"},
        {"[%s,\n{\"attempts\": [3]},\n%s]", "log:2:15", "expected an attempt"},
        {"[%s,\n{\"attempts\": [{\"detail\": [[\"m1\"]]}]},\n%s]", "log:2:27", "expected a server"},
        {"[%s,\n{\"attempts\": [{\"detail\": [{\"gpus\": [0, 1]}]}]},\n%s]", "log:2:37", "expected the name of a GPU"},
        {"[%s,\n%s]\n[garbage", "log:3:1", "expected the end of the file"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct arena *arena = arena_create();
        char text[2000], *reports = NULL;
        size_t size = 0;
        snprintf(text, sizeof text, wrong[i][0], good, good);
        FILE *out = open_memstream(&reports, &size);
        struct diag diag = {.out = out};
        const struct arrival_text log = {"log", text, strlen(text)};
        cr_assert(arrival_log_parse(&log, NULL, ARRIVALS_UNKNOWN, arena, &diag) == NULL);
        fclose(out);
        cr_assert(strstr(reports, wrong[i][1]) && strstr(reports, wrong[i][2]), "%s in '%s'", wrong[i][2], reports);
        free(reports);
        arena_destroy(arena);
    }
}

/* Comments with five commas are no table of PAI's. */
Test(arrival_log, comments_with_commas)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log =
        parse("; Acknowledge: A, B, C, D, E, F\n1 0 0 10 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n", arena);
    cr_assert(log->format == ARRIVALS_SWF && log->count == 1);
    log = parse("# a, b, c, d, e, f\nsubmit,nodes,run\n0,1,10\n", arena);
    cr_assert(log->format == ARRIVALS_CSV && log->count == 1);
    arena_destroy(arena);
}

static const struct arrival_log *parse_pai(const char *first, const char *second, struct arena *arena, FILE *out)
{
    struct diag diag = {.out = out};
    return arrival_log_parse(&(struct arrival_text){"jobs", first, strlen(first)},
                             &(struct arrival_text){"tasks", second, strlen(second)}, ARRIVALS_UNKNOWN, arena, &diag);
}

Test(arrival_log, pai)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log = parse_pai(jobs, tasks, arena, stderr);
    const struct arrival *a = &log->arrivals[0], *b = &log->arrivals[1];
    cr_assert(log->format == ARRIVALS_PAI && log->count == 2 && log->passed_over == 2);
    cr_assert(a->submit == 0 && a->wait == 0 && a->run == 30.5 && a->processors == 1 && a->status == STATUS_FAILED);
    cr_assert(b->submit == 60 && b->wait == 5 && b->run == 235 && b->processors == 2 && b->status == STATUS_DONE);
    cr_assert(strcmp(b->name, "j2") == 0 && strcmp(b->user, "ann") == 0 && b->at.line == 1);
    arena_destroy(arena);
}

static void refuse_pai(const char *first, const char *second, const char *message)
{
    struct arena *arena = arena_create();
    char *reports = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&reports, &size);
    cr_assert(parse_pai(first, second, arena, out) == NULL);
    fclose(out);
    cr_assert(strstr(reports, message) != NULL, "expected '%s' in '%s'", message, reports);
    free(reports);
    arena_destroy(arena);
}

Test(arrival_log, pai_mistakes)
{
    refuse_pai("a,b,c,d,1,2\n", "a,b,1,d,1,2,3\n",
               "tasks:1:1: error: the line has not the 10 fields of pai_task_table");
    refuse_pai("a,b,c,d,1,2\na,b\n", tasks, "jobs:2:1: error: the line has not the 6 fields of pai_job_table");
    refuse_pai("a,b,c,d,x,2\n", tasks, "jobs:1:9: error: expected a number from 0 to 1e10");
    refuse_pai("a,b,c,d,1,2\n", "a,b,1e9,d,1,2,3,4,5,T4\n", "tasks:1:5: error: expected a number");
}

static const char lingjun[] =
    "id,job_name,model,status,user_id,gmt_job_submitted,gmt_job_running,gmt_job_stopped,gmt_job_finished\n"
    "1,j1,gpt,Succeeded,u7,2023/7/15 02:19,2023/7/15 02:21,,2023/7/15 03:21\n"
    "2,j2,gpt,Failed,u7,2023/12/31 23:59,2024/1/1 00:00,2024/1/1 00:02,\n"
    "3,j3,,Stopped,,2023/7/15 02:18,2023/7/15 02:18,,2023/7/16 2:18\n"
    "4,running,,Running,,2023/7/15 02:18,2023/7/15 02:18,,\n"
    "5,never,,Failed,,2023/7/15 02:18,,2023/7/15 02:20,\n"
    "6,before,,Succeeded,,2023/7/15 02:18,2023/7/5 02:18,,2023/7/16 02:18\n"
    "7,nothing,,Succeeded,,2023/7/15 02:18,2023/7/15 02:18,,2023/7/16 02:18\n";
static const char workers[] = "job_name,worker_name,replica_type,RES,,\n"
                              "j1,a,worker,\"{\"\"cpu\"\": \"\"96\"\", \"\"nvidia.com/gpu\"\": \"\"8\"\"}\",,\n"
                              "j2,b,worker,\"{\"\"nvidia.com/gpu\"\":1}\",,\n"
                              "j1,c,worker,\"{\"\"nvidia.com/gpu\"\":\"\"8\"\"}\",,\n"
                              "j1,c,worker,\"{\"\"nvidia.com/gpu\"\":\"\"8\"\"}\",,\n"
                              "j3,d,master,\"{\"\"cpu\"\":\"\"4\"\"}\",,\n"
                              "j3,e,worker,\"{\"\"nvidia.com/gpu\"\":\"\"2\"\"}\",,\n"
                              "running,f,worker,\"{\"\"nvidia.com/gpu\"\":\"\"2\"\"}\",,\n"
                              "never,g,worker,\"{\"\"nvidia.com/gpu\"\":\"\"2\"\"}\",,\n"
                              "before,h,worker,\"{\"\"nvidia.com/gpu\"\":\"\"2\"\"}\",,\n"
                              "nothing,i,worker,,,\n";

Test(arrival_log, lingjun)
{
    struct arena *arena = arena_create();
    const struct arrival_log *log = parse_pai(lingjun, workers, arena, stderr);
    const struct arrival *a = &log->arrivals[0], *b = &log->arrivals[1], *c = &log->arrivals[2];
    cr_assert(log->format == ARRIVALS_LINGJUN && log->count == 3 && log->passed_over == 4);
    cr_assert(a->submit == 0 && a->wait == 0 && a->run == 86400 && a->processors == 2 && a->status == STATUS_CANCELLED);
    cr_assert(b->submit == 60 && b->wait == 120 && b->run == 3600 && b->processors == 16 && b->status == STATUS_DONE);
    cr_assert(c->submit == 169.0 * 86400 + (21 * 60 + 41) * 60 && c->wait == 60 && c->run == 120 &&
              c->processors == 1 && c->status == STATUS_FAILED);
    cr_assert(strcmp(b->name, "j1") == 0 && strcmp(b->user, "u7") == 0 && !a->user && b->at.line == 2);
    arena_destroy(arena);
}

Test(arrival_log, lingjun_mistakes)
{
    refuse_pai(lingjun, "job_name,worker_name\n", "tasks: error: there is no column RES; expected a table of Lingjun");
    refuse_pai("job_name,gmt_job_submitted\n", workers, "jobs: error: there is no column gmt_job_running");
    refuse_pai(lingjun, "job_name,worker_name,RES\nj1,a,\"{\"\"nvidia.com/gpu\"\": many}\"\n",
               "tasks:2:6: error: RES does not say how many GPUs");
    refuse_pai("job_name,gmt_job_submitted,gmt_job_running,gmt_job_finished\nj1,2023/7/15 02:60,,\n", workers,
               "jobs:2:4: error: gmt_job_submitted is no time; expected one such as 2023/7/15 02:19");
}

/* How jobs ended, in every format. */
Test(arrival_log, statuses)
{
    struct arena *arena = arena_create();
    const char *const texts[] = {swf, sacct, helios, acme};
    const enum arrival_status wanted[][2] = {{STATUS_FAILED, STATUS_DONE},
                                             {STATUS_FAILED, STATUS_DONE},
                                             {STATUS_FAILED, STATUS_DONE},
                                             {STATUS_DONE, STATUS_FAILED}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct arrival_log *log = parse(texts[i], arena);
        cr_assert(log->arrivals[0].status == wanted[i][0] && log->arrivals[1].status == wanted[i][1], "text %zu", i);
    }
    const struct arrival_log *log = parse("submit,nodes,run,status\n0,1,5,cancelled\n1,1,5,\n", arena);
    cr_assert(log->arrivals[0].status == STATUS_CANCELLED && log->arrivals[1].status == STATUS_UNKNOWN);
    arena_destroy(arena);
}

/* What editors, pandas and SQL make of logs: marks before the text, ends of lines, fractions of seconds, words for
 * nothing. */
Test(arrival_log, marks_and_words)
{
    static const char mark[] = "\xef\xbb\xbf";
    const char *const texts[] = {swf, sacct, table, helios, acme, philly};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct arena *arena = arena_create();
        char marked[4000];
        snprintf(marked, sizeof marked, "%s%s", mark, texts[i]);
        const struct arrival_log *plain = parse(texts[i], arena), *log = parse(marked, arena);
        cr_assert(log->format == plain->format && log->count == plain->count, "text %zu", i);
        arena_destroy(arena);
    }
    struct arena *arena = arena_create();
    const struct arrival_log *log =
        parse("job_id,gpu_num,submit_time,start_time,end_time\r\n"
              "a,8.0,2023-03-01 00:00:00.5,2023-03-01 00:00:01Z,2023-03-01 08:00:02.25+08:00\r\n"
              "b,NaN,2023-03-01 00:00:00,2023-03-01 00:00:01,2023-03-01 00:00:02\r\n"
              "c,8,2023-03-01 00:00:00,None,2023-03-01 00:00:02\r\nd,8,2023-03-01 00:00:00,NaT,NaT\r\n",
              arena);
    cr_assert(log->count == 1 && log->passed_over == 3);
    cr_assert(log->arrivals[0].wait == 0.5 && log->arrivals[0].run == 1.25);
    char first[500], second[500];
    snprintf(first, sizeof first, "%s%s", mark, jobs);
    snprintf(second, sizeof second, "%s%s", mark, tasks);
    log = parse_pai(first, second, arena, stderr);
    cr_assert(log && log->format == ARRIVALS_PAI && log->count == 2);
    log = parse("[{\"jobid\": null, \"user\": null, \"submitted_time\": \"2017-10-07 00:00:00\", \"attempts\": "
                "[{\"start_time\": \"2017-10-07 00:00:01\", \"end_time\": \"2017-10-07 00:00:02\", "
                "\"detail\": [{\"gpus\": [\"gpu0\"]}]}]}]",
                arena);
    cr_assert(log->count == 1 && !log->arrivals[0].user && strcmp(log->arrivals[0].name, "1") == 0);
    arena_destroy(arena);
}

static void refuse(const char *text, const char *message)
{
    struct arena *arena = arena_create();
    char *reports = NULL;
    size_t size = 0;
    struct diag diag = {.out = open_memstream(&reports, &size)};
    cr_assert(arrival_log_parse(&(struct arrival_text){"log", text, strlen(text)}, NULL, ARRIVALS_UNKNOWN, arena,
                                &diag) == NULL);
    fclose(diag.out);
    cr_assert(strstr(reports, message) != NULL, "expected '%s' in '%s'", message, reports);
    free(reports);
    arena_destroy(arena);
}

Test(arrival_log, mistakes)
{
    refuse("1 0 0 10 4\n", "log:1:1: error: a line has 18 numbers; this one has 5");
    refuse("1 0 0 10 4 -1 -1 4 -1 -1 1 7 1 -1 1 -1 -1 -1 5\n", "log:1:46: error: a line has 18 numbers; this one");
    refuse("1 0 0 1O 4 -1 -1 4 -1 -1 1 7 1 -1 1 -1 -1 -1\n", "log:1:7: error: run time '1O'; expected a number");
    refuse("1 0 0 1e99 4 -1 -1 4 -1 -1 1 7 1 -1 1 -1 -1 -1\n", "log:1:7: error: run time '1e99'; expected");
    refuse("1 -1 0 10 4 -1 -1 4 -1 -1 1 7 1 -1 1 -1 -1 -1\n", "log:1:1: error: the job has no submit time");
    refuse("; only words\n", "log: error: the log has no job that ran");
    refuse("", "log: error: the log has no job that ran");
    refuse("JobID|Submit|Start|AllocTRES\n", "log:1:1: error: there is no column End; expected what `sacct -P");
    refuse("JobID|Submit|Start|End|AllocTRES\n1|2024-02-30|x|y|cpu=1\n",
           "log:2:3: error: Submit '2024-02-30'; expected a time such as 2026-03-31T23:59:59");
    refuse("JobID|Submit|Start|End|AllocTRES\n1|x|y\n", "log:2:1: error: the line has 3 fields between '|'; the first");
    refuse("JobID|Submit|Start|End|AllocTRES|Timelimit\n"
           "1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:01|cpu=1|1-2-3\n",
           "log:2:69: error: Timelimit '1-2-3'; expected [DAYS-]HOURS:MINUTES:SECONDS");
    refuse("submit,nodes\n0,1\n", "log:2:1: error: the job has neither `run`");
    refuse("submit,nodes,run\n0,0,5\n", "log:2:3: error: a job has at least one node");
    refuse("submit,nodes,run\n0,1,-5\n", "log:2:5: error: run is -5; expected a number above 0");
    refuse("submit,run\n0,1\n", "nodes");
    refuse("submit,nodes,run,status\n0,1,5,broken\n", "log:2:7: error:");
    refuse("[{\"submitted_time\": \"2017-10-07\"}]", "log:1:21: error: no time; expected one such as");
    refuse("[{\"attempts\": [{\"detail\": 5}]}]", "log:1:27: error: detail is no list of servers");
    refuse("[{\"jobid\": 5", "log:1:12: error: expected a text");
    refuse("a,b,c,d,1,2\n", "log: error: nothing says how many GPUs jobs have");
    refuse("job_id,gpu_num,submit_time,start_time\n", "log:1:1: error:");
    refuse("job_id,gpu_num,submit_time,start_time,end_time\n1,8,2020-06-09T18:41:01,2020-06-09 18:41:01,x\n",
           "log:2:5: error: submit_time is no time; expected one such as 2020-06-09 18:41:01");
    refuse("job_id,gpu_num,submit_time,start_time,end_time\n1,1.5,2020-06-09 18:41:01,2020-06-09 18:41:01,x\n",
           "log:2:3: error: gpu_num is 1.5; expected a whole number");
    refuse("job_id,gpu_num,submit_time,start_time,end_time\n1,-8,2020-06-09 18:41:01,2020-06-09 18:41:01,x\n",
           "log:2:3: error: gpu_num is -8; expected a whole number");
    refuse("job_id,gpu_num,submit_time,start_time,end_time\n1,8,2019-02-29 18:41:01,2020-06-09 18:41:01,x\n",
           "log:2:5: error: submit_time is no time");
    refuse("[{\"jobid\": \"a\", \"attempts\": []}]", "log:1:1: error: the job has no submitted_time");
    refuse("JobID|Submit|Start|End|AllocTRES\n"
           "1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:01|cpu=1,gres/gpu=2x\n",
           "log:2:78: error: gres/gpu '2x'; expected a whole number");
    refuse("JobID|Submit|Start|End|AllocTRES|NNodes\n"
           "1|2024-01-01T00:00:00|2024-01-01T00:00:00|2024-01-01T00:00:01|cpu=1|1.5K\n",
           "log:2:69: error: NNodes '1.5K'; expected a whole number");
}
