"""The calls of other libraries: the numbers of the originals, for every measure, on random runs."""

import math
import pickle
import random
import sys

import pytest

from sklearn_rank.compat import pytrec_eval as ours

QRELS = {"q1": {"d1": 0, "d2": 1, "d3": 2}, "q2": {"d2": 1}, "empty": {}}
RUN = {"q2": {"d2": 1.0}, "q1": {"d1": 1.0, "d2": 0.5, "d9": 0.5}, "other": {"d1": 1.0}}
STABLE = ours.supported_measures - {"runid", "relstring"}


def case(seed):
    """Judgments, run and arguments; each query has a document, because the original fails without."""
    rng = random.Random(seed)
    n = rng.choice([1, 3, 10, 60])
    grades = rng.choice([[0, 1], [0, 1, 2, 3], [-1, 0, 1, 2], [1], [0]])
    score = rng.choice([rng.random, lambda: float(rng.randrange(4)), lambda: 1 + 1e-9 * rng.random(), lambda: 3])
    documents = [f"d{i}" for i in range(n)]

    def some():
        return rng.sample(documents, rng.randrange(1, n + 1))

    qrels = {f"q{i}": {d: rng.choice(grades) for d in some()} for i in range(3)}
    run = {f"q{i}": {d: score() for d in some()} for i in rng.sample(range(4), 3)}
    return qrels, run, rng.choice([1, 1, 2])


@pytest.mark.parametrize("seed", range(25))
def test_the_dictionaries_of_pytrec_eval(seed):
    theirs = pytest.importorskip("pytrec_eval")
    qrels, run, level = case(seed)
    for measures in (STABLE, {"runid", "P.1,3", "ndcg_cut_2,4", "success.2", "iprec_at_recall.0.33", "Rprec_mult_0.5"}):
        expected = theirs.RelevanceEvaluator(qrels, measures, level).evaluate(run)
        found = ours.RelevanceEvaluator(qrels, measures, level).evaluate(run)
        assert [*found] == [*expected]
        for query, values in expected.items():
            assert {type(value) for value in found[query].values()} == {float}
            assert found[query] == pytest.approx(values, abs=1e-12, rel=0)


def test_judged_documents_only():
    theirs = pytest.importorskip("pytrec_eval")
    run = {"q1": {"d1": 1.0, "d2": 0.5, "d9": 2.0}, "q2": {"d2": 1.0, "d3": 2.0}}
    expected, found = (
        module.RelevanceEvaluator(QRELS, STABLE, judged_docs_only_flag=True).evaluate(run) for module in (theirs, ours)
    )
    for query in run:
        assert found[query] == pytest.approx(expected[query], abs=1e-12, rel=0)


def test_names_match_pytrec_eval():
    theirs = pytest.importorskip("pytrec_eval")
    assert ours.supported_measures == theirs.supported_measures
    for name, measures in ours.supported_nicknames.items():
        assert measures == theirs.supported_nicknames[name]


def test_worked_example():
    """Relevant at ranks 2 and 3 (d9 ties with d2 and comes first, because its id is higher)."""
    found = ours.RelevanceEvaluator(QRELS, ["recip_rank", "P_2", "num_rel", "gm_map", "set_F.0.5"]).evaluate(RUN)
    assert [*found] == ["q2", "q1"]
    assert found["q1"] == pytest.approx(
        {
            "recip_rank": 1 / 3,
            "P_2": 0.0,
            "num_rel": 2.0,
            "gm_map": math.log(1 / 6),
            "set_F": 1 / 3 * 1 / 2 * 1.5 / (0.5 / 3 + 0.5),
        }
    )


def test_pytrec_eval_with_empty_input():
    evaluator = ours.RelevanceEvaluator(QRELS, {"map"})
    assert evaluator.evaluate({}) == {}
    assert evaluator.evaluate({"empty": {"d1": 1.0}, "other": {"d1": 1.0}}) == {}
    assert evaluator.evaluate({"q1": {}}) == {"q1": {"map": 0.0}}
    assert ours.RelevanceEvaluator({}, {"map"}).evaluate(RUN) == {}
    assert ours.RelevanceEvaluator(QRELS, set()).evaluate(RUN) == {"q2": {}, "q1": {}}


def test_an_empty_answer_is_zero_in_every_measure():
    values = ours.RelevanceEvaluator(QRELS, {"all_trec"}).evaluate({"q1": {}})["q1"]
    assert {name for name, value in values.items() if value} == {"num_q", "num_rel", "gm_map", "gm_bpref"}


