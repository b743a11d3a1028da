"""The documentation site: ``.ci/docs`` builds it."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_sphinx"), str(HERE.parent)]

from sklearn_rank import __version__  # noqa: E402

project = "sklearn_rank"
author = copyright = "The sklearn_rank developers"
version = release = __version__
urls = tomllib.loads((HERE.parent / "pyproject.toml").read_text())["project"].get("urls", {})
urls = {name: url for name, url in urls.items() if "//example.org/" not in url}
"""Public addresses. Until pyproject.toml has them in place of example.org, what needs one stays off: the icon of the
repository and "Edit on GitHub" (`Source`), and a list of versions (`Documentation`, with its file versions.json)."""

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "sphinx_design",
    "index_terms",
    "notebooks",
    "public_names",
    "sections",
    "used_in",
]
exclude_patterns = ["_build", "_sphinx", "_templates"]
templates_path = ["_templates"]
default_role = "public"
nitpicky = True
smartquotes = False  # "qid" is code in many docstrings
show_warning_types = True

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
myst_fence_as_directive = ["math"]

toc_object_entries_show_parents = "hide"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "inherited-members": "BaseEstimator",
}
numpydoc_show_class_members = False
numpydoc_validation_checks = {  # all but these, which ask for other sections and styles
    *("all", "ES01", "EX01", "GL02", "PR01", "PR04", "PR07", "PR09"),
    *("RT01", "RT02", "RT03", "SA01", "SS01", "SS05", "YD01"),
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = "sklearn_rank"
html_static_path = ["_static"]
html_extra_path = ["decide/report.html"]  # at /report.html, where browsers open it
html_css_files = ["site.css"]
html_show_sourcelink = False
WITHOUT_MENU = {"development/extending": []}
"""The page whose code has 120 columns."""

html_theme_options = {
    "logo": {"text": "sklearn_rank"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "secondary_sidebar_items": {"**": ["page-toc"]} | WITHOUT_MENU,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
if "Source" in urls:
    owner, repository = urls["Source"].rstrip("/").split("/")[-2:]
    html_context = {
        "github_user": owner,
        "github_repo": repository,
        "github_version": "main",
        "doc_path": "docs",
    }
    html_theme_options |= {
        "icon_links": [{"name": "Source", "url": urls["Source"], "icon": "fa-brands fa-github"}],
        "use_edit_page_button": True,
        "secondary_sidebar_items": {"**": ["page-toc", "edit-this-page"]} | WITHOUT_MENU,
    }
if "Documentation" in urls:
    html_theme_options |= {
        "switcher": {
            "json_url": f"{urls['Documentation'].rstrip('/')}/versions.json",
            "version_match": release,
        },
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    }
html_sidebars = {"index": [], "changelog": []}
