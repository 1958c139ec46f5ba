from __future__ import annotations

import ctypes as _ctypes
import os as _os
import struct as _struct
import sys as _sys
import threading as _threading
import typing as _typing

# Entries become functions of this module and may have the names of Python's own, which is why the functions below use
# those by other names.
from builtins import (
    AttributeError as _AttributeError, ImportError as _ImportError, MemoryError as _MemoryError, OSError as _OSError,
    OverflowError as _OverflowError, TypeError as _TypeError, ValueError as _ValueError, abs as _abs, bool as _bool,
    bytearray as _bytearray, bytes as _bytes, complex as _complex, enumerate as _enumerate, float as _float, getattr as _getattr,
    hasattr as _hasattr, isinstance as _isinstance, len as _len, list as _list, max as _max, memoryview as _memoryview,
    min as _min, range as _range, str as _str, tuple as _tuple, type as _type, zip as _zip,
)

try:
    import numpy as _numpy
    from numpy import ndarray as _ndarray
except ImportError:
    _numpy = _ndarray = None

# What an array argument may be: a numpy array, anything that numpy makes an array of, a buffer (array.array, memoryview,
# bytes, …), or nested lists and tuples of numbers.
Array = _typing.Any


# ---- errors


class FsmError(Exception):
    """A call of an entry failed. `code` is the FSM_ERROR_ code of fsmc/runtime.h; 0 if the entry was not called."""

    code = 0


class FsmTypeError(FsmError, TypeError):
    """An argument has the wrong type: not a number, not an array, or elements that would have to be rounded."""


class FsmSizeError(FsmError, ValueError):
    """An array has the wrong shape, sizes do not agree, or a size is negative."""


class FsmOverlapError(FsmError, ValueError):
    """An array of `out` overlaps an argument or another array of `out`."""


class FsmBoundsError(FsmError, IndexError):
    """An array index of the program is out of range, or it asks for the extreme element of an empty array."""


class FsmAssertError(FsmError, AssertionError):
    """An `assert` of the program failed."""


class FsmDivideError(FsmError, ZeroDivisionError):
    """The program divides an Int by zero."""


class FsmRangeError(FsmError, OverflowError):
    """A result does not fit into its type, Int32."""


class FsmNanError(FsmError, ArithmeticError):
    """An operation made a NaN of operands that are none (--debug-nan)."""


class FsmMemoryError(FsmError, MemoryError):
    """There is not enough memory for a result or an intermediate array."""


class FsmCancelledError(FsmError):
    """The call was cancelled."""


# ---- the library and its contexts

_library = None
_codes = {}  # FSM_ERROR_ code -> exception class
_local = _threading.local()


class _Context:
    """The fsm_context of a thread, freed with the thread: perhaps when the interpreter has cleared this module, so that the object
    has all that freeing needs."""

    handle = None  # while there is none

    def __init__(self, library):
        self.free = library.fsm_context_free
        self.handle = library.fsm_context_new()
        if not self.handle:
            raise FsmMemoryError("out of memory: a context cannot be made")

    def __del__(self):
        if self.handle:
            self.free(self.handle)


def _context():
    try:
        return _local.context.handle
    except _AttributeError:
        _local.context = _Context(_library)
        return _local.context.handle


def _load(name, abi_version):
    """Loads the shared library beside this file."""
    global _library
    path = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), name)
    try:
        _library = _ctypes.CDLL(path)
    except _OSError as error:
        raise _ImportError("the library of this module cannot be loaded: %s" % error) from None
    pointer = _ctypes.c_void_p
    _symbol("fsm_abi_version", _ctypes.c_int)
    _symbol("fsm_context_new", pointer)
    _symbol("fsm_context_free", None, pointer)
    _symbol("fsm_context_error", _ctypes.c_char_p, pointer)
    if _library.fsm_abi_version() != abi_version:
        raise _ImportError(
            "%s has version %d of the interface, this module needs %d: compile both again"
            % (path, _library.fsm_abi_version(), abi_version)
        )


