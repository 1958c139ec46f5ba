# The buffer protocol without numpy: what is used in place, what is copied, and what is refused.
import ctypes
from array import array

from common import show
import model

doubles = array("d", [1, 2, 3, 4, 5, 6])
address = doubles.buffer_info()[0]
view = memoryview(doubles)


def place(name, value, kind=model._kind_float64, rank=1):
    at = model._array("x", value, kind, rank)[0]
    print(name, "in place" if at == address else "copied")


place("array", doubles)
place("memoryview", view)
place("two dimensions", view.cast("B").cast("d", [2, 3]), rank=2)
place("part of it", view[0:2])
place("read-only", view.toreadonly())
place("strided", view[::2])
place("list", doubles.tolist())
integers = array("q", [1, 2])
address = integers.buffer_info()[0]
place("q", integers, model._kind_int64)
place("l", array("l", [1]), model._kind_int64)
bytes_of = bytearray(b"\1\0")
address = ctypes.addressof(ctypes.c_char.from_buffer(bytes_of))
words = array("i", [1, 2])
address = words.buffer_info()[0]
place("i as Int32", words, model._kind_int32)
place("h as Int32", array("h", [1]), model._kind_int32)
address = ctypes.addressof(ctypes.c_char.from_buffer(bytes_of))
place("?", memoryview(bytes_of).cast("?"), model._kind_bool)

show(model.twice, view[::-2])
show(model.narrow, words, 1)
show(model.narrow, integers, 1)
show(model.twice, view.toreadonly())
show(model.total, view.cast("B").cast("d", [2, 3]))
show(model.twice, array("f", [0.5]))
show(model.twice, array("i", [3]))
show(model.twice, b"\1\2")
show(model.twice, (ctypes.c_double * 2)(3, 4))
show(model.total, ((ctypes.c_double * 2) * 2)((3, 4), (5, 6)))
show(model.single, array("f", [3]))
show(model.ints, array("h", [3, -1]))
show(model.ints, array("Q", [2**64 - 1]))
show(model.twice, array("d"))
show(model.total, memoryview((ctypes.c_double * 3 * 0)()))
show(model.single, doubles)
show(model.ints, doubles)
show(model.flags, b"\1")
show(model.twice, memoryview(b"ab").cast("c"))
show(model.total, doubles)

# Results
out = array("d", [0, 0])
result = model.twice([1, 2], out=out)
print(result is out, out)
result = model.transposed([[1, 2, 3], [4, 5, 6]])
print(result.shape, result.format, result[2, 1], result.readonly)
print(model.transposed([[], []]).shape)
show(model.twice, [1, 2, 3], out=out)
show(model.twice, [1, 2], out=array("f", [0, 0]))
show(model.twice, [1, 2], out=bytes(16))
show(model.twice, [1, 2], out=memoryview(bytes(16)).cast("d"))
show(model.twice, [1, 2], out=memoryview(doubles)[::3])
show(model.twice, [1, 2], out=[0, 0])
show(model.twice, out, out=out)
xs, ns = array("d", [0]), array("q", [0])
show(model.nested, (1, (2, [1])), ([1], [2]), out=((xs, ns), None))
print(xs, ns)
show(model.nested, (1, (2, [1])), ([1], [2]), out=((None, ns), (None, None)))
show(model.nested, (1, (2, [1])), ([1], [2]), out=((xs, xs), None))
show(model.nested, (1, (2, [1])), ([1], [2]), out=((xs, ns), (xs, None)))
show(model.nested, (1, (2, [1])), ([1], [2]), out=(xs, ns))
show(model.nested, (1, (2, [1])), ([1], [2]), out=1)
