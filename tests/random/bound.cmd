# Nested sums within the bound of the cost at two sizes: the same ones every time, with values that are compared.
"$FSMC_BUILD"/fsmc_fuzz -b -f -k 40 -s 21080 -n 50
echo "exit $?"
"$FSMC_BUILD"/fsmc_fuzz -b -k 40 -s 21080 -n 10 | tail -n 1
