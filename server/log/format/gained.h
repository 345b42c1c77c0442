// SPDX-License-Identifier: MIT
// What is to be told of energy that steps gained (base/gain.h), as SQL.
#pragma once

// [J] NULL: it is not known. max() of two of which one is NULL is NULL.
#define GAINED_SQL(sum, scale, step)                                                               \
    "max(" step ", CASE WHEN " sum " > 0.01 * " scale " THEN " sum " ELSE 0.0 END)"

// Of the chunks of a recording: unless all of its inputs know it, nobody does.
#define GAIN_OF_ALL_SQL(what)                                                                      \
    "CASE WHEN count(*) FILTER (WHERE kind = 2) = count(gain) THEN " what " END"
#define GAIN_SUM_SQL   GAIN_OF_ALL_SQL("total(gain)")
#define GAIN_SCALE_SQL GAIN_OF_ALL_SQL("coalesce(max(gain_scale), 0.0)")
#define GAIN_STEP_SQL  GAIN_OF_ALL_SQL("coalesce(max(gain_step), 0.0)")
