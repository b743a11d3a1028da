"""What to write in place of a name that no metric has: names of other systems, other forms of ours, and slips."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sklearn_rank._metric.conventions import our_name, why_not_here
from sklearn_rank._metric.key_signs import SIGN
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._utils.echo import echo

LONGEST_HINTED = 80
"""Characters of a name that is worth a hint."""
LEAST_LONG = 6
"""Letters that a name needs for one letter more, less or another to be a slip: 'rmsle' is not 'rmse'."""
_WRITTEN = re.compile(
    r"(?:(?:neg|retrieval|cosine|cos_sim|dot|eval|test|valid|val)_)?(?P<name>[a-z][\w-]*?)(?:_(?:score|error|metric))?"
    r"(?:_?at_?(?P<k>\d+|k)|_?(?P<digits>\d+))?"
)
"""A name between the parts that other systems put around it: "RetrievalMRR", "cosine_ndcg@10", "MRRMetric"."""
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_POOLED = re.compile(r"(?P<how>micro|macro)_(?P<name>\w+)|(?P<first>\w+)_(?P<last>micro|macro)")

ELSEWHERE = {
    "all_recall": "recall_all",
    "area_under_curve": "auc",
    "auroc": "auc",
    "avg_prec": "map",
    "avg_precision": "map",
    "average_relevance_position": "relevance_position",
    "burges_ndcg": "ndcg",
    "cumulative_gain": "cg",
    "cv_recall": "hit",
    "discounted_cumulative_gain": "dcg",
    "dcg_burges": "dcg",
    "dcg_exp": "dcg",
    "expected_reciprocal_rank": "err",
    "exp_dcg": "dcg",
    "exp_ndcg": "ndcg",
    "hit_all": "recall_all",
    "joint_recall": "recall_all",
    "kendall_tau_a": "kendall(variant=a)",
    "kendall_tau_b": "kendall",
    "kendalltau": "kendall",
    "label_ranking_average_precision": "lrap",
    "mean_absolute": "mae",
    "mean_ap": "map",
    "mean_squared": "mse",
    "ndcg_any": "ndcg(discount=jarvelin)",
    "ndcg_burges": "ndcg",
    "ndcg_exp": "ndcg",
    "normalized_dcg": "ndcg",
    "normalized_discounted_cumulative_gain": "ndcg",
    "prec": "precision",
    "rank_biased_overlap": "rbo",
    "rank_biased_precision": "rbp",
    "recall_any": "hit",
    "recip_rank": "mrr",
    "roc_auc": "auc",
    "rocauc": "auc",
    "root_mean_squared": "rmse",
    "spearmanr": "spearman",
    "success_all": "recall_all",
    "tau_a": "kendall(variant=a)",
    "tau_b": "kendall",
    "top_k_accuracy": "hit",
}
"""Names that metrics have elsewhere, without "_score" and "_error", and here: only for hints, meanings may differ."""

NO_ANSWER = (
    "For queries without a relevant document 'recall(replace_undefined_by=empty)@10' and the like score an empty list "
    "1, and any other 0."
)
MEAN_RANK = (
    "'relevance_position' is the mean rank of the relevant documents of a query, each weighing as much as its label."
)
AREA = "'map(convention=sklearn)' is the area under the steps of precision and recall, query by query."
SHOWN = "sklearn_rank.recommenders.exposure(run, items=..., k=10)"
EXPOSURE = (
    f"It is a value of all users together, which {SHOWN} has; make_recommender_scorer takes it beside metrics of users."
)
NOVELTY = (
    f"It is a mean over lists, which {SHOWN} has with train=; by user it is 'acg(denominator=min_k_n)@10' of labels "
    "-log2(popularity / number of users)."
)
DIVERSITY = "sklearn_rank.recommenders.intra_list_diversity(run, items=..., k=10, vectors=...) has it for each user."
OTHER = {
    "accuracy": "'hit@1' is whether the first document is relevant, 'auc' the share of pairs in the right order.",
    "arhr": "'mrr' reads the first relevant document of a query, 'dcg(gain=binary, discount=reciprocal)' all of them.",
    "arp": "'relevance_position' is the average relevance position; the average popularity of what is recommended is "
    "'acg(denominator=min_k_n)@10' of popularity as labels.",
    "aupr": AREA,
    "auprc": AREA,
    "average_rank": MEAN_RANK,
    **dict.fromkeys("abstention no_answer false_answer_rate zero_result_rate".split(), NO_ANSWER),
    "aplt": EXPOSURE
    + " The share of the long tail in each list is 'acg(denominator=min_k_n)@10' of labels 1 in the tail.",
    "context_precision": "From verdicts of a model: 'map(denominator=retrieved_relevant)'. From ids: 'set_precision'.",
    "context_recall": "From ids: 'set_recall'. From verdicts of a model: 'set_recall' with the statements of an answer "
    "as relevant documents, and the supported statements as the run.",
    "catalog_coverage": EXPOSURE,
    "claim_recall": "'set_recall' with the claims of the key as relevant documents and the supported ones as the run.",
    "cmc": "'hit' at each cutoff is the cumulative match characteristic: 'hit@1', 'hit@5'.",
    "coverage": "'coverage_error' is how far down the list one must go to see every relevant document. How many of the "
    f"items are shown is no mean over queries: {SHOWN} counts them.",
    "entropy": EXPOSURE,
    "epc": "The expected popularity complement is 'dcg(gain=linear)@10' of labels relevant * (1 - popularity / number "
    f"of users), over the sum of the discounts; {SHOWN} has novelty with train=.",
    "gauc": "'auc(replace_undefined_by=nan)' is the mean over queries; to weigh them as GAUC does, pass sample_weight= "
    "with the number of rows of each query.",
    "gini": EXPOSURE,
    "hole": "'judged@10' is one minus the hole of a list of 10 documents or more.",
    "ild": DIVERSITY,
    "idcg": "'ndcg' is divided by it; with labels as scores 'dcg' has its value.",
    "intra_list_diversity": DIVERSITY,
    "ips": "'ips_dcg@10' and the self-normalized 'snips@10' read labels that were divided by propensities.",
    "item_coverage": EXPOSURE,
    "jaccard": "'set_f' of a query is 2 J / (1 + J) of its Jaccard index J, so it ranks lists alike.",
    "mean_rank": MEAN_RANK,
    "m_inp": "The inverse negative penalty is the number of relevant documents over the rank of the last of them, "
    "which 'coverage_error' has.",
    "ndcg_linear": "'ndcg(gain=linear)' takes a label as its gain.",
    "novelty": NOVELTY,
    "nugget_recall": "'s_recall' is the share of subtopics, or nuggets, that are covered: a column of labels for each.",
    "overlap": "'rbo' compares two rankings; the share of a list that is relevant is 'precision@10'.",
    "popularity": EXPOSURE,
    "miuf": NOVELTY,
    "pr_auc": AREA,
    "serendipity": "'acg(denominator=min_k_n)@10' of labels relevant * unexpected, such as relevant * (1 - popularity "
    f"/ number of users); {SHOWN} has novelty with train=.",
    "setf": "'set_f(convention=ir_measures)' takes all retrieved documents for the set.",
    "setp": "'set_precision(convention=ir_measures)' takes all retrieved documents for the set.",
    "setr": "'set_recall(convention=ir_measures)' takes all retrieved documents for the set.",
    "uauc": "'auc(replace_undefined_by=nan)' is the mean over users.",
    "wmap": "'wap' is weighted average precision, of graded labels; sample_weight= weighs the queries of 'map'.",
}
"""Names that have no metric of their own, or several meanings, and what to write."""
JUDGE = "judge the trained model by a metric, such as 'ndcg@10'."
LOSSES = {
    "lambdarank rank_xendcg xendcg": "LGBMRanker(objective={!r})",
    "rank:ndcg rank:map rank:pairwise": "XGBRanker(objective={!r})",
    "yetirank yetirankpairwise pairlogit pairlogitpairwise stochasticrank queryrmse querysoftmax querycrossentropy": (
        "CatBoostRanker(loss_function={!r})"
    ),
    "lambdamart lambdaloss lambda_loss ranknet listnet listmle softmax_loss approx_ndcg neural_ndcg": "",
}
"""Losses of learning to rank in lower case, and which model trains with each."""
LOSS_MODEL = {loss: model for losses, model in LOSSES.items() for loss in losses.split()}
ENDS_IN_DIGITS = {"r2", "map50", "map75"}
"""Names of other measures that end as with a cutoff."""


def hint_for_name(name: str, text: str) -> str:
    """Hint for a name that no metric has, the name of the metric that a text asks for; "" if there is none."""
    if len(text) > LONGEST_HINTED or name in ENDS_IN_DIGITS:
        return ""
    known = {alias: alias for entry in [*REGISTRY.values()] for alias in (entry.name, *entry.aliases)} | ELSEWHERE
    written = _WORDS.sub("_", text).strip().lower()
    if name not in written:  # words were written in one, as in MeanReciprocalRank@10
        name = re.split(r"[^\w-]", written, maxsplit=1)[0]
    if is_of_scorer(name, known):
        bare = echo(text.strip().removeprefix(SIGN))
        return (
            f" {SIGN!r} begins names of scorers, whose errors are negative; results have positive errors: write {bare}."
        )
    written, name = (part if name in known else part.replace("-", "_") for part in (written, name))
    match = None if name in known else _WRITTEN.fullmatch(written) or _WRITTEN.fullmatch(name)
    bare = match["name"] if match is not None else name
    other = OTHER.get(name) or OTHER.get(bare) or hint_for_their_name(text).strip()
    if other:
        return f" {other}"
    cutoff = text.rpartition("@")[2].strip() if "@" in text else (match and (match["k"] or match["digits"])) or ""
    at = f"@{cutoff.replace('k', '10')}" * bool(cutoff)
    if bare == "f" and match is not None and match["digits"]:  # beta, not a cutoff
        nearest = [f"f{match['digits']}{text[len(name) :].strip()}"]
    elif bare in known:
        nearest = [known[bare] + at * REGISTRY[_metric_of(known[bare])].has_cutoff]
    elif pooled := _POOLED.fullmatch(name):
        entry = known.get(pooled["name"] or pooled["first"])
        nearest = [f"{entry}(average={pooled['how'] or pooled['last']}){at}"] if entry else []
    else:
        nearest = [known[one] + at for one in sorted(known.keys() - ELSEWHERE) if _is_slip(bare, one)]
    return f" Did you mean {' or '.join(map(repr, dict.fromkeys(nearest)))}?" if nearest else ""


def is_of_scorer(name: str, known: Mapping[str, str]) -> bool:
    """Whether a name belongs to an error's scorer."""
    error = known.get(name.removeprefix(SIGN))
    return name.startswith(SIGN) and error is not None and not REGISTRY[_metric_of(error)].greater_is_better


