"""Errors about unknown arguments, and about positional ones that must be named."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, ParamSpec, TypeVar

from sklearn_rank._utils.constraints import BOOL, Constraint
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.hints import MODELS_FIRST, POSITION_HINTS, RANKS_HINT, has, hint_for_arguments

P = ParamSpec("P")
T = TypeVar("T")

QID = "qid= is the query of each row; qid_from_group_sizes makes it from group sizes."

KEYWORD_HINTS = {
    "eval_set=(X, y, qid, sample_weight) holds all of the validation rows.": (
        "eval_X", "eval_y", "eval_group", "X_val", "y_val",
        "eval_sample_weight", "sample_weight_eval_set", "sample_weight_val",
    ),
    "It is a parameter of QueryRanker: QueryRanker(model, eval_metric='ndcg@10', early_stopping_rounds=20).": (
        "eval_fraction", "eval_metric", "early_stopping_rounds",
    ),
    "by= and clusters= go to evaluate and evaluate_table; segments() of a result takes values by query, too.": (
        "by", "clusters",
    ),
    QID: (
        "group", "groups", "group_id", "group_ids", "group_sizes", "qids", "query", "queries", "query_id", "query_ids",
        "indexes", "indices",
    ),
    "mask= is True where there is a document.": (
        "where", "padding_mask", "key_padding_mask", "attention_mask", "valid",
    ),
    "mask= is for padded arrays, which evaluate and RankingAccumulator.update take; rows of a table are documents, so "
    "leave padding out before: rows[rows['mask']].": ("mask",),
    "evaluate_run and scorers of recommenders have exclude=; of queries by documents mask= is False for what to leave "
    "out, as in mask=train == 0.": ("exclude", "seen", "filter_already_liked_items"),
    "Documents by query have ids: evaluate_run, io.join and readers of files have duplicates= and more; rows have "
    "tie_break= to order equal scores.": (
        "duplicates", "missing_from_run", "missing_from_qrels", "doc_id", "doc_ids", "docno",
    ),
    "evaluate_run reads a run as trec_eval does with convention='trec_eval'; io.join has tie_order=, float32= and "
    "negative= for anything else.": ("tie_order", "float32", "negative"),
    "Intervals come after: result.confidence_interval(confidence_level=0.95).": (
        "alpha", "ci", "confidence", "confidence_level",
    ),
    "unjudged='drop' leaves out unjudged documents.": ("judged_only",),
    "Comparisons draw the same each time; splitters, confidence_interval, stats.compare and stats.compare_all have "
    "random_state=.": ("random_state", "seed"),
    "RankingEvaluator and evaluate_retrieval have progress=; of batches tqdm(batches) shows a bar.": (
        "progress", "show_progress", "show_progress_bar", "verbose",
    ),
    "y_score is the output of the model.": ("preds", "predictions", "y_pred", "scores", "score"),
    "y_true is the relevance of each row.": ("target", "targets", "labels", "label", "relevance"),
    "by= is an attribute of each row's query, for segments().": (
        "segment", "segments", "attributes", "strata", "sensitive_features",
    ),
    "clusters= is what each row's query belongs to, such as a user.": (
        "cluster", "user", "users", "session", "sessions",
    ),
    "sample_weight= is the weight of each row's query.": ("weight", "weights", "sample_weights"),
}  # fmt: skip
"""Hints at the keywords of this library, with names that other libraries or other functions have for them."""

SYNONYMS = {
    "alpha": ("confidence_level",),
    "confidence": ("confidence_level", "alpha"),
    "confidence_level": ("alpha",),
    "scoring": ("metrics", "metric"),
}
"""Keywords of the same meaning, or the nearest, by names that other functions have for it."""
HINT_BY_NAME = {name: hint for hint, names in KEYWORD_HINTS.items() for name in names}
CALLED_K = ("k", "at", "topk", "top_k", "n", "cutoff", "cutoffs")
NAMES_OF_QID = {"qid", *KEYWORD_HINTS[QID]}
NAMES_OF_LEVELS = {*NAMES_OF_QID, "user", "user_id"}
"""Names that the level of queries has in indexes of others."""
IN_NAMES = "The cutoff goes into the name of a metric: 'ndcg@10'."
GROUPS = "A splitter takes the query of each row as groups=, like scikit-learn's splitters."


def meant_by(name: str, *, cutoff: str = IN_NAMES) -> str:
    """Hint for an error about an unknown keyword; `cutoff` says where a cutoff goes."""
    hint = cutoff if name in CALLED_K else HINT_BY_NAME.get(name)
    return f" {hint}" if hint else ""


class UnknownKeyword(TypeError):
    """A keyword that a function does not have.

    Functions that pass their keywords on replace it by one that names them; see `named_arguments`.

    Attributes
    ----------
    keyword : str
    known : list of str
        Keywords that there are.
    hint : str
        What is meant by keywords of that name; "" if that is not known.
    """

    def __init__(self, message: str, keyword: str = "", known: Iterable[str] = (), hint: str = "") -> None:
        super().__init__(message)
        self.keyword, self.known, self.hint = keyword, [*known], hint


def unknown_keyword(
    rule: str, keyword: str, known: Iterable[str], *, hint: str = "", takes: Iterable[str] = ()
) -> UnknownKeyword:
    """Error about a keyword that is not `known`, with the nearest of these unless there is a hint."""
    # `rule` is how the sentence begins, such as "evaluate has no keyword", and `takes` are keywords to list.
    known = [*dict.fromkeys(known)]
    same = [name for name in SYNONYMS.get(keyword, ()) if name in known]
    near = same or difflib.get_close_matches(keyword, known, 1)
    meant = (not same and hint) or (f" Did you mean {echo(near[0])}?" if near else "")
    listed = f" It takes {', '.join(takes)}." if takes else ""
    return UnknownKeyword(f"{rule} {echo(keyword)}.{listed}{meant}", keyword, known, hint)


def named_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function with clear errors about unknown arguments, and positional ones that must be named."""
    parameters = inspect.signature(function).parameters
    by_position = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    named = [n for n, p in parameters.items() if p.kind is p.KEYWORD_ONLY]
    kinds = inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD
    takes_more, takes_others = (any(p.kind is kind for p in parameters.values()) for kind in kinds)
    is_method = by_position[:1] == ["self"]
    required = [n for n, p in parameters.items() if p.default is p.empty and p.kind not in kinds]
    rules = {n: BOOL for n, p in parameters.items() if p.annotation in ("bool", bool)}

    def called(args: tuple[object, ...]) -> str:
        name = f"{type(args[0]).__name__}.{function.__name__}" if is_method and args else function.__qualname__
        return name.removesuffix(".__init__")

    @functools.wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> T:
        if len(args) > len(by_position) and not takes_more:
            by_name = "qid" if "qid" in parameters or not named else named[0]
            refuse_position(called(args), [n for n in by_position if n not in ("self", "cls")], by_name)
        unknown = None if takes_others else next((n for n in keywords if n not in parameters), None)
        if unknown is not None:
            takes = [n for n in parameters if n not in ("self", "cls")]
            hint = f" {GROUPS}" if "groups" in parameters and unknown in NAMES_OF_QID else meant_by(unknown)
            raise unknown_keyword(f"{called(args)} has no keyword", unknown, takes, hint=hint, takes=takes)
        for name in rules.keys() & keywords.keys():
            rules[name](name, keywords[name], called(args))
        refused, missing, given = None, list[str](), dict[str, object]()
        try:
            return function(*args, **keywords)
        except UnknownKeyword as error:
            # A call in the function had the keyword from here.
            if error.keyword not in keywords:
                raise
            names = [n for n in (*by_position, *named) if n not in ("self", "cls")]
            refused = unknown_keyword(
                f"{called(args)} has no keyword", error.keyword, [*names, *error.known], hint=error.hint
            )
        except TypeError:
            given = dict(zip(by_position, args, strict=False)) | keywords
            missing = [n for n in required if n not in given]
            if not missing:
                raise
        if refused is not None:
            raise refused
        refuse_missing(called(args), missing, given)

    return call


