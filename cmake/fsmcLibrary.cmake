# fsmc_add_library(TARGET [STATIC | SHARED] SOURCES FILE.fsm… [OPTIONS OPTION…] [ENTRIES NAME…] [INCLUDES FOLDER…]
#                  [CPP] [PYTHON] [CUDA [CUBLAS]])
#
# A library of compiled F~ programs, for C and C++. FILE.fsm makes FILE.h, which is included by the path of FILE below the
# folder of CMakeLists.txt (a source from elsewhere: by its name). Linking with the target brings the include folder and
# fsmc::runtime. What a source opens is found in its own folder and in INCLUDES.
#   OPTIONS  words of the compiler's command line, such as -O3 or --fp=precise; may be generator expressions
#   ENTRIES  compile only these
#   CPP      also FILE.hpp, the wrappers for C++
#   CUDA     for GPUs: compiled in CMake's language CUDA; if the project has not enabled that, in CXX, and then the processor
#            runs the kernels, slowly
#   CUBLAS   with CUDA: large matrix products are those of cuBLAS, which is linked
#   PYTHON   FILE.py beside the library, which is SHARED then: a module with the entries as functions
# A source is compiled again if it, a file that it opens, its options or the compiler changed.
#
# The headers are the target's file set HEADERS: install(TARGETS TARGET FILE_SET HEADERS …).

include_guard(GLOBAL)

