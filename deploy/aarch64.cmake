# Debian's cross compiler for aarch64 (deploy/packages cross); programs run under qemu-user.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu $ENV{MOREAU_SYSROOT}) # deploy/sysroot
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
if(DEFINED ENV{MOREAU_SYSROOT}) # what its packages keep apart by machine: the compiler's own is looked at first
    set(CMAKE_C_FLAGS_INIT "-idirafter $ENV{MOREAU_SYSROOT}/usr/include/aarch64-linux-gnu")
    set(CMAKE_EXE_LINKER_FLAGS_INIT "-L$ENV{MOREAU_SYSROOT}/usr/lib/aarch64-linux-gnu")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu)
