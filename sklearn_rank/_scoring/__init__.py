"""The parts that scikit-learn needs: splits of whole queries, scorers, and the routing of qid."""
