// SPDX-License-Identifier: MIT
#include "run/groups/sensor.h"

#include "base/assert.h"
#include "base/gaussian.h"

#include <math.h>
#include <string.h>

const char *sensor_wrong(const SensorDef *def, const char **field) {
    const struct {
        const char *name;
        double value;
    } deviation[] = {
        {"noise_deviation", def->noise}, {"bias_deviation", def->bias}, {"bias_walk", def->walk}};
    for (size_t i = 0; i < sizeof(deviation) / sizeof(deviation[0]); i++) {
        *field = deviation[i].name;
        if (!(deviation[i].value >= 0.0 && deviation[i].value <= 1e9)) {
            return "A deviation is 0 to 1e9%s.";
        }
    }
    *field = "delay";
    if (def->delay > SENSOR_DELAY_MAX) {
        return "A delay is 0 to 1,000 steps of the group%s.";
    }
    *field = "delay_max";
    return def->delay_max < def->delay || def->delay_max > SENSOR_DELAY_MAX
               ? "It is the delay, or more, up to 1,000 steps of the group%s."
               : NULL;
}

// Of a delay that is not given, one of as many as there are, all as likely.
static double draw_delay(const SensorDef *def, Philox *stream) {
    const double more = def->delay_max - def->delay;
    return def->delay + (more > 0.0 ? floor((more + 1.0) * philox_uniform(stream)) : 0.0);
}

static double draw(double deviation, Philox *stream) {
    return deviation > 0.0 ? deviation * gaussian_draw(stream) : 0.0;
}

// A column's next number: its bias goes on, and what it measures is kept.
static void measure(const SensorDef *def, SensorRow *row, double scale, double *numbers, double x) {
    const bool is_first = row->t == 0;
    const double walked = draw(is_first ? def->bias : def->walk * row->walking, &row->stream);
    numbers[0] = is_first ? walked : numbers[0] + walked;
    const double told = x + scale * (numbers[0] + draw(def->noise, &row->stream));
    numbers[1 + row->t % ((uint64_t)def->delay_max + 1)] = isfinite(told) ? told : x;
}

void sensor_tell(const SensorDef *def, SensorRow *row, size_t columns, const double *scale,
                 size_t stride, double *numbers, double *told) {
    ASSERT(sensor_is_any(def));
    ASSERT(def->delay <= def->delay_max);
    if (row->is_new && row->t == 0) {
        numbers[0] = draw_delay(def, &row->stream);
    }
    ASSERT(numbers[0] >= 0.0 && numbers[0] <= def->delay_max);
    const uint64_t delay = (uint64_t)numbers[0], ring = (uint64_t)def->delay_max + 1,
                   at = row->t < delay ? 0 : row->t - delay;
    double *of = numbers + 1;
    for (size_t c = 0; c < columns; c++, of += 1 + ring) {
        if (row->is_new) {
            const double own = *(const double *)(const void *)((const char *)scale + c * stride);
            measure(def, row, own, of, told[c]);
        }
        told[c] = of[1 + at % ring];
    }
}

static bool is_whole(const uint8_t *bytes, double most) {
    double number;
    memcpy(&number, bytes, sizeof(number));
    return number >= 0.0 && number <= most && number == floor(number);
}

bool sensor_is_sound(const SensorDef *def, const uint8_t *numbers) {
    ASSERT(numbers != NULL);
    return is_whole(numbers, def->delay_max);
}

bool sensor_count_is_sound(const uint8_t *rows) {
    ASSERT(rows != NULL);
    return is_whole(rows, 0x1p53);
}
