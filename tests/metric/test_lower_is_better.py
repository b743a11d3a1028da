"""Names of metrics that mean lower is better need a direction, at every public function; other names do not."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from registry import together
from sklearn.linear_model import Ridge

from sklearn_rank import (
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    make_ranking_scorer,
    metric,
    parse_metric,
    prepare,
)
from sklearn_rank.display import DistributionDisplay
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, no_worse

LOWER = """
    latency_std latency_change latency_us delay_minutes ttfb rtt_ms processing_time text_to_sql_error
    latency latency_ms p95_latency p99_latency_ms latency_p50 avg_latency mean_latency_seconds search_latency
    end_to_end_latency latencyMs retrieval_latency_p95 latency_at_p99 response_time response_time_ms
    avg_response_time query_time query_time_ms search_time_ms inference_time time_per_query seconds_per_query
    ms_per_request time_to_first_token ttft_ms time_to_first_click time_to_first_result time_to_click
    page_load_time load_time_ms wait_time fit_time score_time training_time wall_time cpu_time_seconds
    elapsed_ms runtime_s embedding_ms rerank_ms indexing_time generation_seconds delay indexing_delay_seconds
    queue_lag time_until_first_click cost cost_usd cost_per_query total_cost_usd llm_cost token_cost
    inference_cost cost_per_1k_tokens avg_cost costPerQuery cost_per_click cost_per_acquisition error
    error_rate errors n_errors error_count errors_per_query prediction_error mean_error ranking_error abs_err
    calibration_error top5_error top_1_error test_error error_at_5 relevance_error std_error loss log_loss
    logloss val_loss test_loss cross_entropy cross_entropy_loss hinge_loss ndcg_loss map_loss listnet_loss
    smape wape rmsle mean_absolute_error mean_squared_error root_mean_squared_error MAE RMSE test_rmse brier
    brier_score crps ece nll negative_log_likelihood perplexity ppl token_perplexity bits_per_byte deviance
    rank mean_rank median_rank avg_rank average_rank rank_of_first_relevant first_relevant_rank
    mean_rank_of_gold target_rank position avg_position click_position mean_click_position
    euclidean_distance wasserstein_distance distance_to_gold distance_km hamming_distance hallucination
    hallucination_rate hallucinations hallucinated_claims unsupported_claims unsupported_claim_rate
    wrong_answers wrong_answer_rate incorrect_rate irrelevance irrelevant_results profanity_rate leak_rate
    leakage policy_violations violation_rate bounce_rate bounces abandonment abandonment_rate
    downvotes complaint_rate complaints refund_rate chargeback_rate cancellation_rate uninstalls opt_out_rate
    drop_off_rate negative_feedback_rate thumbs_down dissatisfaction_rate dsat reformulation_rate
    no_results_rate null_result_rate empty_result_rate empty_responses failed_queries failure_rate fail_rate
    timeout_rate timeouts crash_rate crashes miss_rate cache_miss_rate missed_relevant_documents broken_links
    false_positives fpr fnr fpr_at_95_tpr false_discovery_rate false_alarm_rate eer fallout
    misclassification_rate duplicate_rate duplicates duplicate_results redundancy regret cumulative_regret
    search_length expected_search_length staleness index_staleness_hours downtime memory_usage_mb
    peak_memory_mb cpu_usage carbon_footprint co2 emissions overhead_ms model_drift residuals MeanRank
    rate_of_timeouts avg_rank_of_answer Latency Avg.Position latency(ms) p95/latency search/latency_ms
    val/loss eval_loss train_loss loss_train rmse_val error_overall latency_total cost_total latency_delta
    time_to_relevant time_to_purchase time_to_insight response_seconds api_latency db_query_time p95_ms
    search_ms gpu_seconds compute_cost infra_cost cost_per_conversion cost_eur embedding_cost answer_error
    json_errors invalid_json_rate invalid_output_rate hamming_loss max_error median_absolute_error
    mean_poisson_deviance log_cosh_loss squared_error abs_error absolute_error sq_err relative_error
    kendall_tau_distance spearman_footrule_distance rank_distance rank_loss rank_error position_error
    mean_rank_error expected_calibration_error query_abandonment search_abandonment_rate session_abandonment
    false_alarms dead_link_rate stale_results broken_link_rate duplication_rate ad_skip_rate
    frequency_cap_violations invalid_click_rate fraud_rate ad_load_time unanswered_rate unanswered_questions
    max_toxicity toxicity_prob misinformation_rate pii_leaks data_leakage hallucinated_rate fabrication_rate
    wrong_citations missing_citations missing_rate unparsable_rate malformed_rate cpu_seconds
