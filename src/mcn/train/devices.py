"""Where a network is trained: on the CPU by kernels, on another device by plain torch.

`mcn.nn.ops.fused` decides between the two by where the tensors are; this module puts them there.
"""

from __future__ import annotations

import os
from typing import Any

import torch

from mcn.nn.features import input_features


def torch_device(name: str) -> torch.device:
    """Return the device of a name; of several GPUs, each process on a machine has its own.

    Raises:
        ValueError: PyTorch finds none of the kind.
    """
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device cuda: PyTorch {torch.__version__} finds no CUDA device on this machine; leave out "
            "--device for the CPU"
        )
    if name == "mps" and not torch.backends.mps.is_available():
        raise ValueError(
            f"device mps: PyTorch {torch.__version__} finds no Apple GPU on this machine; leave out --device "
            "for the CPU"
        )
    if name == "cuda":
        return torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")) % torch.cuda.device_count())
    return torch.device(name)


def placed(x: Any, device: torch.device) -> Any:
    """Return features for a device: dense ones there, sparse ones as they are, to be copied there once."""
    if device.type == "cpu":
        return x
    found = input_features(x)
    return found.to(device) if isinstance(found, torch.Tensor) else found


def host(values: torch.Tensor) -> Any:
    """Fetch the numbers of a tensor from its device: the only wait of the host for it in training."""
    return values.tolist()
