# SPDX-License-Identifier: Apache-2.0
"""Writes the sample files of points/ (with NumPy itself, 1.24) and of points/broken/.

They are kept in the repository; run this again only to add one.
"""
import gzip
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent / "points"
BROKEN = HERE / "broken"
BROKEN.mkdir(parents=True, exist_ok=True)

# What every good file holds: 4 points of 3 columns.
X = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 12]])

for name, dtype in [("float32", "<f4"), ("float64", "<f8"), ("float16", "<f2"), ("uint8", "u1"), ("int8", "i1"),
                    ("uint16", "<u2"), ("int16", "<i2"), ("uint32", "<u4"), ("int32", "<i4"), ("uint64", "<u8"),
                    ("int64", "<i8")]:
    np.save(HERE / f"{name}.npy", X.astype(dtype))
    np.save(HERE / f"{name}_fortran.npy", np.asfortranarray(X.astype(dtype)))
np.save(HERE / "bool.npy", X % 2 == 0)
for version in [(2, 0), (3, 0)]:
    with open(HERE / f"version_{version[0]}.npy", "wb") as file:
        np.lib.format.write_array(file, X.astype("<f4"), version=version)
good = (HERE / "float32.npy").read_bytes()
(HERE / "float32.npy.gz").write_bytes(gzip.compress(good, mtime=0))
header_end = len(good) - 48


def header(text, version=1):
    """A header of any text, true or not."""
    body = text.encode()
    body += b" " * (-(10 + len(body) + 1) % 64) + b"\n"
    size = len(body).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + body


def described(descr="'<f4'", order="False", shape="(4, 3)"):
    return header("{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape))


values = good[header_end:]
for name, data in {
    "empty.npy": b"",
    "not_numpy.npy": b"1,2,3\n4,5,6\n",
    "cut_magic.npy": good[:4],
    "cut_version.npy": good[:9],
    "cut_header.npy": good[:40],
    "cut_values.npy": good[:-5],
    "extra_values.npy": good + b"\0" * 8,
    "version_9.npy": good[:6] + b"\x09" + good[7:],
    "huge_header.npy": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': '<f4'",
    "no_shape.npy": header("{'descr': '<f4', 'fortran_order': False, }") + values,
    "no_order.npy": header("{'descr': '<f4', 'shape': (4, 3), }") + values,
    "bad_order.npy": described(order="Maybe") + values,
    "bad_shape.npy": described(shape="[4, 3]") + values,
    "word_shape.npy": described(shape="(4, x)") + values,
    "huge_shape.npy": described(shape="(4294967296, 4294967296)") + values,
    "no_columns.npy": described(shape="(4, 0)"),
    "no_rows.npy": described(shape="(0, 3)"),
    "one_dimension.npy": described(shape="(12,)") + values,
    "no_dimension.npy": described(shape="()") + values[:4],
    "three_dimensions.npy": described(shape="(2, 2, 3)") + values,
    "big_endian.npy": described("'>f4'") + values,
    "complex.npy": described("'<c8'", shape="(2, 3)") + values,
    "text.npy": described("'<U1'") + values,
    "records.npy": described("[('x', '<f4'), ('y', '<f4'), ('z', '<f4')]", shape="(4,)") + values,
}.items():
    (BROKEN / name).write_bytes(data)
np.save(BROKEN / "objects.npy", np.array([[1, 2], [3]], dtype=object), allow_pickle=True)
np.save(BROKEN / "objects_2d.npy", np.array([[1, "a"], [3, None]], dtype=object), allow_pickle=True)
bad = X.astype("<f4").copy()
bad[2, 1] = np.nan
np.save(BROKEN / "nan.npy", bad)
bad[2, 1] = -np.inf
np.save(BROKEN / "infinite.npy", bad)
np.save(BROKEN / "too_large.npy", np.array([[1.0, 2.0], [3.0, 1e300]]))
np.savez(BROKEN / "archive.npz", X)
