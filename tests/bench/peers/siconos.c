// SPDX-License-Identifier: MIT
// Siconos as a peer of `moreau bench solvers`, through its C interface, in its reduced form. The
// Gauss-Seidel gets W as blocks, which it likes best, the others as a sparse matrix.
#include "bench/peers/contact_peer.h"

#include <siconos/numerics/CSparseMatrix.h>
#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/SparseBlockMatrix.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME "Siconos" // its headers do not say which

enum { ITERATIONS_MAX = 10000000 }; // it is ended by time

typedef struct Method {
    const char *name;
    int id;
    NM_types storage;
} Method;

static const Method methods[] = {
    {"NSGS", SICONOS_FRICTION_3D_NSGS, NM_SPARSE_BLOCK},
    {"NSN_AC", SICONOS_FRICTION_3D_NSN_AC, NM_SPARSE},
    {"ADMM", SICONOS_FRICTION_3D_ADMM, NM_SPARSE},
};

static void fail(const char *sentence) {
    fprintf(stderr, "moreau-bench-siconos: %s\n", sentence);
    exit(EXIT_FAILURE);
}

static void *receive(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL || fread(memory, size, count, stdin) != count) {
        fail("this program is started by moreau-bench, which hands it a problem");
    }
    return memory;
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static NumericsMatrix *make_matrix(const ContactPeerProblem *head, const ContactPeerBlock *block,
                                   NM_types storage) {
    int size = 3 * (int)head->contact_count;
    NumericsMatrix *sparse = NM_create(NM_SPARSE, size, size);
    NM_triplet_alloc(sparse, (CS_INT)(9 * head->block_count));
    for (uint64_t i = 0; i < head->block_count; i++) {
        for (int k = 0; k < 9; k++) {
            NM_entry(sparse, 3 * (int)block[i].row + k / 3, 3 * (int)block[i].column + k % 3,
                     block[i].number[k]);
        }
    }
    if (storage == NM_SPARSE) {
        return sparse;
    }
    NumericsMatrix *blocks = NM_create(NM_SPARSE_BLOCK, size, size);
    SBM_from_csparse(3, NM_csc(sparse), blocks->matrix1);
    return blocks;
}

static void answer_with(int out, const ContactPeerAnswer *answer, const double *impulse,
                        size_t count) {
    FILE *file = fdopen(out, "w");
    if (file == NULL || fwrite(answer, sizeof(*answer), 1, file) != 1 ||
        fwrite(impulse, sizeof(*impulse), count, file) != count || fclose(file) != 0) {
        fail("nobody reads what it writes");
    }
}

static ContactPeerAnswer solve(const Method *method, const ContactPeerProblem *head,
                               FrictionContactProblem *problem, double *impulse) {
    double *velocity = calloc(3 * head->contact_count + 1, sizeof(*velocity));
    SolverOptions *options = solver_options_create(method->id);
    if (velocity == NULL || options == NULL) {
        fail("memory ended");
    }
    options->iparam[SICONOS_IPARAM_MAX_ITER] = ITERATIONS_MAX;
    options->dparam[SICONOS_DPARAM_TOL] = head->tolerance;
    double begun = cpu_ns();
    fc3d_driver(problem, impulse, velocity, options);
    ContactPeerAnswer answer = {.name = NAME,
                                .ns = cpu_ns() - begun,
                                .iterations = options->iparam[SICONOS_IPARAM_ITER_DONE]};
    free(velocity);
    solver_options_delete(options);
    return answer;
}

int main(int argc, char **argv) {
    // it prints as it likes, and is not to print among the answer
    int out = dup(STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    const Method *method = NULL;
    for (size_t i = 0; argc > 1 && i < sizeof(methods) / sizeof(methods[0]); i++) {
        method = strcmp(argv[1], methods[i].name) == 0 ? &methods[i] : method;
    }
    ContactPeerProblem *head = receive(1, sizeof(*head));
    if (method == NULL || head->magic != CONTACT_PEER_MAGIC) {
        fail("this program is started by moreau-bench, with a method and a problem");
    }
    double *mu = receive(head->contact_count, sizeof(*mu));
    double *q = receive(3 * head->contact_count, sizeof(*q));
    ContactPeerBlock *block = receive(head->block_count, sizeof(*block));
    double *impulse = calloc(3 * head->contact_count + 1, sizeof(*impulse));
    NumericsMatrix *matrix = make_matrix(head, block, method->storage);
    FrictionContactProblem *problem =
        frictionContactProblem_new_with_data(3, (int)head->contact_count, matrix, q, mu);
    ContactPeerAnswer answer = solve(method, head, problem, impulse);
    answer_with(out, &answer, impulse, 3 * head->contact_count);
    // the process ends here: nothing is freed that the system frees as well
    return EXIT_SUCCESS;
}
