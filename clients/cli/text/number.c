// SPDX-License-Identifier: MIT
#include "cli/text/number.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// 15 digits survive the way into a double and back, 17 do the way out and back; for floats 6 and 9
enum { DOUBLE_DIGITS_LEAST = 15, DOUBLE_DIGITS_MOST = 17, SINGLE_DIGITS_MOST = 9 };

// "1e-05" and "1e+300" are written by printf; "1e-5" and "1e300" say the same.
static void shorten_exponent(char *text) {
    char *exponent = strchr(text, 'e');
    if (exponent == NULL) {
        return;
    }
    char *to = exponent + 1;
    const char *from = to;
    if (*from == '-') {
        to++;
    }
    from++; // printf always writes a sign
    while (*from == '0' && from[1] != '\0') {
        from++;
    }
    memmove(to, from, strlen(from) + 1);
}

char *number_write(double number, char text[NUMBER_BYTES]) {
    if (number == 0.0) { // "-0" would be read back as a whole number, which has no sign
        snprintf(text, NUMBER_BYTES, "%s", signbit(number) ? "-0.0" : "0");
        return text;
    }
    // %g writes no zeros at the end, so 15 digits are as short as one where one is enough, but for
    // numbers so small that they have fewer digits themselves
    int least = fabs(number) < DBL_MIN ? 1 : DOUBLE_DIGITS_LEAST;
    for (int digits = least; digits <= DOUBLE_DIGITS_MOST; digits++) {
        snprintf(text, NUMBER_BYTES, "%.*g", digits, number);
        if (strtod(text, NULL) == number) {
            break;
        }
    }
    shorten_exponent(text);
    return text;
}

double number_of_single(float single) {
    char text[NUMBER_BYTES];
    for (int digits = 1; digits <= SINGLE_DIGITS_MOST; digits++) {
        snprintf(text, sizeof(text), "%.*g", digits, (double)single);
        if (strtof(text, NULL) == single) {
            break;
        }
    }
    return strtod(text, NULL);
}

json_t *number_json(double number) {
    return isfinite(number) ? json_real(number + 0.0) : json_null();
}

json_t *number_json_list(const double *numbers, size_t count) {
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, number_json(numbers[i]));
    }
    return list;
}

static json_t *write_digits(uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    return json_string(digits);
}

json_t *number_json_whole(uint64_t number) {
    return number <= INT64_MAX ? json_integer((json_int_t)number) : write_digits(number);
}

json_t *number_json_hash(uint64_t hash) {
    return write_digits(hash);
}
