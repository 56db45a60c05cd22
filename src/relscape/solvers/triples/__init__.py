"""Training on triples: corruptions, losses, minibatch and lock-free epochs. Energies come as arguments."""
