# Removes what the last `cmake --install` of this build put in place, as its manifest lists it, and the folders that are
# ours alone. DESTDIR is honoured.
#   cmake -DMANIFEST=build/release/install_manifest.txt -P deploy/uninstall.cmake
if(NOT EXISTS "${MANIFEST}")
    message(FATAL_ERROR "${MANIFEST} is missing: nothing was installed from this build.")
endif()
file(STRINGS "${MANIFEST}" files)
foreach(file ${files})
    set(path "$ENV{DESTDIR}${file}")
    if(EXISTS "${path}" OR IS_SYMLINK "${path}")
        message(STATUS "Removing: ${path}")
        file(REMOVE "${path}")
    endif()
    # a folder called moreau, and what is below it
    get_filename_component(folder "${path}" DIRECTORY)
    if(folder MATCHES "^(.*/moreau)(/.*)?$")
        list(APPEND folders "${folder}" "${CMAKE_MATCH_1}")
    endif()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # the deeper ones first
foreach(folder ${folders})
    file(GLOB rest "${folder}/*")
    if(IS_DIRECTORY "${folder}" AND NOT rest)
        file(REMOVE_RECURSE "${folder}")
    endif()
endforeach()
