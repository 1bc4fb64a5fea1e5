"""Muon for the matrices inside of the blocks (Jordan et al. 2024: momentum, then five Newton-Schulz steps towards an orthogonal update), AdamW for the
embedding and the norms."""

import torch


def orthogonal(update):
    """An approximation of the nearest orthogonal matrix, or stack of matrices `[..., rows, columns]`."""
    x = update.bfloat16() if update.is_cuda else update.float()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.shape[-2] > x.shape[-1]
    if tall:
        x = x.mT
    for _ in range(5):
        square = x @ x.mT
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return (x.mT if tall else x).to(update.dtype)


class Optimizer:
    """Both, with one learning-rate scale between 0 and 1."""

    def __init__(self, network, matrix_rate=0.02, other_rate=3e-3, momentum=0.95, decay=0.01):
        matrices, others = network.parameters_by_kind()
        self.rates = (matrix_rate, other_rate)
        self.momentum, self.decay = momentum, decay
        # Matrices of one size go through the steps together: at this size launches and small products cost more than arithmetic.
        sizes = {}
        for p in matrices:
            sizes.setdefault(tuple(p.shape), []).append(p)
        self.stacks = [(group, torch.zeros(len(group), *size, device=group[0].device)) for size, group in sizes.items()]
        self.adam = torch.optim.AdamW(others, lr=other_rate, betas=(0.9, 0.95), weight_decay=0.0)
        self.all = matrices + others

    @torch.no_grad()
    def step(self, scale):
        torch.nn.utils.clip_grad_norm_(self.all, 1.0)
        matrix_rate, other_rate = (rate * scale for rate in self.rates)
        for group, moment in self.stacks:
            gradient = torch.stack([p.grad for p in group])
            moment.mul_(self.momentum).add_(gradient)
            update = orthogonal(gradient + self.momentum * moment)
            size = max(1.0, group[0].shape[0] / group[0].shape[1]) ** 0.5
            for p, u in zip(group, update):
                p.mul_(1 - matrix_rate * self.decay).add_(u, alpha=-matrix_rate * size)
        for parameters in self.adam.param_groups:
            parameters["lr"] = other_rate
        self.adam.step()
        for p in self.all:
            p.grad = None

    def state_dict(self):
        return {"moments": [moment for _, moment in self.stacks], "adam": self.adam.state_dict()}

    def load_state_dict(self, state):
        for (_, moment), saved in zip(self.stacks, state["moments"]):
            moment.copy_(saved)
        self.adam.load_state_dict(state["adam"])
