# cmake -DOUTPUT=file.c -DARRAY=name "-DFILES=a;b" -P embed.cmake
# Writes a C file that defines `const FsmcEmbedded name[]`: the files' texts under their base names, ended by {0}.

set(texts "")
set(rows "")
set(number 0)
foreach(file IN LISTS FILES)
    cmake_path(GET file FILENAME name)
    file(SIZE "${file}" size)
    file(READ "${file}" hex HEX)
    # Every byte is written as \xNN, which needs no quoting; a line of source is a line of the C file.
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
    string(REPLACE "\\x0a" "\\n\"\n    \"" bytes "${bytes}")
    string(APPEND texts "static const char text_${number}[] =\n    \"${bytes}\";\n\n")
    string(APPEND rows "    {\"${name}\", text_${number}, ${size}},\n")
    math(EXPR number "${number} + 1")
endforeach()

file(WRITE "${OUTPUT}" "#include \"support/embedded.h\"\n\n"
     "${texts}const FsmcEmbedded ${ARRAY}[] = {\n${rows}    {0},\n};\n")
