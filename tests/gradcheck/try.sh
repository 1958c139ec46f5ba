# Prints calls with what they print; figures that rounding decides are left out.
for call in "$@"; do
    printf '$ fsmc gradcheck entries.fsm %s\n' "$call"
    eval "fsmc gradcheck entries.fsm $call" 2>&1
    code=$?
    [ $code = 0 ] || echo "exit $code"
done | sed -E '/WRONG/!s/; worst .*/; worst _/; s/(agree to|relative error) [0-9][0-9.e+-]*/\1 _/; s/("(agreement|error)": )[0-9][0-9.e+-]*/\1_/g; s/([0-9]\.[0-9]{6})[0-9]{6,}/\1/g'
