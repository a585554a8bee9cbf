/* SPDX-License-Identifier: Apache-2.0 */
/* inject CALL N error|kill RESULT COMMAND [ARGUMENT]...: runs a command whose N-th system call of a kind fails, or at
 * whose N-th it is killed. Counted are the calls of the command and of its children from the beginning of main on, but
 * those that write to standard error. N = 0: none. RESULT is a file that gets a line "CALLS STATUS": how many there
 * were, and the command's status as waitpid gives it. CALL is one of the table below, or "malloc", for which preload.so
 * does the counting.
 *
 * The kernel asks this process about each of the calls (seccomp's user notification), so it makes no difference which
 * library makes them. Exit code 77: the kernel does not offer that here. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/faults/mark.h"

enum { NUMBERS_MAX = 6, SKIPPED = 77, NONE = -1 };

/* Numbers of system calls; those that an architecture does not have are NONE. */
#ifdef SYS_open
#define OLD(name) SYS_##name
#else
#define OLD(name) NONE
#endif

static const struct call {
    const char *name;
    int error;
    int numbers[NUMBERS_MAX]; /* 0 ends but for the first */
} calls[] = {
    {"open", EMFILE, {SYS_openat, OLD(open), OLD(creat), SYS_memfd_create}},
    {"read", EIO, {SYS_read, SYS_pread64, SYS_readv}},
    {"write", ENOSPC, {SYS_write, SYS_pwrite64, SYS_writev, SYS_ftruncate}},
    {"rename", EIO, {SYS_renameat2, OLD(rename), SYS_renameat}},
    {"exchange", EINVAL, {SYS_renameat2}},
    {"link", EPERM, {SYS_linkat, OLD(link)}},
    {"unlink", EIO, {SYS_unlinkat, OLD(unlink), OLD(rmdir)}},
    {"mkdir", ENOSPC, {SYS_mkdirat, OLD(mkdir)}},
    {"fork", EAGAIN, {SYS_clone, SYS_clone3, OLD(fork), OLD(vfork)}},
    {"mmap", ENOMEM, {SYS_mmap, SYS_mremap, SYS_brk}},
    {"malloc", 0, {SYS_getpid}}, /* the C library's, counted in the process; no call is asked about */
};

struct injection {
    const struct call *call;
    unsigned long at, count;
    bool kills, began;
    pid_t pid;
    int listener;
    struct stat messages; /* the file of standard error */
};

static int fail(const char *what)
{
    fprintf(stderr, "inject: %s: %s\n", what, strerror(errno));
    return SKIPPED;
}

/* ---- the command's side ---- */

#define STATEMENT(code, value) ((struct sock_filter)BPF_STMT(code, value))
#define JUMP(value, yes, no) ((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no))

static int filter(const struct call *call)
{
    struct sock_filter program[2 * NUMBERS_MAX + 8];
    unsigned short length = 0;
    program[length++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (int i = 0; i < NUMBERS_MAX && (i == 0 || call->numbers[i]) && call->error; i++) {
        program[length++] = JUMP((unsigned)call->numbers[i], 0, 1);
        program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    }
    program[length++] = JUMP(SYS_prctl, 0, 3);
    program[length++] = STATEMENT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args));
    program[length++] = JUMP(MARK_OF_MAIN, 0, 1);
    program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
    program[length++] = STATEMENT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog all = {.len = length, .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &all);
}

/* A descriptor through a socket; -1 in place of it: there is none. */
static void send_descriptor(int to, int descriptor)
{
    char text = descriptor < 0, space[CMSG_SPACE(sizeof descriptor)] = {0};
    struct iovec part = {&text, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (descriptor >= 0) {
        message.msg_control = space;
        message.msg_controllen = sizeof space;
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        *head = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof descriptor), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
    }
    sendmsg(to, &message, 0);
}

static int receive_descriptor(int from)
{
    char text = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    int descriptor = -1;
    struct iovec part = {&text, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(from, &message, MSG_CMSG_CLOEXEC) == 1 && !text && CMSG_FIRSTHDR(&message))
        memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

static void run(const struct call *call, int to, char **command)
{
    int listener = filter(call);
    send_descriptor(to, listener);
    close(to);
    if (listener >= 0) {
        close(listener);
        execvp(command[0], command);
    }
    _exit(SKIPPED);
}

/* ---- the supervisor's side ---- */

static bool is_message(const struct injection *injection, const struct seccomp_notif *asked)
{
    char path[64];
    struct stat status;
    if (asked->data.nr != SYS_write && asked->data.nr != SYS_writev)
        return false;
    snprintf(path, sizeof path, "/proc/%u/fd/%u", asked->pid, (unsigned)asked->data.args[0]);
    return stat(path, &status) == 0 && status.st_dev == injection->messages.st_dev &&
           status.st_ino == injection->messages.st_ino;
}

/* 0: the call goes on. */
static int decide(struct injection *injection, const struct seccomp_notif *asked)
{
    if (asked->data.nr == SYS_prctl) {
        injection->began = true;
        return 0;
    }
    if (!injection->began || is_message(injection, asked) || ++injection->count != injection->at)
        return 0;
    if (injection->kills)
        kill(injection->pid, SIGKILL);
    return injection->call->error;
}

static void answer(struct injection *injection)
{
    struct seccomp_notif asked = {0};
    if (ioctl(injection->listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0)
        return; /* who asked was killed */
    struct seccomp_notif_resp response = {.id = asked.id, .error = -decide(injection, &asked)};
    if (response.error == 0)
        response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    ioctl(injection->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Until the command has ended; its children, if any are left, end with it. */
static int supervise(struct injection *injection)
{
    int status = 0;
    while (waitpid(injection->pid, &status, WNOHANG) == 0) {
        struct pollfd state = {.fd = injection->listener, .events = POLLIN};
        if (poll(&state, 1, 5) == 1 && state.revents & POLLIN)
            answer(injection);
        else if (state.revents & POLLHUP)
            usleep(1000);
    }
    return status;
}

static const struct call *find(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].name, name))
            return &calls[i];
    return NULL;
}

int main(int argc, char **argv)
{
    int sockets[2];
    struct injection injection = {.call = argc > 5 ? find(argv[1]) : NULL};
    if (!injection.call || fstat(STDERR_FILENO, &injection.messages) ||
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
        return 2;
    injection.at = strtoul(argv[2], NULL, 10);
    injection.kills = !strcmp(argv[3], "kill");
    injection.pid = fork();
    if (injection.pid == 0)
        run(injection.call, sockets[1], argv + 5);
    injection.listener = injection.pid > 0 ? receive_descriptor(sockets[0]) : -1;
    if (injection.listener < 0)
        return fail("seccomp");
    int status = supervise(&injection);
    FILE *out = fopen(argv[4], "w");
    if (!out)
        return fail(argv[4]);
    fprintf(out, "%lu %d\n", injection.count, status);
    return fclose(out) ? fail(argv[4]) : 0;
}
