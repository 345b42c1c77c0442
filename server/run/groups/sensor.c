// SPDX-License-Identifier: MIT
#include "run/groups/sensor.h"

#include "base/assert.h"
#include "base/gaussian.h"
#include "run/groups/layout.h"

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
static void measure(const SensorDef *def, const Column *column, double step, uint64_t t,
                    double *numbers, Philox *stream, double x) {
    const double walked = draw(t == 0 ? def->bias : def->walk * step, stream);
    numbers[0] = t == 0 ? walked : numbers[0] + walked;
    const double off = numbers[0] + draw(def->noise, stream);
    const double told = x + column->scale * off;
    numbers[1 + t % ((uint64_t)def->delay_max + 1)] = isfinite(told) ? told : x;
}

static void tell_channel(const Layout *layout, const Channel *channel, double step, uint64_t t,
                         bool is_new, double *numbers, Philox *stream, double *row) {
    const SensorDef *def = &channel->sensor;
    if (is_new && t == 0) {
        numbers[0] = draw_delay(def, stream);
    }
    const uint64_t delay = (uint64_t)numbers[0], ring = (uint64_t)def->delay_max + 1,
                   at = t < delay ? 0 : t - delay;
    double *of = numbers + 1;
    for (uint32_t c = 0; c < channel->column_count; c++, of += 1 + ring) {
        const uint32_t k = channel->column_first + c;
        if (is_new) {
            measure(def, &layout->column[k], step, t, of, stream, row[k]);
        }
        row[k] = of[1 + at % ring];
    }
}

// The index-th, a whole one up to `most`.
static bool is_whole(const uint8_t *numbers, size_t index, double most) {
    double number;
    memcpy(&number, numbers + index * sizeof(number), sizeof(number));
    return number >= 0.0 && number <= most && number == floor(number);
}

bool sensor_is_sound(const Layout *layout, const uint8_t *numbers) {
    bool is_sound = is_whole(numbers, 0, 0x1p53);
    size_t at = 1;
    for (uint32_t i = 0; i < layout->channel_count; i++) {
        const Channel *channel = &layout->channel[i];
        if (sensor_is_any(&channel->sensor)) {
            is_sound = is_sound && is_whole(numbers, at, channel->sensor.delay_max);
            at += sensor_count(&channel->sensor, channel->column_count);
        }
    }
    return is_sound;
}

void sensor_tell(const Layout *layout, const SensorOf *of, bool is_new, double *numbers,
                 double *row) {
    if (layout->sensor_count == 0) {
        return;
    }
    ASSERT(numbers != NULL);
    if (!is_new && numbers[0] == 0.0) {
        return; // no episode has begun
    }
    numbers[0] = is_new ? (double)of->length + 1.0 : numbers[0];
    const uint64_t t = (uint64_t)numbers[0] - 1;
    Philox stream = {.key = {of->seed, of->world},
                     .counter = {0, t, of->episode, of->stream},
                     .used = PHILOX_WORDS};
    const double step = sqrt(of->time_step);
    double *at = numbers + 1;
    for (uint32_t i = 0; i < layout->channel_count; i++) {
        const Channel *channel = &layout->channel[i];
        if (sensor_is_any(&channel->sensor)) {
            tell_channel(layout, channel, step, t, is_new, at, &stream, row);
            at += sensor_count(&channel->sensor, channel->column_count);
        }
    }
    ASSERT(at == numbers + layout->sensor_count);
}
