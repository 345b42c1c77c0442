// SPDX-License-Identifier: MIT
#include "base/stock.h"

#include "base/assert.h"

#include <string.h>

void stock_init(Stock *stock, size_t spare_bytes_max) {
    *stock = (Stock){.spare_bytes_max = spare_bytes_max};
}

static void drop(Stock *stock, StockArena *arena) {
    stock->bytes -= arena->counted_bytes;
    arena_deinit(&arena->arena);
    arena->counted_bytes = 0;
}

void stock_deinit(Stock *stock) {
    for (uint32_t i = 0; i < stock->count; i++) {
        drop(stock, &stock->spare[i]);
    }
    ASSERT(stock->bytes == 0);
    *stock = (Stock){0};
}

void stock_lend(Stock *stock, size_t limit_bytes, StockArena *lent) {
    if (stock->count == 0) {
        *lent = (StockArena){0};
        arena_init(&lent->arena, limit_bytes);
        return;
    }
    *lent = stock->spare[--stock->count];
    stock->spare_bytes -= lent->counted_bytes;
    lent->arena.limit_bytes =
        limit_bytes > lent->arena.total_bytes ? limit_bytes : lent->arena.total_bytes;
    if (stock->count < stock->least_count) {
        stock->least_count = stock->count;
    }
}

void stock_return(Stock *stock, StockArena *lent) {
    arena_reset(&lent->arena);
    size_t bytes = lent->arena.total_bytes;
    stock->bytes += bytes - lent->counted_bytes;
    lent->counted_bytes = bytes;
    bool has_room = stock->count < STOCK_COUNT_MAX && bytes <= stock->spare_bytes_max &&
                    stock->spare_bytes <= stock->spare_bytes_max - bytes;
    if (bytes == 0 || !has_room) {
        drop(stock, lent);
        return;
    }
    stock->spare[stock->count++] = *lent;
    stock->spare_bytes += bytes;
    *lent = (StockArena){0};
}

bool stock_trim(Stock *stock) {
    uint32_t unused = stock->least_count;
    for (uint32_t i = 0; i < unused; i++) {
        stock->spare_bytes -= stock->spare[i].counted_bytes;
        drop(stock, &stock->spare[i]);
    }
    stock->count -= unused;
    memmove(stock->spare, stock->spare + unused, stock->count * sizeof(*stock->spare));
    stock->least_count = stock->count;
    return stock->count > 0;
}
