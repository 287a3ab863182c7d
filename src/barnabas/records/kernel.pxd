# The C types of kernel.py, for Cython alone: without a compiler this file is not read.
#
# A position or a length is a Py_ssize_t or wider, so that no sum of a position and a 32-bit length overflows.
cimport cython
from cpython.buffer cimport PyBUF_READ, PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.memoryview cimport PyMemoryView_FromMemory
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_SET_ITEM

cdef object crc32c
cdef unsigned long long _MASK_32, _MASK_64

cdef extern from *:
    """
    #define barnabas_new_tuple(type, size) (((PyTypeObject *) (type))->tp_alloc((PyTypeObject *) (type), (size)))
    """
    object barnabas_new_tuple(object type, Py_ssize_t size)


cdef inline object _new_tuple(object kind, tuple fields):
    """tuple.__new__(kind, fields) for a subclass of tuple, without the parsing of arguments and a second tuple."""
    cdef Py_ssize_t i
    cdef object made = barnabas_new_tuple(kind, PyTuple_GET_SIZE(fields))
    cdef object field
    for i in range(PyTuple_GET_SIZE(fields)):
        field = <object>PyTuple_GET_ITEM(fields, i)
        Py_INCREF(field)
        PyTuple_SET_ITEM(made, i, field)
    return made


cdef inline long long _signed(const unsigned char *data, int size) noexcept:
    """A signed big-endian integer of `size` bytes."""
    cdef unsigned long long value = 0
    cdef int i
    for i in range(size):
        value = (value << 8) | data[i]
    return <long long>(value << (64 - 8 * size)) >> (64 - 8 * size)


cdef inline const unsigned char *_address(object buffer) except? NULL:
    """Where the bytes of a buffer are. The caller holds the buffer and runs no code that could resize it."""
    cdef Py_buffer view
    cdef const unsigned char *address
    PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE)
    address = <const unsigned char *>view.buf
    PyBuffer_Release(&view)
    return address


cdef inline tuple _undamaged_fields(object buffer, Py_ssize_t position):
    """The header's fields, or None where the batch is not whole, not of magic 2 or fails its checksum."""
    cdef Py_buffer view
    cdef const unsigned char *batch
    cdef long long length, crc
    PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE)
    try:
        if position < 0 or view.len - position < 61:
            return None
        batch = <const unsigned char *>view.buf + position
        length = _signed(batch + 8, 4)
        if batch[16] != 2 or length < 49 or length > view.len - position - 12:
            return None
        crc = _signed(batch + 17, 4) & _MASK_32
        if <long long>crc32c(PyMemoryView_FromMemory(<char *>batch + 21, length - 9, PyBUF_READ)) != crc:
            return None
        return (
            _signed(batch, 8),
            length,
            _signed(batch + 12, 4),
            2,
            crc,
            _signed(batch + 21, 2),
            _signed(batch + 23, 4),
            _signed(batch + 27, 8),
            _signed(batch + 35, 8),
            _signed(batch + 43, 8),
            _signed(batch + 51, 2),
            _signed(batch + 53, 4),
            _signed(batch + 57, 4),
        )
    finally:
        PyBuffer_Release(&view)


@cython.locals(fields=tuple, attributes="long long", last_offset_delta="long long", record_count="long long")
cpdef object sound_header(object header_type, object buffer, Py_ssize_t position)


# Sums of timestamps stay Python numbers: what a producer sent may leave 64 bits.
@cython.locals(fields=tuple, record_count="long long")
cpdef object plain_header(
    object header_type, object buffer, object earliest_timestamp, object latest_timestamp, bint needs_keys
)


@cython.locals(byte="unsigned long long", value="unsigned long long", shift=int)
cdef (long long, Py_ssize_t) _varint(
    const unsigned char *data, Py_ssize_t position, Py_ssize_t end, int bits
) noexcept


@cython.locals(
    data="const unsigned char *",
    end=Py_ssize_t,
    timestamp_delta_min="long long",
    timestamp_delta_max="long long",
    first_null_key=Py_ssize_t,
    is_contiguous=bint,
    position=Py_ssize_t,
    row=Py_ssize_t,
    index=Py_ssize_t,
    start=Py_ssize_t,
    size="long long",
    body_end=Py_ssize_t,
    timestamp_delta="long long",
    offset_delta="long long",
    key_length="long long",
    key_position=Py_ssize_t,
    value_length="long long",
    value_position=Py_ssize_t,
    header_count="long long",
    headers_position=Py_ssize_t,
)
cpdef tuple scan(object buffer, Py_ssize_t record_count, long long[::1] rows=*, Py_ssize_t begin=*)


@cython.locals(length="long long")
cdef Py_ssize_t _skip_headers(
    const unsigned char *data, Py_ssize_t position, Py_ssize_t end, long long header_count
) noexcept


@cython.locals(rows="long long[::1]", at=Py_ssize_t, start=Py_ssize_t, length=Py_ssize_t)
cpdef list decode(
    object record_type,
    object read_headers,
    bytes data,
    Py_ssize_t record_count,
    object base_offset,
    object base_timestamp,
    object append_time_ms,
)
