// SPDX-License-Identifier: MIT
// Whether a test, and all that it starts, is built with the address or the thread sanitizer: gcc
// and clang say it differently.
#pragma once

#ifdef __has_feature
#define SANITIZERS_OF_CLANG(name) __has_feature(name)
#else
#define SANITIZERS_OF_CLANG(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SANITIZERS_OF_CLANG(address_sanitizer)
#define SANITIZES_ADDRESSES 1
#else
#define SANITIZES_ADDRESSES 0
#endif

#if defined(__SANITIZE_THREAD__) || SANITIZERS_OF_CLANG(thread_sanitizer)
#define SANITIZES_THREADS 1
#else
#define SANITIZES_THREADS 0
#endif
