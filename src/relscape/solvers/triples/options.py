"""The settings of a training run, checked, and how its learning rate falls."""

from __future__ import annotations

from dataclasses import dataclass

from relscape.errors import ParameterError

__all__ = ["LOSSES", "Options"]

LOSSES = ("margin", "self-adversarial", "softmax")
_CHOICES = {
    "loss": LOSSES,
    "optimizer": ("sgd", "adagrad"),
    "schedule": ("constant", "linear", "step"),
    "mode": ("minibatch", "lock-free"),
}
_REAL = ("margin", "temperature", "learning_rate", "step_factor", "number", "lambda1", "lambda2", "grad_clip")


@dataclass(frozen=True)
class Options:
    """How to train.

    Parameters
    ----------
    loss : str
        ``"margin"`` compares each triple with corruptions of its own; ``"self-adversarial"`` and
        ``"softmax"`` compare all triples of a batch with the same corruptions, by matrix products.
    margin : float
        γ of the margin and self-adversarial losses.
    temperature : float
        How hard the self-adversarial loss looks at the lowest false energies.
    negatives : int
        Corruptions of a triple (margin), or shared by a batch on either side (the other losses).
    learning_rate : float
        Of descent on the summed loss: the number of batches does not change how far one triple moves its
        rows.
    optimizer : str
        ``"sgd"`` or ``"adagrad"``.
    schedule : str
        ``"constant"``, ``"linear"`` (falls evenly to nothing over ``n_epochs``) or ``"step"`` (times
        ``step_factor`` every ``step_every`` epochs).
    n_batches : int
        Minibatches an epoch.
    mode : str
        ``"minibatch"``: rows move after each batch, and the number of threads never changes a result.
        ``"lock-free"``: entities move after each triple, relations every ``window`` triples; threads take
        batches of their own and do not wait for each other, so only one thread gives the same result twice.
    norm, number, lambda1, lambda2, entity_rule
        The energy's own if not given.
    grad_clip : float
        The longest gradient of a row; 0 for no limit.
    parts : int
        In how many parts a batch's gradient is summed, each by one thread at most.
    """

    loss: str = "margin"
    margin: float = 1.0
    temperature: float = 1.0
    negatives: int = 2
    learning_rate: float = 0.01
    optimizer: str = "sgd"
    schedule: str = "constant"
    n_epochs: int = 500
    step_every: int = 100
    step_factor: float = 0.5
    n_batches: int = 100
    mode: str = "minibatch"
    n_jobs: int = 1
    norm: str | None = None
    number: float | None = None
    lambda1: float | None = None
    lambda2: float | None = None
    entity_rule: str | None = None
    grad_clip: float = 0.0
    window: int = 256
    parts: int = 2

    def __post_init__(self) -> None:
        for name, known in _CHOICES.items():
            if getattr(self, name) not in known:
                raise ParameterError(f"{name}={getattr(self, name)!r}: expected one of {', '.join(known)}.")
        for name in ("negatives", "n_epochs", "step_every", "n_batches", "n_jobs", "window", "parts"):
            if getattr(self, name) < 1:
                raise ParameterError(f"{name}={getattr(self, name)}: expected a whole number of at least 1.")
        for name in ("margin", "grad_clip", "lambda1", "lambda2"):
            value = getattr(self, name)
            if value is not None and not 0 <= value < float("inf"):
                raise ParameterError(f"{name}={value}: expected a number of at least 0.")
        for name in ("learning_rate", "temperature", "step_factor"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ParameterError(f"{name}={getattr(self, name)}: expected a positive number.")
        if self.loss != "margin" and self.mode == "lock-free":
            raise ParameterError(
                f"mode='lock-free': loss={self.loss!r} shares its corruptions; use 'minibatch'."
            )
        for name in _REAL:  # compiled loops know floats, and whole numbers of 64 bits only
            if getattr(self, name) is not None:
                object.__setattr__(self, name, float(getattr(self, name)))

    def rate(self, epoch: int) -> float:
        """Give the learning rate of an epoch, counted from 0.

        >>> Options(learning_rate=0.4, schedule="step", step_every=10).rate(25)
        0.1
        """
        if self.schedule == "linear":
            return self.learning_rate * max(1.0 - epoch / self.n_epochs, 0.0)
        if self.schedule == "step":
            return float(self.learning_rate * self.step_factor ** (epoch // self.step_every))
        return self.learning_rate
