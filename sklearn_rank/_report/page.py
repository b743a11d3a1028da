"""The parts of the page in their order, and the limits of its size."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from itertools import product
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._report.content import Content, Difference, ListsOfQuery, Mean, Means, SegmentsOfPage
from sklearn_rank._report.markup import Child, document, element, long, name, number_cell, sentence
from sklearn_rank._report.pictures import PICTURE_HEIGHT, bars, chosen, dot, shares
from sklearn_rank._tell.text import (
    between,
    listed,
    number,
    p_in_words,
    p_value,
    plain,
    sign_of,
    visible,
    visible_text,
    without_last_zeros,
)
from sklearn_rank._utils.table import Table
from sklearn_rank._utils.typing import Array, Index

MOST_BYTES = 2_000_000
"""Maximum number of bytes; a larger page omits texts, then lists."""

MOST_SEGMENTS = 100

LONGEST_SAID = 4000
"""Maximum number of characters of a sentence with names."""

QUERIES_AT_ONCE = 20


def to_html(content: Content, title: str | None) -> str:
    """Render the page as a single HTML file."""
    kept = kept_queries(content)
    limits: list[str] = []
    if len(kept) < len(content.ids):
        limits.append(f"The {len(kept):,} queries of {len(content.ids):,} that gain or lose most are kept here.")
    has_texts = content.text is not None or content.query_text is not None
    choices = [(True, True), *([(False, True)] if has_texts else [])]
    # If no page is small enough, the last is made, which has the lists.
    choices += [(False, False), (not has_texts, True)] if content.lists else []
    shared = payload(content, kept)
    in_json = ascii_json(shared)
    for with_texts, with_lists in choices:
        left_out = ["texts"] * (has_texts and not with_texts)
        left_out += ["lists of documents"] * (bool(content.lists) and not with_lists)
        if len(in_json) > MOST_BYTES and (with_texts, with_lists) != choices[-1]:
            # Whatever is left out, values alone are more.
            continue
        said = [f"Without {listed(left_out)}, with which the file would have more than 2 MB."] if left_out else []
        more = texts_and_lists(content, kept, with_texts=with_texts, with_lists=with_lists)
        main = _main(content, kept, shared | more, title, [*limits, *said])
        whole = f"{in_json[:-1]},{ascii_json(more)[1:]}" if more else in_json
        text = document(visible(title or plain(content.heading), LONGEST_SAID), main, whole)
        if len(text.encode()) <= MOST_BYTES:
            break
    return text


def _main(content: Content, kept: Any, data: dict[str, Any], title: str | None, limits: list[str]) -> Element:
    parts = [
        _head(content, title), _means(content), *(_plain_table(*one) for one in content.tables),
        _queries(content, kept, data, limits), *(_plain_table(*one) for one in content.tables_below),
        *(_segments(content, one) for one in content.segments),
        _to_judge(content), _made(content),
    ]  # fmt: skip
    return element("main", *parts, class_="sklearn-rank")


JOINER = re.compile(r"(?<=[^\x00-\x7f])\\u200([cd])(?=[^\x00-\x7f])")
"""An escaped joiner inside of a word, as Persian and Hindi need it, or of an emoji."""


def _text(value: Any) -> str:
    """The text of a document or a query, which keeps its joiners."""
    return JOINER.sub(lambda found: "\u200c" if found[1] == "c" else "\u200d", visible_text(value))


def _said(text: str) -> str:
    return visible(text, LONGEST_SAID)


def _section(heading: str, about: str, *children: Child, id: str | None) -> Element:
    lead = element("p", _said(about), class_="about") if about else None
    return element("section", element("h2", heading), lead, *children, id=id)


def _table(head: list[Child], *bodies: Element, class_: str, **attributes: Any) -> Element:
    cells = [one if isinstance(one, Element) else element("th", one, scope="col") for one in head]
    return element("table", element("thead", element("tr", *cells)), *bodies, class_=class_, **attributes)


def _column(text: str, class_: str = "number") -> Element:
    return element("th", text, scope="col", class_=f"{class_} {long(text) or ''}".strip())


# --- the verdict ---------------------------------------------------------------------------------------------


def _head(content: Content, title: str | None) -> Element:
    facts = [element("li", element("b", bold), f" {rest}") for bold, rest in content.facts]
    return element(
        "header",
        element("p", visible(title) if title else content.kind, class_="kind"),
        element("h1", *sentence(content.heading)),
        *(element("p", *sentence(parts), class_="lead") for parts in content.lead),
        element("ul", *facts, class_="facts"),
        *(element("p", _said(note), class_="note") for note in content.notes),
        element("p", _said(content.choices), class_="about") if content.choices else None,
    )


# --- means ---------------------------------------------------------------------------------------------------


def _means(content: Content) -> Element:
    is_compared = content.baseline is not None
    head: list[Child] = ["system", _column("mean"),
                         _column(f"{content.level} interval" if content.level else "", "number wide")]  # fmt: skip
    columns = [_column("difference"), *(_column(text, "number wide") for text in ("", "p", "won : lost", ""))]
    head += columns if is_compared else []
    if len(content.systems) == 2 and is_compared and content.level:
        table = _two_systems(content, columns)
    else:
        table = _table(head, *(_of_metric(content, one, len(head)) for one in content.means), class_="means")
    return _section("Means", content.dots, table, id="means")


def _of_metric(content: Content, means: Means, n_columns: int) -> Element:
    lower = "" if means.greater_is_better else " lower is better"
    head = element("th", name(means.metric), element("small", lower), scope="rowgroup", colspan=n_columns)
    rows = [_mean(content, means, row) for row in means.rows]
    return element("tbody", element("tr", head, class_="group"), *rows)


def _plain_table(heading: str, table: Table) -> Element:
    (names, *cells), are_numbers = table._all_cells(), table._numeric()
    head: list[Child] = [_column(one, "number" * right) for one, right in zip(names, are_numbers, strict=True)]
    rows = [
        element(
            "tr",
            *(number_cell(x) if right else element("td", name(x)) for x, right in zip(row, are_numbers, strict=True)),
        )
        for row in cells
    ]
    shown = _table(head, element("tbody", *rows), class_="plain")
    scrolled = element("div", shown, class_="scroll", tabindex=0, role="region", aria_label=heading)
    return _section(heading, table.note, scrolled, id=None)


def _largest(known: list[Difference], margin: float | None = None) -> float:
    ends = [abs(x) for one in known for x in one[:3] if x is not None and np.isfinite(x)]
    return max([*ends, 1.2 * (margin or 0.0)], default=0.0) or 1.0


def _mean(content: Content, means: Means, row: Mean) -> Element:
    is_compared = content.baseline is not None
    label = element("th", name(row.system), scope="row")
    if is_compared and row.system == content.systems[content.baseline or 0]:
        label.append(element("small", " baseline"))
    mean = element("b", number(row.mean)) if row.is_best else number(row.mean)
    cells = [label, element("td", mean, class_="number"), number_cell(between(row.low, row.high), "wide quiet")]
    return element("tr", *cells, *(_against(means, row.against) if is_compared else []))


def _against(means: Means, found: Difference | None) -> list[Element]:
    largest = _largest([row.against for row in means.rows if row.against is not None], means.margin)
    if found is None:
        zero = dot(Difference(None), largest, greater_is_better=True, margin=means.margin)
        return [number_cell(""), element("td", zero, class_="wide"), number_cell("", "wide"), number_cell("", "wide"),
                element("td", class_="wide")]  # fmt: skip
    counted = found.won is not None and found.lost is not None
    won_lost = f"{found.won:,} : {found.lost:,}" if counted else ""
    drawn = shares(found.won or 0, found.tied or 0, found.lost or 0) if counted else None
    picture = dot(found, largest, greater_is_better=means.greater_is_better, margin=means.margin)
    return [
        _difference(found, means.greater_is_better, means.margin), element("td", picture, class_="wide"),
        number_cell(p_value(found.p), "wide"), number_cell(won_lost, "wide"), element("td", drawn, class_="wide"),
    ]  # fmt: skip


def _difference(found: Difference, greater_is_better: bool, margin: float | None = None) -> Element:
    """A cell with a difference; in a narrow window, interval, p and margin are below it."""
    gain = (found.difference or 0.0) * (1 if greater_is_better else -1)
    kind = {"+": "better", "-": "worse"}.get(sign_of(gain), "") if found.is_shown else ""
    known = [between(found.low, found.high, signed=True), p_in_words(found.p),
             "" if margin is None else f"margin {number(margin)}",
             "" if found.won is None else f"won {found.won:,} : {found.lost:,}"]  # fmt: skip
    below = (element("small", one, class_="narrow") for one in known if one)
    return element("td", number(found.difference, signed=True), *below, class_=f"number {kind}".strip())


def _two_systems(content: Content, columns: list[Element]) -> Element:
    old, new = (content.systems[i] for i in (content.baseline or 0, content.shown))
    baseline = element("small", " baseline")
    head: list[Child] = ["metric", element("th", name(old), baseline, scope="col", class_="number"),
                         element("th", name(new), scope="col", class_="number"), *columns]  # fmt: skip
    rows = []
    for means in content.means:
        by_name = {row.system: row for row in means.rows}
        lower = None if means.greater_is_better else element("small", " lower is better")
        cells = (
            element("td", element("b", number(one.mean)) if one.is_best else number(one.mean),
                    element("small", between(one.low, one.high), class_="wide block"), class_="number")
            for one in (by_name[old], by_name[new])
        )  # fmt: skip
        label = element("th", name(means.metric), lower, scope="row")
        rows.append(element("tr", label, *cells, *_against(means, by_name[new].against)))
    return _table(head, element("tbody", *rows), class_="means")


# --- query by query ------------------------------------------------------------------------------------------


def _picture(content: Content, *, is_cut: bool) -> Element | None:
    """Sorted differences of queries, or sorted values of a single system."""
    metric, alone = content.metric, content.baseline is None
    gain = content.gain(content.shown, metric)
    ordered = -np.sort(-gain[~np.isnan(gain)])
    if not len(ordered):
        return None
    # Bars show values of a single system, otherwise gains.
    sign = 1 if content.greater_is_better[metric] else -1
    turn = sign if alone else 1
    mean = _mean_difference(content, content.shown, metric)
    counts = [] if alone else [
        element("span", f"{(gain > 0).sum():,} better", class_="better", id="n-better"),
        element("span", f"{(gain < 0).sum():,} worse", class_="worse", id="n-worse"),
    ]  # fmt: skip
    said = f"dashed: mean {number(mean, signed=not alone)}" if mean is not None else ""
    counts.insert(1, element("span", said, class_="quiet", id="mean"))
    hint = element("span", " Point at a bar to see the query, click to open it below.", class_="script", hidden="")
    ends = between(sign * ordered[0], sign * ordered[-1], signed=not alone)
    label = f"Sorted values of queries: {ends}" if alone else f"Sorted differences of queries, better above: {ends}"
    bar = bars(ordered * turn, None if mean is None else sign * turn * mean)
    return element(
        "div",
        element("p", element("span", f"{label}.", id="ends"), None if is_cut else hint, class_="about"),
        element(
            "div", element("svg", width=0, height=PICTURE_HEIGHT, id="axis", aria_hidden="true"),
            element("div", bar, element("i", id="cursor", hidden=""), id="picture", role="img", aria_label=label),
            class_="picture",
        ),
        element("p", element("b", id="tip-name"), " ", element("b", id="tip-value"), element("span", id="tip-text"),
                id="tip", hidden="", aria_live="polite"),
        element("p", *counts, class_="counts"),
        class_="figure",
    )  # fmt: skip


def _select(label: str, options: list[tuple[str, str]], chosen: str) -> Element:
    made = [element("option", text, value=key, selected="" if key == chosen else None) for key, text in options]
    return element("label", label, element("select", *made, id=label), hidden=None if len(options) > 1 else "")


# --- segments ------------------------------------------------------------------------------------------------


def _segments(content: Content, segments: SegmentsOfPage) -> Element:
    up, is_compared = content.greater_is_better[0], content.baseline is not None
    several = len({row.system for row in segments.rows}) > 1
    rows, largest = segments.rows[:MOST_SEGMENTS], _largest([row.difference for row in segments.rows])
    made = []
    for row in rows:
        found = row.difference
        drawn = dot(found, largest, greater_is_better=up) if is_compared else None
        made.append(
            element(
                "tr", element("th", name(row.segment), scope="row"),
                element("td", name(row.system)) if several else None, number_cell(f"{row.n_queries:,}"),
                _difference(found, up) if is_compared else number_cell(number(found.difference)),
                number_cell(between(found.low, found.high, signed=is_compared), "wide quiet"),
                element("td", drawn, class_="wide") if is_compared else None,
                number_cell(p_value(found.p), "wide") if is_compared else None,
            )
        )  # fmt: skip
    head: list[Child] = [element("th", name(segments.by), scope="col"), "system" if several else None,
                         _column("queries"), _column("difference" if is_compared else "mean"),
                         _column(f"{content.level} interval", "number wide"),
                         _column("", "wide") if is_compared else None,
                         _column("p", "number wide") if is_compared else None]  # fmt: skip
    table = _table([one for one in head if one is not None], element("tbody", *made), class_="segments")
    more = len(segments.rows) - len(rows)
    cut = element("p", f"The first {len(rows)} of {len(segments.rows)} rows.", class_="about") if more else None
    return _section(f"By {visible(segments.by)}", segments.answer, table, cut, id=None)


# --- queries -------------------------------------------------------------------------------------------------


def _queries(content: Content, kept: Any, data: dict[str, Any], limits: list[str]) -> Element:
    alone, base = content.baseline is None, content.baseline
    about = " ".join(filter(None, [*limits, content.why_no_lists]))
    head = [_column("query", ""), *(_column("", "number system") for _ in range(1 if alone else 2)),
            *([] if alone else [_column("difference")]), *(element("th", name(one.name), scope="col", class_="wide")
            for one in content.attributes)]  # fmt: skip
    gain = content.gain(content.shown, content.metric)[kept]
    order = np.argsort(gain, kind="stable")[:QUERIES_AT_ONCE].tolist()
    shown = [content.shown] if base is None else [base, content.shown]
    for cell, system in zip(head[1:], shown, strict=False):
        cell.append(name(content.systems[system]))
    rows = []
    for at in order:
        query = int(kept[at])
        values = [float(content.values[system, content.metric][query]) for system in shown]
        label = element("th", name(content.ids[query]), scope="row")
        if "queries" in data:
            label.append(element("small", data["queries"][at], class_=f"text {long(data['queries'][at]) or ''}"))
        difference = values[-1] - values[0]
        kind = {"+": "better", "-": "worse"}.get(sign_of(float(gain[at])), "")
        rows.append(
            element(
                "tr", label, *(number_cell(number(x)) for x in values),
                None if alone else number_cell(number(difference, signed=True), kind),
                *(element("td", name(one.values[one.of_query[query]]), class_="wide") for one in content.attributes),
            )
        )  # fmt: skip
        found = content.lists.get((query, content.shown))
        if "lists" in data and found and content.metric in found.reasons:
            why = element("p", *sentence(found.reasons[content.metric].why))
            rows.append(element("tr", element("td", why, colspan=len(head)), class_="why"))
    show = [("all", "all"), ("better", "better"), ("worse", "worse"), ("lists", "with lists")]
    options = [("", "all")]
    for i, one in enumerate(content.attributes):
        if len(one.values) <= MOST_FILTERED:
            options += [(f"{i} {j}", f"{visible(one.name)}: {visible(value)}") for j, value in enumerate(one.values)]
    systems = [(str(i), visible(one)) for i, one in enumerate(content.systems) if i != base]
    controls = element(
        "div",
        _select("system", systems, str(content.shown)),
        _select("metric", [(str(i), visible(one)) for i, one in enumerate(content.metrics)], str(content.metric)),
        element("label", "find", element("input", type="search", id="find", autocomplete="off")),
        _select("show", show[:1] + show[3:] if alone else show, "all"), _select("segment", options, ""),
        class_="controls script", hidden="",
    )  # fmt: skip
    caption = element("caption", visible(content.metrics[content.metric]))
    table = _table([*head], element("tbody", *rows, id="rows"), class_="queries", id="queries-table")
    table.insert(0, caption)
    pager = element("p", f"{len(order)} of {len(content.ids):,} queries", id="pager", aria_live="polite")
    first = "Worst first." if alone else "Largest loss first."
    picture = _picture(content, is_cut=len(kept) < len(content.ids))
    heading = "Query by query" if alone else "Why: query by query"
    return _section(heading, f"{first} {about}".strip(), controls, picture, table, pager, id="queries")


# --- the rest ------------------------------------------------------------------------------------------------


def _to_judge(content: Content) -> Element | None:
    head, rows = content.to_judge
    if not rows:
        return None
    made = [
        element("tr", *(element("th" if i == 0 else "td", name(x)) if i < 2 else number_cell(number_or_rank(x, i))
                        for i, x in enumerate(row)))
        for row in rows
    ]  # fmt: skip
    about = "Documents without a judgment that could change the difference most, if they had the highest grade."
    table = _table([*head[:2], *(_column(visible(one)) for one in head[2:])], element("tbody", *made), class_="judge")
    return _section("To judge next", about, table, id="judge")


def number_or_rank(x: Any, column: int) -> str:
    """A cell of the table of documents to judge: a rank, or the change in the last column."""
    return "" if x is None else number(x, signed=True) if column == 4 else f"{x:g}"


def _made(content: Content) -> Element:
    terms = [child for term, text in content.made for child in (element("dt", _said(term)), element("dd", _said(text)))]
    return _section("How this was made", "", element("dl", *terms), id="made")


MOST_KEPT_VALUES = 1_000_000
"""Maximum number of values of queries, systems and metrics."""

MOST_FILTERED = 200
"""Maximum number of values of an attribute for a filter of the table of queries."""


def kept_queries(content: Content) -> Index:
    """Queries to keep: all, or half with the largest gains and half with the largest losses by the first metric."""
    n = len(content.ids)
    most = MOST_KEPT_VALUES // (len(content.systems) * len(content.metrics))
    if n <= most:
        return np.arange(n)
    gain, kept = content.gain(content.shown, content.metric), np.zeros(n, bool)
    order = np.argsort(gain, kind="stable")[: np.count_nonzero(~np.isnan(gain))]
    kept[order[: most // 2]] = kept[order[-(most // 2) :]] = True
    return np.flatnonzero(kept)


def as_shown(x: Array) -> Array:
    """The four printed decimals of each number, as an integer."""
    scaled = x * 1e4
    rounded = np.rint(scaled)
    # If the product is near a half, its rounding error may decide; Python formats the exact decimals.
    for i in np.flatnonzero(np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) < 1e-4).tolist():
        rounded[i] = int(f"{x[i]:.4f}".replace(".", ""))
    return rounded


def same_text(x: Array, y: Array) -> NDArray[np.bool_]:
    """Whether both numbers print alike; NaN prints like NaN."""
    lowest, highest = (one([np.abs(x), np.abs(y)], axis=0) for one in (np.min, np.max))
    is_plain = (highest < 9e5) & ((lowest >= 5e-5) | (highest == 0))
    same = np.isnan(x) & np.isnan(y)
    same[is_plain] = as_shown(x[is_plain]) == as_shown(y[is_plain])
    for i in np.flatnonzero(~is_plain & ~np.isnan(x + y)).tolist():
        same[i] = number(x[i]) == number(y[i])
    return same


def decimals_of(values: Array, differences: Array) -> int:
    """Number of decimals for the values of a metric: 6, or more if differences are tiny, in at most 15 digits."""
    typical = np.abs(differences[(differences != 0) & np.isfinite(differences)])
    decimals = 6 if not typical.size else max(6, 2 - math.floor(math.log10(float(np.median(typical)))))
    largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
    return min(decimals, 300, 14 - math.floor(math.log10(largest))) if largest else min(decimals, 300)


def whole_numbers(x: Array, decimals: int, base: Array, in_base: Array) -> tuple[list[Any], Array, dict[str, float]]:
    """Values in units of the last decimal, as JSON and array; as text where the script would not show the same.

    The dict has the differences that the script cannot calculate from whole numbers.
    """
    x, scale = np.where(np.isfinite(x), x, np.nan), 10.0**decimals
    sent, is_good = np.rint(x * scale), np.isnan(x)
    for with_difference, step in product((True, False), (0, 1, -1, 2, -2)):
        at = np.flatnonzero(~is_good)
        tried = np.rint(x[at] * scale) + step
        fits = same_text(tried / scale, x[at])
        if with_difference:
            fits &= same_text((tried - in_base[at]) / scale, x[at] - base[at])
        sent[at[fits]], is_good[at[fits]] = tried[fits], True
    sent[~is_good] = x[~is_good] * scale
    off = np.flatnonzero(~same_text((sent - in_base) / scale, x - base)).tolist()
    words = [
        None if math.isnan(n) else int(n) if good else repr(known)
        for n, good, known in zip(sent.tolist(), is_good.tolist(), x.tolist(), strict=True)
    ]
    return words, sent, {str(i): float(x[i] - base[i]) for i in off}


def ascii_json(data: Any) -> str:
    """JSON in ASCII that cannot end an HTML element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def payload(content: Content, kept: Index) -> dict[str, Any]:
    """Return the data for the script but texts and lists."""
    values: list[list[list[Any]]] = [[] for _ in content.systems]
    exact: list[list[dict[str, float]]] = [[] for _ in content.systems]
    decimals, at, nothing = [], content.baseline, np.zeros(len(kept))
    for metric in range(len(content.metrics)):
        columns = [content.values[system, metric][kept] for system in range(len(content.systems))]
        base = nothing if at is None else columns[at]
        decimals.append(decimals_of(np.array(columns), np.array([column - base for column in columns])))
        _, in_base, _ = whole_numbers(base, decimals[-1], nothing, nothing)
        for system, column in enumerate(columns):
            words, _, differences = whole_numbers(column, decimals[-1], base, in_base)
            values[system].append(words)
            exact[system].append(differences)
    several = [i for i in range(len(content.systems)) if i != content.baseline]
    data: dict[str, Any] = {
        "systems": [*map(visible, content.systems)], "base": content.baseline, "shown": content.shown,
        "metrics": [*map(visible, content.metrics)], "up": content.greater_is_better, "metric": content.metric,
        "ids": [visible(content.ids[i]) for i in kept.tolist()], "values": values,
        "decimals": decimals, "exact": exact,
        "counts": {str(s): [_counts(content.gain(s, m)) for m in range(len(content.metrics))] for s in several},
        "by": [_attribute(one.name, one.values, one.of_query[kept]) for one in content.attributes],
        "mean": {str(s): [_mean_difference(content, s, m) for m in range(len(content.metrics))] for s in several},
        "why": content.why_no_lists,
    }  # fmt: skip
    if len(kept) < len(content.ids):
        data["drawn"] = {str(s): [_drawn(content.gain(s, m)) for m in range(len(content.metrics))] for s in several}
    return data


