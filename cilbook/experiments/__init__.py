"""Running methods on benchmarks, keeping the results, reading them back."""
