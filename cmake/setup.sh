# Shell functions shared by tests/run.sh and examples/quickstart.sh (POSIX sh; $root is the source folder).

# A missing tool or library is named as "package"; nothing is said about what is there.
missing_packages() {
    command -v cc >/dev/null 2>&1 || echo gcc
    [ -e /usr/include/stdio.h ] || echo libc6-dev
    command -v cmake >/dev/null 2>&1 || echo cmake
    command -v ninja >/dev/null 2>&1 || echo ninja-build
    command -v flex >/dev/null 2>&1 || echo flex
    command -v bison >/dev/null 2>&1 || echo bison
    command -v diff >/dev/null 2>&1 || echo diffutils
    command -v llvm-config-19 >/dev/null 2>&1 && [ -e "$(llvm-config-19 --includedir)/llvm-c/Core.h" ] ||
        [ -n "${LLVM_DIR:-}" ] || echo llvm-19-dev
    [ -e /usr/include/jansson.h ] || [ -e /usr/local/include/jansson.h ] || [ -n "${CMAKE_PREFIX_PATH:-}" ] ||
        echo libjansson-dev
    [ -n "$(ls /usr/include/ffi.h /usr/include/*/ffi.h /usr/local/include/ffi.h 2>/dev/null)" ] ||
        [ -n "${CMAKE_PREFIX_PATH:-}" ] || echo libffi-dev
}

# Installs what is missing, on Debian and its relatives; elsewhere names it and fails. Needs no network if all is there.
install_missing() {
    packages=$(missing_packages | tr '\n' ' ')
    [ -n "$packages" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "missing (by the names of the Debian packages): $packages" >&2
        return 1
    fi
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "missing: $packages- run as root: apt-get install $packages" >&2
            return 1
        fi
        as_root=sudo
    fi
    echo "installing $packages" >&2
    $as_root apt-get update -qq >&2 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages >&2 ||
        return 1
}

# build_preset PRESET TARGET...: configures and builds; prints the log only if that fails. Sets $build.
build_preset() {
    preset=$1
    shift
    case $preset in
    release) build=$root/build ;;
    *) build=$root/build-$preset ;;
    esac
    # A build folder that was made elsewhere (a copied or moved tree) cannot be used.
    if [ -f "$build/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"; then
        rm -rf "$build"
    fi
    mkdir -p "$build"
    log=$build/build.log
    if (cd "$root" && cmake --preset "$preset" && cmake --build "$build" ${1:+--target "$@"}) >"$log" 2>&1; then
        return 0
    fi
    cat "$log" >&2
    return 1
}
