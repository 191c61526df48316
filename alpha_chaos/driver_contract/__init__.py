"""What every driver keeps to, as a pytest suite against a running node.

`alpha-chaos check-driver` runs it; `docs/drivers.md` is the contract in words.
"""
