"""Tensors are accepted wherever arrays are; stand-ins behave like tensors of torch and JAX under NumPy's protocols."""

import numpy as np
import pytest
from registry import Data, data_for

from sklearn_rank import RankingAccumulator, evaluate, evaluate_table, group_sizes, qid_from_group_sizes
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._utils.numbers import as_floats, as_reals
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.results import Evaluation
from sklearn_rank.retrieval import evaluate_retrieval
from sklearn_rank.stats import compare

DATA = data_for(REGISTRY["ndcg"], n_queries=20)


class TorchLike:
    """A torch tensor: it has a device and a gradient, and is hashed and compared by identity."""

    def __init__(self, array, *, dtype=None, grad=False, device="cpu", layout="torch.strided"):
        self.array = np.asarray(array)
        self.dtype = f"torch.{dtype or self.array.dtype}"
        self.requires_grad, self.device, self.layout, self.is_nested = grad, device, layout, False

    @property
    def shape(self):
        return self.array.shape

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i):
        return TorchLike(self.array[i], **self._facts())

    def __invert__(self):
        return TorchLike(~self.array, **self._facts())

    def _facts(self, **others):
        dtype = self.dtype.removeprefix("torch.")
        return {"dtype": dtype, "grad": self.requires_grad, "device": self.device, "layout": self.layout} | others

    def __eq__(self, other):
        return TorchLike(self.array == getattr(other, "array", other))

    __hash__ = object.__hash__

    def detach(self):
        return TorchLike(self.array, **self._facts(grad=False))

    def cpu(self):
        return TorchLike(self.array, **self._facts(device="cpu"))

    def float(self):
        return TorchLike(self.array.astype(np.float32), **self._facts(dtype="float32"))

    def numpy(self):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if self.device != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.numpy(), dtype)

    def __dlpack__(self, **_):
        raise BufferError("a stand-in")


class JaxLike:
    """A JAX array: it has NumPy's types and is not hashable."""

    __hash__ = None

    def __init__(self, array):
        self.array = np.asarray(array)
        self.dtype, self.shape = self.array.dtype, self.array.shape

    def __len__(self):
        return len(self.array)

    def __iter__(self):
        return map(JaxLike, self.array)

    def __invert__(self):
        return JaxLike(~self.array)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.array, dtype)

    def __dlpack__(self, **_):
        raise BufferError("a stand-in")


def of_torch(array, **options):
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(np.asarray(array))
    floating = tensor.is_floating_point()
    if floating and "dtype" in options:
        tensor = tensor.to(getattr(torch, options["dtype"]))
    return tensor.requires_grad_() if options.get("grad") and floating else tensor


def of_jax(array, dtype=None):
    numpy = pytest.importorskip("jax.numpy")
    return numpy.asarray(array, dtype=dtype if np.asarray(array).dtype.kind == "f" else None)


def torch_like(array, *, dtype=None, **options):
    array = np.asarray(array)
    options = options if array.dtype.kind == "f" else {n: v for n, v in options.items() if n != "grad"}
    return TorchLike(array, dtype=dtype if array.dtype.kind == "f" else None, **options)


