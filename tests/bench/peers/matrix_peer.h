// SPDX-License-Identifier: MIT
// The peers of `moreau bench ldlt`: other codes' factorisations of sparse symmetric matrices, each
// in a small program that is sent one matrix and then asked again and again.
//
// A program reads from standard input a MatrixPeerSystem, `first` [size + 1], `row` and `number`
// [count] of the lower triangle column by column, rows ascending, and `order` [size], the unknowns
// in the order in which we eliminate them. It answers with a MatrixPeerAnswer. From then on each
// MatrixPeerOrder (as 64 bits) that it reads is answered by one MatrixPeerTurn, until its input
// ends. All are structs of this machine.
#pragma once

#include <stdint.h>

#define MATRIX_PEER_MAGIC UINT64_C(0x316d747a6e6f6370)

enum { MATRIX_PEER_NAME_BYTES = 32 };

// Its own order, and ours.
typedef enum MatrixPeerOrder {
    MATRIX_PEER_OWN,
    MATRIX_PEER_OURS,
    MATRIX_PEER_ORDERS
} MatrixPeerOrder;

typedef struct MatrixPeerSystem {
    uint64_t magic;
    uint64_t size, count;
} MatrixPeerSystem;

typedef struct MatrixPeerAnswer {
    char name[MATRIX_PEER_NAME_BYTES];     // code and version
    double fill[MATRIX_PEER_ORDERS];       // numbers of L with its diagonal
    double analyse_ns[MATRIX_PEER_ORDERS]; // CPU time to order and plan
} MatrixPeerAnswer;

typedef struct MatrixPeerTurn {
    double ns;  // CPU time of the factorisation alone
    double sum; // of the solution for ones on the right side
} MatrixPeerTurn;
