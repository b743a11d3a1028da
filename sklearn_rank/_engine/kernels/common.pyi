"""Types of `common.pyx`, which has C functions alone."""
