# The page has every plot and refers to nothing outside; the same plots are there as PNG.
gnuplot --version >/dev/null 2>&1 || { echo "there is no gnuplot"; exit 77; }
here=$PWD
. ./adbench.sh
cp -r "$here/adbench_report" out
$adbench report --out=out; echo "exit $?"
find out/report -type f | sort
for file in out/report/plots/*.png; do head -c 4 "$file" | tail -c 3; done; echo
page=out/report/report.html
grep -o 'aria-label="[^"]*"' $page
grep -c '^</svg>' $page
grep -oE '(href|src|url)[=(]["'"'"']?[^#"'"'"' )]*' $page | sort | uniq -c
grep -oE 'id="[^"]*"|id='"'[^']*'" $page | sort | uniq -d
sed -n '/<body>/,/<h2>/p' $page | grep -v '<svg'
grep -E '<tr><td>(gmm|lstm|hand)' $page