@pytest.mark.parametrize(
    ("measure", "reason"),
    [
        ("ndgc", "unsupported measure ndgc: names are trec_eval's, such as map"),
        ("ndcg_10", "ndcg takes no parameter.*; ndcg_cut takes one"),
        ("recip_rank_10", "recip_rank takes no parameter"),
        ("map.5", "map takes no parameter"),
        ("P_0", "P takes whole numbers from 1 on"),
        ("P_2.5", "P takes whole numbers from 1 on"),
        ("prefs_simp", "unsupported measure prefs_simp: needs preferences"),
        ("ndcg@10", "unsupported measure ndcg@10"),
    ],
)
def test_measures_that_are_refused_by_name(measure, reason):
    with pytest.raises(ValueError, match=reason):
        ours.RelevanceEvaluator(QRELS, [measure])


@pytest.mark.parametrize(
    "wrong", [{1: {"a": 1}}, {"q": {2: 1}}, {"q": ["a"]}, {"q": {"a": 1.5}}, {"q": {"a": "1"}}, [1]], ids=repr
)
def test_judgments_of_other_types_are_refused(wrong):
    with pytest.raises(TypeError):
        ours.RelevanceEvaluator(wrong, {"map"})


@pytest.mark.parametrize("wrong", [{1: {"a": 1}}, {"q1": {2: 1}}, {"q1": ["a"]}, {"q1": {"a": "1"}}, [1]], ids=repr)
def test_runs_of_other_types_are_refused(wrong):
    with pytest.raises(TypeError):
        ours.RelevanceEvaluator(QRELS, {"map"}).evaluate(wrong)


@pytest.mark.parametrize("level", [0, None, "1"])
def test_level_must_be_positive(level):
    with pytest.raises(TypeError, match=f"relevance_level should be positive. Got {level!r}"):
        ours.RelevanceEvaluator(QRELS, {"map"}, relevance_level=level)


def test_a_string_is_not_a_set_of_measures():
    with pytest.raises(ValueError, match="a set or a list, such as {'map'}. Got 'map'"):
        ours.RelevanceEvaluator(QRELS, "map")


def test_evaluators_are_pickled():
    evaluator = ours.RelevanceEvaluator(QRELS, {"all_trec"})
    assert pickle.loads(pickle.dumps(evaluator)).evaluate(RUN) == evaluator.evaluate(RUN)


def test_lines():
    run = ours.parse_run(["q1 Q0 d1 1 2.5 me\n", "q1 Q0 d2 2 1 me\n"])
    assert run == {"q1": {"d1": 2.5, "d2": 1.0}}
    assert ours.parse_qrel(["q1 0 d1 2\n"]) == {"q1": {"d1": 2}}
    with pytest.raises(AssertionError, match="Document 'd1' is in query 'q1' twice, again in line 2"):
        ours.parse_qrel(["q1 0 d1 2", "q1 0 d1 1"])
    with pytest.raises(ValueError, match="Got 3 in line 1"):
        ours.parse_qrel(["q1 0 d1"])
    with pytest.raises(TypeError, match="Pass lines: an open file, open.path.*Got 'qrels.txt'"):
        ours.parse_qrel("qrels.txt")


def test_pytrec_eval_aggregates():
    assert ours.compute_aggregated_measure("num_ret", [1.0, 2.0]) == 3.0
    assert ours.compute_aggregated_measure("map", [1.0, 0.0]) == 0.5
    assert ours.compute_aggregated_measure("gm_map", [math.log(4.0), 0.0]) == pytest.approx(2.0)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="ir_measures 0.4 reads names by ast.Num, which is gone")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the same
def test_provider_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    from sklearn_rank.compat.ir_measures import provider

    assert ir_measures.providers.registry["sklearn_rank"] is provider
    names = "nDCG@3 nDCG(gains={0:0,1:1,2:4})@2 AP AP@2 P@2 P(rel=2)@2 R@2 RR Rprec Success@2 Bpref IPrec@0.2 NumRet"
    measures = [*map(ir_measures.parse_measure, names.split())]
    qrels, run, _ = case(1)
    expected = ir_measures.pytrec_eval.calc_aggregate(measures, qrels, run)
    found = provider.calc_aggregate(measures, qrels, run)
    assert {m: found[m] for m in measures} == pytest.approx({m: expected[m] for m in measures}, abs=1e-12)


def test_pytrec_eval_invalid_values():
    with pytest.raises(ValueError, match="Field 5 must be a number. Got 'high' in line 1"):
        ours.parse_run(["q Q0 d 1 high tag"])
    with pytest.raises(ValueError, match="Field 4 must be a number. Got '1.5' in line 2"):
        ours.parse_qrel(["q 0 d 1", "q 0 e 1.5"])
    with pytest.raises(ValueError, match=r"a value for each query, and at least one. Got shape \(0,\)"):
        ours.compute_aggregated_measure("map", [])
