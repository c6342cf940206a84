"""Tasks: one class per node, a number, or several yes/no targets.

A task decides the loss, the metrics, the best guess without a network, what is said of a result, and how
predictions are written. Nothing outside this package asks which one it has.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mcn.data.fields import check_fields
from mcn.data.targets import target_kind
from mcn.train.tasks.classes import Classes
from mcn.train.tasks.multilabel import Multilabel
from mcn.train.tasks.regression import Regression
from mcn.train.tasks.task import Task

__all__ = ["Classes", "Multilabel", "Regression", "Task", "stored_task", "task_of"]


def task_of(targets: NDArray[Any], num_classes: int) -> Task:
    """Return the task whose training nodes have these targets; `num_classes` matters to classes alone."""
    kind = target_kind(targets)
    if kind == "regression":
        return Regression.of(targets)
    return Multilabel(targets.shape[1]) if kind == "multilabel" else Classes(num_classes)


def stored_task(stored: Any, outputs: int) -> Task:
    """Return the task of a run with so many outputs, by what its file says (`Task.to_dict`).

    Raises:
        ValueError: the values are not those of a task.
    """
    if stored is None or stored == {}:
        return Classes(outputs)
    try:
        values = {name: value for name, value in stored.items() if name != "kind"}
        kinds: dict[str, Any] = {"classes": Classes, "regression": Regression, "multilabel": Multilabel}
        check_fields(values, {str: float}, "task")
        kind = kinds[stored["kind"]]
        task: Task = kind(**values) if kind is not Classes else Classes(outputs, **values)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"task: not a task of this version ({type(error).__name__}: {error})") from None
    if task.outputs != outputs or getattr(task, "scale", 1.0) <= 0:
        raise ValueError(f"task: {stored['kind']} does not have {outputs} outputs")
    return task
