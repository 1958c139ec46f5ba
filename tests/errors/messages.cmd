# How many messages there are, and what they look like.
. ./try.sh
cd "$FSMC_TEST_TMP" || exit 1
for i in 1 2 3 4 5; do echo "entry f$i (x: Double) = unknown$i"; done >many.fsm
try check many.fsm --error-limit=2
try check many.fsm --error-limit=0
try check --entry f1 --color=always many.fsm --error-limit 1
