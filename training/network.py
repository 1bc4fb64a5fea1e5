"""A Llama-shaped network: RMSNorm, rotary positions (half-split), grouped-query attention, SwiGLU, tied embedding, no biases."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional as F

EPSILON = 1e-6
THETA = 10_000.0


@dataclass(frozen=True)
class Shape:
    """What a network looks like."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocabulary: int = 4096

    @property
    def head_dim(self):
        return self.hidden // self.heads


# The shapes that are trained. `tiny` is for rehearsals.
SHAPES = {
    "main": Shape(layers=8, hidden=512, heads=8, kv_heads=2, ffn=1408),
    "draft": Shape(layers=4, hidden=192, heads=6, kv_heads=2, ffn=512),
    "main-cpu": Shape(layers=6, hidden=192, heads=6, kv_heads=6, ffn=512),
    "draft-cpu": Shape(layers=2, hidden=96, heads=3, kv_heads=3, ffn=256),
    "tiny": Shape(layers=2, hidden=64, heads=2, kv_heads=1, ffn=128),
}


class Norm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), EPSILON)


class Block(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        hidden, width = shape.hidden, shape.kv_heads * shape.head_dim
        self.before_attention, self.before_mlp = Norm(hidden), Norm(hidden)
        self.q, self.o = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.k, self.v = nn.Linear(hidden, width, bias=False), nn.Linear(hidden, width, bias=False)
        self.gate, self.up = nn.Linear(hidden, shape.ffn, bias=False), nn.Linear(hidden, shape.ffn, bias=False)
        self.down = nn.Linear(shape.ffn, hidden, bias=False)

    def forward(self, x, angles):
        """`x` is `[batch, positions, hidden]`."""
        batch, positions, hidden = x.shape
        h = self.before_attention(x)
        q, k, v = (m(h).view(batch, positions, -1, self.shape.head_dim).transpose(1, 2) for m in (self.q, self.k, self.v))
        grouped = self.shape.kv_heads != self.shape.heads
        y = F.scaled_dot_product_attention(rotate(q, angles), rotate(k, angles), v, is_causal=True, enable_gqa=grouped)
        x = x + self.o(y.transpose(1, 2).reshape(batch, positions, hidden))
        h = self.before_mlp(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


def rotate(x, angles):
    cos, sin = (a.to(x.dtype) for a in angles)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


class Network(nn.Module):
    def __init__(self, shape, seed=0):
        super().__init__()
        self.shape = shape
        self.embedding = nn.Embedding(shape.vocabulary, shape.hidden)
        self.blocks = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.hidden)
        generator = torch.Generator().manual_seed(seed)
        nn.init.normal_(self.embedding.weight, std=0.02, generator=generator)
        for block in self.blocks:
            for m in (block.q, block.k, block.v, block.gate, block.up):
                nn.init.normal_(m.weight, std=shape.hidden**-0.5, generator=generator)
            # What a block adds is nothing at first.
            for m in (block.o, block.down):
                nn.init.zeros_(m.weight)

    def forward(self, tokens):
        """Logits `[batch, positions, vocabulary]` of the next tokens."""
        positions = torch.arange(tokens.shape[1], device=tokens.device, dtype=torch.float32)
        steps = torch.arange(0, self.shape.head_dim, 2, device=tokens.device, dtype=torch.float32) / self.shape.head_dim
        angles = positions[:, None] * THETA**-steps[None]
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, (angles.cos(), angles.sin()))
        return F.linear(self.norm(x), self.embedding.weight.to(x.dtype))

    def parameters_by_kind(self):
        """The matrices inside of the blocks, and the rest."""
        inside = {id(p) for block in self.blocks for p in block.parameters() if p.ndim == 2}
        return [p for p in self.parameters() if id(p) in inside], [p for p in self.parameters() if id(p) not in inside]


def tensors(network):
    """Names of Hugging Face's Llama, and the tensors."""
    names = {"model.embed_tokens.weight": network.embedding.weight, "model.norm.weight": network.norm.weight}
    for number, block in enumerate(network.blocks):
        layer = f"model.layers.{number}."
        names[layer + "input_layernorm.weight"] = block.before_attention.weight
        names[layer + "post_attention_layernorm.weight"] = block.before_mlp.weight
        for name in ("q", "k", "v", "o"):
            names[f"{layer}self_attn.{name}_proj.weight"] = getattr(block, name).weight
        for name in ("gate", "up", "down"):
            names[f"{layer}mlp.{name}_proj.weight"] = getattr(block, name).weight
    return names


def export(network, tokenizer, folder, context):
    """Writes a model folder in Hugging Face layout, in bf16. `context` is the longest text of the training."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: t.detach().to("cpu", torch.bfloat16).contiguous() for name, t in tensors(network).items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    shape = network.shape
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_size": shape.hidden,
        "intermediate_size": shape.ffn,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "vocab_size": shape.vocabulary,
        "max_position_embeddings": max(context, 1024),
        "rms_norm_eps": EPSILON,
        "rope_theta": THETA,
        "tie_word_embeddings": True,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": 0,
        "eos_token_id": 0,
        "torch_dtype": "bfloat16",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "bos_token": "<|endoftext|>",
        "eos_token": "<|endoftext|>",
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": max(context, 1024),
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings, indent=1) + "\n")


def load(folder):
    """A network from a folder that `export` has written."""
    config = json.loads((Path(folder) / "config.json").read_text())
    shape = Shape(
        layers=config["num_hidden_layers"],
        hidden=config["hidden_size"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        ffn=config["intermediate_size"],
        vocabulary=config["vocab_size"],
    )
    network = Network(shape)
    weights = load_file(Path(folder) / "model.safetensors")
    with torch.no_grad():
        for name, parameter in tensors(network).items():
            parameter.copy_(weights[name].to(parameter.dtype))
    return network


def describe(network):
    """The shape as a dictionary, for checkpoints."""
    return asdict(network.shape)
