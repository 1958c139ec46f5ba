# Sourced by the tests: counts of the entries of cost_executed.fsm.

# fields: "add 1", one line each, of what `fsmc cost` prints.
fields() { tr -d '{}" ' | tr ',:' '\n ' ; }

# linear ENTRY ARGUMENT... NAME=N [OPTION]: at N, 4 N and 16 N, is each count of the form a + b N?
linear() {
    options=
    for word; do case $word in --*) options=$word ;; *[0-9]) last=$word ;; esac; done
    entry=$1 name=${last%%=*} n=${last#*=} first=
    for word; do case $word in *=\[*) first=$word ;; x=*) first=$word ;; esac; done
    for k in 1 4 16; do
        fsmc cost $options cost_executed.fsm "$entry" "$first" "$name=$((k * n))" | fields
    done | awk -v entry="$entry" '
        { count[$1, seen[$1]++] = $2 }
        END {
            for (c in seen) {
                if (seen[c] != 3) { print entry ": " c " is missing"; bad = 1 }
                if (c != "bytes" && count[c, 2] - count[c, 1] != 4 * (count[c, 1] - count[c, 0])) { print entry ": " c " is not linear"; bad = 1 }
                all++
            }
            if (!bad) print entry ": " all " counts, linear"
        }'
}

# same TEXT NAME=COUNT... -- [OPTION]... ENTRY ARGUMENT...: says so if `fsmc cost` counts something else.
same() {
    text=$1 want=
    shift
    while [ "$1" != -- ]; do want="$want $1" && shift; done
    shift
    options=
    while case $1 in -*) true ;; *) false ;; esac; do options="$options $1" && shift; done
    got=$(fsmc cost $options cost_executed.fsm "$@" | fields | tr ' ' =)
    for count in $want; do
        case " $(echo $got) " in *" $count "*) ;; *) echo "$text:$options: not $count:" $got ;; esac
    done
    echo "$text:$want"
}

# matrix ROWS COLUMNS: numbers, larger on the diagonal, as JSON.
matrix() {
    awk -v rows="$1" -v columns="$2" 'BEGIN {
        printf "["
        for (i = 0; i < rows; i++)
            for (j = 0; j < columns; j++)
                printf "%s%.2f%s", j ? "," : i ? ",[" : "[", i == j ? rows + 1 : ((i * 7 + j * 3) % 11) / 12, j == columns - 1 ? "]" : ""
        print "]"
    }'
}
