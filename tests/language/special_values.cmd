# What ops.def and the engines make of special points; docs/language.md ("Kinks and singular points") is a summary.
"$FSMC_BUILD/tests/special_values" --table
