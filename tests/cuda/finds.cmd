sh shim.sh finds 'reverse blocks=2,reverse guard late others' # each word alone: what it stops is shown