def _symbol(name, result, *parameters):
    try:
        function = _getattr(_library, name)
    except _AttributeError:
        raise _ImportError("%s has no function %s: compile both again" % (_library._name, name)) from None
    function.restype = result
    function.argtypes = parameters
    return function


def _entry(name, parameters):
    """The C function of an entry; one letter of `parameters` for each after the context."""
    types = {"q": _ctypes.c_int64, "d": _ctypes.c_double, "f": _ctypes.c_float, "i": _ctypes.c_int, "l": _ctypes.c_int32}
    letters = [types.get(letter, _ctypes.c_void_p) for letter in parameters]
    return _symbol(name, _ctypes.c_int, _ctypes.c_void_p, *letters)


def _fail(context, code):
    error = _codes.get(code, FsmError)(_library.fsm_context_error(context).decode("utf-8", "replace"))
    error.code = code
    raise error


# ---- kinds of elements


class _Kind:
    """A kind of element in memory, one for each of F~. `formats` are those of the buffer protocol that may be its own,
    `wider` those that convert exactly, `convert` makes an element of a Python number."""

    def __init__(self, name, ctype, formats, wider, convert):
        self.name = name
        self.ctype = ctype
        self.size = _ctypes.sizeof(ctype)
        self.formats = "".join([c for c in formats if _struct.calcsize(c) == self.size])
        self.wider = wider
        self.convert = convert
        self.dtype = _numpy.dtype(name) if _numpy else None


# ---- scalar arguments


def _what(value):
    return _type(value).__name__


def _scalar(value):
    """The Python number that an array without dimensions holds."""
    return value.item() if _getattr(value, "shape", None) == () and _hasattr(value, "item") else value


def _wrong_type(name, expected, value):
    return FsmTypeError("argument '%s': expected %s, got %s" % (name, expected, value))


def _as_float(name, value):
    if _type(value) is _float:
        return value
    value = _scalar(value)
    number = _hasattr(value, "__float__") or _hasattr(value, "__index__")
    if not number or _isinstance(value, (_bool, _complex)) or _getattr(value, "shape", ()) != ():
        raise _wrong_type(name, "a number", _what(value))
    try:
        return _float(value)
    except (_TypeError, _ValueError, _OverflowError) as error:
        raise _wrong_type(name, "a number", "%s (%s)" % (_what(value), error)) from None


def _as_int(name, value):
    value = _scalar(value)
    if _isinstance(value, _bool) or not _hasattr(value, "__index__"):
        raise _wrong_type(name, "an integer", _what(value))
    value = value.__index__()
    if not -(2**63) <= value < 2**63:
        raise _wrong_type(name, "an integer of 64 bits", value)
    return value


def _as_int32(name, value):
    value = _as_int(name, value)
    if not -(2**31) <= value < 2**31:
        raise _wrong_type(name, "an integer of 32 bits", value)
    return value


def _as_bool(name, value):
    value = _scalar(value)
    if not _isinstance(value, _bool):
        raise _wrong_type(name, "True or False", _what(value))
    return value


def _parts(name, value, count):
    """The parts of a tuple argument; any sequence of that length will do."""
    try:
        parts = _tuple(value)
    except _TypeError:
        raise _wrong_type(name, "a tuple of %d values" % count, _what(value)) from None
    if _len(parts) != count:
        raise _wrong_type(name, "a tuple of %d values" % count, "%d" % _len(parts))
    return parts


# ---- array arguments: (address, shape, what keeps the memory alive)


def _array(name, value, kind, rank):
    if _ndarray is not None:
        if _type(value) is not _ndarray:
            if _isinstance(value, (_list, _tuple)):
                return _nested(name, value, kind, rank)
            value = _to_numpy(name, value)
        if value.dtype != kind.dtype:
            value = _cast(name, value, kind)
        if value.ndim != rank:
            raise _wrong_rank(name, value.shape, rank)
        flags = value.flags
        if not (flags.c_contiguous and flags.aligned):
            value = _numpy.array(value, order="C")
        return _address(value), value.shape, value
    return _buffer(name, value, kind, rank)


