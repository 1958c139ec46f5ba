# A result of several arrays goes to several files, in order.
. ../errors/try.sh
cd "$FSMC_TEST_TMP" || exit 1
echo 'entry two (n: Int) : Double[n] * (Int * Double[n][2]) =
  (build n (fun i -> double i), (n, build n (fun i -> build 2 (fun j -> double (10 * i + j)))))
entry pairs (n: Int) = build n (fun i -> (i, double i / 2.0))
entry none (x: Double) = ()
entry f (x: Double[n]) = x
entry s (x: Int) = x
entry m (x: Double[n][k]) = x' >m.fsm
try run m.fsm two n=2 -o out.npy
ls out.*
try run m.fsm f x=@out.0.npy
try run m.fsm s x=@out.1.npy
try run m.fsm m x=@out.2.npy
try run m.fsm pairs n=3 -o p.npy
try run m.fsm f x=@p.0.npy
try run m.fsm f x=@p.1.npy
try run m.fsm none x=1 -o none.npy
try run m.fsm none x=1
try run m.fsm two n=2 -o missing/out.npy
try run m.fsm f 'x=[]' -o empty.npy && try run m.fsm f x=@empty.npy
