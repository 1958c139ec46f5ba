# Sourced by the benchmarks, which set `root`, the source folder: sets FSMC_BUILD, a build directory, which is made if need be.
if [ -z "${FSMC_BUILD:-}" ]; then
    . "$root/cmake/setup.sh"
    FSMC_BUILD=$root/build
    [ -x "$FSMC_BUILD/fsmc" ] || { install_missing && build_preset release; }
fi

# near A B DIGITS: whether the numbers in two files are the same up to 10^-DIGITS of the largest.
near() {
    awk -v digits="$3" '{
        if (FNR == 1) file++
        gsub(/[][,]/, " ")
        for (i = 1; i <= NF; i++) v[file, ++count[file]] = $i
    } END {
        for (i = 1; i <= count[1]; i++) if (v[1, i] ^ 2 > most ^ 2) most = v[1, i]
        for (i = 1; i <= count[1]; i++) if ((v[1, i] - v[2, i]) ^ 2 > 10 ^ (-2 * digits) * most ^ 2) bad = 1
        exit bad || count[1] != count[2] || !count[1]
    }' "$1" "$2"
}
