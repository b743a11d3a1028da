"""Containers in which the same numbers and the same ids come."""

import datetime
import decimal
import fractions
import math
import tempfile
import uuid
from math import isnan

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

# --- numbers -------------------------------------------------------------------------------------------------


def holds(values, dtype):
    """Whether a NumPy type holds these floats exactly; -0.0 may become 0."""
    kind = np.dtype(dtype).kind
    if kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            kept = np.array(values).astype(dtype).astype(np.float64)
        return np.array_equal(kept, values, equal_nan=True)
    if not all(math.isfinite(v) and v == int(v) for v in values):
        return False
    low, high = (0, 1) if kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return all(low <= int(v) <= high for v in values)


def of_type(dtype):
    def make(values):
        if not holds(values, dtype):
            return None
        return np.array(values, dtype=dtype) if np.dtype(dtype).kind == "f" else np.array([*map(int, values)], dtype)

    return make


def whole(values):
    """The same numbers as ints; None if a number is not whole."""
    return [None if isnan(v) else int(v) for v in values] if all(isnan(v) or v % 1 == 0 for v in values) else None


def if_whole(make):
    """For ints that float64 and int64 hold."""

    def make_of_ints(values):
        ints = whole(values) if all(isnan(v) or abs(v) <= 2**53 for v in values) else None
        return None if ints is None else make(ints)

    return make_of_ints


def if_no_nan(make):
    return lambda values: None if any(map(isnan, values)) else make(values)


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def strided(values):
    return np.repeat(np.array(values), 3)[1::3]


def upside_down(values):
    return np.array(values[::-1])[::-1]


def fortran(values):
    return np.asfortranarray(np.column_stack([values, values]))[:, 1]


def one_column(values):
    return np.array(values)[:, None]


def not_aligned(values):
    data = b"\0" + np.array(values).tobytes()
    return np.frombuffer(data, dtype=np.uint8)[1:].view(np.float64)


def on_disk(values):
    with tempfile.TemporaryFile() as file:
        array = np.memmap(file, dtype=np.float64, mode="w+", shape=len(values))
    array[:] = values
    return array


def masked(values):
    missing = [isnan(v) for v in values]
    return np.ma.array([0.0 if m else v for v, m in zip(values, missing, strict=True)], mask=missing)


def with_none(values):
    return [None if isnan(v) else v for v in values]


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = with_none(values)
    return array


def exact(values):
    """Fractions, which float() reads without a loss."""
    return [fractions.Fraction(v) for v in values] if all(map(math.isfinite, values)) else None


def decimals(values):
    return [decimal.Decimal(v) for v in values]


def chunked(values):
    half = len(values) // 2
    return pa.chunked_array([pa.array(with_none(v), type=pa.float64()) for v in (values[:half], values[half:])])


NUMBERS = {
    **{name: of_type(name) for name in "f2 f4 f8 >f8 >f4 >f2 i1 i2 i4 i8 u1 u2 u4 u8 >i4 >i8 >u2 bool".split()},
    "longdouble": of_type(np.longdouble),
    "list": list,
    "tuple": tuple,
    "list of ints": if_no_nan(if_whole(list)),
    "read only": read_only,
    "strided": strided,
    "upside down": upside_down,
    "Fortran": fortran,
    "one column": one_column,
    "not aligned": not_aligned,
    "memmap": on_disk,
    "masked": masked,
    "objects": objects,
    "fractions": exact,
    "decimals": if_no_nan(decimals),
    "Series": pd.Series,
    "DataFrame": lambda values: pd.DataFrame({"a": values}),
    "Series of Float64": lambda values: pd.Series(pd.array(with_none(values), dtype="Float64")),
    "Series of Int64": if_whole(lambda ints: pd.Series(pd.array(ints, dtype="Int64"))),
    "Series of boolean": lambda v: pd.Series(pd.array([*map(bool, v)], dtype="boolean")) if set(v) <= {0, 1} else None,
    "Series of double[pyarrow]": lambda values: pd.Series(with_none(values), dtype="double[pyarrow]"),
    "Series of int64[pyarrow]": if_whole(lambda ints: pd.Series(ints, dtype="int64[pyarrow]")),
    "Series of object": lambda values: pd.Series(objects(values)),
    "polars": lambda values: pl.Series(with_none(values), dtype=pl.Float64),
    "polars Int64": if_whole(lambda ints: pl.Series(ints, dtype=pl.Int64)),
    "Arrow": lambda values: pa.array(with_none(values), type=pa.float64()),
    "Arrow int64": if_whole(lambda ints: pa.array(ints, type=pa.int64())),
    "Arrow in chunks": chunked,
}
"""Containers of floats by name; None where they do not hold these."""

TABLES = {
    "C": np.array,
    "Fortran": lambda rows: np.asfortranarray(rows),
    "f4": lambda rows: np.array(rows, dtype="f4"),
    "list": lambda rows: [list(row) for row in rows],
    "DataFrame": lambda rows: pd.DataFrame(rows),
    "strided": lambda rows: np.repeat(np.array(rows), 2, axis=1)[:, ::2],
    "upside down": lambda rows: np.array(rows[::-1])[::-1],
    "objects": lambda rows: np.array(rows, dtype=object),
    ">f8": lambda rows: np.array(rows, dtype=">f8"),
}
"""Containers of labels of subtopics by name."""