def _address(array):
    """Where a numpy array begins. The first way is several times faster, but for writable arrays only."""
    try:
        return _ctypes.addressof(_ctypes.c_char.from_buffer(array))
    except (_TypeError, _ValueError):
        return array.__array_interface__["data"][0]


def _wrong_rank(name, shape, rank):
    plural = "s"[: rank != 1]
    return FsmSizeError(
        "argument '%s': expected %d dimension%s, got shape %s" % (name, rank, plural, _extents(shape) or "()")
    )


def _wrong_elements(name, kind, got):
    return FsmTypeError("argument '%s': expected elements of type %s, got %s" % (name, kind.name, got))


def _to_numpy(name, value):
    if _isinstance(value, _numpy.ma.MaskedArray):
        raise _wrong_type(name, "an array without a mask", _what(value))
    try:
        array = _numpy.asarray(value)
    except (_TypeError, _ValueError) as error:
        raise _wrong_type(name, "an array", "%s (%s)" % (_what(value), error)) from None
    if array.dtype.kind not in "biuf":
        raise _wrong_type(name, "an array of numbers", _what(value))
    return array


def _cast(name, value, kind):
    """A copy with elements of the kind, if all values of their type are exact in it (Int as Double is taken for that)."""
    number_of_bool = value.dtype.kind == "b"
    if number_of_bool or not _numpy.can_cast(value.dtype, kind.dtype, "safe"):
        raise _wrong_elements(name, kind, value.dtype)
    return value.astype(kind.dtype, order="C")


def _buffer(name, value, kind, rank):
    try:
        view = _memoryview(value)
    except _TypeError:
        indexed = _hasattr(value, "__len__") and _hasattr(value, "__getitem__") and not _hasattr(value, "keys")
        if not indexed or _isinstance(value, _str):
            raise _wrong_type(name, "an array", _what(value)) from None
        return _nested(name, value, kind, rank)
    if view.ndim != rank:
        raise _wrong_rank(name, view.shape, rank)
    fits = view.itemsize in (kind.size, 0)  # arrays of ctypes without elements may have items of 0 bytes
    native = view.format.lstrip("@=" if fits else "@")
    if native[:1] == "<" and _sys.byteorder == "little":
        native = native[1:]
    if _len(native) == 1 and native in kind.formats and fits:
        if view.c_contiguous and not view.readonly and view.nbytes:
            memory = (_ctypes.c_char * view.nbytes).from_buffer(view)
        else:
            memory = (_ctypes.c_char * view.nbytes).from_buffer_copy(view.tobytes())
        return _ctypes.addressof(memory), view.shape, memory
    if _len(native) != 1 or native not in kind.wider:
        raise _wrong_elements(name, kind, "the format '%s'" % view.format)
    return _nested(name, view.tolist(), kind, rank, view.shape)


def _nested(name, value, kind, rank, shape=None):
    """A copy of nested sequences of numbers. Extents inside empty ones are None."""
    level, found = [value], []
    for depth in _range(rank):
        length = None
        for item in level:
            if _isinstance(item, (_str, _bytes)) or not _hasattr(item, "__len__"):
                wanted = "a list" if rank == 1 else "lists nested %d deep" % rank
                raise _wrong_type(name, wanted, _what(item) + (" inside" if depth else ""))
            if length is None:
                length = _len(item)
            elif _len(item) != length:
                raise FsmSizeError(
                    "argument '%s' is not rectangular: parts of %d and %d elements" % (name, length, _len(item))
                )
        found.append(length)
        level = [element for item in level for element in item]
    for element in level:
        if _hasattr(element, "__len__") and not _isinstance(element, (_str, _bytes)) and _getattr(element, "shape", 1) != ():
            raise FsmSizeError("argument '%s': expected %d dimension%s, got more" % (name, rank, "s"[: rank != 1]))
    convert = kind.convert
    memory = (kind.ctype * _len(level))(*[convert(name, element) for element in level])
    return _ctypes.addressof(memory), shape or _tuple(found), memory


