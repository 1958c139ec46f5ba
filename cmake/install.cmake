# What `cmake --install` copies: the compiler, the run-time library, and what CMake and pkg-config find them by. All of it
# works from wherever the folder is moved.

include(CMakePackageConfigHelpers)

install(TARGETS fsmc EXPORT fsmcTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS fsmrt EXPORT fsmcTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${FSMC_GENERATED}/fsmc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${FSMC_GENERATED}/completion.bash RENAME fsmc
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${FSMC_GENERATED}/completion.zsh RENAME _fsmc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${FSMC_GENERATED}/completion.fish RENAME fsmc.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(DIRECTORY include/fsmc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES share/manifest.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/fsmc)

set(FSMC_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fsmc)
configure_package_config_file(cmake/fsmcConfig.cmake.in ${FSMC_GENERATED}/fsmcConfig.cmake
    INSTALL_DESTINATION ${FSMC_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${FSMC_GENERATED}/fsmcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT fsmcTargets NAMESPACE fsmc:: DESTINATION ${FSMC_PACKAGE_DIR})
install(FILES ${FSMC_GENERATED}/fsmcConfig.cmake ${FSMC_GENERATED}/fsmcConfigVersion.cmake cmake/fsmcLibrary.cmake
    DESTINATION ${FSMC_PACKAGE_DIR})

# In fsmc.pc, folders inside the prefix are relative to the file.
set(FSMC_PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${FSMC_PC_DIR})
    set(FSMC_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
else()
    file(RELATIVE_PATH up /${FSMC_PC_DIR} /)
    string(REGEX REPLACE "/$" "" up ${up})
    set(FSMC_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(dir IN ITEMS BINDIR LIBDIR INCLUDEDIR)
    cmake_path(APPEND FSMC_PC_PREFIX ${CMAKE_INSTALL_${dir}} OUTPUT_VARIABLE FSMC_PC_${dir})
    string(REPLACE "${FSMC_PC_PREFIX}/" "\${prefix}/" FSMC_PC_${dir} "${FSMC_PC_${dir}}")
endforeach()
configure_file(cmake/fsmc.pc.in ${FSMC_GENERATED}/fsmc.pc @ONLY)
install(FILES ${FSMC_GENERATED}/fsmc.pc DESTINATION ${FSMC_PC_DIR})