def texts_and_lists(content: Content, kept: Index, *, with_texts: bool, with_lists: bool) -> dict[str, Any]:
    """Return the other data for the script."""
    data: dict[str, Any] = {}
    if with_texts and content.query_text is not None:
        data["queries"] = [_text(content.query_text(content.ids[i])) for i in kept.tolist()]
    if with_lists and content.lists:
        data |= _lists(content, kept, with_texts=with_texts)
    return data


def _mean_difference(content: Content, system: int, metric: int) -> float | None:
    """Mean of the differences, or of the values of a single system; None if it is undefined."""
    row = next((row for row in content.means[metric].rows if row.system == content.systems[system]), None)
    mean = None if row is None else row.mean if row.against is None else row.against.difference
    return None if mean is None or not math.isfinite(mean) else mean


def _counts(gain: Array) -> list[int]:
    return [int((gain > 0).sum()), int((gain == 0).sum()), int((gain < 0).sum())]


def _drawn(gain: Array) -> list[float]:
    ordered = -np.sort(-gain[~np.isnan(gain)])
    return [float(f"{x:.7g}") for x in ordered[chosen(len(ordered))].tolist()]


def _attribute(name: str, values: Sequence[Any], of_query: Index) -> dict[str, Any]:
    return {"name": visible(name), "values": [*map(visible, values)], "of": of_query.tolist(),
            "filtered": len(values) <= MOST_FILTERED}  # fmt: skip


