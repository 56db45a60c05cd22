"""A map or coordinates, and the truth, to numbers: plain functions that never see a model."""

from relscape.scores.cohorts import (
    CohortLinks,
    cohort_links,
    cohort_neighbors,
    cohort_position,
    cohort_separation,
)
from relscape.scores.guidance import Satisfaction, guidance_satisfaction
from relscape.scores.links import LinkReport, rank_links
from relscape.scores.neighbourhood import GammaTerms, gamma_loss, gamma_of_pairs, gamma_terms, mean_rank
from relscape.scores.pairs import PairAgreement, rand_index
from relscape.scores.partners import guess_ndcg, ndcg
from relscape.scores.preservation import (
    neighbor_preservation,
    neighbor_preservation_chance,
    neighbor_preservation_curve,
)
from relscape.scores.purity import authorship, doc_doc, doc_doc_curve, doc_word, normalized_purity
from relscape.scores.ranking import Filter, RankingReport, rank_triples
from relscape.scores.retrieval import OneNNErrors, class_word_error, one_nn_error, one_nn_errors

__all__ = [
    "CohortLinks",
    "Filter",
    "GammaTerms",
    "LinkReport",
    "OneNNErrors",
    "PairAgreement",
    "RankingReport",
    "Satisfaction",
    "authorship",
    "class_word_error",
    "cohort_links",
    "cohort_neighbors",
    "cohort_position",
    "cohort_separation",
    "doc_doc",
    "doc_doc_curve",
    "doc_word",
    "gamma_loss",
    "gamma_of_pairs",
    "gamma_terms",
    "guess_ndcg",
    "guidance_satisfaction",
    "mean_rank",
    "ndcg",
    "neighbor_preservation",
    "neighbor_preservation_chance",
    "neighbor_preservation_curve",
    "normalized_purity",
    "one_nn_error",
    "one_nn_errors",
    "rand_index",
    "rank_links",
    "rank_triples",
]
