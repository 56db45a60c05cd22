"""What is minimised: value and gradient, one idea a file."""