MAKERS = {
    "torch-like": torch_like,
    "torch-like with a gradient": lambda x: torch_like(x, grad=True),
    "torch-like on a GPU": lambda x: torch_like(x, grad=True, device="cuda:0"),
    "torch-like bfloat16": lambda x: torch_like(x, dtype="bfloat16", grad=True),
    "jax-like": JaxLike,
    "torch": of_torch,
    "torch with a gradient": lambda x: of_torch(x, grad=True),
    "torch float32": lambda x: of_torch(x, dtype="float32", grad=True),
    "torch bfloat16": lambda x: of_torch(x, dtype="bfloat16", grad=True),
    "torch float16": lambda x: of_torch(x, dtype="float16"),
    "jax": of_jax,
    "jax bfloat16": lambda x: of_jax(x, "bfloat16"),
    "jax float16": lambda x: of_jax(x, "float16"),
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


# --- entry points ------------------------------------------------------------------------------------------------


SCORES = np.round(DATA.y_score) % 64  # exact in every type of float


@pytest.fixture
def data(make):
    """Columns as tensors, and as arrays."""
    arrays = Data(DATA.y_true, SCORES, DATA.qid)
    return Data(*map(make, arrays)), arrays


def test_metrics_and_results(make, data):
    tensors, arrays = data
    options = {"metrics": ["ndcg@10", "map"], "ties": "stable"}
    others = {"sample_weight": arrays.qid % 3 + 1.0, "tie_break": arrays.y_score % 5}
    others |= {"by": arrays.qid % 2, "clusters": arrays.qid % 5}
    found = evaluate(*tensors[:2], qid=tensors.qid, **{n: make(x) for n, x in others.items()}, **options)
    expected = evaluate(*arrays[:2], qid=arrays.qid, **others, **options)
    assert found.mean() == expected.mean()
    assert found.qid.tolist() == expected.qid.tolist()
    assert found.attributes["by"].tolist() == expected.attributes["by"].tolist()
    k = np.arange(1, 4).tolist()
    assert (ndcg_score(*tensors[:2], qid=tensors.qid, k=k) == ndcg_score(*arrays[:2], qid=arrays.qid, k=k)).all()


def test_accumulators_and_masks(make):
    rng = np.random.default_rng(0)
    y, s, mask = rng.integers(0, 4, (8, 6)).astype(float), rng.integers(0, 60, (8, 6)) + 0.0, rng.random((8, 6)) < 0.8
    mask[:, 1] = True
    ids = rng.permutation(8)
    found = RankingAccumulator("ndcg").update(make(y), make(s), make(ids), mask=make(mask)).compute()
    expected = evaluate(y, s, qid=ids, mask=mask, metrics="ndcg")
    assert found.mean() == expected.mean()
    assert found.qid.tolist() == ids.tolist()
    padded = np.column_stack([y, np.zeros(8)])
    outside = ~make(np.column_stack([mask, np.zeros(8, bool)]))
    with pytest.raises(ValueError, match="pass ~mask"):
        ndcg_score(make(padded), make(np.zeros((8, 7))), mask=make(np.zeros((8, 7), bool)))
    assert 0 < ndcg_score(make(padded), make(np.column_stack([s, s[:, 0]])), mask=~outside) <= 1
    with pytest.raises(TypeError, match="mask == 1"):
        ndcg_score(make(y), make(s), mask=make(mask.astype(int)))


def test_other_doors_take_tensors(make, data):
    tensors, arrays = data
    assert group_sizes(tensors.qid).tolist() == group_sizes(arrays.qid).tolist()
    assert qid_from_group_sizes(make(np.array([2, 1]))).tolist() == [0, 0, 1]
    assert evaluate_table([tensors]).mean() == evaluate_table([arrays]).mean()
    values = np.arange(8) / 8
    result = Evaluation.from_values(make(np.arange(8)), {"mine": make(values)})
    assert result.mean() == {"mine": values.mean()}
    assert compare(make(values), values[::-1]).difference == 0
    features = np.eye(4)[[0, 0, 1, 1, 2]]
    found, expected = (
        evaluate_retrieval(x, query_labels=y, metrics="map") for x, y in
        ((make(features), make(np.array([0, 0, 1, 1, 2]))), (features, [0, 0, 1, 1, 2]))
    )  # fmt: skip
    assert found.mean() == expected.mean()


def test_lists_of_tensors(make):
    """As collected by a loop over tensors: ids are compared by value, not by identity."""
    y, s, qid = np.array([1.0, 0, 0, 1]), np.array([4.0, 3, 2, 1]), np.array([5, 5, 6, 6])
    columns = [[make(entry) for entry in column] for column in (y, s, qid)]
    found = evaluate(*columns[:2], qid=columns[2], metrics="map")
    assert (found.qid.tolist(), found.mean()) == ([5, 6], {"map": 0.75})
    rows = [[make(row) for row in column.reshape(2, 2)] for column in (y, s)]
    assert evaluate(*rows, qid=[make(np.array(5)), make(np.array(6))], metrics="map").mean() == {"map": 0.75}


# --- memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [TorchLike, JaxLike], ids=["torch-like", "jax-like"])
def test_memory_is_shared_if_the_type_allows(make):
    array = np.arange(6.0)
    assert np.shares_memory(as_floats(make(array), "x"), array)
    assert as_floats(make(array[::2]), "x").tolist() == [0, 2, 4]


def test_structured_ids_are_not_floats():
    fields = np.array([("a", 1), ("a", 1), ("b", 2)], dtype=[("user", "U1"), ("n", int)])
    assert evaluate([1, 0, 1], [1, 2, 3], qid=fields, metrics="map").qid.tolist() == [("a", 1), ("b", 2)]


def test_memory_of_torch_is_shared():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6.0, dtype=torch.float64, requires_grad=True)
    assert np.shares_memory(as_floats(tensor, "x"), tensor.detach().numpy())
    assert as_floats(tensor[::2], "x").tolist() == [0, 2, 4]
    assert as_floats(tensor.reshape(2, 3).T, "x").tolist() == [[0, 3], [1, 4], [2, 5]]


