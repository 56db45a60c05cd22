"""A map or coordinates, and the truth, to numbers: plain functions that never see a model."""

from relscape.scores.neighbourhood import GammaTerms, gamma_loss, gamma_of_pairs, gamma_terms, mean_rank
from relscape.scores.purity import authorship, doc_doc, doc_doc_curve, doc_word, normalized_purity
from relscape.scores.retrieval import OneNNErrors, class_word_error, one_nn_error, one_nn_errors

__all__ = [
    "GammaTerms",
    "OneNNErrors",
    "authorship",
    "class_word_error",
    "doc_doc",
    "doc_doc_curve",
    "doc_word",
    "gamma_loss",
    "gamma_of_pairs",
    "gamma_terms",
    "mean_rank",
    "normalized_purity",
    "one_nn_error",
    "one_nn_errors",
]
