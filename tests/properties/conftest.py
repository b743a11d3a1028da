"""How many cases were checked, at the end of a run."""

from collections import Counter

import pytest

from properties.cases import COUNTS


@pytest.fixture(autouse=True)
def cases_counted(record_property):
    before = Counter(COUNTS.kinds)
    yield
    record_property("cases", dict(Counter(COUNTS.kinds) - before))


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    for report in (r for reports in terminalreporter.stats.values() for r in reports):
        for name, kinds in getattr(report, "user_properties", ()):
            if name == "cases" and getattr(report, "when", "") == "teardown":
                counts.update(kinds)
    if counts:
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(counts.items()))
        terminalreporter.write_line(f"{counts.total()} cases of properties: {kinds}")
