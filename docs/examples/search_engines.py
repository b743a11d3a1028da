"""Is the new search engine better? Answers of Elasticsearch, judged in Quepid: comparison, gate and report.

Run ``python search_engines.py ratings.csv old.json new.json report.html``: Quepid's ratings (query, docid, rating), and
answers of Elasticsearch or OpenSearch by query, ``{"green tea": {"hits": {"hits": [...]}}}``.
"""

import sys

from sklearn_rank import compare_systems, stats

ratings, old, new, page = sys.argv[1:]
comparison = compare_systems(ratings, {"old": old, "new": new}, metrics="ndcg@10")
print(comparison)
print(comparison.to_judge(5, new="new", old="old"))
print(stats.no_worse(new=comparison.results["new"], old=comparison.results["old"], margin=0.02))
comparison.save_html(page)