def refuse_missing(function_name: str, missing: list[str], given: Mapping[str, Any]) -> NoReturn:
    """Refuse a call without some arguments, which may have other names, or belong to another function."""
    hint = hint_for_arguments(**given) if "y_true" in given else ""
    if has(given.get("estimators"), "columns"):
        hint = MODELS_FIRST
    if not hint:
        renamed = [HINT_BY_NAME[name] for name in given if HINT_BY_NAME.get(name, "").startswith(tuple(missing))]
        only_ranks = function_name.endswith("_score") and [*given] == ["y_true"]
        hint = " ".join(renamed) or RANKS_HINT * only_ranks
    raise TypeError(f"{function_name} needs {' and '.join(missing)}.{' ' * bool(hint)}{hint}")


def checked_arguments(rules: Mapping[str, Constraint]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function so that its arguments of these names are checked before it is called."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        parameters = inspect.signature(function).parameters
        by_position, checked = [*parameters], [*rules.keys() & parameters.keys()]
        name = function.__qualname__.removesuffix(".__init__")

        @functools.wraps(function)
        def call(*args: P.args, **keywords: P.kwargs) -> T:
            given = dict(zip(by_position, args, strict=False)) | keywords
            for argument in checked:
                if argument in given:
                    rules[argument](argument, given[argument], name)
            return function(*args, **keywords)

        return call

    return decorate


def refuse_position(function_name: str, by_position: list[str], by_name: str = "qid") -> None:
    """Refuse positional arguments that must be named."""
    takes = f"{', '.join(by_position)} by position and all else" if by_position else "all arguments"
    got = "more" if by_position else "some"
    hint = f" {POSITION_HINTS[function_name]}" if function_name in POSITION_HINTS else ""
    raise TypeError(f"{function_name} takes {takes} by name, such as {by_name}=. Got {got} by position.{hint}")
