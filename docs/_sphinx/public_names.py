"""Public names in prose become links to their entries, and a name without an entry fails the build.

In Markdown a public name is what stands in code, `evaluate_table` or `sklearn_rank.io.join(qrels, run)`; in docstrings
what stands in single backticks. So pages need no directives that GitHub would not show.
"""

import re

from docutils import nodes
from entries import ENTRIES, entry, is_ours, value_of
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

LOG = logging.getLogger(__name__)
DOTTED = re.compile(r"(sklearn_rank(?:\.\w+)+)(?:\(.*\))?", re.DOTALL)
NOT_PROSE = nodes.title, nodes.reference, addnodes.pending_xref


def link(literal, target):
    """A reference to an entry that reads as what stood there."""
    return addnodes.pending_xref(
        "", literal, refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=True
    )


def role(name, rawtext, text, lineno, inliner, options=None, content=None):
    """What stands in single backticks in a docstring: code, and a link if it is a public name."""
    context = inliner.document.settings.env.ref_context
    own, module = context.get("py:class"), context.get("py:module")
    literal = nodes.literal(rawtext, text)
    target = own and entry(text, f"{module}.{own}", words=True)
    target = target or entry(text, module, words=True)
    return [link(literal, target) if target else literal], []


def _above(node):
    while node := node.parent:
        yield node


class LinkNames(SphinxTransform):
    """Link the public names among the code in the prose of a page."""

    default_priority = 5

    def apply(self):
        """Replace literals, outside headings and links."""
        for literal in list(self.document.findall(nodes.literal)):
            if literal.get("classes") or any(isinstance(node, NOT_PROSE) for node in _above(literal)):
                continue
            text = literal.astext()
            if target := entry(text):
                literal.replace_self(link(literal.deepcopy(), target))
            elif dotted := DOTTED.fullmatch(text):
                self.check(dotted[1], literal)

    def check(self, name, literal):
        """Warn of a name that this library does not have."""
        try:
            value_of(name)
        except (ImportError, AttributeError):
            LOG.warning("there is no %s", name, location=literal, type="public_names")


class NoAddresses(SphinxTransform):
    """Take back the links of names such as ndcg@10, which docutils takes for addresses of mail."""

    default_priority = 5

    def apply(self):
        """Replace them by their text."""
        for reference in list(self.document.findall(nodes.reference)):
            if reference.get("refuri", "").startswith("mailto:"):
                reference.replace_self(nodes.Text(reference.astext()))


def skip_member(app, what, name, member, skip, options):
    """Leave out of an entry what other libraries wrote."""
    return skip or not is_ours(member) or None


def hide_constructor(app, what, name, value, options, signature, answer):
    """Show no signature of a class that users get and do not make; private parameters tell it."""
    return ("", answer) if what == "class" and re.search(r"[(,]\s*_\w|factory", signature or "") else None


def check_complete(app, env):
    """Warn of each public name without an entry."""
    for place in sorted(set(ENTRIES.values()) - env.domains["py"].objects.keys()):
        LOG.warning("%s is public and has no entry in docs/api", place, type="public_names")


def setup(app):
    """Connect to Sphinx."""
    app.add_role("public", role)
    app.add_transform(LinkNames)
    app.add_transform(NoAddresses)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("env-check-consistency", check_complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
