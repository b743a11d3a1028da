"""What scikit-learn asks of a metric: splits of whole queries, scorers, and the routing of qid."""
