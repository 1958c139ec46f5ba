# A library that is missing, or that does not belong to the module.
case $CC in *-fsanitize*) echo "Python cannot load libraries with sanitizers" && exit 77 ;; esac
python=${FSMC_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "there is no $python" && exit 77; }
export PYTHONDONTWRITEBYTECODE=1
cd "$FSMC_TEST_TMP" || exit 1
printf 'entry f (x: Double) : Double = x\n' >f.fsm
printf 'entry g (x: Double) : Double = x\n' >g.fsm
fsmc --emit=python f.fsm && fsmc --emit=python g.fsm || exit
load() { "$python" -c "import $1; print($1.$1(2))" 2>&1 | sed -n '$s/.so:.*/.so: …/; $p'; }
load f
sed 's/libf.so/missing.so/' f.py >f1.py && load f1
sed 's/libf.so/libg.so/' f.py >f2.py && load f2
sed '/^_load/s/, [0-9]*)/, 999)/' f.py | sed 's/999)/9999)/' >f3.py && load f3 | sed 's/has version [0-9]*/has version N/'
# From another folder, moved together, through a link, and zipped into a package.
mkdir -p there/pack && mv f.py libf.so there/pack && : >there/pack/__init__.py
PYTHONPATH=there "$python" -c 'from pack import f; print(f.f(3))'
ln -s there/pack link && PYTHONPATH=link "$python" -c 'import f; print(f.f(4))'