def _check_shape(name, shape, expected, text, *sizes):
    """Raises unless an array has the expected shape. sizes: (name, value, which argument it comes from)."""
    if shape == expected:
        return
    for a, b in _zip(shape, expected):
        if a is not None and a != b:
            break
    else:
        if None in shape and 0 in shape:
            return  # nested lists without elements
    wanted = _extents(expected)
    if text != wanted:
        wanted = "%s = %s" % (text, wanted)
    because = "".join(["; %s is %d because of '%s'" % size for size in sizes])
    raise FsmSizeError("argument '%s': expected shape %s, got %s%s" % (name, wanted, _extents(shape), because))


def _extents(shape):
    return "".join(["[%s]" % ("" if n is None else n) for n in shape])


# ---- arithmetic of sizes, as in F~: division rounds towards zero


def _div(a, b):
    if b == 0:
        raise FsmDivideError("a size divides by zero")
    quotient = _abs(a) // _abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _rem(a, b):
    return a - b * _div(a, b)


# ---- results: (address, the array)


def _given(name, given, count):
    """The parts of `out` for a result that is a tuple."""
    if given is None:
        return (None,) * count
    try:
        parts = _tuple(given)
    except _TypeError:
        parts = ()
    if _len(parts) != count:
        raise FsmTypeError("'%s': expected a tuple of %d values" % (name, count))
    return parts


def _no_array(name, given):
    if given is not None:
        raise FsmTypeError("'%s' has to be None: that part of the result is a number" % name)


def _result(name, given, kind, shape):
    """The memory of a result: the array that the caller gave, or a new one."""
    if given is not None:
        return _output(name, given, kind, shape)
    shape = _tuple([n if n > 0 else 0 for n in shape])  # the entry reports negative ones
    try:
        if _numpy is not None:
            new = _numpy.empty(shape, kind.dtype)
            return _address(new), new
        return _new_buffer(kind, shape)
    except (_MemoryError, _ValueError, _OverflowError):
        raise FsmMemoryError("out of memory: result '%s' has the shape %s" % (name, _extents(shape))) from None


def _new_buffer(kind, shape):
    count = kind.size
    for n in shape:
        count *= n
    memory = _bytearray(count)
    if count:
        view = _memoryview(memory).cast(kind.formats[0], shape)
        return _ctypes.addressof(_ctypes.c_char.from_buffer(memory)), view
    if _len(shape) == 1:
        return None, _memoryview(memory).cast(kind.formats[0])
    empty = kind.ctype  # memoryview.cast refuses extents of 0
    for n in shape[::-1]:
        empty = empty * n
    return None, _memoryview(empty())


def _output(name, given, kind, shape):
    if _ndarray is not None and _isinstance(given, _ndarray):
        if given.dtype != kind.dtype:
            raise FsmTypeError("'%s': expected elements of type %s, got %s" % (name, kind.name, given.dtype))
        if given.shape != shape:
            raise FsmSizeError("'%s': expected shape %s, got %s" % (name, _extents(shape), _extents(given.shape)))
        if not (given.flags.c_contiguous and given.flags.aligned and given.flags.writeable):
            raise FsmTypeError("'%s' has to be a contiguous and writable array" % name)
        return _address(given), given
    try:
        view = _memoryview(given)
    except _TypeError:
        raise FsmTypeError("'%s': expected an array, got %s" % (name, _what(given))) from None
    if view.itemsize != kind.size or view.format.lstrip("@=<") not in kind.formats:
        raise FsmTypeError("'%s': expected elements of type %s, got the format '%s'" % (name, kind.name, view.format))
    if view.shape != shape:
        raise FsmSizeError("'%s': expected shape %s, got %s" % (name, _extents(shape), _extents(view.shape)))
    if not view.c_contiguous or view.readonly:
        raise FsmTypeError("'%s' has to be a contiguous and writable array" % name)
    return (_ctypes.addressof((_ctypes.c_char * view.nbytes).from_buffer(view)) if view.nbytes else None), given
