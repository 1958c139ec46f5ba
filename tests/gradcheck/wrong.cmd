sh try.sh wrong_rule 'wrong_rule --interp' cut 'looped2 k=3' 'undefined x=0'