def test_memory_of_jax_is_shared():
    jax = pytest.importorskip("jax")
    tensor = jax.numpy.arange(6.0)
    assert np.shares_memory(as_reals(tensor, "x"), np.asarray(tensor))


# --- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["torch.sparse_coo", "torch.jagged"])
def test_tensors_that_are_not_dense(layout):
    with pytest.raises(ValueError, match=rf"must be dense.*mask=\. Got layout {layout}\."):
        ndcg_score(TorchLike([[1.0, 0.0]], layout=layout), [[1, 2]])


def test_sparse_and_nested_tensors_of_torch():
    torch = pytest.importorskip("torch")
    rows = [torch.tensor([0.0, 1.0]), torch.tensor([0.0, 1.0, 2.0])]
    nested = torch.nested.nested_tensor(rows, layout=torch.jagged)
    for tensor in (torch.eye(2).to_sparse(), nested):
        with pytest.raises(ValueError, match="A tensor must be dense"):
            ndcg_score(tensor, tensor)


@pytest.mark.parametrize(("dtype", "limit"), [("float16", 2**11), ("float32", 2**24), ("bfloat16", 2**8)])
def test_ids_rounded_by_a_narrow_float(dtype, limit):
    """Two ids may have been merged before the call, so ids beyond the limit are rejected."""
    y, s = [1, 0, 1], [1, 2, 3]
    exact = np.array([1, 1, limit - 1]).astype(np.float32 if dtype == "bfloat16" else dtype)
    rounded = np.array([1, 1, limit]).astype(exact.dtype)
    for make in (lambda x: TorchLike(x, dtype=dtype), *([np.asarray] * (dtype != "bfloat16"))):
        assert evaluate(y, s, qid=make(exact)).qid.tolist() == [1, limit - 1]
        with pytest.raises(ValueError, match=rf"{dtype} tells whole numbers apart up to {limit}, so keep ids as int"):
            evaluate(y, s, qid=make(rounded))


def test_outputs_with_an_axis_too_many():
    with pytest.raises(ValueError, match=r"one or two dimensions. Got 3 instead: take \[..., 0\] of it"):
        ndcg_score([[1, 0]], TorchLike(np.ones((1, 2, 1))))
    with pytest.raises(ValueError, match=r"The first column of qid has one id for each row\."):
        ndcg_score(np.ones((2, 3)), TorchLike(np.ones((2, 3))), qid=TorchLike(np.ones((2, 3), int)))


def test_labels_and_scores_swapped():
    """In the order of torch's metrics: detected by the values, once all are there."""
    rng = np.random.default_rng(0)
    target, preds = TorchLike(rng.integers(0, 2, (30, 5))), TorchLike(rng.random((30, 5)), grad=True)
    RankingAccumulator().update(target, preds).compute()
    swapped = RankingAccumulator("ndcg").update(preds, target)
    with pytest.warns(RankingWarning, match="look swapped"):
        swapped.compute()
