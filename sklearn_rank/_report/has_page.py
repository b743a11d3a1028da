"""Results that can be written as a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sklearn_rank._report.content import Content, Options
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.storage import checked_path, replacing

TextsLike = Mapping[Any, Any] | Callable[[Any], Any] | None
"""Texts by id."""


class HasPage(ABC):
    """A result with `save_html` and `to_html`."""

    @abstractmethod
    def _content(self, options: Options) -> Content:
        """What the page says."""

    def _add_lists(self, content: Content, old: Any, metric: str, options: Options) -> None:
        """Add lists of documents against an old result to a page of the same queries, or of some."""
        content.why_no_lists = "There are no lists of documents: the results do not keep them."

    def to_html(
        self, *, title: str | None = None, text: TextsLike = None, query_text: TextsLike = None,
        lists: int | Iterable[Any] = 50, code: str | None = None,
    ) -> str:  # fmt: skip
        """The page of `save_html` as a text.

        Parameters
        ----------
        title : str, default=None
            Line above the verdict.
        text : dict or callable from document ids to texts, default=None
        query_text : dict or callable from query ids to texts, default=None
        lists : int or iterable of query ids, default=50
            Number of queries whose lists of documents are kept, or these queries.
        code : str, default=None
            How the page was made, such as a command, to be shown at its end.

        Returns
        -------
        str
        """
        for name, given in (("title", title), ("code", code)):
            if given is not None and not isinstance(given, str):
                raise TypeError(f"{name} must be a str. Got {echo(given)}.")
        options = Options(
            title, _texts("text", text), _texts("query_text", query_text), check_lists(lists), code
        )  # fmt: skip
        from sklearn_rank._report.page import to_html  # loads what writes XML

        return to_html(self._content(options), title)

    def save_html(
        self, path: Any, *, title: str | None = None, text: TextsLike = None, query_text: TextsLike = None,
        lists: int | Iterable[Any] = 50, code: str | None = None,
    ) -> None:  # fmt: skip
        """Write a page to look at: the verdict, means, differences query by query, and lists of documents.

        It is one file without anything from the network: it can be sent by mail or kept by a CI job. **Ids and texts
        stand in it in clear.** The same data make the same bytes.

        Parameters
        ----------
        path : str or path
            File to write. A file that is there is replaced when the page is complete.
        title : str, default=None
            Line above the verdict.
        text : dict or callable from document ids to texts, default=None
            Shown in lists. None: ids only.
        query_text : dict or callable from query ids to texts, default=None
        lists : int or iterable of query ids, default=50
            Number of queries whose lists of documents are kept: the largest losses and gains in turn. Or the ids of
            such queries. Results that were loaded, or made of values, have no documents; the page says so.
        code : str, default=None
            How the page was made, such as a command, to be shown at its end.

        Raises
        ------
        ValueError
            If `lists` names a query that is not in the result, a dict of texts has other ids, or labels or
            scores were changed since the evaluation.
        OSError
            If the file cannot be written.

        Notes
        -----
        Above a million values the page keeps queries that gain or lose most; means, counts and the picture are of all
        queries. A page beyond 2 MB has no texts, then no lists. It says what is left out.
        """
        file_name = checked_path(path)
        page = self.to_html(title=title, text=text, query_text=query_text, lists=lists, code=code)
        with replacing(file_name) as file:
            file.write(page.encode())


def check_lists(lists: Any) -> int | list[Any]:
    """Number of queries whose lists are kept, or their ids."""
    is_count = isinstance(lists, int) and not isinstance(lists, bool)
    if isinstance(lists, (str, bool)) or not (is_count or isinstance(lists, Iterable)) or (is_count and lists < 0):
        raise ValueError(f"lists must be a number of queries, 0 or more, or a list of query ids. Got {echo(lists)}.")
    return lists if isinstance(lists, int) else [*lists]


def _texts(name: str, given: TextsLike) -> Callable[[Any], Any] | None:
    """Function from ids to texts."""
    if given is None or callable(given):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict from ids to texts, or a function. Got {echo(given)}.")
    return given.get
