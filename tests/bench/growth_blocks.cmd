# Programs that take too long at 16 copies.
# Known: procedures of `kalman` have as parameters what those need that they call.
sh growth_kinds.sh "2 4 8" attention kalman -- "kalman gradient tree 1.20" "kalman hvp tree 1.32"
