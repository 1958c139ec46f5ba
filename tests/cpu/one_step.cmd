. ./engines.sh
for k in '[]' '[0]' '[7, 1]' '[1, 7]'; do
    fails one_step.fsm first k="$k"
done
