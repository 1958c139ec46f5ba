sh derive.sh tl_skipped.fsm gradient x=[1,2,3,4,5,6] n=4 dy=2 || exit
sh derive.sh tl_skipped.fsm terms x=[1,2,3,4,5,6] dy=2
