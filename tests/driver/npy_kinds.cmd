# Every kind of element of NumPy's files, both byte orders, rows and columns, versions 1 to 3, and what is refused.
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry f (x: Double[n]) = x
entry k (x: Int[n]) = x
entry b (x: Bool[n]) = x
entry m (x: Double[p][q]) = x
entry s (x: Double) = x' >m.fsm
# npy NAME VERSION HEADER BYTES: the header's length is 118 in two bytes, or four from version 2 on
npy() {
    printf "\\223NUMPY\\$2\\0\\166\\0" >$1.npy
    [ $2 = 1 ] || printf '\0\0' >>$1.npy
    printf "%-117s\n" "$3" >>$1.npy && printf "$4" >>$1.npy
}
# show ENTRY TYPE SHAPE BYTES
show() {
    npy a 1 "{'descr': '$2', 'fortran_order': False, 'shape': $3, }" "$4"
    echo "$2: $(fsmc run m.fsm $1 x=@a.npy 2>&1)"
}
show k '|i1' '(2,)' '\1\377'
show k '|u1' '(2,)' '\1\377'
show k '<i2' '(2,)' '\1\2\376\377'
show k '>i2' '(2,)' '\2\1\377\376'
show k '<u2' '(1,)' '\376\377'
show k '<i4' '(2,)' '\1\0\0\0\377\377\377\377'
show k '>i4' '(2,)' '\0\0\0\1\377\377\377\376'
show k '>u4' '(1,)' '\377\377\377\377'
show k '<i8' '(1,)' '\1\0\0\0\0\0\0\200'
show k '>i8' '(1,)' '\200\0\0\0\0\0\0\1'
show k '<u8' '(1,)' '\377\377\377\377\377\377\377\177'
show k '<u8' '(1,)' '\0\0\0\0\0\0\0\200'
show f '<u8' '(1,)' '\0\0\0\0\0\0\0\200'
show b '|b1' '(3,)' '\0\1\0'
show k '|b1' '(1,)' '\1'
show f '<f2' '(8,)' '\0\74\0\300\1\0\377\173\0\174\0\374\1\176\0\200'
show f '>f2' '(1,)' '\65\125'
show f '<f4' '(2,)' '\0\0\200\77\0\0\300\177'
show f '>f4' '(1,)' '\277\200\0\0'
show f '<f8' '(1,)' '\0\0\0\0\0\0\370\77'
show f '>f8' '(2,)' '\77\370\0\0\0\0\0\0\377\360\0\0\0\0\0\0'
show k '>f8' '(1,)' '\100\10\0\0\0\0\0\0'
show k '>f8' '(1,)' '\77\370\0\0\0\0\0\0'
show s '<f8' '()' '\0\0\0\0\0\0\370\77'
show f '<f8' '(0,)' ''
show m '|i1' '(2, 3)' '\1\2\3\4\5\6'
for type in '<c16' '<f16' '|S3' '|O' '<M8[D]' '<i3' "[('a', '<f8')]" '<U1' '' 'f8'; do show f "$type" '(1,)' '\0\0\0\0\0\0\0\0'; done
show f '<f8' '(2,)' '\0\0\0\0\0\0\370\77'
show f '<f8' '(1,)' '\0\0\0\0\0\0\370\77\0'
show f '<f8' '(1, 1)' '\0\0\0\0\0\0\370\77'
for version in 1 2 3 0 4; do
    npy v $version "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }" '\1\2\3\4\5\6'
    echo "version $version: $(fsmc run m.fsm m x=@v.npy 2>&1)"
done