""".split()
"""Ordinary names for which lower is better, written down by hand: search, recommenders, RAG, ads, LLMs, time, cost."""

OF_THE_LIBRARY = {"ranking_loss", "mae", "mse", "rmse", "MAE", "RMSE", "fallout"}
"""Names whose direction is known where the name is of a metric of this library, not of a function of the user."""

NOT_LOWER = """
    profit_and_loss profit_loss gain_loss prevented_loss lower_cost fast_latency inverted_rank effective_rank full_rank
    without_error time_to_crash time_to_cancellation time_to_death time_to_error time_to_expiry time_before_failure
    clicks_on_position ctr_above_rank ctr_across_position precision_and_cost precision_versus_latency
    recall_before_error recall_on_errors quality_during_outage
    ndcg ndcg@10 nDCG my_ndcg time_split_ndcg ndcg_at_10 ndcg_cut_10 map mean_average_precision mrr MRR@10
    mean_reciprocal_rank reciprocal_rank rr recip_rank inverse_rank precision recall f1 f1_score hit_rate hits
    hits@1 success success_at_5 r_precision err err@20 err_at_10 err_ia nerr expected_reciprocal_rank
    rank_biased_precision rank_biased_overlap rbp rank_correlation spearman_rank_correlation kendall_tau
    rank_stability rank_agreement ranking ranking_score ranking_quality ranking_accuracy learning_to_rank
    pr_auc accuracy balanced_accuracy cost_saving cost_savings cost_saved saved_cost cost_reduction
    cost_efficiency cost_benefit_ratio error_free error_free_rate error_reduction error_detection_rate
    latency_slo_met latency_under_100ms share_within_latency_budget low_latency_share distance_score
    distance_covered intra_list_distance mean_pairwise_distance inter_cluster_distance toxicity_detection_f1
    spam_precision bounce_reduction regret_reduction time_split time_saved time_saved_ms tokens_per_second
    queries_per_second qps requests_per_second throughput throughput_rps docs_per_second dwell_seconds
    dwell_time dwell_time_ms watch_time watch_time_ms watch_minutes session_ms session_duration
    session_duration_seconds time_on_page time_on_site time_spent time_in_app session_time listening_time
    reading_time play_time engagement_time minutes_watched time_per_session seconds_per_session minutes_per_user
    time_to_live time_between_failures days_active days_to_churn ctr click_through_rate clicks click_rate
    clicks_per_query conversion_rate conversions add_to_cart_rate purchase_rate revenue revenue_per_query gmv
    net_promoter_score nps csat satisfaction retention retention_rate return_rate likes saves shares upvotes
    thumbs_up favorites follow_rate open_rate click_to_open_rate scroll_depth sessions_per_user
    groundedness answer_relevancy answer_relevance context_precision context_recall answer_correctness
    answer_similarity semantic_similarity cosine_similarity bertscore bleu rouge_l rouge meteor chrf exact_match
    completeness citation_precision citation_recall judge_score win_rate_vs_baseline elo elo_rating likelihood
    intra_list_diversity ild novelty serendipity unexpectedness popularity gini entropy personalization
    calibration fairness exposure exposure_ratio freshness recency variety self_information tail_share utility
    quality usefulness rating stars token_count tokens n_tokens total_tokens prompt_tokens context_length
    answer_length n_documents n_results results_returned num_results result_count n_queries count clicks_at_rank
    cacher dismissed_alerts_precision half_life discount position_bias positional_score relevance_positional
    closeness proximity purchase_latency_score speedup inverse_distance neg_mse negated_error one_minus_error
    retrieval_precision context_relevance chunk_utilization correct_answers relevant_results recall_improvement
    ranked_list_quality position_weighted_ctr rank_weighted_precision cost_weighted_ndcg cost_sensitive_accuracy
    time_weighted_recall time_biased_gain tbg u_measure inst_recall lost_in_the_middle_recall first_position_ctr
    ctr_position_1 clicks_position_1 share_rank_1 rank1_accuracy rank_1 top1 cost_recall_auc
    spam_detected fraud_caught toxicity_filter_recall views impressions reach watch_ratio completion_rate
    finish_rate video_completion_rate long_click_rate satisfied_clicks sat_clicks clicks_saved queries_answered
    result_relevance search_success_rate successful_searches session_success query_success query_coverage
    request_success_rate processing_rate cache_hit_rate index_coverage load_factor gpu_utilization
    skill_score d2_log_loss_score d2_absolute_error_score max_marginal_relevance mmr margin_error_free
    confidence certainty agreement kappa cohens_kappa alpha price avg_price discount_rate quantity stock
    rank_gain rank_improvement delta_ndcg rank_score ranker positions_filled position_coverage
    lossless_rate errorless terrific ranknet lambdarank rankeval loss_free error_robustness
    carbon_kg power_watts model_size_mb cpa cpc cpm bias_score
    failure_recovery_rate failover_success crash_free_sessions crash_free_users bounce_back_rate skippable
    churn_saved retained_after_error max_rank_biased min_distance_met risk urisk georisk trisk
    attack_success_rate consumption content_consumption memory memory_score energy minutes hours days
    jailbreak_success_rate hallucination_score hallucination_index index_size_gb storage_gb gpu_hours flops