# A source's path without suffix, as outputs have it below their folder.
function(_fsmc_output_name source result)
    foreach(folder IN ITEMS "${CMAKE_CURRENT_BINARY_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
        cmake_path(IS_PREFIX folder "${source}" NORMALIZE below)
        if(below)
            cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${folder}" OUTPUT_VARIABLE name)
            break()
        endif()
    endforeach()
    if(NOT below)
        cmake_path(GET source FILENAME name)
    endif()
    cmake_path(REMOVE_EXTENSION name LAST_ONLY)
    set(${result} "${name}" PARENT_SCOPE)
endfunction()

# The custom command that compiles one source of a target; cpp: with wrappers for C++; cuda: to C++ for GPUs. Sets object and
# headers.
function(_fsmc_compile source name folder cpp cuda options)
    set(base "${folder}/${name}")
    set(files "${base}.h")
    set(object "${base}.o")
    set(emit obj)
    if(cuda)
        set(object "${base}.cu")
        set(emit cuda,header)
        list(APPEND options --target=cuda)
    endif()
    if(cpp)
        list(APPEND files "${base}.hpp")
        string(APPEND emit ,cpp)
    endif()
    if(cpp OR cuda)
        list(APPEND options --emit=${emit})
    endif()
    # Makefiles do not know what a command was when it last ran; this file changes with the options.
    list(JOIN options "\n" lines)
    file(GENERATE OUTPUT "${base}.options" CONTENT "${lines}\n")
    add_custom_command(
        OUTPUT "${object}" ${files}
        COMMAND $<TARGET_FILE:fsmc::fsmc> "${options}" -MD -MF "${base}.d" -MT "${object}" -o "${object}" "${source}"
        DEPENDS "${source}" "${base}.options" $<TARGET_FILE:fsmc::fsmc>
        DEPFILE "${base}.d"
        COMMENT "Compiling ${name}.fsm"
        COMMAND_EXPAND_LISTS VERBATIM)
    set(object "${object}" PARENT_SCOPE)
    set(headers ${files} PARENT_SCOPE)
endfunction()

# What compiles the kernels of one source: a file that includes them, which has the same name in all configurations.
function(_fsmc_add_kernels target name cublas options)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(CUDA IN_LIST languages)
        set(suffix cu)
        target_compile_features(${target} PRIVATE cuda_std_17)
        if(cublas)
            find_package(CUDAToolkit REQUIRED)
            target_link_libraries(${target} PUBLIC CUDA::cublas)
        endif()
        # As fsmc calls nvcc. An option may be a generator expression.
        foreach(option IN LISTS options)
            if(option MATCHES "^--fp=|^[$]<")
                set(precise "$<STREQUAL:${option},--fp=precise>")
                target_compile_options(${target} PRIVATE "$<$<AND:$<COMPILE_LANGUAGE:CUDA>,${precise}>:-fmad=false>")
            endif()
        endforeach()
    elseif(CXX IN_LIST languages)
        set(suffix cpp)
        target_compile_features(${target} PRIVATE cxx_std_17)
    else()
        message(FATAL_ERROR "fsmc_add_library(${target}): the project needs the language CUDA, or CXX to run kernels on the processor")
    endif()
    set(file "${CMAKE_CURRENT_BINARY_DIR}/fsmc/${target}/${name}.kernels.${suffix}")
    file(CONFIGURE OUTPUT "${file}" CONTENT "#include \"${name}.cu\"\n" @ONLY)
    target_sources(${target} PRIVATE "${file}")
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# The language that links a target without sources of its own.
function(_fsmc_linker_language target)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    foreach(language IN ITEMS C CXX)
        if(language IN_LIST languages)
            set_target_properties(${target} PROPERTIES LINKER_LANGUAGE ${language})
            return()
        endif()
    endforeach()
    message(FATAL_ERROR "fsmc_add_library(${target}): the project needs the language C or CXX")
endfunction()

# Modules are made after linking, so that they lie beside the library wherever that is put.
function(_fsmc_add_module target source name options)
    cmake_path(GET name FILENAME module)
    add_custom_command(TARGET ${target} POST_BUILD
        COMMAND $<TARGET_FILE:fsmc::fsmc> "${options}" --emit=python --library=$<TARGET_FILE_NAME:${target}>
                -o "$<TARGET_FILE_DIR:${target}>/${module}.py" "${source}"
        COMMENT "Writing ${module}.py"
        COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

function(fsmc_add_library target)
    cmake_parse_arguments(PARSE_ARGV 1 arg "STATIC;SHARED;CPP;PYTHON;CUDA;CUBLAS" "" "SOURCES;OPTIONS;ENTRIES;INCLUDES")
    if(arg_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "fsmc_add_library(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
    elseif(NOT arg_SOURCES)
        message(FATAL_ERROR "fsmc_add_library(${target}): SOURCES is missing")
    elseif(arg_STATIC AND arg_SHARED)
        message(FATAL_ERROR "fsmc_add_library(${target}): STATIC and SHARED exclude each other")
    elseif(arg_STATIC AND arg_PYTHON)
        message(FATAL_ERROR "fsmc_add_library(${target}): Python loads SHARED libraries only")
    elseif(arg_CUBLAS AND NOT arg_CUDA)
        message(FATAL_ERROR "fsmc_add_library(${target}): CUBLAS goes with CUDA")
    endif()
    if(arg_SHARED OR arg_PYTHON)
        set(type SHARED)
    elseif(arg_STATIC)
        set(type STATIC)
    else()
        set(type "") # BUILD_SHARED_LIBS decides
    endif()

    set(options ${arg_OPTIONS})
    if(arg_CUBLAS)
        list(APPEND options --cublas)
    endif()
    foreach(folder IN LISTS arg_INCLUDES)
        cmake_path(ABSOLUTE_PATH folder NORMALIZE)
        list(APPEND options "-I${folder}")
    endforeach()
    list(TRANSFORM arg_ENTRIES PREPEND "--entry=")
    list(APPEND options ${arg_ENTRIES})

    set(folder "${CMAKE_CURRENT_BINARY_DIR}/fsmc/${target}")
    get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
    if(multi_config)
        string(APPEND folder "/$<CONFIG>")
    endif()

    add_library(${target} ${type})
    set(names "")
    set(modules "")
    set(all_headers "")
    foreach(source IN LISTS arg_SOURCES)
        cmake_path(ABSOLUTE_PATH source NORMALIZE)
        _fsmc_output_name("${source}" name)
        if(name IN_LIST names)
            message(FATAL_ERROR "fsmc_add_library(${target}): two sources would make ${name}.h")
        endif()
        list(APPEND names "${name}")
        _fsmc_compile("${source}" "${name}" "${folder}" "${arg_CPP}" "${arg_CUDA}" "${options}")
        if(arg_CUDA)
            _fsmc_add_kernels(${target} "${name}" "${arg_CUBLAS}" "${arg_OPTIONS}")
        else()
            target_sources(${target} PRIVATE "${object}")
        endif()
        list(APPEND all_headers ${headers})
        if(arg_PYTHON)
            cmake_path(GET name FILENAME module)
            if(module IN_LIST modules)
                message(FATAL_ERROR "fsmc_add_library(${target}): two sources would make ${module}.py")
            endif()
            list(APPEND modules "${module}")
            _fsmc_add_module(${target} "${source}" "${name}" "${options}")
        endif()
    endforeach()

    if(NOT arg_CUDA)
        _fsmc_linker_language(${target})
    endif()
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS "${folder}" FILES ${all_headers})
    target_link_libraries(${target} PUBLIC fsmc::runtime)
    if(arg_PYTHON)
        # Python calls functions of the run-time library that the objects do not.
        set_target_properties(${target} PROPERTIES LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,fsmc::runtime")
    endif()
endfunction()
