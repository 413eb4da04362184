# SPDX-License-Identifier: Apache-2.0
"""Writes the broken files that are not plain text (broken/*.npz, truncated archives, noise).

They are kept in the repository; run this again only to add one. The readable ones are written by hand.
The good files in npz/ come from scipy.sparse.save_npz (scipy 1.17): make_samples.py --scipy.
"""
import bz2
import gzip
import io
import lzma
import pathlib
import random
import struct
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
BROKEN = HERE / "broken"


def npy(descr, values, fmt, shape=None, fortran=False, version=1, magic=b"\x93NUMPY", text=None):
    """One .npy file; `shape` and `text` (the whole header) may lie."""
    shape = f"({len(values)},)" if shape is None else shape
    if text is None:
        text = "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    header = text.encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    size = struct.pack("<H", len(header)) if version == 1 else struct.pack("<I", len(header))
    body = b"".join(struct.pack(fmt, v) for v in values)
    return magic + bytes([version, 0]) + size + header + body


def i4(values, **kw):
    return npy("'<i4'", values, "<i", **kw)


def i8(values, **kw):
    return npy("'<i8'", values, "<q", **kw)


def f8(values, **kw):
    return npy("'<f8'", values, "<d", **kw)


def fmt_name(name):
    return npy("'|S%d'" % len(name), [name.encode()], "%ds" % len(name), shape="()")


# The triangle 0-1 (1), 0-2 (2), 1-2 (3), each entry in both rows.
GOOD = {
    "indices": i4([1, 2, 0, 2, 0, 1]),
    "indptr": i4([0, 2, 4, 6]),
    "format": fmt_name("csr"),
    "shape": i8([3, 3]),
    "data": f8([1, 2, 1, 3, 2, 3]),
}


def save_npz(name, folder=BROKEN, cut=None, **changes):
    members = {**GOOD, **changes}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, body in members.items():
            if body is not None:
                info = zipfile.ZipInfo(key + ".npy", date_time=(1980, 1, 1, 0, 0, 0))
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, body)
    (folder / name).write_bytes(out.getvalue()[:cut])


def broken_npz():
    nan, inf = float("nan"), float("inf")
    save_npz("cut_short.npz", cut=300)
    save_npz("no_format.npz", format=None)
    save_npz("no_indices.npz", indices=None)
    save_npz("bsr.npz", format=fmt_name("bsr"))
    save_npz("rectangular.npz", shape=i8([3, 4]))
    save_npz("three_sizes.npz", shape=i8([3, 3, 3]))
    save_npz("too_many_rows.npz", shape=i8([2**33, 2**33]))
    save_npz("object_array.npz", data=npy("'|O'", [], "<d", shape="(6,)"))
    save_npz("records.npz", data=npy("[('a', '<f8')]", [1, 2, 1, 3, 2, 3], "<d"))
    save_npz("big_endian.npz", indices=npy("'>i4'", [1, 2, 0, 2, 0, 1], ">i"))
    save_npz("fortran_order.npz", data=f8([1, 2, 1, 3, 2, 3], fortran=True))
    save_npz("two_dimensions.npz", data=f8([1, 2, 1, 3, 2, 3], shape="(2, 3)"))
    save_npz("no_shape_tuple.npz", data=f8([1], shape="7"))
    save_npz("no_descr.npz", data=f8([1], text="{'fortran_order': False, 'shape': (1,), }"))
    save_npz("short_member.npz", data=f8([1, 2, 1, 3, 2], shape="(6,)"))
    save_npz("not_an_array.npz", data=b"hello")
    save_npz("cut_header.npz", data=f8([1])[:40])
    save_npz("array_version.npz", data=f8([1, 2, 1, 3, 2, 3], version=9))
    save_npz("half_floats.npz", data=npy("'<f2'", [1, 2, 1, 3, 2, 3], "<e"))
    save_npz("complex.npz", data=npy("'<c16'", [1, 2] * 6, "<d", shape="(6,)"))
    save_npz("float_indices.npz", indices=f8([1, 2, 0, 2, 0, 1]))
    save_npz("negative_weight.npz", data=f8([1, 2, 1, -3, 2, 3]))
    save_npz("nan_weight.npz", data=f8([1, 2, 1, 3, 2, nan]))
    save_npz("infinite_weight.npz", data=f8([inf, 2, 1, 3, 2, 3]))
    save_npz("tiny_weight.npz", data=f8([1, 1e-60, 1, 3, 2, 3]))
    save_npz("huge_weight.npz", data=f8([1, 2, 1e60, 3, 2, 3]))
    save_npz("index_beyond.npz", indices=i4([1, 2, 0, 3, 0, 1]))
    save_npz("negative_index.npz", indices=i4([1, 2, -1, 2, 0, 1]))
    save_npz("short_indptr.npz", indptr=i4([0, 2, 6]))
    save_npz("indptr_goes_back.npz", indptr=i4([0, 4, 2, 6]))
    save_npz("indptr_beyond.npz", indptr=i4([0, 2, 4, 7]))
    save_npz("data_too_short.npz", data=f8([1, 2, 1, 3, 2]))
    coo = {"indices": None, "indptr": None, "format": fmt_name("coo")}
    save_npz("coo_uneven.npz", **coo, row=i4([0, 0, 1]), col=i4([1, 2]), data=f8([1, 2, 3]))
    save_npz("coo_many_rows.npz", **coo, row=i4([0, 0, 1]), col=i4([1, 2, 2]), data=f8([1, 2, 3]),
             shape=i8([2**32 - 2, 2**32 - 2]))


