# SPDX-License-Identifier: Apache-2.0
"""The benchmarks of scripts/bench: one module for each concept."""
