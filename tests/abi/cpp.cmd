# The C++ wrappers, by every compiler and standard that there is.
case $CC in *fsanitize*) echo "C++ objects are not linked with a sanitized library"; exit 77 ;; esac
command -v g++ >/dev/null || { echo "g++ is not installed"; exit 77; }
cp cpp.fsm cpp.cpp "$FSMC_TEST_TMP" && cd "$FSMC_TEST_TMP" || exit 1
fsmc --emit=obj,cpp cpp.fsm || exit 1
first=
for compiler in g++ clang++-19 clang++; do
    command -v $compiler >/dev/null || continue
    for standard in c++17 c++20; do
        $compiler -std=$standard -Wall -Wextra -Wshadow -pedantic -Werror -I "$FSMC_ROOT/include" -I . cpp.cpp cpp.o \
            "$FSMC_BUILD/libfsmrt.a" -lm -o program >log 2>&1 && ./program >out 2>&1 || { cat log out; continue; }
        [ "$first" ] || { cat out; cp out first; first=1; }
        diff first out
    done
done
