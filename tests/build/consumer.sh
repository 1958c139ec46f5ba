# sh consumer.sh GENERATOR TOOL [FOLDER]: builds the project consumer/ against an installed fsmc and changes one thing
# after another. Shows what is compiled each time. FOLDER: where programs are below the build folder.
generator=$1 tools=$2 folder=${3:-.}
. ./setup.sh
cp -r consumer "$FSMC_TEST_TMP/source"
cd "$FSMC_TEST_TMP" || exit 1
cmake -S source -B out -G "$generator" -DCMAKE_PREFIX_PATH="$prefix" >log 2>&1 || { cat log && exit 1; }

build() {
    echo "== $1"
    sleep 0.02
    cmake --build out >log 2>&1
    status=$?
    sed -n 's/.*Compiling \(.*\.fsm\)$/compiled \1/p' log | sort
    grep -E 'fsm.*error' log | sed "s|$FSMC_TEST_TMP/||"
    [ $status = 0 ] || echo "failed"
    ls -l --time-style=full-iso out/$folder/app out/$folder/app_cpp out/$folder/wrapped >after 2>/dev/null
    cmp -s before after && echo "no program is linked again"
    mv after before
}

build "the first time"
out/$folder/app && out/$folder/app_cpp && out/$folder/wrapped
build "again"
touch source/models/beside.fsm
build "an opened file is newer"
touch source/shared/common.fsm
build "a file is newer that two open from an included folder"
touch source/models/two.fsm
build "a source is newer"
touch source/main.c
build "a C source is newer"
cmake -DMODEL_OPTIONS=-O2 out >/dev/null
build "other options"
cmake -DMODEL_OPTIONS=-O2 out >/dev/null
build "the same options"
touch "$prefix/bin/fsmc"
build "the compiler is newer"
echo 'let beside x = y' >source/models/beside.fsm
build "an error in an opened file"
build "the error is still there"
echo 'let beside x = 10.0 * x' >source/models/beside.fsm
build "the error is mended"
out/$folder/app
rm $(find out -name two.h)
build "a header is gone"
rm $(find out -path '*inner/model.o')
build "an object is gone"
build "and again"
