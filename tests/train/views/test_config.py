from __future__ import annotations

import pytest

from mcn.train import ViewsConfig


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match=r"drop_neighbours must be a probability below 1, got 1"):
        ViewsConfig(drop_neighbours=1.0)
    with pytest.raises(ValueError, match="unknown setting 'passs'; did you mean 'passes'"):
        ViewsConfig.from_dict({"passs": 3})
    with pytest.raises(ValueError, match="stop_probability must be a positive number"):
        ViewsConfig(stop_probability=0.0)
    with pytest.raises(ValueError, match="stop_probability must be a probability"):
        ViewsConfig(stop_probability=1.5)
    assert ViewsConfig(stop_probability=None).stop_probability is None
    for norm in ("batch_norm", "row_norm"):
        with pytest.raises(
            ValueError, match="full_batch mixes after the first layer; it needs batch_norm and"
        ):
            ViewsConfig(full_batch=True, **{norm: True})
    with pytest.raises(ValueError, match="consistency must be a number that is not negative, got None"):
        ViewsConfig(consistency=None)  # type: ignore[arg-type]
    config = ViewsConfig(motifs=["edge"], passes=3)  # type: ignore[arg-type]
    assert ViewsConfig.from_dict(config.to_dict()) == config


def test_an_epoch_has_several_steps() -> None:
    assert ViewsConfig(steps_per_epoch=7).epoch_length == " × 7 steps"
