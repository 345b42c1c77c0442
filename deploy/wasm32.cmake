# Debian's clang for WebAssembly with the WASI interface (deploy/packages cross); programs run under node.
set(CMAKE_SYSTEM_NAME Generic) # no name of a system that CMake 3.25 knows
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang-14)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_SYSROOT /usr) # with include/wasm32-wasi and lib/wasm32-wasi
# a stack that overflows must trap, not write over what lies below it
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-z,stack-size=1048576 -Wl,--stack-first")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE NEVER)
set(CMAKE_CROSSCOMPILING_EMULATOR node ${CMAKE_CURRENT_LIST_DIR}/../tests/golden/run.mjs)
