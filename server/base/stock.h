// SPDX-License-Identifier: MIT
// Arenas for large pieces of work that come again and again: kept when they are returned, so that
// their memory need not be asked of the machine, page by page, each time.
//
// What is kept is bounded, in bytes and in number, and given back when it was not needed for a
// while: stock_trim, called now and then, frees what has lain there since its last call. The arena
// returned last is lent first, as its memory is in the caches. One thread.
#pragma once

#include "base/arena.h"

enum { STOCK_COUNT_MAX = 256 };

// An arena that is lent: the borrower's until it is returned. Any thread may take from it then.
typedef struct StockArena {
    Arena arena;
    size_t counted_bytes; // the stock's; leave it alone
} StockArena;

typedef struct Stock {
    StockArena spare[STOCK_COUNT_MAX]; // the one returned last at the end
    uint32_t count;
    uint32_t least_count; // … since the last trim
    size_t spare_bytes;
    size_t spare_bytes_max; // more are not kept
    size_t bytes;           // of all: spare, and lent as they were when they were last here
} Stock;

void stock_init(Stock *stock, size_t spare_bytes_max);

// Frees what is spare. Nothing may be lent.
void stock_deinit(Stock *stock);

// A spare arena, or one that is empty; it takes no more than `limit_bytes`.
void stock_lend(Stock *stock, size_t limit_bytes, StockArena *lent);
void stock_return(Stock *stock, StockArena *lent);

// False: nothing is spare any more.
bool stock_trim(Stock *stock);
