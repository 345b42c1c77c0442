// SPDX-License-Identifier: MIT
#include "base/stock.h"

#include "support/suite.h"

#include <string.h>

enum { PIECE_BYTES = 100000, SPARE_BYTES = 1 << 20 };

static StockArena lend(Stock *stock) {
    StockArena lent;
    stock_lend(stock, SIZE_MAX, &lent);
    return lent;
}

static void use(StockArena *lent, size_t bytes) {
    void *piece = arena_take(&lent->arena, bytes);
    ck_assert_ptr_nonnull(piece);
    memset(piece, 1, bytes);
}

START_TEST(what_is_returned_last_is_lent_first_with_its_memory) {
    Stock stock;
    stock_init(&stock, SPARE_BYTES);
    StockArena a = lend(&stock), b = lend(&stock);
    use(&a, PIECE_BYTES);
    use(&b, 2 * PIECE_BYTES);
    const ArenaBlock *block_a = a.arena.block, *block_b = b.arena.block;
    stock_return(&stock, &b);
    stock_return(&stock, &a);
    a = lend(&stock);
    ck_assert_ptr_eq(a.arena.block, block_a);
    ck_assert_uint_eq(a.arena.used_bytes, 0);
    b = lend(&stock);
    ck_assert_ptr_eq(b.arena.block, block_b);
    stock_return(&stock, &a);
    stock_return(&stock, &b);
    stock_deinit(&stock);
}
END_TEST

START_TEST(its_bytes_are_counted_lent_or_spare) {
    Stock stock;
    stock_init(&stock, SPARE_BYTES);
    StockArena lent = lend(&stock);
    use(&lent, PIECE_BYTES);
    size_t bytes = lent.arena.total_bytes;
    stock_return(&stock, &lent);
    ck_assert_uint_eq(stock.bytes, bytes);
    ck_assert_uint_eq(stock.spare_bytes, bytes);
    lent = lend(&stock);
    ck_assert_uint_eq(stock.bytes, bytes);
    ck_assert_uint_eq(stock.spare_bytes, 0);
    stock_return(&stock, &lent);
    stock_deinit(&stock);
    ck_assert_uint_eq(stock.bytes, 0);
}
END_TEST

START_TEST(more_than_it_may_keep_goes_back_at_once) {
    Stock stock;
    stock_init(&stock, SPARE_BYTES);
    enum { MANY = 20 };
    StockArena many[MANY];
    for (int i = 0; i < MANY; i++) {
        many[i] = lend(&stock);
        use(&many[i], PIECE_BYTES);
    }
    for (int i = 0; i < MANY; i++) {
        stock_return(&stock, &many[i]);
        ck_assert_uint_le(stock.spare_bytes, SPARE_BYTES);
        ck_assert_uint_eq(stock.bytes, stock.spare_bytes);
    }
    ck_assert_uint_gt(stock.spare_bytes, SPARE_BYTES / 2);
    StockArena huge = lend(&stock);
    use(&huge, 2 * SPARE_BYTES);
    uint32_t before = stock.count;
    stock_return(&stock, &huge);
    ck_assert_uint_eq(stock.count, before);
    stock_deinit(&stock);
}
END_TEST

START_TEST(what_took_no_memory_is_not_kept) {
    Stock stock;
    stock_init(&stock, SPARE_BYTES);
    StockArena lent = lend(&stock);
    stock_return(&stock, &lent);
    ck_assert_uint_eq(stock.count, 0);
    stock_deinit(&stock);
}
END_TEST

// Two lie there; one of them is in use every now and then, and stays.
START_TEST(what_nobody_needed_since_the_last_trim_is_freed) {
    Stock stock;
    stock_init(&stock, SPARE_BYTES);
    StockArena a = lend(&stock), b = lend(&stock);
    use(&a, PIECE_BYTES);
    use(&b, PIECE_BYTES);
    stock_return(&stock, &a);
    stock_return(&stock, &b);
    ck_assert(stock_trim(&stock)); // both were lent since the beginning
    ck_assert_uint_eq(stock.count, 2);
    for (int i = 0; i < 3; i++) {
        b = lend(&stock);
        stock_return(&stock, &b);
        ck_assert(stock_trim(&stock));
        ck_assert_uint_eq(stock.count, 1);
        ck_assert_uint_eq(stock.bytes, stock.spare_bytes);
    }
    ck_assert(!stock_trim(&stock));
    ck_assert_uint_eq(stock.bytes, 0);
    stock_deinit(&stock);
}
END_TEST

static TCase *case_stock(void) {
    TCase *tcase = tcase_create("stock");
    tcase_add_test(tcase, what_is_returned_last_is_lent_first_with_its_memory);
    tcase_add_test(tcase, its_bytes_are_counted_lent_or_spare);
    tcase_add_test(tcase, more_than_it_may_keep_goes_back_at_once);
    tcase_add_test(tcase, what_took_no_memory_is_not_kept);
    tcase_add_test(tcase, what_nobody_needed_since_the_last_trim_is_freed);
    return tcase;
}

SUITE_MAIN("base/stock", case_stock)
