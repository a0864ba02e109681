"""Benchmarks of bayestream beside scikit-learn and River."""
