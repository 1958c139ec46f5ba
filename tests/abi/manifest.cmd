fsmc --emit=manifest cpp.fsm | awk '/"name": "(fit|value|packed|kinds|narrow)"/, /"derivative"/'
fsmc --emit=manifest derivatives.fsm | awk '/^      "name"/ { name = $2 } /"derivative"/, /^    }/ { print name, $0 }' | tr -d '\n' |
    sed 's/"[a-z]*",  *"derivative"/\n&/g; s/"[a-z]*", //g; s/  */ /g'
