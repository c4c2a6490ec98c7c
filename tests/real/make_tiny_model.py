"""Makes a tiny Llama with random weights and its tokenizer; run by the Python of the vLLM environment.

Usage: python make_tiny_model.py FOLDER. Needs no network: the tokenizer is trained on the standard library's own
sources. About 3.5 MB, in seconds.
"""

import sys
from importlib import import_module
from pathlib import Path

VOCABULARY = 1024
CHAT_TEMPLATE = "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}assistant:"


def make_tokenizer(folder: Path) -> None:
    """Train a byte-level BPE tokenizer and save it with its chat template."""
    tokenizers = import_module("tokenizers")
    transformers = import_module("transformers")
    tokenizer = tokenizers.ByteLevelBPETokenizer()
    sources = sorted(Path(sys.modules["importlib"].__path__[0]).glob("*.py"))
    special = ["<pad>", "<s>", "</s>"]
    tokenizer.train([str(path) for path in sources], vocab_size=VOCABULARY, min_frequency=2, special_tokens=special)
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>"
    )
    fast.chat_template = CHAT_TEMPLATE
    fast.save_pretrained(folder)


def make_model(folder: Path) -> None:
    """Save a Llama of two layers with seeded random weights in bfloat16."""
    torch = import_module("torch")
    transformers = import_module("transformers")
    torch.manual_seed(7)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
    )
    transformers.LlamaForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    make_tokenizer(target)
    make_model(target)
