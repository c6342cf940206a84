"""The classes of the recipes' settings, as any user gets them."""

from mcn.train import RECIPES

MCNConfig, PaperConfig, ViewsConfig, AutoConfig = (
    RECIPES[name].config for name in ("mcn", "paper", "views", "auto")
)
