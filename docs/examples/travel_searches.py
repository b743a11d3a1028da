"""Which hotels are booked? A ranker of LightGBM, tested on the last fifth of the searches.

Run ``python travel_searches.py train.csv`` on a file in the form of Expedia's "Personalize Expedia Hotel Searches".
"""

import sys

import pandas as pd
from lightgbm import LGBMRanker

from sklearn_rank import QueryRanker, compare_systems, query_train_test_split

FEATURES = ["prop_starrating", "prop_review_score", "price_usd", "promotion_flag"]

frame = pd.read_csv(sys.argv[1], parse_dates=["date_time"])
grade = frame["click_bool"] + 4 * frame["booking_bool"]
X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    frame[FEATURES], grade, qid=frame["srch_id"], time=frame["date_time"], test_size=0.2
)
model = LGBMRanker(n_estimators=100, n_jobs=1, verbose=-1)
ranker = QueryRanker(model, eval_metric="ndcg@5", early_stopping_rounds=10, eval_fraction=0.2)
ranker.fit(X_train, y_train, qid=qid_train)
scores = {"cheapest": -X_test["price_usd"], "ranker": ranker.predict(X_test)}
report = compare_systems(y_test, scores, qid=qid_test, metrics=["ndcg@5", "mrr(min_relevance=4)"])
print(report)
