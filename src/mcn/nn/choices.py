"""What every node of a layer chose, and how probable it was."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from mcn.matrices import Rows


@dataclass(frozen=True)
class Choices:
    """The motif and step of each target of one layer (t_i and k_i of eq:att_matrix).

    motif: int64 [num_dst], 0-based. step: int64 [num_dst], 1-based k.
    motif_log_probs [num_dst, T] and step_log_probs [num_dst, K]: log-probabilities of f and f', with
    gradient in training; zeros where there is nothing to choose (T = 1, K = 1 or no motif attention).
    rows: the chosen rows of Â; its indices are positions among the layer's sources, which are the
    targets of the layer below in the same order.
    state: S_l of eq:state, or None where no selector was evaluated.
    coefficients: what the layer multiplied each entry of `rows` by, [entries, heads], without gradient; None
    unless the layer was called with `return_coefficients`.
    """

    motif: torch.Tensor
    step: torch.Tensor
    motif_log_probs: torch.Tensor
    step_log_probs: torch.Tensor
    rows: Rows
    state: torch.Tensor | None
    coefficients: torch.Tensor | None = None

    @property
    def log_motif(self) -> torch.Tensor:
        """log π of the chosen motif, [num_dst] (first term of a line of eq:att_loss)."""
        return self.motif_log_probs.gather(1, self.motif[:, None]).squeeze(1)

    @property
    def log_step(self) -> torch.Tensor:
        """log π of the chosen step, [num_dst] (second term of a line of eq:att_loss)."""
        return self.step_log_probs.gather(1, self.step[:, None] - 1).squeeze(1)

    @property
    def motif_probs(self) -> torch.Tensor:
        """Probabilities of f, [num_dst, T]."""
        return self.motif_log_probs.exp()

    @property
    def step_probs(self) -> torch.Tensor:
        """Probabilities of f', [num_dst, K]."""
        return self.step_log_probs.exp()

    def take(self, ids: NDArray[np.int64]) -> Choices:
        """The choices of some of the targets; the sources stay as they are."""
        index = torch.from_numpy(ids).to(self.motif.device)
        lengths = np.diff(self.rows.indptr)[ids]
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        entries = np.repeat(self.rows.indptr[ids] - indptr[:-1], lengths) + np.arange(indptr[-1])
        own = torch.from_numpy(entries).to(self.motif.device)
        return Choices(
            self.motif[index],
            self.step[index],
            self.motif_log_probs[index],
            self.step_log_probs[index],
            Rows(indptr, self.rows.indices[entries], self.rows.values[entries]),
            None if self.state is None else self.state[index],
            None if self.coefficients is None else self.coefficients[own],
        )