# --- ids -----------------------------------------------------------------------------------------------------

DAY = datetime.date(1999, 12, 31)
KINDS = [
    lambda q: q,
    lambda q: -q - 1,
    lambda q: f"q{q}",
    lambda q: "é\u2603" * (q % 3) + f"{q:07}",
    lambda q: ("q", q),
    lambda q: float(q) / 2,
    lambda q: f"{q}".encode(),
    lambda q: DAY + datetime.timedelta(days=q),
    lambda q: frozenset([q, "q"]),
    lambda q: decimal.Decimal(q) / 4,
    lambda q: uuid.UUID(int=q * 2**70),
    lambda q: q if q % 2 else str(q),
    lambda q: 2**63 + q if q % 2 else -(2**62) - q,
    lambda q: f"{q}\0" if q % 2 else f"{q - q % 2 + 1}",
    lambda q: (True, q % 3, (q,)),
]
"""Objects as ids, from the number of a query."""

INTS = {
    "i1": (-128, 127),
    "i2": (-(2**15), 2**15 - 1),
    "i4": (-(2**31), 2**31 - 1),
    "i8": (-(2**63), 2**63 - 1),
    "u1": (0, 255),
    "u2": (0, 2**16 - 1),
    "u4": (0, 2**32 - 1),
    "u8": (0, 2**64 - 1),
    ">i4": (-(2**31), 2**31 - 1),
    ">u2": (0, 2**16 - 1),
}


def int_ids(dtype):
    """Ids from both ends of an integer type."""
    low, high = INTS[dtype]

    def make(queries):
        if 2 * max(queries) > high - low:
            return None
        return np.array([low + q if q % 2 else high - q for q in queries], dtype=dtype)

    return make


def text(queries):
    return [f"q{q}" for q in queries]


IDS = {
    **{f"{dtype} ids": int_ids(dtype) for dtype in INTS},
    **{f"kind {i}": lambda queries, kind=kind: [kind(q) for q in queries] for i, kind in enumerate(KINDS)},
    "object array": lambda queries: np.array([*text(queries), None], dtype=object)[:-1],
    "U": lambda queries: np.array(text(queries)),
    ">U": lambda queries: np.array(text(queries)).astype(">U9"),
    "S": lambda queries: np.array(text(queries), dtype="S"),
    "StringDType": lambda queries: np.array(text(queries), dtype=np.dtypes.StringDType()),
    "bool": lambda queries: np.array(queries, dtype=bool) if max(queries) < 2 else None,
    "f8": lambda queries: np.array(queries) * 0.5,
    "zeros of both signs": lambda queries: np.where(
        queries, queries, np.copysign(0.0, np.arange(len(queries)) % 2 - 0.5)
    ),
    "f2": lambda queries: np.array(queries, dtype="f2") if max(queries) < 2000 else None,
    "datetime64": lambda queries: np.datetime64("2000-01-01") + np.array(queries).astype("m8[D]"),
    "timedelta64": lambda queries: np.timedelta64(5, "s") * np.array(queries),
    "strided ids": lambda queries: np.repeat(np.array(queries), 2)[::2],
    "column": lambda queries: np.array(queries)[:, None],
    "Series of ids": pd.Series,
    "category": lambda queries: pd.Series(text(queries), dtype="category"),
    "Categorical": lambda queries: pd.Categorical(text(queries)),
    "str": lambda queries: pd.Series(text(queries), dtype="str"),
    "string[pyarrow]": lambda queries: pd.Series(text(queries), dtype="string[pyarrow]"),
    "large_string": lambda queries: pd.Series(text(queries), dtype=pd.ArrowDtype(pa.large_string())),
    "Int64": lambda queries: pd.Series(queries, dtype="Int64"),
    "datetime": lambda queries: pd.Series(pd.to_datetime([DAY + datetime.timedelta(days=q) for q in queries])),
    "time zone": lambda queries: pd.Series(pd.date_range("2000", periods=max(queries) + 1, tz="UTC")[queries]),
    "Index": lambda queries: pd.Index(text(queries)),
    "polars ids": pl.Series,
    "polars String": lambda queries: pl.Series(text(queries)),
    "polars Categorical": lambda queries: pl.Series(text(queries), dtype=pl.Categorical),
    "polars Date": lambda queries: pl.Series([DAY + datetime.timedelta(days=q) for q in queries]),
    "Arrow ids": pa.array,
    "Arrow string": lambda queries: pa.array(text(queries)),
    "Arrow large_string": lambda queries: pa.array(text(queries), type=pa.large_string()),
    "Arrow dictionary": lambda queries: pa.array(text(queries)).dictionary_encode(),
    "Arrow binary": lambda queries: pa.array([q.encode() for q in text(queries)]),
}
"""Containers of ids by name, from the number of each row's query; None where they do not hold so many."""


def draw(rng, forms, values):
    """Name of a container, and the values in it."""
    while True:
        name = rng.choice([*forms])
        held = forms[name](values)
        if held is not None:
            return name, held
