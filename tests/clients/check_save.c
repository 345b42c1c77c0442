// SPDX-License-Identifier: MIT
// A file that is saved is whole or as it was, and what is no file is not made one.
#include "clients/capture.h"
#include "support/suite.h"

#include "cli/files/save.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { BYTES = 1000 };

// A folder of its own for each test, and what is to be saved as `file` in it.
typedef struct Place {
    char folder[32], file[64];
    uint8_t bytes[BYTES];
} Place;

static Place *saved;

// ---- what is asked of the disk, in its order: F a file brought to it, D a folder, R renamed

static char asked[16];

static void note(char what) {
    size_t count = strlen(asked);
    if (count + 1 < sizeof(asked)) {
        asked[count] = what;
    }
}

// Both stand before those of the C library, and do the same.
int fsync(int fd) {
    struct stat info;
    note(fstat(fd, &info) == 0 && S_ISDIR(info.st_mode) ? 'D' : 'F');
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to) {
    note('R');
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

// ----

static int command_save(Cli *cli, int argc, char **argv) {
    (void)argc;
    return save_file(cli, argv[0], saved->bytes, BYTES);
}

static Outcome save(Place *place, const char *path) {
    saved = place;
    return run_command("", command_save, false, path);
}

static void open_place(Place *place) {
    *place = (Place){.folder = "/tmp/moreau-save-XXXXXX"};
    ck_assert_ptr_nonnull(mkdtemp(place->folder));
    snprintf(place->file, sizeof(place->file), "%s/file", place->folder);
    for (size_t i = 0; i < BYTES; i++) {
        place->bytes[i] = (uint8_t)(i * 37);
    }
}

// Nothing is left beside what was there on purpose.
static void close_place(Place *place, int entries) {
    char command[64];
    snprintf(command, sizeof(command), "test $(ls -A %s | wc -l) = %d", place->folder, entries);
    ck_assert_int_eq(system(command), 0);
    snprintf(command, sizeof(command), "rm -r %s", place->folder);
    ck_assert_int_eq(system(command), 0);
}

static void put_text(const char *path, const char *text, mode_t mode) {
    FILE *stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    fputs(text, stream);
    fclose(stream);
    ck_assert_int_eq(chmod(path, mode), 0);
}

static mode_t mode_at(const char *path) {
    struct stat info;
    ck_assert_int_eq(lstat(path, &info), 0);
    return info.st_mode;
}

static void expect_bytes(int fd, const void *expected, size_t count) {
    uint8_t bytes[BYTES + 1];
    ck_assert_int_eq(read(fd, bytes, sizeof(bytes)), (ssize_t)count);
    ck_assert_mem_eq(bytes, expected, count);
    close(fd);
}

START_TEST(a_new_file_gets_the_mode_that_the_user_wants) {
    Place place;
    open_place(&place);
    umask(027);
    Outcome outcome = save(&place, place.file);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    expect_bytes(open(place.file, O_RDONLY), place.bytes, BYTES);
    ck_assert_uint_eq(mode_at(place.file), S_IFREG | 0640);
    close_place(&place, 1);
}
END_TEST

START_TEST(a_file_is_replaced_and_keeps_its_mode) {
    Place place;
    open_place(&place);
    put_text(place.file, "old", 0604);
    int old = open(place.file, O_RDONLY); // who reads it goes on reading what it was
    Outcome outcome = save(&place, place.file);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    expect_bytes(open(place.file, O_RDONLY), place.bytes, BYTES);
    expect_bytes(old, "old", 3);
    ck_assert_uint_eq(mode_at(place.file), S_IFREG | 0604);
    close_place(&place, 1);
}
END_TEST

// Else a power cut could leave a name that leads to nothing.
START_TEST(bytes_are_on_the_disk_before_they_have_the_name) {
    Place place;
    open_place(&place);
    memset(asked, 0, sizeof(asked));
    Outcome outcome = save(&place, place.file);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert_str_eq(asked, "FRD");
    close_place(&place, 1);
}
END_TEST

START_TEST(a_disk_without_room_leaves_the_file_as_it_was) {
    Place place;
    open_place(&place);
    put_text(place.file, "old", 0600);
    // room for what is printed, but not for the bytes
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit limit = {.rlim_cur = BYTES - 1, .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    Outcome outcome = save(&place, place.file);
    limit.rlim_cur = RLIM_INFINITY;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(outcome.status, EXIT_REFUSED);
    ck_assert_ptr_nonnull(strstr(outcome.err, place.file));
    ck_assert_ptr_nonnull(strstr(outcome.err, "as it was"));
    expect_bytes(open(place.file, O_RDONLY), "old", 3);
    close_place(&place, 1);
}
END_TEST

START_TEST(of_a_link_the_file_is_replaced_and_the_link_stays) {
    Place place;
    open_place(&place);
    char real[64];
    snprintf(real, sizeof(real), "%s/real", place.folder);
    ck_assert_int_eq(symlink("real", place.file), 0);
    Outcome outcome = save(&place, place.file);
    ck_assert_int_eq(outcome.status, EXIT_USAGE); // it leads nowhere
    ck_assert_ptr_nonnull(strstr(outcome.err, "a link to a file that is not there"));
    put_text(real, "old", 0600);
    outcome = save(&place, place.file);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    ck_assert(S_ISLNK(mode_at(place.file)));
    ck_assert(S_ISREG(mode_at(real)));
    expect_bytes(open(real, O_RDONLY), place.bytes, BYTES);
    close_place(&place, 2);
}
END_TEST

START_TEST(a_pipe_is_written_to_and_a_folder_is_refused) {
    Place place;
    open_place(&place);
    ck_assert_int_eq(mkfifo(place.file, 0600), 0);
    int reader = open(place.file, O_RDONLY | O_NONBLOCK);
    Outcome outcome = save(&place, place.file);
    ck_assert_msg(outcome.status == EXIT_DONE, "%s", outcome.err);
    expect_bytes(reader, place.bytes, BYTES);
    ck_assert(S_ISFIFO(mode_at(place.file)));
    unlink(place.file);
    ck_assert_int_eq(mkdir(place.file, 0700), 0);
    outcome = save(&place, place.file);
    ck_assert_int_eq(outcome.status, EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(outcome.err, "it is a folder"));
    ck_assert(S_ISDIR(mode_at(place.file)));
    close_place(&place, 1);
}
END_TEST

// Who is root could lose /dev/null, so root makes devices of its own, where it may: the one that
// takes everything and the one that is always full. Others have nothing to lose.
START_TEST(a_device_stays_a_device) {
    static const struct {
        unsigned minor;
        const char *path;
        int status;
    } devices[] = {{3, "/dev/null", EXIT_DONE}, {7, "/dev/full", EXIT_REFUSED}};
    Place place;
    open_place(&place);
    bool is_own = mknod(place.file, S_IFCHR | 0600, makedev(1, devices[_i].minor)) == 0;
    const char *path = is_own ? place.file : devices[_i].path;
    if (is_own || geteuid() != 0) {
        Outcome outcome = save(&place, path);
        ck_assert(S_ISCHR(mode_at(path)));
        ck_assert_msg(outcome.status == devices[_i].status, "%s", outcome.err);
    }
    close_place(&place, is_own ? 1 : 0);
}
END_TEST

START_TEST(a_place_that_is_not_there_is_named) {
    Place place;
    open_place(&place);
    char path[64];
    snprintf(path, sizeof(path), "%s/none/file", place.folder);
    Outcome outcome = save(&place, path);
    ck_assert_int_eq(outcome.status, EXIT_USAGE);
    ck_assert_ptr_nonnull(strstr(outcome.err, path));
    close_place(&place, 0);
}
END_TEST

static TCase *case_save(void) {
    TCase *tcase = tcase_create("save");
    tcase_add_test(tcase, a_new_file_gets_the_mode_that_the_user_wants);
    tcase_add_test(tcase, a_file_is_replaced_and_keeps_its_mode);
    tcase_add_test(tcase, bytes_are_on_the_disk_before_they_have_the_name);
    tcase_add_test(tcase, a_disk_without_room_leaves_the_file_as_it_was);
    tcase_add_test(tcase, of_a_link_the_file_is_replaced_and_the_link_stays);
    tcase_add_test(tcase, a_pipe_is_written_to_and_a_folder_is_refused);
    tcase_add_loop_test(tcase, a_device_stays_a_device, 0, 2);
    tcase_add_test(tcase, a_place_that_is_not_there_is_named);
    return tcase;
}

SUITE_MAIN("clients/save", case_save)
