# The worst element and its figures are decided by rounding where all is right.
sh try.sh 'smooth n=2 --json' 'wrong_rule n=2 --json' 'looped k=3 --json' |
    sed -E 's/("(worst|forward|reverse|differences)": )("[^"]*"|-?[0-9][0-9.e-]*)/\1_/g'
