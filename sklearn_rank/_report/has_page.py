"""Results that can be written as an HTML page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sklearn_rank._report.content import Content, Options
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.storage import checked_path, replacing

TextsLike = Mapping[Any, Any] | Callable[[Any], Any] | None
"""Texts by id."""


class HasPage(ABC):
    """A result with `save_html` and `to_html`."""

    @abstractmethod
    def _content(self, options: Options) -> Content:
        """Return the content of the page."""

    def save_html(
        self, path: Any, *, title: str | None = None, text: TextsLike = None, query_text: TextsLike = None,
        lists: int | Iterable[Any] = 50, code: str | None = None,
    ) -> None:  # fmt: skip
        """Write an HTML page: the verdict, means, differences by query, and lists of documents.

        The page is a single file that loads nothing from the network, so you can send it by mail or keep it as an
        artifact of a CI job. **It contains ids and texts in plain text.** The same data produce the same bytes.

        Parameters
        ----------
        path : str or path
            File to write. An existing file is replaced after the page is complete.
        title : str, default=None
            Line above the verdict.
        text : dict or callable from document ids to texts, default=None
            Texts to show in lists. None: only ids.
        query_text : dict or callable from query ids to texts, default=None
        lists : int or iterable of query ids, default=50
            Number of queries whose lists of documents are kept, alternating between the largest losses and gains; or
            the ids of the queries. Loaded results and results of values have no documents, and the page says so.
        code : str, default=None
            How the page was made, such as a command, to be shown at its end.

        Raises
        ------
        ValueError
            If `lists` names a query that is not in the result, a dict of texts has other ids, or labels or scores were
            modified after the evaluation.
        OSError
            If the file cannot be written.

        Notes
        -----
        With more than a million values, the page keeps only the queries with the largest gains and losses; means,
        counts and the plot cover all queries. If the page would exceed 2 MB, it omits texts, then lists if that
        suffices. The page lists all omissions.
        """
        file_name = checked_path(path)
        page = self.to_html(title=title, text=text, query_text=query_text, lists=lists, code=code)
        with replacing(file_name) as file:
            file.write(page.encode())

    @described_as(save_html)
    def to_html(
        self, *, title: str | None = None, text: TextsLike = None, query_text: TextsLike = None,
        lists: int | Iterable[Any] = 50, code: str | None = None,
    ) -> str:  # fmt: skip
        """Return the page of `save_html` as a str.

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


def check_lists(lists: Any) -> int | list[Any]:
    """Check the number of queries whose lists are kept, or their ids."""
    is_count = isinstance(lists, int) and not isinstance(lists, bool)
    if isinstance(lists, (str, bool)) or not (is_count or isinstance(lists, Iterable)) or (is_count and lists < 0):
        raise ValueError(f"lists must be a number of queries, 0 or more, or a list of query ids. Got {echo(lists)}.")
    return lists if isinstance(lists, int) else [*lists]


def _texts(name: str, given: TextsLike) -> Callable[[Any], Any] | None:
    if given is None or callable(given):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict from ids to texts, or a function. Got {echo(given)}.")
    return given.get
