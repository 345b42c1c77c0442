// SPDX-License-Identifier: MIT
// CHOLMOD's simplicial LDLt, column by column, without BLAS (matrix_peer.h).
#include "bench/peers/matrix_peer.h"

#include <cholmod.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Work {
    cholmod_common common;
    cholmod_sparse *matrix;
    cholmod_factor *factor[MATRIX_PEER_ORDERS];
    cholmod_dense *ones;
} Work;

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

_Noreturn static void give_up(const char *why) {
    fprintf(stderr, "moreau-bench-cholmod: %s\n", why);
    exit(EXIT_FAILURE);
}

static void read_all(void *to, size_t size, size_t count) {
    if (fread(to, size, count, stdin) != count) {
        give_up("the matrix was cut off");
    }
}

// 64-bit numbers as CHOLMOD's ints
static void read_ints(int *to, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint64_t number;
        read_all(&number, sizeof(number), 1);
        to[i] = (int)number;
    }
}

static cholmod_factor *analyse(Work *work, bool is_own, int *order, double *ns) {
    cholmod_common *common = &work->common;
    common->nmethods = 1;
    common->method[0].ordering = is_own ? CHOLMOD_AMD : CHOLMOD_GIVEN;
    double begun = cpu_ns();
    cholmod_factor *factor = is_own ? cholmod_analyze(work->matrix, common)
                                    : cholmod_analyze_p(work->matrix, order, NULL, 0, common);
    *ns = cpu_ns() - begun;
    if (factor == NULL) {
        give_up("CHOLMOD does not analyse the matrix");
    }
    return factor;
}

static void read_system(Work *work, MatrixPeerAnswer *answer) {
    MatrixPeerSystem head;
    read_all(&head, sizeof(head), 1);
    if (head.magic != MATRIX_PEER_MAGIC) {
        give_up("this is no matrix");
    }
    size_t size = (size_t)head.size, count = (size_t)head.count;
    work->matrix =
        cholmod_allocate_sparse(size, size, count, 1, 1, -1, CHOLMOD_REAL, &work->common);
    int *order = calloc(size, sizeof(*order));
    if (work->matrix == NULL || order == NULL) {
        give_up("memory ended");
    }
    read_ints(work->matrix->p, size + 1);
    read_ints(work->matrix->i, count);
    read_all(work->matrix->x, sizeof(double), count);
    read_ints(order, size);
    for (int k = 0; k < MATRIX_PEER_ORDERS; k++) {
        work->factor[k] = analyse(work, k == MATRIX_PEER_OWN, order, &answer->analyse_ns[k]);
        answer->fill[k] = work->common.lnz;
    }
    free(order);
    work->ones = cholmod_ones(size, 1, CHOLMOD_REAL, &work->common);
}

static MatrixPeerTurn take_turn(Work *work, uint64_t order) {
    cholmod_factor *factor = work->factor[order];
    double begun = cpu_ns();
    int is_done = cholmod_factorize(work->matrix, factor, &work->common);
    MatrixPeerTurn turn = {.ns = cpu_ns() - begun};
    cholmod_dense *x = is_done != 0 && factor->minor == factor->n
                           ? cholmod_solve(CHOLMOD_A, factor, work->ones, &work->common)
                           : NULL;
    if (x == NULL) {
        give_up("CHOLMOD does not factorise the matrix");
    }
    for (size_t i = 0; i < x->nrow; i++) {
        turn.sum += ((const double *)x->x)[i];
    }
    cholmod_free_dense(&x, &work->common);
    return turn;
}

int main(void) {
    static Work work;
    cholmod_start(&work.common);
    work.common.supernodal = CHOLMOD_SIMPLICIAL;
    work.common.final_ll = 0;
    MatrixPeerAnswer answer = {.fill = {0.0}};
    snprintf(answer.name, sizeof(answer.name), "CHOLMOD %d.%d.%d", CHOLMOD_MAIN_VERSION,
             CHOLMOD_SUB_VERSION, CHOLMOD_SUBSUB_VERSION);
    read_system(&work, &answer);
    fwrite(&answer, sizeof(answer), 1, stdout);
    fflush(stdout);
    uint64_t order;
    while (fread(&order, sizeof(order), 1, stdin) == 1 && order < MATRIX_PEER_ORDERS) {
        MatrixPeerTurn turn = take_turn(&work, order);
        fwrite(&turn, sizeof(turn), 1, stdout);
        fflush(stdout);
    }
    return 0;
}
