# A program from standard input.
. ./try.sh
program='entry f (x: Double) = x * y'
echo "$program" | try check -
echo 'entry f (x: Double) = x * 2.0' | try --emit=ir -
echo 'entry f (x: Double) = x * 2.0' | try run - f x=3
echo 'entry f (x: Double) = x * 2.0' | try run - f
