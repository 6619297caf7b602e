"""Let modules take input without a batch, for which they add and remove a dim by themselves."""

from __future__ import annotations

from converter.ir import Graph, Operand, Operator
from converter.passes.base import Pass

RECURRENT = ("nn.GRU", "nn.LSTM", "nn.RNN")
INSTANCE_NORMS = ("nn.InstanceNorm1d", "nn.InstanceNorm2d", "nn.InstanceNorm3d")


class Unbatched(Pass):
    """Before: `torch.unsqueeze x -> a dim=0`, `nn.InstanceNorm1d a -> b`, `torch.squeeze b -> y`.

    After: `nn.InstanceNorm1d x -> y`, which does the same (torch.nn.modules.rnn, instancenorm).
    """

    def run(self, graph: Graph) -> int:
        return sum(unwrap(graph, op) for op in graph.of_type(*RECURRENT, *INSTANCE_NORMS))


def unwrap(graph: Graph, op: Operator) -> bool:
    """Take away the dims around a module, of every input and every output, or none of them."""
    befores = [operand.producer for operand in op.inputs]
    afters = [only_reader(operand) for operand in op.outputs]
    befores_fit = all(
        is_change(one, "torch.unsqueeze", batch_dim(op, place)) for place, one in enumerate(befores)
    )
    afters_fit = all(
        is_change(one, "torch.squeeze", batch_dim(op, place)) for place, one in enumerate(afters)
    )
    if not befores_fit or not afters_fit:
        return False
    graph.set_inputs(op, [one.inputs[0] for one in befores if one is not None])
    for output, after in zip(op.outputs, afters, strict=True):
        assert after is not None
        output.shape = after.outputs[0].shape
        graph.replace_uses(after.outputs[0], output)
        graph.remove(after)
    return True


def only_reader(operand: Operand) -> Operator | None:
    return operand.consumers[0] if len(operand.consumers) == 1 else None


def batch_dim(op: Operator, place: int) -> int:
    """Where the batch is: in the sequence, which comes first, or in the states after it."""
    if op.type in INSTANCE_NORMS or (place == 0 and op.params["batch_first"]):
        return 0
    return 1


def is_change(op: Operator | None, type: str, dim: int) -> bool:
    """Whether it is an unsqueeze or squeeze of this dim of an input of known rank."""
    if op is None or op.type != type or op.inputs[0].shape is None:
        return False
    rank = len(op.inputs[0].shape) + (type == "torch.unsqueeze")
    given = op.params.get("dim")
    return isinstance(given, int) and given % rank == dim