def _lists(content: Content, kept: Index, *, with_texts: bool) -> dict[str, Any]:
    at = {query: i for i, query in enumerate(kept.tolist())}
    documents: dict[Any, int] = {}
    lists: dict[str, dict[str, Any]] = {}
    for (query, system), found in content.lists.items():
        if query in at:
            lists.setdefault(str(at[query]), {})[str(system)] = _list(found, documents)
    grades = [one.grade for found in content.lists.values() for one in found.documents if one.grade is not None]
    data = {"lists": lists, "documents": [*map(visible, documents)], "top": max([*grades, 1.0])}
    if with_texts and content.text is not None:
        data["texts"] = [_text(content.text(document)) for document in documents]
    return data


def _list(found: ListsOfQuery, documents: dict[Any, int]) -> dict[str, Any]:
    rows = [
        [documents.setdefault(one.id, len(documents)), *map(_word, (one.grade, one.old, one.new))]
        for one in found.documents
    ]
    reasons = {
        str(metric): {
            "why": [[kind, visible(text) if kind == "name" else text] for kind, text in one.why],
            "adds": [number(x, signed=True) if x else "" for x in one.contributions], "neither": one.n_neither,
            "sum": one.is_sum, "depth": one.depth,
        } for metric, one in found.reasons.items()
    }  # fmt: skip
    return {"rows": rows, "n": found.n_documents, "reasons": reasons}


def _word(x: float | None) -> Any:
    """A grade or a rank, as a number if possible, so that the script can compare it."""
    return None if x is None else int(x) if float(x).is_integer() else float(without_last_zeros(x).replace("−", "-"))