""".split()
"""Names for which higher is better, or in doubt: nobody is asked for a direction."""

REFUSED = r"The name .* suggests that lower is better. Pass .*greater_is_better=.*False.*, or True if more is better"
Y, S, QID = [1, 0, 0, 1], [2.0, 1.0, 1.0, 2.0], [1, 1, 2, 2]


def named(name):
    def function(y_true, y_score):
        return float(y_true[0])

    function.__name__ = name
    return function


@together("name", LOWER)
def test_a_name_that_means_lower_is_better_is_refused(name):
    with pytest.raises(ValueError, match=REFUSED):
        parse_metric(named(name))
    if name in OF_THE_LIBRARY:
        assert Evaluation.from_values([1, 2], {name: [1, 2]}).greater_is_better == {name: False}
    else:
        with pytest.raises(ValueError, match=REFUSED):
            Evaluation.from_values([1, 2], {name: [1, 2]})
    for better in (True, False):
        result = Evaluation.from_values([1, 2], {name: [1, 2]}, greater_is_better={name: better})
        assert result.greater_is_better == {name: better}


@together("name", NOT_LOWER)
def test_a_name_in_doubt_is_taken(name):
    if name == "neg_mse":  # of a scorer
        assert parse_metric(named(name)).greater_is_better
    else:
        assert Evaluation.from_values([1, 2], {name: [1, 2]}).greater_is_better == {name: True}


def series(values, name):
    return pd.Series(values, index=pd.Index([1, 2, 3], name="qid"), name=name)


OF_FUNCTIONS = {
    "parse_metric": lambda f, **said: parse_metric(f, **said),
    "evaluate": lambda f, **said: evaluate(Y, S, qid=QID, metrics=[f], **said),
    "own names": lambda f, **said: evaluate(Y, S, qid=QID, metrics={f.__name__: lambda y, s: 1.0}, **said),
    "prepare": lambda f, **said: prepare(Y, qid=QID, metrics=[f], **said),
    "evaluate_run": lambda f, **said: evaluate_run({"q": {"a": 1}}, {"q": {"a": 1.0}}, metrics=[f], **said),
    "evaluate_table": lambda f, **said: evaluate_table([(Y, S, QID)], metrics=[f], **said),
    "compare_systems": lambda f, **said: compare_systems(
        {"q": {"a": 1}, "p": {"a": 1}}, {n: {"q": {"a": 1.0}, "p": {"a": 1.0}} for n in "xy"}, metrics=[f],
        on_misuse="ignore", **said,
    ),
    "RankingAccumulator": lambda f, **said: RankingAccumulator([f], **said),
    "RankingEvaluator": lambda f, **said: RankingEvaluator([parse_metric(f, **said)]),
    "make_ranking_scorer": lambda f, **said: make_ranking_scorer(f, **said)(Ridge().fit([[1], [0]], Y[:2]), [[1]], [1]),
    "several scorers": lambda f, **said: make_ranking_scorer([f], **said),
}  # fmt: skip
OF_VALUES = {
    "from_values": lambda name, **said: Evaluation.from_values(
        [1, 2], {name: [1, 2]}, greater_is_better=dict.fromkeys([name] * len(said), *said.values())
    ),
    "compare": lambda name, **said: compare(series([1, 2, 4], name), series([1, 3, 4], name), **said),
    "compare, second": lambda name, **said: compare(series([1, 2, 4], "new"), series([1, 3, 4], name), **said),
    "compare_all": lambda name, **said: compare_all({n: series([1, 2, i], name) for i, n in enumerate("abc")}, **said),
    "DistributionDisplay": lambda name, **said: DistributionDisplay([1, 2], metric=name, **said),
    "metric": lambda name, **said: metric(name, **said)(lambda r: r.cumsum(r.label)),
    "an alias": lambda name, **said: metric("of_mine", aliases=[name], **said)(lambda r: r.cumsum(r.label)),
}


@pytest.mark.parametrize("door", OF_FUNCTIONS)
@together(
    "name", ["latency_ms", "p95_latency", "cost_usd", "error_rate", "hallucination_rate", "mean_rank", "perplexity"]
)
def test_functions_of_such_a_name_need_a_direction(door, name):
    with pytest.raises(ValueError, match=REFUSED):
        OF_FUNCTIONS[door](named(name))


@pytest.mark.parametrize("door", sorted(OF_FUNCTIONS.keys() - {"prepare", "RankingAccumulator", "make_ranking_scorer"}))
def test_functions_with_a_direction_are_taken(door):
    for better in (True, False):
        assert OF_FUNCTIONS[door](named("latency_ms"), greater_is_better=better) is not None
    assert OF_FUNCTIONS[door](named("time_split_ndcg")) is not None


@pytest.mark.parametrize("door", OF_VALUES)
@together("name", ["latency_ms", "cost_usd", "error_rate", "mean_rank"])
def test_values_of_such_a_name_need_a_direction(door, name):
    with pytest.raises(ValueError, match=REFUSED):
        OF_VALUES[door](name)
    for better in (True, False):
        OF_VALUES[door](name, greater_is_better=better)
    plt.close("all")


def test_a_formula_called_an_error_needs_a_direction():
    def search_latency_error(r):
        return r.cumsum(r.label)

    with pytest.raises(ValueError, match="'search_latency_error' suggests"):
        metric("of_search")(search_latency_error)


def test_a_doubled_latency_does_not_pass():
    latency = np.random.default_rng(0).uniform(90, 110, 50)
    old, new = (
        Evaluation.from_values(range(50), {"latency_ms": x}, greater_is_better={"latency_ms": False})
        for x in (latency, 2 * latency)
    )
    assert not no_worse(new=new, old=old, margin=5)
    assert no_worse(new=old, old=new, margin=5)


def test_a_saved_direction_loads(tmp_path):
    """A result of an earlier version, whose values counted as higher is better without a word."""
    saved = Evaluation.from_values([1, 2], {"latency_ms": [1, 2]}, greater_is_better={"latency_ms": True})
    saved.save(tmp_path / "old")
    again = Evaluation.load(tmp_path / "old")
    assert again.greater_is_better == {"latency_ms": True}
    assert again.mean() == {"latency_ms": 1.5}


def test_a_display_has_the_direction_of_its_metric():
    assert not DistributionDisplay([1, 2], metric="rmse").greater_is_better
    assert DistributionDisplay([1, 2], metric="ndcg").greater_is_better
    assert DistributionDisplay([1, 2]).greater_is_better
