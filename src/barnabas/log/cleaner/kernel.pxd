# The C types of kernel.py, for Cython alone: without a compiler this file is not read.
#
# Offsets are not negative and less than 2**63, so that an offset plus one fits an unsigned word and compares as one.
cimport cython

cdef extern from *:
    """
    #include <stdint.h>
    #include <string.h>

    #define BARNABAS_ROTATE(x, bits) (((x) << (bits)) | ((x) >> (64 - (bits))))
    #define BARNABAS_ROUND \\
        v0 += v1; v1 = BARNABAS_ROTATE(v1, 13); v1 ^= v0; v0 = BARNABAS_ROTATE(v0, 32); \\
        v2 += v3; v3 = BARNABAS_ROTATE(v3, 16); v3 ^= v2; \\
        v0 += v3; v3 = BARNABAS_ROTATE(v3, 21); v3 ^= v0; \\
        v2 += v1; v1 = BARNABAS_ROTATE(v1, 17); v1 ^= v2; v2 = BARNABAS_ROTATE(v2, 32);

    /* SipHash-2-4 with 128 bits of output. Words are read as the machine has them, for a digest never leaves it. */
    static void barnabas_siphash(const unsigned char *key, size_t length, uint64_t seed, unsigned long long *digest) {
        uint64_t v0 = 0x736f6d6570736575ULL ^ seed, v1 = 0x646f72616e646f6dULL ^ ~seed ^ 0xee;
        uint64_t v2 = 0x6c7967656e657261ULL ^ seed, v3 = 0x7465646279746573ULL ^ ~seed;
        uint64_t word = 0;
        size_t at = 0;
        for (; at + 8 <= length; at += 8) {
            memcpy(&word, key + at, 8);
            v3 ^= word; BARNABAS_ROUND BARNABAS_ROUND v0 ^= word;
        }
        word = 0;
        memcpy(&word, key + at, length - at);
        word ^= (uint64_t) length << 56;
        v3 ^= word; BARNABAS_ROUND BARNABAS_ROUND v0 ^= word;
        v2 ^= 0xee; BARNABAS_ROUND BARNABAS_ROUND BARNABAS_ROUND BARNABAS_ROUND
        digest[0] = v0 ^ v1 ^ v2 ^ v3;
        v1 ^= 0xdd; BARNABAS_ROUND BARNABAS_ROUND BARNABAS_ROUND BARNABAS_ROUND
        digest[1] = v0 ^ v1 ^ v2 ^ v3;
    }
    """
    void barnabas_siphash(
        const unsigned char *key, size_t length, unsigned long long seed, unsigned long long *digest
    ) noexcept nogil


cdef inline (unsigned long long, unsigned long long) _digest(
    const unsigned char[::1] data, Py_ssize_t position, Py_ssize_t length, unsigned long long seed
) noexcept:
    """Two words that tell a key from every other."""
    cdef unsigned long long words[2]
    barnabas_siphash(&data[0] + position, length, seed, words)
    return words[0], words[1]


@cython.locals(words=Py_ssize_t, word=Py_ssize_t)
cdef Py_ssize_t _find(unsigned long long[::1] table, unsigned long long first, unsigned long long second) noexcept


@cython.locals(
    added=Py_ssize_t,
    at=Py_ssize_t,
    length="long long",
    offset="long long",
    first="unsigned long long",
    second="unsigned long long",
    word=Py_ssize_t,
)
cpdef tuple put_keys(
    unsigned long long[::1] table,
    unsigned long long seed,
    Py_ssize_t room,
    const unsigned char[::1] data,
    const long long[::1] rows,
    long long base_offset,
    long long from_offset,
)


@cython.locals(
    count=Py_ssize_t,
    index=Py_ssize_t,
    at=Py_ssize_t,
    length="long long",
    offset="long long",
    kept=bint,
    first="unsigned long long",
    second="unsigned long long",
)
cpdef Py_ssize_t mark_latest(
    unsigned long long[::1] table,
    unsigned long long seed,
    const unsigned char[::1] data,
    const long long[::1] rows,
    long long base_offset,
    long long latest_offset,
    unsigned char[::1] is_latest,
)
