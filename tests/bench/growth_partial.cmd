# Values that may fail, and are needed in branches, have checks in each: so many that it takes longer until they are as many in
# each statement.
sh growth.sh "300 600" partial
