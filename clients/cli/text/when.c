// SPDX-License-Identifier: MIT
#include "cli/text/when.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double when_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool parse_ago(const char *text, double *ago) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1.0}, {"min", 60.0}, {"h", 3600.0}, {"d", 86400.0}};
    char *end;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number) || !(number >= 0.0)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].name) == 0) {
            *ago = number * units[i].seconds;
            return true;
        }
    }
    return false;
}

static bool parse_date(const char *text, double *seconds) {
    struct tm date = {.tm_isdst = -1};
    int used = 0;
    if (sscanf(text, "%4d-%2d-%2d%n", &date.tm_year, &date.tm_mon, &date.tm_mday, &used) != 3) {
        return false;
    }
    text += used;
    if (text[0] == ' ' || text[0] == 'T') {
        text++;
        if (sscanf(text, "%2d:%2d%n", &date.tm_hour, &date.tm_min, &used) != 2) {
            return false;
        }
        text += used;
        if (text[0] == ':') {
            if (sscanf(text, ":%2d%n", &date.tm_sec, &used) != 1) {
                return false;
            }
            text += used;
        }
    }
    if (text[0] != '\0') {
        return false;
    }
    date.tm_year -= 1900;
    date.tm_mon -= 1;
    struct tm wanted = date;
    time_t moment = mktime(&date);
    // mktime takes the 31st of November for the 1st of December
    if (moment == (time_t)-1 || date.tm_mon != wanted.tm_mon || date.tm_mday != wanted.tm_mday ||
        date.tm_min != wanted.tm_min) {
        return false;
    }
    *seconds = (double)moment;
    return true;
}

bool when_parse(const char *text, double now, double *seconds) {
    double ago;
    if (parse_ago(text, &ago)) {
        *seconds = now - ago;
        return true;
    }
    return parse_date(text, seconds);
}
