/* SPDX-License-Identifier: Apache-2.0 */
#include "studies/fleet/crew.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/exit_code.h"
#include "base/files/scratch.h"
#include "base/isolate.h"
#include "base/process/interruption.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A process that asks. */
struct asker {
    pid_t pid; /* 0: it does nothing */
    uint32_t question;
    struct fleet_found *found; /* in memory that it shares */
};

struct asking {
    const struct fleet_crew *crew;
    struct asker *askers; /* [count] */
    unsigned count, running;
    size_t next; /* question that was not begun */
    int code;
};

/* ---- one after the other ---- */

static int ask_question(const struct fleet_crew *crew, uint32_t question, double ceiling)
{
    struct fleet_found found;
    int code = fleet_ask(crew->fleet, &crew->fleet->questions.list[question], ceiling, crew->request, &found);
    return code == EXIT_DONE ? crew->take(crew->user, question, &found) : code;
}

static int ask_here(const struct fleet_crew *crew)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < crew->count && code == EXIT_DONE && !interruption_noted(); i++)
        code = ask_question(crew, crew->questions[i], crew->begin(crew->user, crew->questions[i]));
    return code;
}

/* ---- several at a time ---- */

static void fail(struct asking *asking, int code)
{
    asking->code = code > asking->code ? code : asking->code;
}

/* What the process does. */
static void ask_there(const struct asking *asking, const struct asker *asker, double ceiling, unsigned jobs,
                      pid_t parent)
{
    const struct fleet_crew *crew = asking->crew;
    struct fleet_request request = *crew->request;
    isolate_bond(parent);
    request.jobs = jobs;
    request.quiet = true; /* several bars would be in each other's way */
    int code = fleet_ask(crew->fleet, &crew->fleet->questions.list[asker->question], ceiling, &request, asker->found);
    fflush(stderr);
    _exit(code);
}

static void begin(struct asking *asking, struct asker *asker)
{
    const struct fleet_crew *crew = asking->crew;
    unsigned jobs = crew->request->jobs / asking->count;
    asker->question = crew->questions[asking->next++];
    double ceiling = crew->begin(crew->user, asker->question);
    pid_t parent = getpid();
    fflush(stdout);
    fflush(stderr);
    asker->pid = fork();
    if (asker->pid == 0)
        ask_there(asking, asker, ceiling, jobs ? jobs : 1, parent);
    if (asker->pid > 0) {
        asking->running++;
        return;
    }
    asker->pid = 0;
    if (errno == ENOSYS) { /* WebAssembly has no processes */
        fail(asking, ask_question(crew, asker->question, ceiling));
        return;
    }
    diag_print(stderr, "stagesim: no process could be made: %s\n", strerror(errno));
    fail(asking, EXIT_FAILED);
}

static void end(struct asking *asking, struct asker *asker, int status)
{
    const struct fleet_crew *crew = asking->crew;
    asker->pid = 0;
    asking->running--;
    if (!WIFEXITED(status)) {
        diag_print(stderr, "stagesim: the process that searched %s was ended by signal %d\n",
                   crew->fleet->questions.list[asker->question].text, WTERMSIG(status));
        fail(asking, EXIT_FAILED);
    } else if (WEXITSTATUS(status) != EXIT_DONE) {
        fail(asking, WEXITSTATUS(status));
    } else if (!asking->code) {
        fail(asking, crew->take(crew->user, asker->question, asker->found));
    }
}

/* Where one has failed, or nothing more is wanted, the others need not go on. */
static void tell_all(const struct asking *asking, int number)
{
    for (unsigned i = 0; i < asking->count; i++)
        if (asking->askers[i].pid)
            kill(asking->askers[i].pid, number);
}

static void ask_all(struct asking *asking)
{
    static const struct timespec moment = {0, 2000000};
    bool told = false;
    for (;;) {
        bool over = interruption_noted() || asking->code;
        for (unsigned i = 0; i < asking->count; i++) {
            struct asker *asker = &asking->askers[i];
            int status;
            if (asker->pid && waitpid(asker->pid, &status, WNOHANG) == asker->pid)
                end(asking, asker, status);
            if (!asker->pid && !over && !asking->code && asking->next < asking->crew->count)
                begin(asking, asker);
        }
        if (!asking->running && (over || asking->next == asking->crew->count))
            return;
        if (over && !told)
            tell_all(asking, SIGTERM);
        told |= over;
        nanosleep(&moment, NULL);
    }
}

int fleet_crew_ask(const struct fleet_crew *crew)
{
    struct fault fault = {""};
    size_t most = crew->request->jobs < crew->count ? crew->request->jobs : crew->count;
    struct asking asking = {.crew = crew, .count = (unsigned)most};
    if (most < 2)
        return ask_here(crew);
    struct fleet_found *found = scratch_map(most * sizeof *found, &fault);
    if (!found) {
        diag_print(stderr, "stagesim: %s\n", fault.text);
        return EXIT_FAILED;
    }
    asking.askers = array_zeroed(most, sizeof *asking.askers);
    for (size_t i = 0; i < most; i++)
        asking.askers[i].found = &found[i];
    ask_all(&asking);
    free(asking.askers);
    scratch_unmap(found, most * sizeof *found);
    return asking.code;
}
