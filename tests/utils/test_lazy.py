from threading import Barrier, Thread

from sklearn_rank._utils.lazy import cached_property


class Lazy:
    """An attribute that counts its computations; `barrier` lets threads compute at the same time."""

    n_computed = 0

    def __init__(self, barrier=None):
        self.barrier = barrier

    @cached_property
    def value(self):
        """Output of help()."""
        self.n_computed += 1
        if self.barrier is not None:
            self.barrier.wait(timeout=60)
        return 5


def test_cached_property_is_computed_once():
    lazy = Lazy()
    assert (lazy.value, lazy.value, lazy.n_computed) == (5, 5, 1)
    assert Lazy.value.__doc__ == "Output of help()."


def test_instances_do_not_wait_for_each_other():
    barrier = Barrier(2)
    both = [Lazy(barrier), Lazy(barrier)]
    threads = [Thread(target=lambda lazy=lazy: lazy.value) for lazy in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not barrier.broken
    assert [lazy.value for lazy in both] == [5, 5]
