// SPDX-License-Identifier: MIT
#include "os/syscalls.h"

#include "base/assert.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define MACHINE AUDIT_ARCH_RISCV64
#else
#define MACHINE 0u
#endif

enum { X32_BIT = 0x40000000 };        // of calls that mean something else than their number says
enum { CALL_CLONE3 = 435 };           // this and the numbers below are those of every architecture
enum { SPECULATE = 1u << 2 };         // the filter costs us no speculation
enum { CLONES_REFUSED = 0x7e020000 }; // CLONE_NEW…: mount, cgroup, uts, ipc, user, pid, net

static const uint32_t refused[] = {
    // programs
    __NR_execve, __NR_execveat,
    // processes
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, 438 /* pidfd_getfd */, __NR_kcmp,
    __NR_personality,
    // file systems
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, 428 /* open_tree */,
    429 /* move_mount */, 430 /* fsopen */, 431 /* fsconfig */, 432 /* fsmount */, 433 /* fspick */,
    442 /* mount_setattr */, __NR_swapon, __NR_swapoff, __NR_quotactl, __NR_open_by_handle_at,
    // namespaces
    __NR_unshare, __NR_setns,
    // the kernel
    __NR_bpf, __NR_perf_event_open, __NR_init_module, __NR_finit_module, __NR_delete_module,
    __NR_kexec_load, __NR_reboot, __NR_acct, __NR_syslog, __NR_settimeofday, __NR_clock_settime,
    __NR_adjtimex, __NR_sethostname, __NR_setdomainname, 425 /* io_uring_setup */, __NR_userfaultfd,
#ifdef __NR_kexec_file_load
    __NR_kexec_file_load,
#endif
#ifdef __NR_iopl
    __NR_iopl, __NR_ioperm,
#endif
    // keys
    __NR_keyctl, __NR_add_key, __NR_request_key};

enum { REFUSED_COUNT = sizeof(refused) / sizeof(refused[0]) };
enum { PROGRAM_MAX = 2 * REFUSED_COUNT + 32 };

typedef struct Program {
    struct sock_filter line[PROGRAM_MAX];
    unsigned short count;
} Program;

static void add(Program *program, struct sock_filter line) {
    ASSERT(program->count < PROGRAM_MAX);
    program->line[program->count++] = line;
}

static void load(Program *program, size_t offset) {
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void answer(Program *program, uint32_t what) {
    add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

static void refuse(Program *program, unsigned short comparison, uint32_t value, int why) {
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | comparison, value, 0, 1));
    answer(program, SECCOMP_RET_ERRNO | ((uint32_t)why & SECCOMP_RET_DATA));
}

static size_t argument(int index) {
    const size_t offset = offsetof(struct seccomp_data, args) + 8 * (size_t)index;
    return offset + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0); // its lower half
}

// As `refuse`, where it is this call; what was loaded is lost.
static void refuse_by_argument(Program *program, uint32_t call, int index,
                               unsigned short comparison, uint32_t value) {
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | BPF_JEQ, call, 0, 4));
    load(program, argument(index));
    refuse(program, comparison, value, EPERM);
    answer(program, SECCOMP_RET_ALLOW);
}

static void write_program(Program *program) {
    load(program, offsetof(struct seccomp_data, arch));
    add(program, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_K | BPF_JEQ, MACHINE, 1, 0));
    answer(program, SECCOMP_RET_ERRNO | EPERM); // calls of another machine's numbers
    load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    refuse(program, BPF_JGE, X32_BIT, EPERM);
#endif
    for (size_t i = 0; i < REFUSED_COUNT; i++) {
        refuse(program, BPF_JEQ, refused[i], EPERM);
    }
    // its flags lie in memory, where no filter looks: C libraries then call the older one
    refuse(program, BPF_JEQ, CALL_CLONE3, ENOSYS);
    refuse_by_argument(program, __NR_clone, 0, BPF_JSET, CLONES_REFUSED);
    refuse_by_argument(program, __NR_ioctl, 1, BPF_JEQ, TIOCSTI); // types on our terminal
    answer(program, SECCOMP_RET_ALLOW);
}

static bool set_filter(const struct sock_fprog *filter, unsigned flags) {
    return syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter) == 0;
}

bool syscalls_refuse(void) {
    Program program = {.count = 0};
    write_program(&program);
    const struct sock_fprog filter = {.len = program.count, .filter = program.line};
    return MACHINE != 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           (set_filter(&filter, SPECULATE) || set_filter(&filter, 0));
}
