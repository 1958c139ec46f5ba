# Every function of the prelude, applied to what may not fit and used where its result may not: no message is placed in the prelude.
cd "$FSMC_TEST_TMP" || exit 1
cat "$FSMC_ROOT"/runtime/prelude/*.fsm | sed -n 's/^let \([A-Za-z0-9_]*\).*/\1/p' | sort -u >names
k=0
for use in '# v' '# v v' '# v v v' '# exp v' '# v (fun a -> a)' '# 3' '# 3 v' '# 3 v v'; do
    for context in '@' 'grad (fun v -> @) v' '(@) + 1' 'let (a, c) = @ in a' 'if b then @ else 1' '[b] * (@) * x' '(@)[0][0][0]' \
        '-(@)' 'let (z: Double[3]) = @ in z' 'let f a = @ in hessian f v' 'v[@]' 'ifold (fun s i -> @) x 3' '[| x; @ |]'; do
        k=$((k + 1))
        sed "s/.*/entry e${k}_& (x: Double) (v: Double[n]) (b: Bool) = $(echo "$context" | sed "s/@/$use/; s/#/\&/")/" names
    done
done >uses.fsm
fsmc check -Wall --error-limit=0 uses.fsm 2>messages
echo "exit $?"
[ "$(grep -c '^uses.fsm:.*error: ' messages)" -gt "$(($(wc -l <names) * k / 4))" ] || echo "hardly any error"
grep '^prelude/.*: \(error\|warning\): ' messages
