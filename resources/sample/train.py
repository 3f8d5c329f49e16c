"""Makes everything in this folder that is not source: weights, calibration pictures, evaluation data.

    pip install scikit-learn
    python train.py

Data: the 1,797 digits that scikit-learn bundles (8×8, 0..16; UCI Optical Recognition of Handwritten
Digits, test part, E. Alpaydin and C. Kaynak, 1998), upscaled to 32×32 grey pictures by Pillow's bilinear
filter. Fixed split (seed 7): 1,197 to train, 200 to calibrate, 400 to test. Takes a few minutes on one core.
"""

import shutil
from pathlib import Path

import numpy as np
import torch
from mobilenet_digits import build
from PIL import Image
from safetensors.torch import save_file
from sklearn.datasets import load_digits
from torch.nn import functional as F

HERE = Path(__file__).resolve().parent
MEAN, STD = 0.3, 0.36  # of the training pictures, rounded; written in digits.studio as well
SEED = 7
EPOCHS = 30


def digit_pictures() -> tuple[np.ndarray, np.ndarray]:
    """All pictures `[1797, 32, 32]` uint8 and their labels, in the fixed shuffled order."""
    digits = load_digits()
    small = np.round(digits.images * (255 / 16)).astype(np.uint8)
    large = np.stack([np.asarray(Image.fromarray(s).resize((32, 32), Image.Resampling.BILINEAR)) for s in small])
    order = np.random.default_rng(SEED).permutation(len(large))
    return large[order], digits.target[order].astype(np.int64)


def to_input(pictures: np.ndarray) -> torch.Tensor:
    """What the project's preprocessing makes of uint8 pictures."""
    return (torch.from_numpy(pictures).float().unsqueeze(1) / 255 - MEAN) / STD


def moved(batch: torch.Tensor) -> torch.Tensor:
    """The batch, each picture turned, scaled and shifted a little."""
    n = len(batch)
    angle = (torch.rand(n) - 0.5) * 0.4
    size = 1 + (torch.rand(n) - 0.5) * 0.2
    shift = (torch.rand(n, 2) - 0.5) * 0.2
    turn = torch.stack([torch.cos(angle), -torch.sin(angle), torch.sin(angle), torch.cos(angle)], 1)
    theta = torch.cat([(turn * size[:, None]).view(n, 2, 2), shift[:, :, None]], 2)
    grid = F.affine_grid(theta, list(batch.shape), align_corners=False)
    return F.grid_sample(batch, grid, align_corners=False, padding_mode="border")


def train(inputs: torch.Tensor, labels: torch.Tensor) -> torch.nn.Module:
    """The trained network, in eval mode."""
    network = build()
    optimizer = torch.optim.AdamW(network.parameters(), lr=3e-3, weight_decay=0.02)
    batch_size = 64
    steps = EPOCHS * (len(inputs) // batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps)
    for epoch in range(EPOCHS):
        network.train()
        for rows in torch.randperm(len(inputs)).split(batch_size)[: len(inputs) // batch_size]:
            loss = F.cross_entropy(network(moved(inputs[rows])), labels[rows], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}/{EPOCHS}  loss {loss.item():.3f}", flush=True)
    return network.eval()


def main() -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    pictures, labels = digit_pictures()
    parts = np.split(np.arange(len(pictures)), [1197, 1397])
    learn, calibrate, test = parts
    network = train(to_input(pictures[learn]), torch.from_numpy(labels[learn]))
    with torch.no_grad():
        right = network(to_input(pictures[test])).argmax(1).numpy() == labels[test]
    print(f"test accuracy {right.mean():.4f} ({right.sum()} of {len(right)})")

    state = {k: v.contiguous() for k, v in network.state_dict().items() if not k.endswith("num_batches_tracked")}
    save_file(state, HERE / "mobilenet_digits.safetensors")
    folder = HERE / "calibration"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for i, row in enumerate(calibrate):
        Image.fromarray(pictures[row]).save(folder / f"digit-{i:03d}.png", optimize=True)
    np.savez_compressed(HERE / "evaluation.npz", inputs=pictures[test], labels=labels[test])


if __name__ == "__main__":
    main()
