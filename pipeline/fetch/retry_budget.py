"""How many retries a Python worker may make, whatever single records are allowed.

An unhealthy upstream fails many records at once; if each of them uses all its requests, the load multiplies just when
the upstream can bear it least. So each first request earns a share of a retry, and each retry spends a whole one.
"""


class RetryBudget:
    """`share` is earned by a first request; at most `burst` retries are saved up, which is also the number at first."""

    def __init__(self, share: float, burst: int) -> None:
        self._share = share
        self._burst = float(burst)
        self._saved = float(burst)
        self.denied = 0

    def earn(self) -> None:
        """A first request was made."""
        self._saved = min(self._burst, self._saved + self._share)

    def spend(self) -> bool:
        """Whether a retry may be made, which is then counted."""
        # Shares add up in binary: ten tenths are a little less than one.
        if self._saved < 1 - 1e-9:
            self.denied += 1
            return False
        self._saved = max(0.0, self._saved - 1)
        return True


class Unlimited(RetryBudget):
    """No budget at all: what the incident had."""

    def __init__(self) -> None:
        super().__init__(0, 0)

    def spend(self) -> bool:
        """Always True, and nothing is counted."""
        return True
