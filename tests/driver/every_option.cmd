# Every option, command and kind of output is in the manual, in docs/command-line.md, and in each shell's completion.
cd "$FSMC_TEST_TMP" || exit 1
unset COLUMNS
fsmc --help >help
# `-h, --help`, `-MF FILE`, `--emit=KIND`, `-OLEVEL`
sed -n 's/^  \(--*[A-Za-z][^ ]*\).*/\1/p; s/^  -.,* *\(--[a-z-]*\).*/\1/p' help |
    sed 's/[=[].*//; s/,$//; s/^-\([OW]\)[A-Z]*$/-\1/' | LC_ALL=C sort -u >options
sed -n '/^Usage/,/^$/s/^  fsmc \([a-z][a-z]*\) .*/\1/p; /^Usage/,/^$/s/^  fsmc \([a-z]*\)$/\1/p' help | sort -u >commands
sed -n '/^Kinds of output/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' help >kinds
sed -n '/^Passes/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p; /^Warnings/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p' help >others
for list in options commands kinds others; do [ "$(wc -l <$list)" -ge 5 ] || echo "few $list"; done
fsmc man | sed 's/\\-/-/g; s/\\(aq/'"'/g" >manual
cp "$FSMC_ROOT/docs/command-line.md" page
for shell in bash zsh fish; do fsmc completion $shell >$shell; done
missing() { grep -qF -e "$2" "$1" || echo "$1 lacks $2"; }
while read -r option; do
    missing manual "$option"
    grep -q -e "\`$option[^a-z]" page || echo "page lacks $option"
    case $option in
    --*) missing bash "$option"; missing zsh "*$option"; missing fish " -l ${option#--} " ;;
    -M?) missing bash " $option "; missing zsh "*$option"; missing fish " -o ${option#-} " ;;
    *) grep -q -e "[ ']$option[ 0-9a-z]" bash || echo "bash lacks $option"
        missing zsh "*$option"; missing fish " -s ${option#-} " ;;
    esac
done <options
while read -r command; do
    for file in manual page; do missing $file "fsmc $command"; done
    for file in bash zsh fish; do missing $file "$command"; done
done <commands
while read -r word; do for file in manual page bash zsh fish; do missing $file "$word"; done; done <kinds
while read -r word; do for file in manual bash zsh fish; do missing $file "$word"; done; done <others