def _metric_of(known: str) -> str:
    """Name of the metric that a name or an alias belongs to."""
    alias = known.partition("(")[0]
    return next((entry.name for entry in [*REGISTRY.values()] if alias in entry.aliases), alias)


def hint_for_their_name(text: str) -> str:
    """Hint for a name that trec_eval has and we do not, or for a loss."""
    if len(text) > LONGEST_HINTED:
        return ""
    loss = text.partition("@")[0].strip()
    loss = loss if loss.lower() in LOSS_MODEL else loss.partition(":")[0]
    if (model := LOSS_MODEL.get(loss.lower())) is not None:
        return f" It is a loss to train with{', ' * bool(model)}{model.format(loss)}: {JUDGE}"
    ours, gain = our_name(text)
    if ours != text.strip():
        ours += "(gain=...)" if gain else ""
        return f" It is trec_eval's name of {echo(ours)}: convention='trec_eval' reads it."
    reason = why_not_here(text)
    return reason and f" trec_eval's {text.strip()} {reason}."


def _is_slip(name: str, known: str) -> bool:
    """Whether a known name was typed with two neighbors swapped, or a long one with one letter off."""
    # The first letter must be right, because letters in front make other measures: GMAP, IDCG, GAUC.
    if name[:1] != known[:1] or abs(len(name) - len(known)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(name, known, strict=False)) if a != b), min(len(name), len(known)))
    a, b = name[start:], known[start:]
    if a[:2] == b[1::-1] and a[2:] == b[2:]:
        return len(known) > 3
    return max(len(name), len(known)) >= LEAST_LONG and (a[1:] == b[1:] or a[1:] == b or a == b[1:])
