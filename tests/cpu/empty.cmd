# Arrays without elements. The extents that no element tells are those of the other arguments, or 0, or given by name.
. ./engines.sh
check arrays.fsm dot 'x=[]' 'y=[]'
check arrays.fsm matvec 'm=[]' 'v=[1, 2]'
check arrays.fsm matvec 'm=[[], []]' 'v=[]'
check arrays.fsm transpose 'm=[]'
check arrays.fsm transpose 'm=[]' c=2
check arrays.fsm grid n=0
check arrays.fsm triangle d=0 'packed=[]'
