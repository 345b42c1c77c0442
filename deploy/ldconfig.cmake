# After an installation: a program that is linked with -lmoreau is to run at once, so the dynamic linker is told where
# the library is, or whoever installs is told how. Into a DESTDIR nothing is told: what lies there is not meant to run
# there.
#   MOREAU_LIBDIR: where the library is, below the prefix
if(NOT "$ENV{DESTDIR}" STREQUAL "")
    return()
endif()
set(libdir "${CMAKE_INSTALL_PREFIX}/${MOREAU_LIBDIR}")
find_program(LDCONFIG ldconfig PATHS /sbin /usr/sbin)
if(LDCONFIG)
    # without the right to it nothing happens; what the linker knows afterwards decides
    execute_process(COMMAND ${LDCONFIG} OUTPUT_QUIET ERROR_QUIET)
    execute_process(COMMAND ${LDCONFIG} -p OUTPUT_VARIABLE known ERROR_QUIET)
    string(FIND "${known}" "=> ${libdir}/libmoreau.so" at)
    if(NOT at EQUAL -1)
        message(STATUS "The dynamic linker knows ${libdir}/libmoreau.so.")
        return()
    endif()
endif()
message(STATUS "The dynamic linker does not look into ${libdir}. So that programs linked with -lmoreau run, name it:\n"
    "   once and for all, as root:  echo ${libdir} >/etc/ld.so.conf.d/moreau.conf && ldconfig\n"
    "   for one program:            LD_LIBRARY_PATH=${libdir} PROGRAM")
