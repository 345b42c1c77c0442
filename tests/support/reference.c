// SPDX-License-Identifier: MIT
#include "support/reference.h"

#include <check.h>
#include <stdio.h>

json_t *reference_open(const char *file) {
    char path[512];
    snprintf(path, sizeof(path), "%s/tests/reference/%s", MOREAU_SOURCE_DIR, file);
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    ck_assert_msg(root != NULL, "%s: %s", path, error.text);
    return root;
}

json_t *reference_get(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    ck_assert_msg(value != NULL, "no %s in the reference", key);
    return value;
}

void reference_numbers(json_t *object, const char *key, double *numbers, size_t count) {
    json_t *array = reference_get(object, key);
    ck_assert_uint_eq(json_array_size(array), count);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = json_number_value(json_array_get(array, i));
    }
}
