# sh run.sh TEST [numpy]: compiles model.fsm and runs TEST.py on it; with a second word with numpy, else without.
case $CC in *-fsanitize*) echo "Python cannot load libraries with sanitizers" && exit 77 ;; esac
python=${FSMC_PYTHON:-python3}
command -v "$python" >/dev/null || { echo "there is no $python" && exit 77; }
[ -z "${2:-}" ] || "$python" -c 'import numpy' 2>/dev/null || { echo "$python has no numpy" && exit 77; }
export PYTHONDONTWRITEBYTECODE=1 PYTHONIOENCODING=utf-8 FSMC_TEST_NUMPY="${2:-}"
fsmc -O1 --emit=python "${MODEL:-model.fsm}" -o "$FSMC_TEST_TMP/${MODULE:-model.py}" &&
PYTHONPATH=$FSMC_TEST_TMP:. "$python" "$1.py"