def broken_archives():
    rng = random.Random(1)
    text = "".join(f"{rng.randrange(500)}\t{rng.randrange(500)}\t{rng.random():.4f}\n" for _ in range(2000)).encode()
    zst = subprocess.run(["zstd", "-q", "-c"], input=text, stdout=subprocess.PIPE, check=True).stdout
    for suffix, whole in (("gz", gzip.compress(text, mtime=0)), ("bz2", bz2.compress(text)),
                          ("xz", lzma.compress(text)), ("zst", zst)):
        (BROKEN / f"cut_short.tsv.{suffix}").write_bytes(whole[: len(whole) * 2 // 3])
    flipped = bytearray(gzip.compress(text, mtime=0))
    flipped[len(flipped) // 2] ^= 0x10
    (BROKEN / "flipped.tsv.gz").write_bytes(flipped)
    (BROKEN / "noise.tsv").write_bytes(b"\xfe\x00" + rng.randbytes(700))


def good_npz_from_scipy():
    import numpy as np
    import scipy.sparse as sp

    # Nodes 0-1 (0.5), 0-2 (2), 1-2 (3), 3-4 (7); 5 is alone; an explicit zero at (0, 5) and (5, 0).
    rows, cols, data = [0, 0, 1, 3, 0], [1, 2, 2, 4, 5], [0.5, 2, 3, 7, 0]
    full = sp.coo_matrix((data + data, (rows + cols, cols + rows)), shape=(6, 6))
    (HERE / "npz").mkdir(exist_ok=True)
    sp.save_npz(HERE / "npz" / "csr.npz", full.tocsr())
    sp.save_npz(HERE / "npz" / "csr_stored.npz", full.tocsr(), compressed=False)
    sp.save_npz(HERE / "npz" / "csc_float32.npz", full.tocsc().astype(np.float32))
    sp.save_npz(HERE / "npz" / "coo.npz", full)
    wide = full.tocsr()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    sp.save_npz(HERE / "npz" / "csr_int64_indices.npz", wide)
    upper = sp.triu(full.tocsr())
    sp.save_npz(HERE / "npz" / "upper_triangle.npz", sp.csr_array(upper))
    whole = full.tocsr()
    whole.eliminate_zeros()
    sp.save_npz(HERE / "npz" / "bool.npz", whole.astype(bool))
    sp.save_npz(HERE / "npz" / "uint8.npz", (whole.ceil()).astype(np.uint8))
    sp.save_npz(HERE / "npz" / "empty.npz", sp.csr_matrix((4, 4)))


if __name__ == "__main__":
    if "--scipy" in sys.argv:
        good_npz_from_scipy()
    else:
        broken_npz()
        broken_archives()
